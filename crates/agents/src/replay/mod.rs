//! The agent `replay`: recorded results, for `planex demo` and tests. No model, no network; its edits and commands are
//! real (spec 10, *Adapters*).

mod recording;

use std::time::Duration;

use camino::Utf8Path;
use planex_core::job::{Cause, CauseKind, JobSpec, Mode};
use planex_core::text::truncate_bytes;
use planex_sys::fs::{self, safe_join};
use planex_sys::process::{CommandSpec, run};

use crate::inprocess::{Control, InProcess, InProcessAnswer};

pub use recording::{Change, Edit, Failure, Recording, Step, attempt_of, item_of};

/// Limit of one recorded command, within the job's own.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Bytes of a command's output that are kept.
const OUTPUT_CAP: usize = 64 * 1024;

/// Plays a recording.
#[derive(Debug, Clone)]
pub struct Replay {
    recording: Recording,
}

impl Replay {
    /// An agent that answers from `recording`.
    #[must_use]
    pub fn new(recording: Recording) -> Self {
        Self { recording }
    }
}

impl InProcess for Replay {
    fn name(&self) -> &str {
        "replay"
    }

    fn can_write(&self) -> bool {
        true
    }

    fn run(&self, spec: &JobSpec, control: &Control) -> Result<InProcessAnswer, Cause> {
        let (item, attempt) = (item_of(spec), attempt_of(&spec.run_id));
        let Some(step) = self.recording.step_for(spec.role, item, attempt) else {
            let message = format!("the recording has no step for {} `{item}`, attempt {attempt}", spec.role);
            return Err(Cause::new(CauseKind::NoResult, message));
        };
        wait(step, control)?;
        let mut notes = Vec::new();
        if spec.mode == Mode::Write {
            for edit in &step.edits {
                control.activity(&format!("edit: {}", edit.path));
                apply(&spec.cwd, edit)?;
            }
            for argv in &step.run {
                notes.push(command(argv, spec, control)?);
            }
        } else if !step.edits.is_empty() || !step.run.is_empty() {
            notes.push("edits and commands were left out: the job only reads".to_owned());
        }
        match &step.fail {
            Some(failure) => Err(Cause::new(failure.kind, failure.message.clone())),
            None => Ok(InProcessAnswer { result: step.result.clone(), text: step.text.clone(), notes }),
        }
    }
}

fn cancelled() -> Cause {
    Cause::new(CauseKind::Cancelled, "the job was ended")
}

/// Tells the activity, spread over the delay.
fn wait(step: &Step, control: &Control) -> Result<(), Cause> {
    let parts = u32::try_from(step.activity.len()).unwrap_or(u32::MAX).saturating_add(1);
    let pause = Duration::from_millis(step.delay_ms) / parts;
    for line in &step.activity {
        control.activity(line);
        if !control.sleep(pause) {
            return Err(cancelled());
        }
    }
    if control.sleep(pause) { Ok(()) } else { Err(cancelled()) }
}

fn apply(cwd: &Utf8Path, edit: &Edit) -> Result<(), Cause> {
    let failed = |error: String| Cause::new(CauseKind::Failed, format!("failed to edit `{}`: {error}", edit.path));
    let path = safe_join(cwd, &edit.path).map_err(|error| failed(error.to_string()))?;
    let write = |content: &str| {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write_atomic_nosync(&path, content.as_bytes())
    };
    let done = match &edit.change {
        Change::Content(content) => write(content),
        Change::Delete(false) => Ok(()),
        Change::Delete(true) => fs::remove_file(&path),
        Change::Replace { old, new } => {
            let content = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
            if old.is_empty() || !content.contains(old.as_str()) {
                return Err(failed(format!("it does not contain {old:?}")));
            }
            write(&content.replace(old.as_str(), new))
        }
    };
    done.map_err(|error| failed(error.to_string()))
}

/// Runs a command; how it ended and what it printed, as a note. Its failure is not the job's.
fn command(argv: &[String], spec: &JobSpec, control: &Control) -> Result<String, Cause> {
    if control.cancelled() {
        return Err(cancelled());
    }
    let shown = argv.join(" ");
    control.activity(&format!("run: {shown}"));
    let command = CommandSpec {
        argv: argv.to_vec(),
        env: control.environment(spec),
        cwd: spec.cwd.clone(),
        stdin: Vec::new(),
        limit: COMMAND_LIMIT.min(spec.limit),
        output_cap: OUTPUT_CAP,
    };
    let output = run(&command).map_err(|error| Cause::new(CauseKind::Failed, error.to_string()))?;
    let printed = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let printed = control.context.masker.mask_bytes(&printed).into_owned();
    let printed = truncate_bytes(String::from_utf8_lossy(&printed).trim(), 2000);
    let how = if output.timed_out { "timed out".to_owned() } else { format!("{:?}", output.exit) };
    Ok(format!("`{shown}` ended with {how}: {printed}"))
}

#[cfg(test)]
mod tests;
