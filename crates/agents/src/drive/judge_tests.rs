use planex_core::job::JobSpec;
use serde_json::json;

use super::*;
use crate::adapters::testing;

fn job(dir: &camino::Utf8Path) -> JobSpec {
    JobSpec {
        run_dir: dir.to_owned(),
        schema: Some(json!({
            "type": "object",
            "properties": { "id": { "type": "string" }, "ok": { "type": "boolean" } },
            "required": ["id", "ok"]
        })),
        expected_id: Some("T1".into()),
        ..testing::spec()
    }
}

struct Fixture {
    _folder: tempfile::TempDir,
    spec: JobSpec,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = camino::Utf8Path::from_path(folder.path()).unwrap().to_owned();
        Self { spec: job(&path), _folder: folder }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write_atomic(&self.spec.run_dir.join(name), text.as_bytes()).unwrap();
    }

    fn judge(&self, ending: &Ending, rules: Rules) -> (Verdict, Vec<String>) {
        let mut notes = Vec::new();
        let masker = Masker::default();
        let judge = Judge::new(&self.spec, &masker).unwrap();
        let verdict = judge.all(ending, &RunFiles::new(&self.spec), rules, &mut notes);
        (verdict, notes)
    }
}

const ALL: Rules = Rules { sources: Sources::All, report_beats_exit: false };
const CUSTOM: Rules = Rules { sources: Sources::All, report_beats_exit: true };

fn said(well: bool, text: &str) -> Ending {
    Ending { well, text: text.into(), ..Ending::default() }
}

fn source(verdict: &Verdict) -> Option<ResultSource> {
    match verdict {
        Verdict::Accepted(accepted) => Some(accepted.source),
        Verdict::Nothing | Verdict::Unfit(_) | Verdict::Foreign(_) => None,
    }
}

#[test]
fn the_best_source_counts() {
    let fixture = Fixture::new();
    let mut ending = said(true, "Done:\n```json\n{\"ok\": true}\n```\nBye");
    assert_eq!(source(&fixture.judge(&ending, ALL).0), Some(ResultSource::Text));
    fixture.write("answer.json", "{\"ok\": true, }");
    let (verdict, notes) = fixture.judge(&ending, ALL);
    assert_eq!(source(&verdict), Some(ResultSource::File));
    assert!(notes.iter().any(|note| note.starts_with("repaired:")), "{notes:?}");
    ending.structured = Some(json!({ "id": "T1", "ok": true }));
    assert_eq!(source(&fixture.judge(&ending, ALL).0), Some(ResultSource::Native));
    fixture.write("reports.ndjson", "{\"result\":{\"ok\":\"true\"}}\n");
    let (verdict, _) = fixture.judge(&ending, ALL);
    let wanted = Accepted { result: json!({ "ok": true, "id": "T1" }), source: ResultSource::Mcp };
    assert_eq!(verdict, Verdict::Accepted(wanted));
}

#[test]
fn the_first_valid_report_counts_and_later_ones_are_said() {
    let fixture = Fixture::new();
    let lines = "garbage\n{\"result\":{\"id\":\"T9\",\"ok\":true}}\n{\"result\":{\"id\":\"T1\",\"ok\":false},\"stop\":true}\n\
                 {\"result\":{\"id\":\"T1\",\"ok\":true}}\n{\"result\":{\"ok\"";
    fixture.write("reports.ndjson", lines);
    let (verdict, notes) = fixture.judge(&said(false, ""), ALL);
    let Verdict::Accepted(accepted) = verdict else { panic!("{verdict:?}") };
    assert_eq!(accepted.result, json!({ "id": "T1", "ok": false }));
    assert!(notes.iter().any(|note| note.contains("carries the id \"T9\"")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("later report")), "{notes:?}");
    assert!(notes.contains(&STOP_NOTE.to_owned()));
}

#[test]
fn another_id_is_no_result() {
    let fixture = Fixture::new();
    let (verdict, notes) = fixture.judge(&said(true, "{\"id\":\"T2\",\"ok\":true}"), ALL);
    assert!(matches!(verdict, Verdict::Foreign(_)), "{verdict:?}");
    assert!(notes[0].contains("T2"), "{notes:?}");
    assert_eq!(source(&fixture.judge(&said(true, "{\"id\":\" T1 \",\"ok\":true}"), ALL).0), Some(ResultSource::Text));
}

#[test]
fn a_run_that_did_not_end_well_needs_a_report() {
    let fixture = Fixture::new();
    let text = said(false, "{\"ok\":true}");
    assert_eq!(fixture.judge(&text, CUSTOM).0, Verdict::Nothing);
    fixture.write("answer.json", "{\"ok\":true}");
    assert_eq!(source(&fixture.judge(&text, CUSTOM).0), Some(ResultSource::File));
    assert_eq!(fixture.judge(&text, ALL).0, Verdict::Nothing);
}

#[test]
fn a_table_says_where_the_result_is() {
    let fixture = Fixture::new();
    fixture.write("answer.json", "{\"ok\":true}");
    let rules = |sources| Rules { sources, report_beats_exit: true };
    let text = said(true, "{\"ok\":false}");
    assert_eq!(source(&fixture.judge(&text, rules(Sources::Text)).0), Some(ResultSource::Text));
    assert_eq!(source(&fixture.judge(&text, rules(Sources::File)).0), Some(ResultSource::File));
    fixture.write("answer.json", " ");
    assert_eq!(fixture.judge(&text, rules(Sources::File)).0, Verdict::Nothing);
}

#[test]
fn what_does_not_fit_is_told() {
    let fixture = Fixture::new();
    for (text, wanted) in [("{\"ok\": 3}", "/ok"), ("{\"id\": \"T1\", \"ok\": tr", "breaks off")] {
        match fixture.judge(&said(true, text), ALL).0 {
            Verdict::Unfit(complaint) => assert!(complaint.contains(wanted), "{complaint}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(fixture.judge(&said(true, "all good"), ALL).0, Verdict::Nothing);
}

#[test]
fn without_a_schema_the_text_is_the_result() {
    let mut fixture = Fixture::new();
    fixture.spec.schema = None;
    let (verdict, _) = fixture.judge(&said(true, "hello"), ALL);
    assert_eq!(verdict, Verdict::Accepted(Accepted { result: json!("hello"), source: ResultSource::Text }));
    assert_eq!(fixture.judge(&said(false, "hello"), ALL).0, Verdict::Nothing);
}

proptest::proptest! {
    #[test]
    fn any_report_file_is_read(text in "\\PC{0,200}", lines in "([{}\\[\\]:,\"a-z0-9 \n]{0,80})") {
        let fixture = Fixture::new();
        fixture.write("reports.ndjson", &lines);
        fixture.write("answer.json", &text);
        let _ = fixture.judge(&said(true, &text), ALL);
    }
}
