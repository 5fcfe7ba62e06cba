//! Files edited by hand, as spreadsheets leave them.

use planex_core::settings::GatePolicy;
use planex_engine::workflow::waves::Resume;

use crate::bench::{Bench, diamond, script};

async fn at_the_gate() -> Bench {
    let mut bench = Bench::new();
    bench.settings.gates = GatePolicy::Ask;
    bench.start(&script(diamond(), |_, _| None), vec!["approve", "modify"]).await.unwrap();
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spreadsheets_habits_are_read_right_and_kept() {
    let bench = at_the_gate().await;
    let text = bench.read("tasks.csv");
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line},\"über, \"\"kept\"\"\"")).collect();
    lines[0] = format!("{},my column", text.lines().next().unwrap());
    let saved = format!("\u{feff}{}\r\n", lines.join("\r\n"));
    std::fs::write(bench.file("tasks.csv"), saved).unwrap();
    let end = bench.resume(&script(diamond(), |_, _| None), vec!["execute"], Resume::default()).await.unwrap();
    assert_eq!((end.exit, end.totals.completed), (0, 4));
    let after = bench.read("tasks.csv");
    assert!(after.starts_with('\u{feff}'), "a file with a byte order mark keeps it");
    assert_eq!(bench.column("tasks.csv", "my column")["T3"], "über, \"kept\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn reordered_columns_semicolons_and_newlines_in_cells() {
    let bench = at_the_gate().await;
    let text = "title;id;description;scope;deps;context_from;status;wave\n\
                \"First; of all\";T1;\"two\nlines\";src/a/**;;E1;pending;9\n\
                Second;T2;next;src/b/**;T1;\"E1;T1\";;\n;;;;;;;\n";
    std::fs::write(bench.file("tasks.csv"), text).unwrap();
    let end = bench.resume(&script(diamond(), |_, _| None), vec!["execute"], Resume::default()).await.unwrap();
    assert_eq!((end.exit, end.totals.completed, end.totals.waves), (0, 2, 2));
    assert_eq!(bench.column("tasks.csv", "title")["T1"], "First; of all");
    assert_eq!(bench.column("tasks.csv", "description")["T1"], "two\nlines");
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_refused_with_line_and_column_and_nothing_runs() {
    let bench = at_the_gate().await;
    let good = bench.read("tasks.csv");
    for (from, to, at, said) in [
        ("\"T1\",\"Do", "\"../T1\",\"Do", "tasks.csv:2:1:", "not an id"),
        ("\"T3\",\"Do", "\"T2\",\"Do", "tasks.csv:4:1:", "twice"),
        ("\"pending\"", "\"done?\"", "tasks.csv:2:", "not a status"),
        ("\"T2;T3\"", "\"T2;T33\"", "tasks.csv:5:", "T33"),
        ("\"E1\"", "\"E7\"", "tasks.csv:2:", "E7"),
        ("\"Do T4\"", "\"Do T4", "tasks.csv:5:", "5:6"),
        ("\"src/b/**\"", "\"../../etc/**\"", "tasks.csv:3:", "leads out"),
    ] {
        assert!(good.contains(from), "{from}");
        std::fs::write(bench.file("tasks.csv"), good.replacen(from, to, 1)).unwrap();
        let error =
            bench.resume(&script(diamond(), |_, _| None), vec!["execute"], Resume::default()).await.unwrap_err();
        assert_eq!(error.exit_code(), 3, "{to}");
        let text = error.to_string();
        assert!(text.contains(at) && text.contains(said), "{to}: {text}");
        assert_eq!(std::fs::read_to_string(bench.file("tasks.csv")).unwrap(), good.replacen(from, to, 1), "left alone");
    }
    assert_eq!(bench.ran("execute T1"), 0);
}
