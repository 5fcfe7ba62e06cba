//! Events as lines: at most one each, for where no moving display is.

use std::collections::BTreeMap;
use std::time::Duration;

use planex_core::event::{EventKind, Level};
use planex_core::gate::Answer;
use planex_core::job::{Cause, JobStatus, Usage};
use planex_core::lang::{Language, Msg, tr};
use planex_core::text::one_line;
use planex_core::time::human_duration;

use super::Verbosity;
use super::colour::Tone;

/// One line, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// What it means.
    pub(crate) tone: Option<Tone>,
    /// The text, safe to show.
    pub(crate) text: String,
    /// A moving display shows the same; without one the line is needed.
    pub(crate) moving: bool,
}

impl Line {
    fn plain(text: String) -> Self {
        Self { tone: None, text, moving: false }
    }

    fn toned(tone: Tone, text: String) -> Self {
        Self { tone: Some(tone), text, moving: false }
    }

    fn moving(text: String) -> Self {
        Self { tone: Some(Tone::Dim), text, moving: true }
    }
}

/// A run that goes on.
#[derive(Debug, Clone)]
struct Going {
    label: String,
    agent: String,
}

/// Turns events into lines. Remembers what each run is for, since only its start tells, and how the runs of a row ended,
/// since a row is told in one line.
#[derive(Debug)]
pub(crate) struct Teller {
    language: Language,
    verbosity: Verbosity,
    going: BTreeMap<String, Going>,
    /// By row: how its last run ended.
    ended: BTreeMap<String, Ended>,
}

/// How the last run of a row ended.
#[derive(Debug, Clone)]
struct Ended {
    /// What ran, for how long, for how much.
    figures: String,
    /// What went wrong, if something did.
    fault: Option<String>,
}

impl Teller {
    /// One that speaks `language`.
    pub(crate) fn new(language: Language, verbosity: Verbosity) -> Self {
        Self { language, verbosity, going: BTreeMap::new(), ended: BTreeMap::new() }
    }

    /// The line of an event; `None` where it says nothing at this verbosity.
    pub(crate) fn line(&mut self, event: &EventKind) -> Option<Line> {
        let line = self.of_event(event)?;
        let loud = matches!(event, EventKind::Notice { level: Level::Warning | Level::Error, .. });
        (loud || self.verbosity > Verbosity::Quiet).then_some(line)
    }

    fn say(&self, message: Msg, parameters: &[(&str, &str)]) -> String {
        let safe: Vec<(&str, String)> = parameters.iter().map(|(name, value)| (*name, one_line(value))).collect();
        let borrowed: Vec<(&str, &str)> = safe.iter().map(|(name, value)| (*name, value.as_str())).collect();
        tr(self.language, message, &borrowed)
    }

    fn label(&self, run: &str) -> String {
        self.going.get(run).map_or_else(|| run.to_owned(), |going| going.label.clone())
    }

    fn of_event(&mut self, event: &EventKind) -> Option<Line> {
        Some(match event {
            EventKind::SessionStarted { session, workflow, resumed, .. } => {
                let message = if *resumed { Msg::SessionGoesOn } else { Msg::SessionStarted };
                Line::toned(Tone::Title, self.say(message, &[("session", session), ("workflow", workflow)]))
            }
            EventKind::PhaseStarted { title, .. } => Line::toned(Tone::Title, one_line(title)),
            EventKind::PhaseFinished { phase, summary } => {
                Line::plain(self.say(Msg::PhaseFinished, &[("phase", phase), ("summary", summary)]))
            }
            // The gate itself is shown by whoever asks, or at the end where nobody could be asked.
            EventKind::GateOpened { .. } | EventKind::WaveFinished { .. } => return None,
            EventKind::GateAnswered { answer } => {
                let by = format!("{:?}", answer.by).to_lowercase();
                let choice = choices(answer);
                Line::plain(self.say(Msg::GateAnswered, &[("gate", &answer.gate), ("choice", &choice), ("by", &by)]))
            }
            EventKind::WaveStarted { wave, of, items, .. } => {
                let (wave, of) = (wave.to_string(), of.to_string());
                Line::plain(self.say(Msg::WaveStarted, &[("wave", &wave), ("of", &of), ("items", &items.join(" "))]))
            }
            EventKind::JobStarted { .. }
            | EventKind::JobActivity { .. }
            | EventKind::JobWaiting { .. }
            | EventKind::JobFinished { .. } => return self.of_job(event),
            EventKind::ItemFinished { item, title, status, error } => self.item(item, title, status, error),
            EventKind::Notice { level, text } => {
                let text = planex_core::text::safe(text);
                match level {
                    Level::Info => Line::plain(text),
                    Level::Warning => Line::toned(Tone::Warning, format!("warning: {text}")),
                    Level::Error => Line::toned(Tone::Error, format!("error: {text}")),
                }
            }
            EventKind::SessionFinished { status, usage, .. } => {
                let (tokens, cost) = (thousands(usage.total_tokens()), cost(usage, ", "));
                let parameters = [("status", status.as_str()), ("tokens", &tokens), ("cost", &cost)];
                Line::toned(Tone::Title, self.say(Msg::SessionEnded, &parameters))
            }
        })
    }

    fn of_job(&mut self, event: &EventKind) -> Option<Line> {
        let verbose = self.verbosity >= Verbosity::Verbose;
        Some(match event {
            EventKind::JobStarted { run, agent, item, title, .. } => {
                let label = item.clone().unwrap_or_else(|| title.clone());
                self.going.insert(run.clone(), Going { label: label.clone(), agent: agent.clone() });
                let started = self.say(Msg::JobStarted, &[("item", &label), ("agent", agent), ("title", title)]);
                // What its row tried before would not be told by the row's own line.
                match item.as_ref().and_then(|item| self.ended.remove(item)).and_then(|ended| ended.fault) {
                    Some(fault) => Line::toned(Tone::Warning, format!("{fault}; {started}")),
                    None => Line::moving(started),
                }
            }
            EventKind::JobActivity { run, text } if verbose => {
                Line::moving(self.say(Msg::JobActivity, &[("item", &self.label(run)), ("text", text)]))
            }
            EventKind::JobWaiting { run, cause, until } => {
                let (item, reason) = (self.label(run), cause.to_string());
                let parameters = [("item", item.as_str()), ("until", until), ("reason", &reason)];
                Line::toned(Tone::Warning, self.say(Msg::JobWaiting, &parameters))
            }
            EventKind::JobFinished { run, item, status, cause, usage, duration_s, .. } => {
                let going = self.going.remove(run);
                let duration = human_duration(seconds(*duration_s));
                let word = job_status(*status, cause.as_ref());
                let label = item.clone().or_else(|| going.as_ref().map(|going| going.label.clone()));
                let label = label.unwrap_or_else(|| run.clone());
                let parameters = [("item", label.as_str()), ("status", &word), ("duration", &duration)];
                let line = self.say(Msg::JobFinished, &parameters);
                let done = *status == JobStatus::Completed;
                // A row has a line of its own, later; one that was cancelled has none.
                if let (Some(item), true) = (item, *status != JobStatus::Cancelled) {
                    let figures = self.figures(going.as_ref(), &duration, usage);
                    let fault = (!done).then(|| line.clone());
                    self.ended.insert(item.clone(), Ended { figures, fault });
                    if !verbose {
                        return None;
                    }
                }
                Line::toned(if done { Tone::Dim } else { Tone::Warning }, line)
            }
            _ => return None,
        })
    }

    fn figures(&self, going: Option<&Going>, duration: &str, usage: &Usage) -> String {
        let agent = going.map(|going| format!("{}, ", one_line(&going.agent))).unwrap_or_default();
        let (tokens, cost) = (thousands(usage.total_tokens()), cost(usage, ", "));
        let used = match usage.total_tokens() {
            0 => cost,
            _ => self.say(Msg::Used, &[("tokens", &tokens), ("cost", &cost)]),
        };
        format!("{agent}{duration}{used}")
    }

    /// A row's one line: what it was, how it ended, who ran it, for how long and how much.
    fn item(&mut self, item: &str, title: &str, status: &str, error: &str) -> Line {
        let tone = if status == "completed" { Tone::Good } else { Tone::Error };
        let named = if title.trim().is_empty() || title == item { item.to_owned() } else { format!("{item} {title}") };
        let mut text = match error.is_empty() {
            true => self.say(Msg::ItemFinished, &[("item", &named), ("status", status)]),
            false => self.say(Msg::ItemEnded, &[("item", &named), ("status", status), ("reason", error)]),
        };
        if let Some(ended) = self.ended.remove(item) {
            text.push_str(&format!(" [{}]", ended.figures));
        }
        Line::toned(tone, text)
    }
}

fn job_status(status: JobStatus, cause: Option<&Cause>) -> String {
    match (status, cause) {
        (JobStatus::Completed, _) => "completed".to_owned(),
        (_, Some(cause)) => cause.to_string(),
        (JobStatus::Failed, None) => "failed".to_owned(),
        (JobStatus::Timeout, None) => "timeout".to_owned(),
        (JobStatus::Cancelled, None) => "cancelled".to_owned(),
    }
}

/// What was chosen, in ids or own words.
pub(crate) fn choices(answer: &Answer) -> String {
    let words: Vec<&str> =
        answer.chosen.values().filter_map(|chosen| chosen.option.as_deref().or(chosen.text.as_deref())).collect();
    words.join(", ")
}

/// Seconds as a duration; what is no time (negative, not a number) is none.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// A cost with its separator in front, or nothing where no agent told one.
pub(crate) fn cost(usage: &Usage, separator: &str) -> String {
    usage.cost_usd.map(|cost| format!("{separator}${cost:.2}")).unwrap_or_default()
}

/// A number with its thousands apart: `12,345`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use planex_core::job::{CauseKind, Role};

    use super::*;

    fn text(event: &EventKind, verbosity: Verbosity) -> Option<String> {
        Teller::new(Language::En, verbosity).line(event).map(|line| line.text)
    }

    #[test]
    fn numbers_read_well() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(thousands(number), expected);
        }
        assert_eq!(seconds(-1.0), Duration::ZERO);
        assert_eq!(seconds(f64::NAN), Duration::ZERO);
        assert_eq!(cost(&Usage { cost_usd: Some(0.456), ..Usage::default() }, ", "), ", $0.46");
        assert_eq!(cost(&Usage::default(), ", "), "");
    }

    #[test]
    fn a_failed_job_says_why_in_one_safe_line() {
        let event = EventKind::JobFinished {
            run: "plan".into(),
            item: None,
            status: JobStatus::Failed,
            cause: Some(Cause::new(CauseKind::Failed, "it\u{1b}[31m broke\nbadly")),
            usage: Usage::default(),
            duration_s: 61.0,
            agent_session: None,
        };
        assert_eq!(text(&event, Verbosity::Normal).as_deref(), Some("plan: failed: it broke badly after 1m 01s"));
        assert_eq!(text(&event, Verbosity::Quiet), None);
    }

    #[test]
    fn quiet_keeps_warnings_and_activity_needs_verbose() {
        let warning = EventKind::Notice { level: Level::Warning, text: "no git".into() };
        assert_eq!(text(&warning, Verbosity::Quiet).as_deref(), Some("warning: no git"));
        let activity = EventKind::JobActivity { run: "r".into(), text: "reads a.rs".into() };
        assert_eq!(text(&activity, Verbosity::Normal), None);
        assert_eq!(text(&activity, Verbosity::Verbose).as_deref(), Some("r: reads a.rs"));
    }

    fn started(run: &str) -> EventKind {
        EventKind::JobStarted {
            run: run.into(),
            role: Role::Execute,
            agent: "codex".into(),
            item: Some("T1".into()),
            title: "Add tags".into(),
            attempt: 1,
        }
    }

    fn finished(run: &str, cause: Option<Cause>, status: JobStatus) -> EventKind {
        let usage = Usage { input_tokens: 1_000, output_tokens: 234, cost_usd: Some(0.5), ..Usage::default() };
        EventKind::JobFinished {
            run: run.into(),
            item: Some("T1".into()),
            status,
            cause,
            usage,
            duration_s: 61.0,
            agent_session: None,
        }
    }

    fn row(status: &str, error: &str) -> EventKind {
        EventKind::ItemFinished {
            item: "T1".into(),
            title: "Add tags".into(),
            status: status.into(),
            error: error.into(),
        }
    }

    #[test]
    fn a_row_ends_in_one_line_with_its_figures() {
        let mut teller = Teller::new(Language::En, Verbosity::Normal);
        assert!(teller.line(&started("s-T1")).is_some_and(|line| line.moving));
        assert_eq!(teller.line(&finished("s-T1", None, JobStatus::Completed)), None);
        let line = teller.line(&row("completed", "")).unwrap();
        assert_eq!(line.text, "T1 Add tags: completed [codex, 1m 01s, 1,234 tokens, $0.50]");
        assert_eq!(teller.line(&row("skipped", "gone")).unwrap().text, "T1 Add tags: skipped (gone)");
    }

    #[test]
    fn a_failed_try_is_told_when_the_next_one_starts() {
        let mut teller = Teller::new(Language::En, Verbosity::Normal);
        teller.line(&started("s-T1"));
        let cause = Cause::new(CauseKind::Timeout, "too slow");
        assert_eq!(teller.line(&finished("s-T1", Some(cause), JobStatus::Timeout)), None);
        let line = teller.line(&started("s-T1-retry")).unwrap();
        assert!(!line.moving && line.text.starts_with("T1: timeout: too slow after 1m 01s; T1: codex"), "{line:?}");
    }

    #[test]
    fn a_cancelled_run_has_no_row_to_wait_for() {
        let mut teller = Teller::new(Language::En, Verbosity::Normal);
        teller.line(&started("s-T1"));
        let line = teller.line(&finished("s-T1", None, JobStatus::Cancelled)).unwrap();
        assert_eq!(line.text, "T1: cancelled after 1m 01s");
    }
}
