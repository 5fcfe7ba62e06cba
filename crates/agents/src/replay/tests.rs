use planex_core::job::Role;
use serde_json::json;

use super::*;

#[test]
fn attempts_are_read_from_run_ids() {
    for (id, attempt) in
        [("s-T1", 1), ("s-T1-retry", 2), ("s-T1-retry-2", 3), ("s-T1-retry-9", 10), ("s-retrying", 1), ("a-retry-b", 1)]
    {
        assert_eq!(attempt_of(id), attempt, "{id}");
    }
}

#[test]
fn the_step_that_names_most_is_taken() {
    let recording: Recording = serde_json::from_value(json!({ "steps": [
        { "text": "any" },
        { "role": "plan", "text": "plan" },
        { "item": "T1", "text": "item" },
        { "item": "T1", "attempt": 2, "text": "second" },
        { "role": "execute", "item": "T1", "text": "execute" }
    ]}))
    .unwrap();
    let text = |role, item, attempt| recording.step_for(role, item, attempt).unwrap().text.as_str();
    assert_eq!(text(Role::Review, "T9", 1), "any");
    assert_eq!(text(Role::Plan, "T9", 1), "plan");
    assert_eq!(text(Role::Review, "T1", 1), "item");
    assert_eq!(text(Role::Execute, "T1", 1), "execute");
    assert_eq!(text(Role::Execute, "T1", 2), "second");
    assert!(Recording::default().step_for(Role::Plan, "T1", 1).is_none());
}

#[test]
fn a_recording_is_read_back_as_it_was_written() {
    let text = json!({ "steps": [{ "role": "fix", "delay_ms": 3, "result": { "fixed": true },
        "edits": [{ "path": "a", "content": "x" }, { "path": "b", "delete": true }, { "path": "c", "replace": { "old": "1", "new": "2" } }],
        "run": [["true"]], "fail": { "kind": "quota", "message": "m" } }] });
    let recording: Recording = serde_json::from_value(text).unwrap();
    let again: Recording = serde_json::from_value(serde_json::to_value(&recording).unwrap()).unwrap();
    assert_eq!(again, recording);
    assert!(serde_json::from_value::<Recording>(json!({ "steps": [{ "roll": "fix" }] })).is_err());
}
