//! Events as lines: at most one each, for where no moving display is.

use std::collections::BTreeMap;
use std::time::Duration;

use planex_core::event::{EventKind, Level};
use planex_core::gate::Answer;
use planex_core::job::{JobStatus, Usage};
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
}

impl Line {
    fn plain(text: String) -> Self {
        Self { tone: None, text }
    }

    fn toned(tone: Tone, text: String) -> Self {
        Self { tone: Some(tone), text }
    }
}

/// Turns events into lines. Remembers what each run is for, since only its start tells.
#[derive(Debug)]
pub(crate) struct Teller {
    language: Language,
    verbosity: Verbosity,
    labels: BTreeMap<String, String>,
}

impl Teller {
    /// One that speaks `language`.
    pub(crate) fn new(language: Language, verbosity: Verbosity) -> Self {
        Self { language, verbosity, labels: BTreeMap::new() }
    }

    /// The line of an event; `None` where it says nothing at this verbosity.
    pub(crate) fn line(&mut self, event: &EventKind) -> Option<Line> {
        if let EventKind::JobStarted { run, item, title, .. } = event {
            self.labels.insert(run.clone(), item.clone().unwrap_or_else(|| title.clone()));
        }
        let line = of_event(event, self.language, self.verbosity, &self.labels);
        if let EventKind::JobFinished { run, .. } = event {
            self.labels.remove(run);
        }
        line
    }
}

#[expect(clippy::too_many_lines, reason = "one arm per event, each of a few lines")]
fn of_event(
    event: &EventKind,
    language: Language,
    verbosity: Verbosity,
    labels: &BTreeMap<String, String>,
) -> Option<Line> {
    let label = |run: &String| labels.get(run).unwrap_or(run).clone();
    let say = |message: Msg, parameters: &[(&str, &str)]| {
        let safe: Vec<(&str, String)> = parameters.iter().map(|(name, value)| (*name, one_line(value))).collect();
        let borrowed: Vec<(&str, &str)> = safe.iter().map(|(name, value)| (*name, value.as_str())).collect();
        tr(language, message, &borrowed)
    };
    let quiet = verbosity == Verbosity::Quiet;
    let verbose = verbosity >= Verbosity::Verbose;
    let line = match event {
        EventKind::SessionStarted { session, workflow, resumed, .. } => {
            let message = if *resumed { Msg::SessionGoesOn } else { Msg::SessionStarted };
            Line::toned(Tone::Title, say(message, &[("session", session), ("workflow", workflow)]))
        }
        EventKind::PhaseStarted { title, .. } => Line::toned(Tone::Title, one_line(title)),
        EventKind::PhaseFinished { phase, summary } => {
            Line::plain(say(Msg::PhaseFinished, &[("phase", phase), ("summary", summary)]))
        }
        // The gate itself is shown by whoever asks, or at the end where nobody could be asked.
        EventKind::GateOpened { .. } => return None,
        EventKind::GateAnswered { answer } => {
            let by = format!("{:?}", answer.by).to_lowercase();
            Line::plain(say(Msg::GateAnswered, &[("gate", &answer.gate), ("choice", &choices(answer)), ("by", &by)]))
        }
        EventKind::WaveStarted { wave, of, items, .. } => {
            let (wave, of) = (wave.to_string(), of.to_string());
            Line::plain(say(Msg::WaveStarted, &[("wave", &wave), ("of", &of), ("items", &items.join(" "))]))
        }
        EventKind::WaveFinished { .. } => return None,
        EventKind::JobStarted { run, agent, title, .. } => {
            Line::toned(Tone::Dim, say(Msg::JobStarted, &[("item", &label(run)), ("agent", agent), ("title", title)]))
        }
        EventKind::JobActivity { run, text } => {
            if !verbose {
                return None;
            }
            Line::toned(Tone::Dim, say(Msg::JobActivity, &[("item", &label(run)), ("text", text)]))
        }
        EventKind::JobWaiting { run, cause, until } => Line::toned(
            Tone::Warning,
            say(Msg::JobWaiting, &[("item", &label(run)), ("until", until), ("reason", &cause.to_string())]),
        ),
        EventKind::JobFinished { run, item, status, cause, duration_s, .. } => {
            let duration = human_duration(seconds(*duration_s));
            let status_word = match (status, cause) {
                (JobStatus::Completed, _) => "completed".to_owned(),
                (_, Some(cause)) => cause.to_string(),
                (JobStatus::Failed, None) => "failed".to_owned(),
                (JobStatus::Timeout, None) => "timeout".to_owned(),
                (JobStatus::Cancelled, None) => "cancelled".to_owned(),
            };
            let tone = if *status == JobStatus::Completed { Tone::Dim } else { Tone::Warning };
            let item = item.clone().unwrap_or_else(|| label(run));
            Line::toned(
                tone,
                say(Msg::JobFinished, &[("item", &item), ("status", &status_word), ("duration", &duration)]),
            )
        }
        EventKind::ItemFinished { item, status, error, .. } => {
            let tone = if status == "completed" { Tone::Good } else { Tone::Error };
            let text = if error.is_empty() {
                say(Msg::ItemFinished, &[("item", item), ("status", status)])
            } else {
                say(Msg::ItemEnded, &[("item", item), ("status", status), ("reason", error)])
            };
            Line::toned(tone, text)
        }
        EventKind::Notice { level, text } => {
            let text = planex_core::text::safe(text);
            match level {
                Level::Info => Line::plain(text),
                Level::Warning => return Some(Line::toned(Tone::Warning, format!("warning: {text}"))),
                Level::Error => return Some(Line::toned(Tone::Error, format!("error: {text}"))),
            }
        }
        EventKind::SessionFinished { status, usage, .. } => Line::toned(
            Tone::Title,
            say(
                Msg::SessionEnded,
                &[("status", status), ("tokens", &thousands(usage.total_tokens())), ("cost", &cost(usage, ", "))],
            ),
        ),
    };
    (!quiet).then_some(line)
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
    use planex_core::job::{Cause, CauseKind};

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
            run: "s-T1".into(),
            item: Some("T1".into()),
            status: JobStatus::Failed,
            cause: Some(Cause::new(CauseKind::Failed, "it\u{1b}[31m broke\nbadly")),
            usage: Usage::default(),
            duration_s: 61.0,
            agent_session: None,
        };
        assert_eq!(text(&event, Verbosity::Normal).as_deref(), Some("T1: failed: it broke badly after 1m 01s"));
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
}
