//! What a session keeps, and files that it must not lose.

use camino::Utf8PathBuf;
use planex_core::csv::Table;
use planex_engine::workflow::fanout;

use crate::bench::{Bench, GOOD};

/// Keeps the output as each row sees it; `b` asks to stop.
const SEEING: &str = r#"cat > "prompt-$PLANEX_FIELD_ID"; cp jobs.results.csv "seen-$PLANEX_FIELD_ID.csv"
    echo "$PLANEX_FIELD_ID" >> ran.txt
    [ "$PLANEX_FIELD_ID" = b ] && stop=true
    printf '{"id":"%s","findings":"x","stop":%s}' "$PLANEX_FIELD_ID" "${stop:-false}""#;

fn stopping() -> Bench {
    Bench::new("id,note\na,1\nb,2\nc,3\nd,4\n", SEEING).concurrency(1).template("Look at {note}")
}

fn seen(bench: &Bench, id: &str) -> Vec<String> {
    let table = Table::parse(&std::fs::read(bench.root.join(format!("seen-{id}.csv"))).unwrap()).unwrap();
    (0..table.rows.len()).map(|row| table.cell(row, "status").unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_shows_what_is_done_as_done_from_its_first_moment() {
    let bench = stopping();
    assert_eq!(bench.run().await.unwrap().status, "stopped");
    assert_eq!(seen(&bench, "a"), ["pending"; 4]);
    assert_eq!(bench.resume(None, false).await.unwrap().exit, 0);
    assert_eq!(seen(&bench, "c"), ["completed", "completed", "pending", "pending"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_with_its_own_copies_and_says_that_the_originals_changed() {
    let mut bench = stopping();
    let template = bench.root.join("template.md");
    std::fs::write(&template, "Look at {note}").unwrap();
    bench.options.instruction.path = Some(template.clone());
    bench.run().await.unwrap();
    std::fs::write(bench.root.join("jobs.csv"), "other\nz\n").unwrap();
    std::fs::remove_file(&template).unwrap();
    let report = bench.resume(None, false).await.unwrap();
    assert_eq!((report.exit, report.counts.completed), (0, 4));
    let prompt = std::fs::read_to_string(bench.root.join("prompt-d")).unwrap();
    assert!(prompt.starts_with("Look at 4\n"), "{prompt}");
    for original in ["jobs.csv", "template.md"] {
        let said = format!("{} is not what it was", bench.root.join(original));
        assert_eq!(bench.journal().matches(&said).count(), 1, "{}", bench.journal());
    }
    assert_eq!(fanout::row_ids(&bench.found()).unwrap(), ["a", "b", "c", "d"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_continue_on_the_new_originals_count() {
    let bench = stopping();
    bench.run().await.unwrap();
    std::fs::write(bench.root.join("jobs.csv"), "id,note\na,1\nc,new\n").unwrap();
    let report = bench.go_on().await.unwrap();
    assert_eq!((report.exit, report.counts.completed), (0, 2));
    assert_eq!(bench.ran(), ["a", "b", "c"]);
    let again = bench.resume(None, false).await.unwrap();
    assert_eq!((again.exit, again.counts.total()), (0, 2));
    assert!(!bench.journal().contains("is not what it was"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_whole_copies_says_how_to_go_on() {
    let bench = stopping();
    bench.run().await.unwrap();
    std::fs::remove_dir_all(bench.found().paths().inputs()).unwrap();
    let error = bench.resume(None, false).await.unwrap_err();
    assert!(error.to_string().contains("no whole copy"), "{error}");
    assert!(error.hints.iter().any(|hint| hint.contains("--continue")), "{:?}", error.hints);
    assert_eq!(bench.go_on().await.unwrap().counts.completed, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_something_else_wrote_is_left_alone() {
    let mut bench = Bench::new("id\na\n", GOOD);
    let output = bench.root.join("jobs.results.csv");
    for theirs in ["mine\n", "status,error,attempts,duration_s,run\n"] {
        std::fs::write(&output, theirs).unwrap();
        for refused in [bench.run().await, bench.go_on().await] {
            let error = refused.unwrap_err();
            assert_eq!(error.exit_code(), 2, "{error}");
            assert!(error.hints.iter().any(|hint| hint.contains("--output")), "{:?}", error.hints);
        }
        assert_eq!(std::fs::read_to_string(&output).unwrap(), theirs);
        assert!(!bench.root.join(".workflow").exists(), "no session is made");
    }
    bench.options.output = Some(bench.root.join("elsewhere/out.csv"));
    assert_eq!(bench.run().await.unwrap().exit, 0);
    assert_eq!(bench.run().await.unwrap().exit, 0, "its own output may be written anew");
    std::fs::write(bench.root.join("elsewhere/out.csv"), "replaced\n").unwrap();
    assert_eq!(bench.go_on().await.unwrap_err().exit_code(), 2);

    let other: Utf8PathBuf = bench.root.join("other.csv");
    std::fs::write(&other, "id\na\n").unwrap();
    bench.options.output = None;
    std::fs::remove_file(&output).unwrap();
    bench.run().await.unwrap();
    bench.options.input = other;
    bench.options.output = Some(output);
    assert_eq!(bench.run().await.unwrap_err().exit_code(), 2, "it holds results of another input");
}
