//! Definitions, imports and comments of a file: by tree-sitter where there is a grammar, else by lines.

mod lexical;
mod tables;
mod tree;

pub(crate) use tables::{Language, language_of};

/// Files above this are read by lines: parsing them costs more than it tells. Bytes.
const MAX_PARSED: usize = 700_000;
/// Most symbols and imports kept of one file.
const MAX_ITEMS: usize = 4_000;

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Function or macro.
    Function,
    /// Method of a type.
    Method,
    /// Class, struct, record, union.
    Class,
    /// Interface, trait, protocol.
    Interface,
    /// Enumeration.
    Enum,
    /// Type alias.
    Type,
    /// Module or namespace.
    Module,
    /// Constant or static.
    Constant,
}

impl SymbolKind {
    /// The kind as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Interface => "interface",
            Self::Enum => "enum",
            Self::Type => "type",
            Self::Module => "module",
            Self::Constant => "constant",
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Function => 0,
            Self::Method => 1,
            Self::Class => 2,
            Self::Interface => 3,
            Self::Enum => 4,
            Self::Type => 5,
            Self::Module => 6,
            Self::Constant => 7,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        const ALL: [SymbolKind; 8] = [
            SymbolKind::Function,
            SymbolKind::Method,
            SymbolKind::Class,
            SymbolKind::Interface,
            SymbolKind::Enum,
            SymbolKind::Type,
            SymbolKind::Module,
            SymbolKind::Constant,
        ];
        ALL.get(usize::from(code)).copied()
    }

    /// Whether it is a type of some sort.
    #[must_use]
    pub fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Interface | Self::Enum | Self::Type)
    }
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name as written.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// First line, from 1.
    pub start: u32,
    /// Last line.
    pub end: u32,
}

/// What was found in one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Outline {
    /// Definitions in order.
    pub(crate) symbols: Vec<Symbol>,
    /// Imports as written, reduced to the path or dotted name.
    pub(crate) imports: Vec<String>,
    /// Byte ranges of comments, in order, not overlapping.
    pub(crate) comments: Vec<(usize, usize)>,
}

/// Reads the outline of a file.
pub(crate) fn outline(language: Option<&'static Language>, text: &str) -> Outline {
    let parsed = language.filter(|_| text.len() <= MAX_PARSED).and_then(|l| tree::outline(l, text));
    let mut outline = parsed.unwrap_or_else(|| lexical::outline(text));
    outline.symbols.truncate(MAX_ITEMS);
    outline.imports.truncate(MAX_ITEMS);
    outline
}
