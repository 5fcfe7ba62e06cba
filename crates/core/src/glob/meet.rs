//! Whether two scopes meet: a search through the product of their automata for a path that both accept.
//!
//! One position in an included pattern of each side, and the set of positions in all excluded patterns (made
//! deterministic on the way, since excluded means that no position accepts). Characters that no pattern tells apart
//! are one. Breadth first, so the path that is found is a shortest one.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::pattern::{Part, Pattern};
use super::{PathSet, Scope};

/// How two scopes meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlap {
    /// This path is in both.
    At(String),
    /// One of them is not limited at all.
    Unlimited,
    /// Not decided within the limit of effort, so taken for meeting.
    Undecided,
}

impl fmt::Display for Overlap {
    /// The path, or the reason; fits behind "overlap: ".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(path) => f.write_str(path),
            Self::Unlimited => f.write_str("no scope, so any path"),
            Self::Undecided => f.write_str("scopes too complex to compare, taken for overlapping"),
        }
    }
}

/// States that one pair of patterns may cost.
const EFFORT: usize = 50_000;

/// Whether some path is in both scopes, and which. No scope overlaps everything.
#[must_use]
pub fn overlap(a: &Scope, b: &Scope) -> Option<Overlap> {
    match (a, b) {
        (Scope::Everything, _) | (_, Scope::Everything) => Some(Overlap::Unlimited),
        (Scope::Paths(a), Scope::Paths(b)) => sets(a, b),
    }
}

fn sets(a: &PathSet, b: &PathSet) -> Option<Overlap> {
    let mut undecided = false;
    for left in &a.include {
        for right in b.include.iter().filter(|right| left.may_meet(right)) {
            let excluded = a.exclude.iter().chain(&b.exclude);
            let excluded: Vec<&Pattern> = excluded.filter(|e| e.may_meet(left) && e.may_meet(right)).collect();
            match Search::new(left, right, excluded).run() {
                Outcome::Found(path) => return Some(Overlap::At(path)),
                Outcome::Nothing => {}
                Outcome::GaveUp => undecided = true,
            }
        }
    }
    undecided.then_some(Overlap::Undecided)
}

enum Outcome {
    Found(String),
    Nothing,
    GaveUp,
}

/// How much of a name has been read: names are not empty, `.` or `..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Empty,
    Dot,
    Dots,
    Good,
}

impl Name {
    fn step(self, c: char) -> Option<Self> {
        match (self, c) {
            (Self::Good, '/') => Some(Self::Empty),
            (Self::Empty | Self::Dot | Self::Dots, '/') => None,
            (Self::Empty, '.') => Some(Self::Dot),
            (Self::Dot, '.') => Some(Self::Dots),
            (Self::Empty | Self::Dot | Self::Dots | Self::Good, _) => Some(Self::Good),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    left: usize,
    right: usize,
    excluded: usize,
    name: Name,
}

struct Search<'a> {
    left: &'a Pattern,
    right: &'a Pattern,
    excluded: Vec<&'a Pattern>,
    alphabet: Vec<char>,
    /// Sets of (pattern, position) by number.
    sets: Vec<Vec<(usize, usize)>>,
    numbers: HashMap<Vec<(usize, usize)>, usize>,
    /// Sets that were computed, by set and character.
    steps: HashMap<(usize, char), usize>,
    /// Every state that was reached, in order, from where and by which character.
    reached: Vec<(State, usize, char)>,
    known: HashMap<State, ()>,
}

impl<'a> Search<'a> {
    fn new(left: &'a Pattern, right: &'a Pattern, excluded: Vec<&'a Pattern>) -> Self {
        let alphabet = alphabet([left, right].into_iter().chain(excluded.iter().copied()));
        Self {
            left,
            right,
            excluded,
            alphabet,
            sets: Vec::new(),
            numbers: HashMap::new(),
            steps: HashMap::new(),
            reached: Vec::new(),
            known: HashMap::new(),
        }
    }

    fn run(mut self) -> Outcome {
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        self.left.start(&mut lefts);
        self.right.start(&mut rights);
        let excluded = self.first_set();
        self.reach(&lefts, &rights, excluded, Name::Empty, (0, '\0'));
        let mut at = 0;
        let letters = self.alphabet.clone();
        while let Some((state, _, _)) = self.reached.get(at).copied() {
            if self.accepts(state) {
                return Outcome::Found(self.path_to(at));
            }
            for c in &letters {
                let Some(name) = state.name.step(*c) else { continue };
                lefts.clear();
                self.left.step(state.left, *c, &mut lefts);
                if lefts.is_empty() {
                    continue;
                }
                rights.clear();
                self.right.step(state.right, *c, &mut rights);
                if rights.is_empty() {
                    continue;
                }
                let excluded = self.next_set(state.excluded, *c);
                self.reach(&lefts, &rights, excluded, name, (at, *c));
            }
            at += 1;
            if self.reached.len() > EFFORT {
                return Outcome::GaveUp;
            }
        }
        Outcome::Nothing
    }

    fn accepts(&self, state: State) -> bool {
        state.name == Name::Good
            && self.left.accepts(state.left)
            && self.right.accepts(state.right)
            && !self.sets[state.excluded].iter().any(|(pattern, position)| self.excluded[*pattern].accepts(*position))
    }

    fn reach(&mut self, lefts: &[usize], rights: &[usize], excluded: usize, name: Name, from: (usize, char)) {
        for &left in lefts {
            for &right in rights {
                let state = State { left, right, excluded, name };
                if self.known.insert(state, ()).is_none() {
                    self.reached.push((state, from.0, from.1));
                }
            }
        }
    }

    fn path_to(&self, mut at: usize) -> String {
        let mut letters = Vec::new();
        while at != 0 {
            let (_, from, c) = self.reached[at];
            // The states before the first character are numbered too, and lead to themselves.
            if c == '\0' {
                break;
            }
            letters.push(c);
            at = from;
        }
        letters.iter().rev().collect()
    }

    fn first_set(&mut self) -> usize {
        let mut set = Vec::new();
        for (number, pattern) in self.excluded.iter().enumerate() {
            let mut positions = Vec::new();
            pattern.start(&mut positions);
            set.extend(positions.into_iter().map(|position| (number, position)));
        }
        self.number(set)
    }

    fn next_set(&mut self, set: usize, c: char) -> usize {
        if let Some(next) = self.steps.get(&(set, c)) {
            return *next;
        }
        let mut next = Vec::new();
        for (number, pattern) in self.excluded.iter().enumerate() {
            let mut positions = Vec::new();
            for (_, position) in self.sets[set].iter().filter(|(of, _)| *of == number) {
                pattern.step(*position, c, &mut positions);
            }
            next.extend(positions.into_iter().map(|position| (number, position)));
        }
        let next = self.number(next);
        self.steps.insert((set, c), next);
        next
    }

    fn number(&mut self, mut set: Vec<(usize, usize)>) -> usize {
        set.sort_unstable();
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len();
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }
}

/// Characters that a person likes to read in an example, best first.
const PLEASANT: &str = "xabcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/// One character for each group that the patterns do not tell apart.
fn alphabet<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Vec<char> {
    let mut cuts: BTreeSet<u32> = BTreeSet::from([1, 0x20, 0x7f]);
    let mut cut = |low: char, high: char| {
        cuts.insert(u32::from(low));
        cuts.insert(u32::from(high) + 1);
    };
    cut('/', '/');
    cut('.', '.');
    for part in patterns.flat_map(Pattern::parts) {
        match part {
            Part::Char(c) => cut(*c, *c),
            Part::Class { ranges, .. } => ranges.iter().for_each(|(low, high)| cut(*low, *high)),
            Part::Any | Part::Star | Part::DeepStart | Part::Deep | Part::Rest | Part::Below => {}
        }
    }
    let ends = cuts.iter().skip(1).copied().chain([u32::from(char::MAX) + 1]);
    let groups: Vec<(u32, u32)> = cuts.iter().copied().zip(ends).collect();
    let mut letters: Vec<char> = groups.into_iter().filter_map(|(low, end)| representative(low, end)).collect();
    letters.sort_by_key(|c| (PLEASANT.find(*c).unwrap_or(usize::MAX), *c));
    letters
}

fn representative(low: u32, end: u32) -> Option<char> {
    let pleasant = PLEASANT.chars().find(|c| (low..end).contains(&u32::from(*c)));
    pleasant.or_else(|| (low..end).find_map(char::from_u32))
}
