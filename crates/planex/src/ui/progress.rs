//! The moving display: one line per running job, one for the wave with what the session has used so far.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use planex_core::event::EventKind;
use planex_core::job::Usage;
use planex_core::text::one_line;

use super::lines::{cost, thousands};

/// How often spinners and clocks move.
const TICK: Duration = Duration::from_millis(125);

/// The moving display.
#[derive(Debug)]
pub(crate) struct Progress {
    multi: MultiProgress,
    wave: Option<Wave>,
    jobs: BTreeMap<String, ProgressBar>,
    usage: Usage,
}

#[derive(Debug)]
struct Wave {
    bar: ProgressBar,
    name: String,
    total: usize,
    done: usize,
}

impl Progress {
    /// A display on standard error.
    pub(crate) fn new() -> Self {
        Self::on(ProgressDrawTarget::stderr())
    }

    fn on(target: ProgressDrawTarget) -> Self {
        Self {
            multi: MultiProgress::with_draw_target(target),
            wave: None,
            jobs: BTreeMap::new(),
            usage: Usage::default(),
        }
    }

    /// Does something that prints, with the display out of the way.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.multi.suspend(print);
    }

    /// Takes the display away, for a prompt; it comes back with the next event.
    pub(crate) fn clear(&self) {
        let _ = self.multi.clear();
    }

    /// Moves the display.
    pub(crate) fn event(&mut self, event: &EventKind) {
        match event {
            EventKind::WaveStarted { phase, wave, of, items } => {
                let bar = self.bar("{spinner} {msg}  {elapsed}");
                self.wave = Some(Wave { bar, name: format!("{phase} {wave}/{of}"), total: items.len(), done: 0 });
            }
            EventKind::JobStarted { run, agent, item, title, .. } => {
                let bar = self.bar("  {spinner} {prefix} {elapsed} {wide_msg}");
                bar.set_prefix(format!("{} {}", one_line(item.as_ref().unwrap_or(run)), one_line(agent)));
                bar.set_message(one_line(title));
                self.jobs.insert(run.clone(), bar);
            }
            EventKind::JobActivity { run, text } => self.message(run, one_line(text)),
            EventKind::JobWaiting { run, cause, until } => {
                self.message(run, format!("waiting until {} ({})", one_line(until), cause.kind.as_str()));
            }
            EventKind::JobFinished { run, usage, .. } => {
                if let Some(bar) = self.jobs.remove(run) {
                    bar.finish_and_clear();
                    self.multi.remove(&bar);
                }
                self.usage.add(usage);
            }
            EventKind::ItemFinished { .. } => {
                if let Some(wave) = &mut self.wave {
                    wave.done += 1;
                }
            }
            EventKind::WaveFinished { .. } | EventKind::SessionFinished { .. } => self.end(),
            EventKind::SessionStarted { .. }
            | EventKind::PhaseStarted { .. }
            | EventKind::PhaseFinished { .. }
            | EventKind::GateOpened { .. }
            | EventKind::GateAnswered { .. }
            | EventKind::Notice { .. } => {}
        }
        self.head();
    }

    fn bar(&self, template: &str) -> ProgressBar {
        let bar = self.multi.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        bar
    }

    fn message(&self, run: &str, text: String) {
        if let Some(bar) = self.jobs.get(run) {
            bar.set_message(text);
        }
    }

    fn head(&self) {
        if let Some(wave) = &self.wave {
            let tokens = thousands(self.usage.total_tokens());
            let cost = cost(&self.usage, "  ");
            wave.bar.set_message(format!("{}  {}/{}  {tokens} tokens{cost}", wave.name, wave.done, wave.total));
        }
    }

    fn end(&mut self) {
        for bar in std::mem::take(&mut self.jobs).into_values().chain(self.wave.take().map(|wave| wave.bar)) {
            bar.finish_and_clear();
            self.multi.remove(&bar);
        }
    }
}

#[cfg(test)]
mod tests {
    use indicatif::InMemoryTerm;
    use planex_core::job::{JobStatus, Role};

    use super::*;

    #[test]
    fn jobs_come_and_go_and_lines_stay_narrow() {
        let term = InMemoryTerm::new(10, 40);
        let mut progress = Progress::on(ProgressDrawTarget::term_like(Box::new(term.clone())));
        progress.event(&EventKind::WaveStarted {
            phase: "execute".into(),
            wave: 1,
            of: 2,
            items: vec!["T1".into(), "T2".into()],
        });
        progress.event(&EventKind::JobStarted {
            run: "s-T1".into(),
            role: Role::Execute,
            agent: "codex".into(),
            item: Some("T1".into()),
            title: "ログイン画面を作るとても長い題名のタスクです".into(),
            attempt: 1,
        });
        let shown = term.contents();
        assert!(shown.contains("execute 1/2  0/2") && shown.contains("T1 codex"), "{shown}");
        assert!(shown.lines().all(|line| planex_core::text::width(line) <= 40), "{shown}");
        progress.event(&EventKind::JobFinished {
            run: "s-T1".into(),
            item: Some("T1".into()),
            status: JobStatus::Completed,
            cause: None,
            usage: Usage { input_tokens: 1_200, output_tokens: 34, cost_usd: Some(0.5), ..Usage::default() },
            duration_s: 1.0,
            agent_session: None,
        });
        let shown = term.contents();
        assert!(shown.contains("1,234 tokens  $0.50") && !shown.contains("codex"), "{shown}");
        progress.event(&EventKind::WaveFinished {
            phase: "execute".into(),
            wave: 1,
            completed: 1,
            failed: 0,
            skipped: 0,
        });
        assert_eq!(term.contents(), "");
    }
}
