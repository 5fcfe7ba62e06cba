use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Picked, candidates, coerce, fix, pick, read_tolerant, scan};
use crate::schema::{Fault, Fitted};

fn with_id(value: &Value) -> Result<Fitted, Vec<Fault>> {
    if value.get("id").is_some() {
        return Ok(Fitted { value: value.clone(), notes: Vec::new() });
    }
    Err(vec![Fault { pointer: String::new(), message: "no id".to_owned() }])
}

fn found(text: &str) -> (Value, u8, Vec<String>) {
    match pick(text, with_id) {
        Picked::Found { fitted, level, repairs } => (fitted.value, level, repairs),
        other => panic!("nothing found in {text:?}: {other:?}"),
    }
}

/// The typical broken replies that are mended with certainty: reply, value, level.
#[test]
fn broken_replies_are_read() {
    let table: &[(&str, Value, u8)] = &[
        (r#"{"id":1}"#, json!({"id":1}), 0),
        ("Sure!\n```json\n{\"id\":1}\n```\nDone.", json!({"id":1}), 1),
        ("Sure: {\"id\":1} there.", json!({"id":1}), 2),
        ("{\"id\":1,\"a\":[1,2,],}", json!({"id":1,"a":[1,2]}), 3),
        ("{\"id\":1, // why\n \"a\": /* so */ 2}", json!({"id":1,"a":2}), 3),
        ("{\"id\":True,\"a\":None,\"b\":[False]}", json!({"id":true,"a":null,"b":[false]}), 3),
        ("{\"id\":\"one\ntwo\tthree\"}", json!({"id":"one\ntwo\tthree"}), 3),
        ("{\"id\":\"a\u{1}b\"}", json!({"id":"a\u{1}b"}), 3),
        (r#"{"id":"C:\Users\new"}"#, json!({"id":"C:\\Users\\new"}), 3),
        (r#"{"id":"match \d+ or \w"}"#, json!({"id":"match \\d+ or \\w"}), 3),
        ("{\u{201c}id\u{201d}: \u{201c}say \"hi\" now\u{201d}}", json!({"id":"say \"hi\" now"}), 3),
        ("\u{feff}{\"id\":1}", json!({"id":1}), 2),
        ("set {curly} and {more} then {\"id\":2}", json!({"id":2}), 2),
        ("{\"id\":1} or rather {\"id\":2}", json!({"id":2}), 2),
        ("See [1] and {a: b}.\n{\"id\":3}\nBye {x}", json!({"id":3}), 2),
        ("```json\n{\"id\":\"a\n```js\nx = {\n```\n\"}\n```", json!({"id":"a\n```js\nx = {\n```\n"}), 3),
        ("{\"id\":\"// no comment, /* none */ http://x\"} .", json!({"id":"// no comment, /* none */ http://x"}), 2),
        ("{\"id\":\"a } b ] \\\" {\"} .", json!({"id":"a } b ] \" {"}), 2),
        ("I begin with { and\n{\"id\":4}", json!({"id":4}), 2),
    ];
    for (text, value, level) in table {
        let (got, at, repairs) = found(text);
        assert_eq!((&got, at), (value, *level), "{text:?}");
        assert_eq!(repairs.is_empty(), *level < 3, "{text:?}: {repairs:?}");
    }
}

/// What would be a guess is left alone.
#[test]
fn unclear_replies_are_refused() {
    let table = [
        r#"{"id": "he said "hi" to me"}"#,
        r#"{'id': 'it''s'}"#,
        r#"{"id": bare words}"#,
        r#"{"id":1 "a":2}"#,
        r#"{"id": "src\new\Util"}"#,
        r#"{"id": 1, "a": [,]}"#,
        r#"{"id": 1]"#,
        "no json at all",
        "",
    ];
    for text in table {
        assert!(!matches!(pick(text, with_id), Picked::Found { .. }), "{text:?}: {:?}", pick(text, with_id));
    }
}

#[test]
fn cut_off_output_is_recognised_and_never_completed() {
    let table = [
        r#"{"id":1,"a":[1,2"#,
        r#"{"id":1,"a":"tex"#,
        "```json\n{\"id\":1,\n \"list\": [ {\"id\":2}, {\"id\":3}, ",
        "Here:\n[{\"id\":1},\n{\"id\":2},\n{\"id",
        "{\"id\":1} was the example; my answer is\n{\"id\":2, \"find",
        r#"{"id":"T1","findings":"see [1] and {x"#,
        r#"{"a": {"id":1}, "b"#,
    ];
    for text in table {
        assert_eq!(pick(text, with_id), Picked::CutOff, "{text:?}");
    }
}

#[test]
fn every_way_not_to_find_has_its_complaint() {
    assert!(matches!(pick("{\"a\":1}", with_id), Picked::Unfit(faults) if faults.len() == 1));
    assert_eq!(pick("words", with_id).complaint().as_deref(), Some("the answer holds no JSON"));
    let broken = pick("x\n{\"id\" 1}", with_id).complaint();
    assert!(broken.as_ref().is_some_and(|c| c.contains("line 2")), "{broken:?}");
    assert_eq!(pick("{\"id\":1}", with_id).complaint(), None);
}

#[test]
fn the_lowest_level_wins_over_a_later_place() {
    let text = "```json\n{\"id\":1}\n```\nand {\"id\":2,}";
    assert_eq!(found(text).0, json!({"id":1}));
}

#[test]
fn files_that_people_edit_are_read_or_refused_with_the_place() {
    let (value, repairs) = read_tolerant("\u{feff}{\n  // mine\n  \"a\": 1,\n}\n").expect("certain");
    assert_eq!(value, json!({"a":1}));
    assert_eq!(repairs.len(), 3, "{repairs:?}");
    let fault = read_tolerant("{\n  \"ä\": x\n}").expect_err("bare word");
    assert_eq!((fault.line, fault.column), (2, 8), "{fault}");
    assert!(read_tolerant("{} {}").is_err());
    assert!(read_tolerant("").is_err());
    assert!(read_tolerant("{\"a\":1").is_err());
}

#[test]
fn key_order_and_numbers_survive_repairs() {
    let (value, _) = fix("{\"z\":1,\"a\":12345678901234567,\"m\":1.5e3,}").expect("certain");
    assert_eq!(value.to_string(), r#"{"z":1,"a":12345678901234567,"m":1500.0}"#);
}

#[test]
fn coercion_is_certain_and_noted() {
    let schema = json!({
        "type": "object", "required": ["id", "ok"],
        "properties": {
            "id": {"type": "string"}, "ok": {"type": "boolean"}, "n": {"type": "integer"},
            "files": {"type": "array", "items": {"type": "string"}},
            "status": {"enum": ["completed", "failed"]},
            "text": {"type": ["string", "null"]}, "list": {"type": "array", "items": {"$ref": "#/$defs/o"}},
            "maybe": {"anyOf": [{"$ref": "#/$defs/o"}, {"type": "null"}]}, "must": {"type": "string"}
        },
        "$defs": {"o": {"type": "object", "properties": {"flag": {"type": "boolean"}}}}
    });
    let given = json!({
        "id": 7, "ok": " True ", "n": "3", "files": "a.rs; b.rs", "status": "Completed", "text": ["a b", "c"],
        "list": {"flag": "false"}, "maybe": {"flag": "true"}, "must": null, "other": "true"
    });
    let (value, notes) = coerce(&given, &schema);
    assert_eq!(
        value,
        json!({
            "id": "7", "ok": true, "n": 3, "files": ["a.rs", "b.rs"], "status": "completed", "text": "a b\nc",
            "list": [{"flag": false}], "maybe": {"flag": true}, "other": "true"
        })
    );
    assert_eq!(notes.len(), 9, "{notes:?}");
}

#[test]
fn coercion_leaves_what_is_unclear() {
    let schema = json!({
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"}, "n": {"type": "integer"}, "files": {"type": "array", "items": {"type": "string"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}
        }
    });
    let given = json!({"ok": "yes, mostly", "n": "3 or 4", "files": {"a": 1}, "either": "true"});
    assert_eq!(coerce(&given, &schema), (given.clone(), Vec::new()));
    let sentence = json!({"files": "first a; then b"});
    assert_eq!(coerce(&sentence, &schema).0, json!({"files": ["first a; then b"]}));
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({"$ref": "#"});
    assert_eq!(coerce(&json!({"a": 1}), &schema).0, json!({"a": 1}));
}

#[test]
fn hostile_sizes_end_soon() {
    for part in
        ["{", "[", "[[\"", "{\"a\":", "{\"", "x{\"", "\u{201c}", "{\u{201c}", "/*", "```\n", "[1,", "[x", "// \n{"]
    {
        let text = part.repeat(1_000_000 / part.len());
        assert_eq!(scan(&text).candidates.iter().filter(|c| c.value.is_object()).count(), 0);
    }
    let nested = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    assert!(candidates(&nested).is_empty());
    let long = format!("{{\"id\":1,\"a\":\"{}\",}}", "long text\n".repeat(1_000_000));
    assert_eq!(found(&long).1, 3);
    let many = "{\"a\":1,} ".repeat(50_000);
    assert_eq!(candidates(&many).len(), 50_000);
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[{}\\[\\]\"\\\\/*`,: a\n]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        let _ = scan(&text);
        let _ = fix(&text);
        let _ = read_tolerant(&text);
    }

    #[test]
    fn never_panics_on_what_looks_like_json(text in "[{}\\[\\]\"\\\\/*`,:“” \nаa1uTn-]{0,60}") {
        let _ = scan(&text);
        let _ = fix(&text);
    }

    #[test]
    fn embedded_json_comes_back_unchanged(
        value in json_value(), before in "[a-zA-Z.,:;!?'() \n]{0,60}", after in "[a-zA-Z.,:;!?'() \n]{0,60}",
        pretty in any::<bool>(), curly in any::<bool>(),
    ) {
        let value = json!({"id": "x", "v": value});
        let body = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let aside = if curly { "{curly} and [x] " } else { "" };
        let text = format!("{before}{aside}{}{aside}{after}", body.expect("writes"));
        let (got, level, _) = found(&text);
        prop_assert_eq!(got, value);
        prop_assert!(level <= 2);
    }

    #[test]
    fn a_prefix_never_passes_for_the_whole(value in json_value(), cut in 1usize..200) {
        let value = json!({"id": "x", "v": value, "w": {"id": "y"}});
        let body = value.to_string();
        let cut = body.floor_char_boundary(cut.min(body.len() - 1)).max(1);
        prop_assert!(!matches!(pick(&body[..cut], with_id), Picked::Found { .. }), "{}", &body[..cut]);
    }

    #[test]
    fn valid_json_is_not_changed_by_the_fixer(value in json_value()) {
        let value = json!([value]);
        let (fixed, repairs) = fix(&value.to_string()).expect("is JSON");
        prop_assert_eq!(fixed, value);
        prop_assert!(repairs.is_empty());
    }
}
