//! `planex fanout` where Codex' own `spawn_agents_on_csv` was: rows on a real codex, results by its report.

use planex_core::csv::Table;
use planex_testkit::{Failure, ModelServer, Rule, Script};
use serde_json::json;

use crate::{planex, project};

#[test]
fn rows_run_on_codex_and_keep_their_order() {
    let answer = |n: u32| json!({"score": n, "note": format!("row {n}")});
    let script = Script::new()
        .rule(Rule::when("Rate alpha").json(answer(1)))
        .rule(Rule::when("Rate beta").failing_first(Failure::status(500)).json(answer(2)))
        .rule(Rule::when("Rate gamma").text("I would rather not."));
    let server = ModelServer::start(script);
    let env = project(&server, &["codex"]);
    env.write("jobs.csv", "name,kind\nalpha,a\nbeta,b\ngamma,c\n");
    env.write("ask.md", "Rate {name} of kind {kind}. Literal {{braces}}.");
    env.write(
        "schema.json",
        json!({"type": "object", "properties": {"score": {"type": "integer"}, "note": {"type": "string"}},
               "required": ["score", "note"]})
        .to_string(),
    );
    let output = planex(
        &env,
        &[
            "fanout",
            "jobs.csv",
            "--instruction",
            "ask.md",
            "--id-column",
            "name",
            "--output-schema",
            "schema.json",
            "--agent",
            "codex",
            "--retries",
            "1",
        ],
    );
    assert_eq!(output.code(), Some(5), "one row gives no result: {}\n{}", output.stdout, output.stderr);
    let table = Table::parse(env.read("jobs.results.csv").as_bytes()).unwrap();
    let column = |name: &str| -> Vec<String> {
        (0..table.rows.len()).map(|row| table.cell(row, name).unwrap().to_owned()).collect()
    };
    assert_eq!(column("name"), ["alpha", "beta", "gamma"]);
    assert_eq!(column("status"), ["completed", "completed", "failed"], "{}", output.stderr);
    assert_eq!(column("score"), ["1", "2", ""]);
    assert!(
        column("error")[2].starts_with("invalid result") || column("error")[2].starts_with("no result"),
        "{:?}",
        column("error")
    );
    assert!(server.requests_with("Rate alpha").iter().all(|request| request.prompt().contains("Literal {braces}.")));
}
