//! What `--dry-run` shows.

use std::time::Duration;

use planex_core::text::{one_line, safe};
use planex_core::time::human_duration;
use planex_engine::single::SinglePreview;
use planex_engine::workflow::waves::{Preview, PreviewJob};

use crate::ui::colour::Tone;
use crate::ui::lines::thousands;
use crate::ui::{Ui, Verbosity};

/// Lines of a prompt that are shown without `-v`.
const HEAD: usize = 3;

/// What a waves session would do.
pub(crate) fn waves(preview: &Preview, ui: &mut Ui) {
    if ui.is_json() {
        ui.json_line(preview);
        return;
    }
    let title = |ui: &Ui, text: &str| ui.colours().paint(Tone::Title, text);
    ui.result(format_args!("{:?}, {:?} complexity; planned by planex itself", preview.kind, preview.complexity));
    if !preview.angles.is_empty() {
        let head = title(ui, "\nAngles");
        ui.result(head);
    }
    for angle in &preview.angles {
        ui.result(format_args!("  [{}] {}: {}", angle.id, one_line(&angle.angle), one_line(&angle.focus)));
    }
    for wave in 1..=preview.waves {
        let head = title(ui, &format!("\nWave {wave}"));
        ui.result(head);
        for task in preview.tasks.iter().filter(|task| task.wave == wave) {
            let scope = if task.scope.trim().is_empty() { "anywhere" } else { &task.scope };
            let after = if task.deps.is_empty() { String::new() } else { format!(", after {}", task.deps.join(", ")) };
            ui.result(format_args!("  [{}] {}", task.id, one_line(&task.title)));
            ui.result(format_args!("      scope {}{}", one_line(scope), one_line(&after)));
            for command in &task.commands {
                ui.result(format_args!("      verify: {}", one_line(command)));
            }
        }
    }
    let head = title(ui, "\nPrompts");
    ui.result(head);
    for job in &preview.jobs {
        prompt(job, ui);
    }
    for note in &preview.notes {
        ui.warning(one_line(note));
    }
    let estimate = &preview.estimate;
    let head = title(ui, "\nEstimate");
    ui.result(head);
    ui.result(format_args!(
        "  {} jobs of agents, {} of planex itself; retries and second plans come on top",
        estimate.agent_jobs, estimate.native_jobs
    ));
    ui.result(format_args!(
        "  about {} tokens of prompts; what agents read and write by themselves is not known before",
        thousands(u64::try_from(estimate.prompt_tokens).unwrap_or(u64::MAX))
    ));
    ui.result(format_args!("  at most {} by the time limits", human_duration(estimate.longest())));
}

fn prompt(job: &PreviewJob, ui: &mut Ui) {
    if job.is_native() {
        ui.result(format_args!("  {} {}: planex itself, no prompt", job.role, one_line(&job.item)));
        return;
    }
    let who = if job.agents.is_empty() { "nobody".to_owned() } else { job.agents.join(", else ") };
    ui.result(format_args!(
        "  {} {}: {}, {} mode, {} bytes, at most {}",
        job.role,
        one_line(&job.item),
        one_line(&who),
        format!("{:?}", job.mode).to_lowercase(),
        thousands(u64::try_from(job.prompt_bytes).unwrap_or(u64::MAX)),
        human_duration(Duration::from_secs(job.limit_s))
    ));
    let whole = ui.verbosity() >= Verbosity::Verbose;
    text(&job.prompt, whole, ui);
}

fn text(prompt: &str, whole: bool, ui: &mut Ui) {
    let lines = prompt.lines().filter(|line| whole || !line.trim().is_empty());
    let shown = if whole { usize::MAX } else { HEAD };
    for line in lines.take(shown) {
        let line = ui.colours().paint(Tone::Dim, &format!("      | {}", safe(line)));
        ui.result(line);
    }
}

/// What one job would start.
pub(crate) fn single(preview: &SinglePreview, ui: &mut Ui) {
    if ui.is_json() {
        ui.json_line(preview);
        return;
    }
    match preview.argv.is_empty() {
        true => ui.result(format_args!("{} runs inside planex", one_line(&preview.agent))),
        false => {
            let words: Vec<String> = preview.argv.iter().map(|word| shell_word(word)).collect();
            ui.result(one_line(&words.join(" ")));
        }
    }
    let stdin = if preview.prompt_on_stdin { "prompt on standard input" } else { "nothing on standard input" };
    let limit = human_duration(Duration::from_secs(preview.limit_s));
    ui.status(format_args!("in {}; {stdin}; at most {limit}; run {}", preview.cwd, preview.run));
    ui.result(safe(preview.prompt.trim_end()));
}

/// A word as a POSIX shell takes it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-=/:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn words_come_through_a_shell_as_they_are() {
        for (word, expected) in
            [("--json", "--json"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("{\"a\":1}", "'{\"a\":1}'")]
        {
            assert_eq!(shell_word(word), expected);
        }
    }
}
