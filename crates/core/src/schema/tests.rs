use serde_json::{Value, json};

use super::results::{Claim, ExecuteResult, ExploreResult, PlanResult, claim};
use super::{Checker, names, schema, strict_for_codex};

fn checker(name: &str) -> Checker {
    Checker::compile(&schema(name).expect("known")).expect("compiles")
}

fn good(name: &str) -> Value {
    match name {
        "assess" => {
            json!({"type":"feature","complexity":"Low","angles":[{"id":"E1","angle":"testing","description":"d","focus":"f"}]})
        }
        "explore-waves" => json!({"id":"E1","status":"completed","findings":"f","key_files":["a"]}),
        "exploration" => json!({
            "project_structure":"p","relevant_files":[{"path":"a","relevance":0.7,"rationale":"because of it","role":"config"}],
            "patterns":["list"],"dependencies":{},"integration_points":"a:1","constraints":"","clarification_needs":[],
            "_metadata":{"timestamp":"t","task_description":"d","source":"native","exploration_angle":"testing"}
        }),
        "plan-waves" => json!({"tasks":[{"id":"T1","title":"t","description":"d","deps":[]}]}),
        "execute" => json!({"id":"T1","status":"completed","findings":"f","tests_passed":true}),
        "review" => json!({"verdict":"PASS","summary":"s"}),
        "converge" => json!({"tasks":[{"task_id":"T1","criteria":[{"criterion":"c","met":true}]}]}),
        "fix" => json!({"fixed":true,"summary":"s"}),
        "discovery" => json!({"ts":"t","worker":"E1","type":"blocker","data":{"issue":"x"}}),
        "project-tech" => json!({"name":"x"}),
        "plan" => json!({"summary":"s","approach":"a","task_ids":[],"task_count":0,"_metadata":{}}),
        "task" => {
            json!({"id":"TASK-001","title":"t","description":"d","depends_on":[],"convergence":{"criteria":["c"]}})
        }
        other => panic!("no sample for {other}"),
    }
}

#[test]
fn every_schema_takes_its_sample_and_more_and_refuses_less() {
    for name in names() {
        let checker = checker(name);
        let sample = good(name);
        assert_eq!(checker.check(&sample), [], "{name}");
        let mut more = sample.clone();
        more["something_new"] = json!({"deep": [1]});
        assert_eq!(checker.check(&more), [], "{name} is not open");
        let required = checker.schema().get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for key in required {
            let key = key.as_str().expect("text");
            let mut less = sample.clone();
            less.as_object_mut().expect("object").shift_remove(key);
            assert!(!checker.check(&less).is_empty(), "{name} without {key}");
        }
        assert!(!checker.check(&json!("text")).is_empty(), "{name}");
    }
    assert!(schema("nothing").is_none());
}

#[test]
fn what_planex_needs_is_required() {
    let required = |name: &str| -> Vec<String> {
        let schema = schema(name).expect("known");
        schema["required"].as_array().expect("list").iter().map(|k| k.as_str().expect("text").to_owned()).collect()
    };
    assert_eq!(required("execute"), ["id", "status", "findings", "tests_passed"]);
    assert_eq!(required("explore-waves"), ["id", "status", "findings"]);
    assert_eq!(required("assess"), ["type", "complexity", "angles"]);
}

#[test]
fn accepted_values_fit_the_types() {
    let fitted = checker("execute")
        .accept(&json!({
            "id": "T1", "status": "COMPLETED", "findings": ["one", "two"], "tests_passed": "true",
            "files_modified": "src/a.rs", "error": null, "acceptance_met": true,
            "discoveries": [{"type": "blocker", "data": {"issue": "x"}}, {"type": "gossip", "data": {}}, "text"]
        }))
        .expect("fits");
    let result: ExecuteResult = serde_json::from_value(fitted.value).expect("types agree with the schema");
    assert!(result.tests_passed);
    assert_eq!(result.files_modified, ["src/a.rs"]);
    assert_eq!(result.discoveries.len(), 1);
    assert!(fitted.notes.iter().any(|note| note.contains("2 malformed")), "{:?}", fitted.notes);

    let fitted = checker("explore-waves")
        .accept(&json!({"id":"E1","status":"failed","findings":"","key_files":null,"discoveries":"none"}))
        .expect("fits");
    let result: ExploreResult = serde_json::from_value(fitted.value).expect("types agree with the schema");
    assert!(result.key_files.is_empty());
    assert!(checker("execute").accept(&json!({"id": "T1"})).is_err_and(|faults| faults.len() >= 3));
}

#[test]
fn the_types_read_null_as_absent() {
    let result: ExecuteResult = serde_json::from_value(json!({
        "id": "T1", "status": "failed", "findings": "", "tests_passed": false,
        "error": null, "files_modified": null, "discoveries": null, "acceptance_met": null
    }))
    .expect("reads");
    assert_eq!((result.error.as_str(), result.files_modified.len()), ("", 0));
    assert_eq!(result.status.as_str(), "failed");
}

#[test]
fn faults_are_short_and_few() {
    let long = "x".repeat(100_000);
    let faults = checker("execute").check(&json!({"id": 1, "status": long, "findings": 2, "tests_passed": "maybe"}));
    assert!(faults.iter().all(|fault| fault.message.chars().count() <= 200));
    assert!(faults.iter().any(|fault| fault.pointer == "/tests_passed"), "{faults:?}");
    let tasks: Vec<Value> = (0..100).map(|_| json!({})).collect();
    assert_eq!(checker("plan-waves").check(&json!({"tasks": tasks})).len(), 20);
}

#[test]
fn foreign_and_broken_schemas_are_refused() {
    for bad in [
        json!({"$ref": "http://127.0.0.1:9/x.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"type": "no such type"}),
        json!(3),
    ] {
        assert!(Checker::compile(&bad).is_err(), "{bad}");
    }
}

fn assert_strict(schema: &Value, at: &str) {
    match schema {
        Value::Object(map) => {
            if let Some(properties) = map.get("properties").and_then(Value::as_object) {
                assert_eq!(map.get("additionalProperties"), Some(&json!(false)), "{at}");
                let names: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
                assert_eq!(map.get("required"), Some(&Value::Array(names)), "{at}");
            }
            for (key, value) in map {
                assert_strict(value, &format!("{at}/{key}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| assert_strict(item, at)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_strict_dialect_closes_everything_and_its_nulls_come_back() {
    for name in ["assess", "explore-waves", "plan-waves", "execute", "review", "converge", "fix"] {
        let strict = strict_for_codex(&schema(name).expect("known"));
        assert_strict(&strict, name);
        assert!(!strict.to_string().contains("\"default\""), "{name}");
        let strict_checker = Checker::compile(&strict).expect("compiles");
        // An answer in that dialect: the sample, and null wherever something optional is left out.
        let answer = fill(&strict, &good(name));
        assert_eq!(strict_checker.check(&answer), [], "{name}: {answer}");
        let fitted = checker(name).accept(&answer).expect("nulls are dropped");
        assert!(fitted.notes.is_empty(), "{name}: {:?}", fitted.notes);
    }
    let plan: PlanResult = serde_json::from_value(good("plan-waves")).expect("types agree with the schema");
    assert_eq!(plan.tasks.len(), 1);
}

fn fill(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let properties = schema["properties"].as_object().expect("properties");
            let pairs = properties.iter().map(|(key, property)| {
                let filled = map.get(key).map_or(Value::Null, |inner| fill(property, inner));
                (key.clone(), filled)
            });
            Value::Object(pairs.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(&schema["items"], item)).collect()),
        other => other.clone(),
    }
}

#[test]
fn reports_are_claimed_by_their_id() {
    let table = [
        (json!({"id": "T1"}), Claim::Own),
        (json!({"id": " T1 "}), Claim::Own),
        (json!({}), Claim::Own),
        (json!({"id": null}), Claim::Own),
        (json!({"id": ""}), Claim::Own),
        (json!({"id": "T2"}), Claim::Foreign("T2".to_owned())),
        (json!({"id": 4}), Claim::Foreign("4".to_owned())),
    ];
    for (mut report, expected) in table {
        assert_eq!(claim(&mut report, "T1"), expected, "{report}");
        if expected == Claim::Own {
            assert_eq!(report["id"], "T1");
        }
    }
}
