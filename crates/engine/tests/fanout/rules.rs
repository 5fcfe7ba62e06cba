//! What is refused before anything starts, and with which words.

use crate::bench::{Bench, GOOD};

struct Case {
    name: &'static str,
    csv: &'static str,
    template: &'static str,
    id_column: Option<&'static str>,
    /// Parts of the lines, in order; empty: it runs.
    faults: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case { name: "good", csv: "id,x\na,1\n", template: "{id}", id_column: Some("id"), faults: &[] },
    Case { name: "header only", csv: "id,x\n", template: "{id}", id_column: Some("id"), faults: &[] },
    Case { name: "blank lines", csv: "id,x\n\na,1\n\n\nb,2\n", template: "{id}", id_column: Some("id"), faults: &[] },
    Case {
        name: "BOM before a quoted header",
        csv: "\u{feff}\"id\",x\r\na,1\r\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &[],
    },
    Case { name: "literal braces", csv: "id\na\n", template: "{{id}} {id}", id_column: Some("id"), faults: &[] },
    Case { name: "empty file", csv: "", template: "x", id_column: None, faults: &["jobs.csv:1:1: "] },
    Case {
        name: "duplicate ids",
        csv: "id\na\nb\na\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &["jobs.csv:4:1: the id `a` stands on line 2 too"],
    },
    Case {
        name: "ids that differ in case",
        csv: "id\na\nA\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &["jobs.csv:3:1: the id `A` stands on line 2 too"],
    },
    Case {
        name: "empty id",
        csv: "id,x\n,1\nb,2\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &["jobs.csv:2:1: the id is empty"],
    },
    Case {
        name: "id that is a path",
        csv: "id\n../x\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &["jobs.csv:2:1: `../x` is not an id"],
    },
    Case {
        name: "unknown id column",
        csv: "id,name\na,b\n",
        template: "{id}",
        id_column: Some("nme"),
        faults: &["no column `nme` for the ids; did you mean `name`?"],
    },
    Case {
        name: "duplicate header",
        csv: "id,x,x\na,1,2\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &["jobs.csv:1:"],
    },
    Case {
        name: "ragged row",
        csv: "id,x\na\nb,2,3\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &["jobs.csv:2:", "jobs.csv:3:"],
    },
    Case {
        name: "unclosed quote",
        csv: "id,x\na,\"1\nb,2\n",
        template: "{id}",
        id_column: Some("id"),
        faults: &["jobs.csv:2:3: "],
    },
    Case {
        name: "unknown placeholder",
        csv: "id,topic\na,b\n",
        template: "see\n  {topc}",
        id_column: Some("id"),
        faults: &["template.md:2:3: there is no column for `{topc}`; did you mean `{topic}`?"],
    },
    Case {
        name: "empty instruction",
        csv: "id\na\n",
        template: " \n",
        id_column: Some("id"),
        faults: &["template.md:1:1: "],
    },
    Case {
        name: "all faults at once",
        csv: "id\na\na\n",
        template: "{ix}",
        id_column: Some("id"),
        faults: &["jobs.csv:3:1: ", "template.md:1:1: "],
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_checked_before_anything_starts() {
    for case in CASES {
        let mut bench = Bench::new(case.csv, GOOD).template(case.template);
        bench.options.id_column = case.id_column.map(str::to_owned);
        let ran = bench.run().await;
        if case.faults.is_empty() {
            let report = ran.unwrap_or_else(|error| panic!("{}: {error}", case.name));
            assert_eq!(report.exit, 0, "{}: {:?}", case.name, report.failures);
            continue;
        }
        let error = ran.expect_err(case.name);
        assert_eq!(error.exit_code(), 3, "{}: {error}", case.name);
        assert_eq!(error.faults.len(), case.faults.len(), "{}: {:?}", case.name, error.faults);
        for (fault, part) in error.faults.iter().zip(case.faults) {
            assert!(fault.contains(part), "{}: {fault} has not {part}", case.name);
        }
        assert!(!bench.root.join("jobs.results.csv").exists(), "{}: nothing is written", case.name);
        assert!(!bench.root.join(".workflow").exists(), "{}: no session is made", case.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_is_none_and_an_output_that_is_the_input_are_refused() {
    for (schema, part) in [("{", "schema.json:1:1: "), ("[]", "schema.json:1:1: "), (r#"{"type": 7}"#, "schema.json: ")]
    {
        let mut bench = Bench::new("id\na\n", GOOD);
        schema.clone_into(&mut bench.options.schema.as_mut().unwrap().text);
        let error = bench.run().await.unwrap_err();
        assert_eq!(error.exit_code(), 3, "{schema}");
        assert!(error.faults[0].contains(part), "{schema}: {:?}", error.faults);
    }
    let mut bench = Bench::new("id\na\n", GOOD);
    bench.options.output = Some(bench.root.join("./jobs.csv"));
    assert_eq!(bench.run().await.unwrap_err().exit_code(), 2);
    bench.options.output = None;
    bench.options.input = bench.root.join("missing.csv");
    let error = bench.run().await.unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("missing.csv"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_there_is_found_before_a_session_is_made() {
    let mut bench = Bench::new("id\na\n", GOOD);
    bench.settings.agents.get_mut("mine").unwrap().command = vec!["no-such-program-here".to_owned()];
    let error = bench.run().await.unwrap_err();
    assert_eq!(error.exit_code(), 7, "{error}");
    bench.settings.agent = Some("mnie".to_owned());
    let error = bench.run().await.unwrap_err();
    assert_eq!(error.exit_code(), 7);
    assert!(error.to_string().contains("did you mean `mine`?"), "{error}");
    assert!(!bench.root.join(".workflow").exists());
}
