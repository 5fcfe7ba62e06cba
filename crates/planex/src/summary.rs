//! What is said at the end: how it went, the files worth opening, the command to go on with.

use camino::Utf8Path;
use planex_engine::gate::render_text;
use planex_engine::workflow::fanout::FanoutReport;
use planex_engine::workflow::waves::WavesEnd;

use crate::context::Context;
use crate::error::{Exit, Result};
use crate::ui::Ui;
use crate::ui::colour::Tone;
use crate::ui::lines::{cost, thousands};

/// Columns of the labels: the longest and two.
const LABEL: usize = 13;

/// Failures of a fanout that are listed.
const SHOWN: usize = 10;

/// Folders upwards that a shown path may begin with.
const UPWARDS: usize = 4;

/// A path from where the command works, if it lies below or not far above (`../../a`).
fn from_here(path: &Utf8Path, dir: &Utf8Path) -> String {
    for (up, base) in dir.ancestors().take(UPWARDS + 1).enumerate() {
        // Two paths that share only the root have nothing to do with each other.
        if base.parent().is_none() {
            break;
        }
        if let Ok(rest) = path.strip_prefix(base) {
            return format!("{}{rest}", "../".repeat(up));
        }
    }
    path.to_string()
}

/// The end of a waves session.
pub(crate) fn waves(end: &WavesEnd, context: &Context, ui: &mut Ui) -> Result<Exit> {
    if let Some(gate) = &end.gate {
        // With --json the gate went out as an event already; this is for whoever reads along.
        ui.result(planex_core::text::safe(&render_text(gate, &end.session)));
        return Ok(exit(end.exit));
    }
    let totals = &end.totals;
    ui.result(format_args!("\nSession      {}", end.session));
    if totals.angles > 0 {
        ui.result(format_args!("Explored     {}/{}", totals.explored, totals.angles));
    }
    if totals.tasks > 0 {
        ui.result(format_args!(
            "Tasks        {}/{} completed, {} failed, {} skipped, in {} waves",
            totals.completed, totals.tasks, totals.failed, totals.skipped, totals.waves
        ));
    }
    let tokens = thousands(end.usage.total_tokens());
    ui.result(format_args!("Used         {tokens} tokens{}", cost(&end.usage, ", ")));
    for (what, path) in &end.files {
        ui.result(format_args!("{}{}", planex_core::text::pad(what, LABEL), from_here(path, &context.dir)));
    }
    for command in &end.next {
        match command.strip_prefix("edit ") {
            Some(file) => ui.result(format_args!("edit {}", from_here(Utf8Path::new(file), &context.dir))),
            None => ui.result(command),
        }
    }
    Ok(exit(end.exit))
}

/// The end of a fanout.
pub(crate) fn fanout(report: &FanoutReport, context: &Context, ui: &mut Ui) -> Result<Exit> {
    if let Some(gate) = &report.gate {
        ui.result(planex_core::text::safe(&render_text(gate, &report.session)));
        return Ok(exit(report.exit));
    }
    for (id, error) in report.failures.iter().take(SHOWN) {
        let line = planex_core::text::one_line(&format!("{id}: {error}"));
        ui.status(ui.err_colours().paint(Tone::Error, &line));
    }
    if report.failures.len() > SHOWN {
        ui.status(format_args!("… and {} more, in the results", report.failures.len() - SHOWN));
    }
    let counts = report.counts;
    ui.result(format_args!("\nSession      {}", report.session));
    ui.result(format_args!(
        "Rows         {}/{} completed, {} failed, {} skipped, {} pending",
        counts.completed,
        counts.total(),
        counts.failed,
        counts.skipped,
        counts.pending
    ));
    let tokens = thousands(report.usage.total_tokens());
    ui.result(format_args!("Used         {tokens} tokens{}", cost(&report.usage, ", ")));
    ui.result(format_args!("Results      {}", from_here(&report.output, &context.dir)));
    if let Some(next) = &report.next {
        ui.result(format_args!("Go on        {next}"));
    }
    Ok(exit(report.exit))
}

/// The exit that the engine names by its number.
pub(crate) fn exit(code: u8) -> Exit {
    match code {
        0 => Exit::Done,
        2 => Exit::Usage,
        3 => Exit::Input,
        4 => Exit::Stopped,
        5 => Exit::TasksFailed,
        6 => Exit::Blocked,
        7 => Exit::NoAgent,
        130 => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back_as_they_went() {
        for code in [0, 1, 2, 3, 4, 5, 6, 7, 130] {
            assert_eq!(exit(code).code(), code);
        }
    }

    #[test]
    fn paths_are_shown_from_where_one_is() {
        for (path, dir, expected) in [
            ("/w/a/b.csv", "/w", "a/b.csv"),
            ("/w/a/b.csv", "/w/src", "../a/b.csv"),
            ("/w/a", "/w/src/x/y", "../../../a"),
            ("/w/a", "/w/1/2/3/4/5", "/w/a"),
            ("/home/a", "/w", "/home/a"),
            ("rel/a", "/w", "rel/a"),
        ] {
            assert_eq!(from_here(Utf8Path::new(path), Utf8Path::new(dir)), expected, "{path} from {dir}");
        }
    }
}
