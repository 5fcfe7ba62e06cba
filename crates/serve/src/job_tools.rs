//! The tools an agent has inside its job (spec 80, *planex mcp*), without any protocol around them.
//!
//! Everything is bound to one run: reports go to its own `reports.ndjson`, discoveries carry its row's id.

use camino::Utf8PathBuf;
use planex_core::discovery::Discovery;
use planex_core::mask::Masker;
use planex_core::schema::Checker;
use planex_core::text::truncate_bytes;
use planex_core::time::Zone;
use planex_engine::board;
use planex_engine::store::SessionPaths;
use planex_sys::{clock, fs};
use serde_json::{Map, Value, json};

/// Longest answer of a tool, in bytes; hosts choke on more.
const MAX_REPLY: usize = 32 * 1024;

/// What a job's environment says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobBinding {
    /// `PLANEX_JOB_ID`.
    pub run_id: String,
    /// `PLANEX_SESSION_DIR`.
    pub session_dir: Utf8PathBuf,
    /// `PLANEX_RESULT_FILE`'s folder: the run's own.
    pub run_dir: Utf8PathBuf,
}

/// One tool, as it is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub input: Map<String, Value>,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It worked.
    Done(String),
    /// It did not; the agent is told why and may try again.
    Refused(String),
}

/// The tools of one job.
#[derive(Debug)]
pub struct JobTools {
    binding: JobBinding,
    paths: SessionPaths,
    zone: Zone,
    /// What agents report goes to disk without secrets.
    masker: Masker,
    schema: Option<Value>,
    item: Map<String, Value>,
}

impl JobTools {
    /// The tools of the job that `binding` names; reads its schema and row where they are there.
    #[must_use]
    pub fn new(binding: JobBinding, zone: Zone, masker: Masker) -> Self {
        let read = |name: &str| -> Option<Value> {
            let text = fs::read_to_string(&binding.run_dir.join(name)).ok()?;
            serde_json::from_str(&text).ok()
        };
        let schema = read("schema.json");
        let item = match read("item.json") {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        Self { paths: SessionPaths::new(binding.session_dir.clone()), binding, zone, masker, schema, item }
    }

    /// What is offered.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolInfo> {
        let result = self.schema.clone().unwrap_or_else(|| json!({"type": "object"}));
        vec![
            ToolInfo {
                name: "report_agent_job_result",
                description: "Report the result of this job. Call it exactly once, when the work is done. `result` must \
                              fit the schema; faults are answered so that you can mend them. `stop: true` asks to start \
                              no further rows.",
                input: object(json!({
                    "type": "object",
                    "properties": {"result": result, "stop": {"type": "boolean"}},
                    "required": ["result"],
                })),
            },
            ToolInfo {
                name: "discovery_add",
                description: "Share one discovery with the other agents of this session.",
                input: object(json!({
                    "type": "object",
                    "properties": {
                        "type": {"enum": ["code_pattern", "integration_point", "convention", "blocker", "tech_stack", "test_command"]},
                        "data": {"type": "object", "description": "code_pattern {name,file,description}; integration_point {file,description,exports[]}; convention {naming,imports,formatting}; blocker {issue,severity,impact}; tech_stack {framework,version,config}; test_command {command,framework,scope}"},
                    },
                    "required": ["type", "data"],
                })),
            },
            ToolInfo {
                name: "discovery_list",
                description: "Read what other agents of this session have shared, newest last.",
                input: object(json!({
                    "type": "object",
                    "properties": {"type": {"type": "string"}, "offset": {"type": "integer", "minimum": 0}},
                })),
            },
            ToolInfo {
                name: "get_task",
                description: "Read the row or task of this job as JSON.",
                input: object(json!({"type": "object", "properties": {}})),
            },
        ]
    }

    /// Calls a tool.
    #[must_use]
    pub fn call(&self, name: &str, arguments: &Map<String, Value>) -> Reply {
        match name {
            "report_agent_job_result" => self.report(arguments),
            "discovery_add" => self.add(arguments),
            "discovery_list" => self.list(arguments),
            "get_task" => Reply::Done(truncate_bytes(&Value::Object(self.item.clone()).to_string(), MAX_REPLY)),
            other => Reply::Refused(format!(
                "there is no tool `{}`; there are {}",
                other.escape_debug(),
                self.tools().iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
            )),
        }
    }

    fn report(&self, arguments: &Map<String, Value>) -> Reply {
        // Some models leave the envelope away: what fits without it is taken as the result.
        let mut result = match arguments.get("result") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
            Some(value) => value.clone(),
            None => {
                let mut bare = arguments.clone();
                bare.remove("stop");
                Value::Object(bare)
            }
        };
        self.masker.mask_json(&mut result);
        if let Some(refusal) = self.faults(&result) {
            return Reply::Refused(refusal);
        }
        let stop = arguments.get("stop").and_then(Value::as_bool).unwrap_or(false);
        let line = json!({"ts": self.zone.stamp(clock::now()), "result": result, "stop": stop}).to_string();
        match fs::append_line(&self.binding.run_dir.join("reports.ndjson"), &line) {
            Ok(()) => Reply::Done("accepted: the result is recorded, you may stop".to_owned()),
            Err(error) => Reply::Refused(format!("the report could not be written: {error}")),
        }
    }

    fn faults(&self, result: &Value) -> Option<String> {
        let checker = Checker::compile(self.schema.as_ref()?).ok()?;
        let faults = checker.check(result);
        let listed: Vec<String> =
            faults.iter().take(20).map(|fault| format!("{}: {}", fault.pointer, fault.message)).collect();
        (!faults.is_empty())
            .then(|| format!("the result does not fit its schema; mend it and report again:\n{}", listed.join("\n")))
    }

    fn add(&self, arguments: &Map<String, Value>) -> Reply {
        let kind = arguments.get("type").and_then(Value::as_str).unwrap_or_default();
        let mut data = arguments.get("data").cloned().unwrap_or_default();
        self.masker.mask_json(&mut data);
        let (kind, data) = match board::check(kind, &data) {
            Ok(checked) => checked,
            Err(error) => return Reply::Refused(error.to_string()),
        };
        let worker = self.item.get("id").and_then(Value::as_str).unwrap_or(&self.binding.run_id).to_owned();
        let entry = Discovery { ts: self.zone.stamp(clock::now()), worker, kind, data };
        match board::add(&self.paths, &entry) {
            Ok(board::Added::New) => Reply::Done("added".to_owned()),
            Ok(board::Added::Known) => Reply::Done("known already".to_owned()),
            Err(error) => Reply::Refused(error.to_string()),
        }
    }

    fn list(&self, arguments: &Map<String, Value>) -> Reply {
        let board = match board::load(&self.paths) {
            Ok(board) => board,
            Err(error) => return Reply::Refused(error.to_string()),
        };
        let wanted = arguments.get("type").and_then(Value::as_str);
        let offset = arguments.get("offset").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let entries: Vec<&Discovery> =
            board.entries.iter().filter(|entry| wanted.is_none_or(|kind| board::name(entry.kind) == kind)).collect();
        let mut out = String::new();
        let mut shown = offset.min(entries.len());
        for entry in entries.iter().skip(offset) {
            let line = serde_json::to_string(entry).unwrap_or_default();
            if !out.is_empty() && out.len() + line.len() + 100 > MAX_REPLY {
                break;
            }
            out.push_str(&line);
            out.push('\n');
            shown += 1;
        }
        if shown < entries.len() {
            out.push_str(&format!("({} of {}; go on with offset {shown})\n", shown, entries.len()));
        }
        Reply::Done(if out.is_empty() { "nothing yet".to_owned() } else { out })
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(schema: Option<Value>) -> (tempfile::TempDir, JobTools, Utf8PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let session_dir = Utf8PathBuf::from_path_buf(temp.path().to_owned()).unwrap();
        let run_dir = session_dir.join(".planex/runs/s-T1");
        fs::create_dir_all(&run_dir).unwrap();
        if let Some(schema) = schema {
            fs::write_atomic(&run_dir.join("schema.json"), schema.to_string().as_bytes()).unwrap();
        }
        fs::write_atomic(&run_dir.join("item.json"), br#"{"id":"T1","title":"x"}"#).unwrap();
        let binding = JobBinding { run_id: "s-T1".into(), session_dir, run_dir: run_dir.clone() };
        (temp, JobTools::new(binding, Zone::default(), Masker::new([("K_TOKEN", "hunter2hunter2")])), run_dir)
    }

    fn args(value: Value) -> Map<String, Value> {
        object(value)
    }

    #[test]
    fn a_report_must_fit_its_schema_and_is_kept_line_by_line() {
        let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        let (_temp, tools, run_dir) = job(Some(schema));
        let refused = tools.call("report_agent_job_result", &args(json!({"result": {"ok": "maybe"}})));
        assert!(matches!(&refused, Reply::Refused(why) if why.contains("/ok")), "{refused:?}");
        assert!(!fs::exists(&run_dir.join("reports.ndjson")));
        for call in
            [json!({"result": {"ok": true}}), json!({"ok": false, "stop": true}), json!({"result": "{\"ok\":true}"})]
        {
            assert!(matches!(tools.call("report_agent_job_result", &args(call)), Reply::Done(_)));
        }
        let text = fs::read_to_string(&run_dir.join("reports.ndjson")).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.iter().map(|line| line["result"]["ok"].clone()).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(lines.iter().map(|line| line["stop"].clone()).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn what_agents_report_goes_to_disk_without_secrets() {
        let (_temp, tools, run_dir) = job(None);
        let report = args(json!({"result": {"said": "the key is hunter2hunter2"}}));
        assert!(matches!(tools.call("report_agent_job_result", &report), Reply::Done(_)));
        let found = args(json!({"type": "blocker", "data": {"issue": "hunter2hunter2 expired"}}));
        assert_eq!(tools.call("discovery_add", &found), Reply::Done("added".to_owned()));
        let board = fs::read_to_string(&tools.paths.discoveries()).unwrap();
        let all = fs::read_to_string(&run_dir.join("reports.ndjson")).unwrap() + &board;
        assert!(all.contains("the key is ***") && all.contains("*** expired") && !all.contains("hunter2"), "{all}");
    }

    #[test]
    fn discoveries_carry_the_rows_id_and_are_listed_in_pages() {
        let (_temp, tools, _) = job(None);
        let add = |n: usize| {
            tools.call("discovery_add", &args(json!({"type": "blocker", "data": {"issue": "x".repeat(200), "n": n}})))
        };
        assert_eq!(add(0), Reply::Done("added".to_owned()));
        assert_eq!(add(0), Reply::Done("known already".to_owned()));
        (1..300).for_each(|n| drop(add(n)));
        assert!(matches!(
            tools.call("discovery_add", &args(json!({"type": "rumour", "data": {"a": 1}}))),
            Reply::Refused(_)
        ));
        let mut offset = 0;
        let mut seen = 0;
        loop {
            let Reply::Done(text) = tools.call("discovery_list", &args(json!({"offset": offset}))) else {
                panic!("refused")
            };
            assert!(text.len() <= MAX_REPLY);
            seen += text.lines().filter(|line| line.contains("\"worker\":\"T1\"")).count();
            match text.lines().last().and_then(|line| line.rsplit_once("offset ")) {
                Some((_, next)) => offset = next.trim_end_matches(')').parse().unwrap(),
                None => break,
            }
        }
        assert_eq!(seen, 300);
    }

    #[test]
    fn the_task_is_there_and_unknown_tools_are_refused_by_name() {
        let (_temp, tools, _) = job(None);
        assert_eq!(tools.call("get_task", &Map::new()), Reply::Done(r#"{"id":"T1","title":"x"}"#.to_owned()));
        let refused = tools.call("delete_everything", &Map::new());
        assert!(matches!(&refused, Reply::Refused(why) if why.contains("get_task")), "{refused:?}");
    }
}
