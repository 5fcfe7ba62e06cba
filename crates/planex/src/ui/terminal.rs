//! The terminal as one of the engine's surfaces: it shows events and asks gates.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planex_core::event::{Event, EventKind};
use planex_core::gate::{Answer, Answerer, Gate, Question};
use planex_core::lang::Language;
use planex_engine::gate::{Asked, Asker};
use planex_engine::journal::Surface;

use super::lines::{Line, Teller};
use super::progress::Progress;
use super::{Ui, Verbosity};
use crate::ui::colour::Tone;

/// What surface and asker share.
#[derive(Debug)]
struct Screen {
    ui: Ui,
    teller: Teller,
    progress: Option<Progress>,
    /// A prompt is open: events gather here, so that neither the journal waits nor the prompt is torn.
    held: Option<Vec<Event>>,
}

/// The terminal. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Terminal(Arc<Mutex<Screen>>);

impl Terminal {
    /// The terminal of this process.
    pub(crate) fn new(ui: Ui, language: Language) -> Self {
        let progress = ui.shows_progress().then(Progress::new);
        Self(Arc::new(Mutex::new(Screen { teller: Teller::new(language, ui.verbosity()), ui, progress, held: None })))
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
        let mut line = self.teller.line(&event.kind);
        if let Some(progress) = &mut self.progress {
            progress.event(&event.kind);
            // The display shows these; a line for each would push it away.
            let moving = matches!(event.kind, EventKind::JobStarted { .. } | EventKind::JobActivity { .. });
            line = line.filter(|_| !moving || self.ui.verbosity() >= Verbosity::Verbose);
        }
        if let Some(line) = line {
            self.say(&line);
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
        {
            let mut screen = self.screen();
            if !screen.ui.is_interactive() {
                return Asked::Defer;
            }
            if let Some(progress) = &screen.progress {
                progress.clear();
            }
            screen.held = Some(Vec::new());
            screen.show_gate(gate);
        }
        let asked = prompt(gate);
        let mut screen = self.screen();
        let held = screen.held.take().unwrap_or_default();
        for event in &held {
            screen.show(event);
        }
        match (&asked, outside()) {
            // Whoever answers first answers.
            (_, Some(answer)) => Asked::Answered(answer),
            _ => asked,
        }
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

/// Asks every question of the gate.
fn prompt(gate: &Gate) -> Asked {
    let mut pairs = Vec::new();
    let mut words = None;
    for question in &gate.questions {
        match ask_question(question) {
            Ok(Reply::Option(id)) => pairs.push((question.id.clone(), id)),
            Ok(Reply::Words(text)) => words = Some(text),
            Err(Interrupted) => return Asked::Interrupted,
        }
    }
    match gate.answer(&pairs, words.as_deref(), Answerer::Terminal, planex_sys::clock::now()) {
        Ok(answer) => Asked::Answered(answer),
        // Only a gate without options and without words comes here; it stays open.
        Err(_) => Asked::Defer,
    }
}

enum Reply {
    Option(String),
    Words(String),
}

struct Interrupted;

/// What a list shows for one option.
struct Shown<'a> {
    id: Option<&'a str>,
    text: String,
}

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn ask_question(question: &Question) -> Result<Reply, Interrupted> {
    let safe = planex_core::text::one_line;
    let mut shown: Vec<Shown<'_>> = question
        .options
        .iter()
        .map(|option| Shown {
            id: Some(&option.id),
            text: match option.description.is_empty() {
                true => safe(&option.label),
                false => format!("{} - {}", safe(&option.label), safe(&option.description)),
            },
        })
        .collect();
    if question.free_text && !shown.is_empty() {
        shown.push(Shown { id: None, text: "Other…".to_owned() });
    }
    let message = safe(&question.question);
    if !shown.is_empty() {
        let start = question.options.iter().position(|option| option.id == question.default).unwrap_or(0);
        let picked = inquire::Select::new(&message, shown)
            .with_starting_cursor(start)
            .without_filtering()
            .with_help_message("arrow keys and enter; Ctrl-C stops, the state is kept")
            .prompt()
            .map_err(|_| Interrupted)?;
        if let Some(id) = picked.id {
            return Ok(Reply::Option(id.to_owned()));
        }
    }
    inquire::Text::new(&message).prompt().map(Reply::Words).map_err(|_| Interrupted)
}
