//! The terminal as one of the engine's surfaces: it shows events and asks gates.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planex_core::event::{Event, EventKind};
use planex_core::gate::{Answer, Answerer, Gate, Question};
use planex_core::lang::Language;
use planex_core::text::one_line;
use planex_engine::Cancel;
use planex_engine::gate::{Asked, Asker};
use planex_engine::journal::Surface;

use super::colour::{Colours, Tone};
use super::lines::{Line, Teller, choices};
use super::progress::Progress;
use super::select::{self, Item, Outside, Reply};
use super::{Ui, Verbosity};

/// What surface and asker share.
#[derive(Debug)]
struct Screen {
    ui: Ui,
    teller: Teller,
    progress: Option<Progress>,
    /// A prompt is open: events gather here, so that neither the journal waits nor the prompt is torn.
    held: Option<Vec<Event>>,
    /// The gate that was opened last.
    opened: Option<Gate>,
    /// A signal ends a prompt too.
    cancel: Cancel,
}

/// The terminal. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Terminal(Arc<Mutex<Screen>>);

impl Terminal {
    /// The terminal of this process.
    pub(crate) fn new(ui: Ui, language: Language, cancel: Cancel) -> Self {
        let progress = ui.shows_progress().then(Progress::new);
        let teller = Teller::new(language, ui.verbosity());
        Self(Arc::new(Mutex::new(Screen { teller, ui, progress, held: None, opened: None, cancel })))
    }

    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Surface for Terminal {
    fn event(&mut self, event: &Event) {
        let mut screen = self.screen();
        match &mut screen.held {
            Some(held) => held.push(event.clone()),
            None => screen.show(event),
        }
    }
}

impl Screen {
    fn show(&mut self, event: &Event) {
        if self.ui.is_json() {
            let ui = &mut self.ui;
            match &self.progress {
                // Both may be the same terminal.
                Some(progress) => progress.suspend(|| ui.json_line(event)),
                None => ui.json_line(event),
            }
        }
        self.show_passed(&event.kind);
        let mut line = self.teller.line(&event.kind);
        if let Some(progress) = &mut self.progress {
            progress.event(&event.kind);
            // The display shows these; a line for each would push it away.
            line = line.filter(|line| !line.moving || self.ui.verbosity() >= Verbosity::Verbose);
        }
        if let Some(line) = line {
            self.say(&line);
        }
    }

    /// What a gate was about that nobody is asked, so that people see what was approved.
    fn show_passed(&mut self, event: &EventKind) {
        match event {
            EventKind::GateOpened { gate } => self.opened = Some(gate.clone()),
            EventKind::GateAnswered { answer } => {
                let gate = self.opened.take().filter(|gate| gate.id == answer.gate && answer.by == Answerer::Yes);
                if let Some(gate) = gate.filter(|_| self.ui.verbosity() > Verbosity::Quiet) {
                    if let Some(progress) = &self.progress {
                        progress.clear();
                    }
                    self.show_gate(&gate);
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, line: &Line) {
        let text = match line.tone {
            Some(tone) => self.ui.err_colours().paint(tone, &line.text),
            None => line.text.clone(),
        };
        let ui = &mut self.ui;
        match &self.progress {
            Some(progress) => progress.suspend(|| ui.important(text)),
            None => ui.important(text),
        }
    }
}

impl Asker for Terminal {
    fn ask(&mut self, gate: &Gate, outside: &dyn Fn() -> Option<Answer>) -> Asked {
        let (colours, cancel) = {
            let mut screen = self.screen();
            if !screen.ui.is_interactive() {
                return Asked::Defer;
            }
            if let Some(progress) = &screen.progress {
                progress.clear();
            }
            screen.held = Some(Vec::new());
            screen.show_gate(gate);
            (screen.ui.err_colours(), screen.cancel.clone())
        };
        let ended = || cancel.is_cancelled();
        let asked = prompt(gate, colours, &Outside { answer: outside, ended: &ended });
        let mut screen = self.screen();
        if let Asked::Answered(answer) = &asked
            && answer.by != Answerer::Terminal
        {
            let text = format!("answered meanwhile by {}: {}", by(answer.by), one_line(&choices(answer)));
            screen.ui.important(text);
        }
        let held = screen.held.take().unwrap_or_default();
        for event in &held {
            screen.show(event);
        }
        asked
    }
}

impl Screen {
    fn show_gate(&mut self, gate: &Gate) {
        let title = self.ui.err_colours().paint(Tone::Title, &planex_core::text::safe(&gate.title));
        self.ui.important(format!("\n{title}"));
        if !gate.body.is_empty() {
            self.ui.important(planex_core::text::safe(gate.body.trim_end()));
        }
    }
}

/// Who answered, in words.
fn by(who: Answerer) -> &'static str {
    match who {
        Answerer::Terminal => "a terminal",
        Answerer::Yes => "-y",
        Answerer::Command => "`planex answer`",
        Answerer::Mcp => "an MCP host",
        Answerer::Page => "the page",
        Answerer::Tui => "`planex watch`",
        Answerer::Timeout => "the time-out",
    }
}

/// Asks every question of the gate.
fn prompt(gate: &Gate, colours: Colours, outside: &Outside<'_, Answer>) -> Asked {
    let mut pairs = Vec::new();
    let mut words = None;
    for question in &gate.questions {
        match ask_question(question, colours, outside) {
            Reply::Given(Given::Option(id)) => pairs.push((question.id.clone(), id)),
            Reply::Given(Given::Words(text)) => words = Some(text),
            // Whoever answers first answers, all questions at once.
            Reply::Outside(answer) => return Asked::Answered(answer),
            Reply::Left => return Asked::Interrupted,
        }
    }
    match gate.answer(&pairs, words.as_deref(), Answerer::Terminal, planex_sys::clock::now()) {
        Ok(answer) => Asked::Answered(answer),
        // Only a gate without options and without words comes here; it stays open.
        Err(_) => Asked::Defer,
    }
}

enum Given {
    Option(String),
    Words(String),
}

fn ask_question(question: &Question, colours: Colours, outside: &Outside<'_, Answer>) -> Reply<Given, Answer> {
    let mut items: Vec<Item> =
        question.options.iter().map(|option| Item::new(&option.label, &option.description)).collect();
    if question.free_text && !items.is_empty() {
        items.push(Item::new("Other…", "in your own words"));
    }
    if !items.is_empty() {
        let start = question.options.iter().position(|option| option.id == question.default).unwrap_or(0);
        match select::choose(&question.question, items, start, colours, outside) {
            Reply::Given(at) => {
                if let Some(option) = question.options.get(at) {
                    return Reply::Given(Given::Option(option.id.clone()));
                }
            }
            Reply::Outside(answer) => return Reply::Outside(answer),
            Reply::Left => return Reply::Left,
        }
    }
    match select::write(&question.question, colours, outside) {
        Reply::Given(text) => Reply::Given(Given::Words(text)),
        Reply::Outside(answer) => Reply::Outside(answer),
        Reply::Left => Reply::Left,
    }
}
