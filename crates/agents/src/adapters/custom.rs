//! Any command, by a table of the configuration (spec 10, *A custom agent*).

use planex_core::job::{Exit, JobSpec};
use planex_core::settings::{AgentSettings, PromptVia, ResultVia};

use super::shared::{self, Tail, configured_args};
use crate::adapter::{
    Adapter, AgentEvent, Capabilities, Ending, Invocation, Launch, Reader, RunFiles, Sources, StdinPlan,
};
use crate::fault::Fault;

/// The adapter for one configured command.
#[derive(Debug, Clone)]
pub struct Custom {
    settings: AgentSettings,
}

impl Custom {
    /// The adapter for the table `settings`.
    #[must_use]
    pub fn new(settings: AgentSettings) -> Self {
        Self { settings }
    }
}

impl Adapter for Custom {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            write: true,
            mcp: false,
            structured: false,
            resume: self.settings.resume_args.is_some(),
            resume_same_folder: false,
            cost: false,
            tokens: false,
            sandbox: false,
        }
    }

    fn command(&self, spec: &JobSpec, files: &RunFiles, launch: &Launch<'_>) -> Invocation {
        let via_file = self.settings.prompt == PromptVia::File;
        let fill = |word: &String| match via_file {
            true => word.replace("{prompt_file}", files.prompt.as_str()),
            false => word.clone(),
        };
        let mut argv: Vec<String> = launch.program.iter().map(fill).collect();
        argv.extend(configured_args(spec, launch));
        if let (Some(session), Some(args)) = (&spec.resume, &self.settings.resume_args) {
            argv.extend(args.iter().map(|word| word.replace("{session}", session)));
        }
        let stdin = if via_file { StdinPlan::Null } else { StdinPlan::Prompt };
        Invocation { stdin, ..Invocation::of(argv) }
    }

    fn reader(&self, spec: &JobSpec) -> Box<dyn Reader> {
        // It knows the run by PLANEX_JOB_ID, so that is what it is asked to go on with.
        let own = self.settings.resume_args.as_ref().map(|_| spec.resume.clone().unwrap_or(spec.run_id.clone()));
        Box::new(CustomReader { session: own, text: Tail::default() })
    }

    fn sources(&self) -> Sources {
        match self.settings.result {
            ResultVia::Auto => Sources::All,
            ResultVia::File => Sources::File,
            ResultVia::Stdout => Sources::Text,
        }
    }

    fn report_beats_exit(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct CustomReader {
    session: Option<String>,
    text: Tail,
}

impl Reader for CustomReader {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        self.text.push(line);
        self.text.push("\n");
        vec![AgentEvent::Activity(line.to_owned())]
    }

    fn finish(&mut self, exit: &Exit, stderr_tail: &str) -> Ending {
        let fault = match exit {
            Exit::Code(0) => None,
            Exit::Code(code) => {
                let how = format!("exit code {code}");
                let said = shared::last_line(stderr_tail).map_or(how.clone(), |line| format!("{line} ({how})"));
                Some(Fault::classify(None, &said))
            }
            Exit::Signal(_) | Exit::Lost => Some(Fault::classify(None, &shared::ended_early(exit, stderr_tail))),
        };
        Ending {
            well: fault.is_none(),
            fault,
            text: self.text.take(),
            session: self.session.take(),
            ..Ending::default()
        }
    }
}

#[cfg(test)]
#[path = "custom_tests.rs"]
mod tests;
