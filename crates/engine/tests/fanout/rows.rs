//! What becomes of rows.

use std::time::{Duration, Instant};

use planex_core::job::Mode;

use crate::bench::{Bench, GOOD};

#[tokio::test(flavor = "multi_thread")]
async fn every_input_column_the_results_and_planexs_own_come_out_in_input_order() {
    let bench = Bench::new("id;note\nb;\"x\ny\"\na;\n", GOOD);
    let report = bench.run().await.unwrap();
    assert_eq!((report.exit, report.counts.completed, report.counts.total()), (0, 2, 2));
    let table = bench.output();
    assert_eq!(
        table.columns,
        ["id", "note", "result_id", "findings", "files", "status", "error", "attempts", "duration_s", "run"]
    );
    assert_eq!(bench.column("id"), ["b", "a"]);
    assert_eq!(bench.column("note"), ["x\ny", ""]);
    assert_eq!(bench.column("findings"), ["about b", "about a"]);
    assert_eq!(bench.column("files"), ["a;b", "a;b"]);
    assert_eq!(bench.column("status"), ["completed", "completed"]);
    assert_eq!(bench.column("attempts"), ["1", "1"]);
    assert!(bench.column("run")[0].ends_with("-b"));
    assert!(bench.root.join(".workflow/.fanout").join(&report.session).join(".planex/meta.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_taken_gets_a_prefix() {
    let bench = Bench::new("id,status,result_status\na,new,old\n", GOOD);
    bench.run().await.unwrap();
    assert_eq!(bench.column("status"), ["new"]);
    assert_eq!(bench.column("result_status"), ["old"]);
    assert_eq!(bench.column("result_result_status"), ["completed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cause_is_the_first_word_of_the_error() {
    let script = r#"cat >/dev/null; id=$PLANEX_FIELD_ID
        case $id in
            good) printf '{"id":"good","findings":"x"}';;
            says) printf '{"id":"says","findings":"x","status":"failed","error":"no such file"}';;
            tests) printf '{"id":"tests","findings":"x","status":"completed","tests_passed":false}';;
            crash) echo broken >&2; exit 9;;
            silent) exit 0;;
            wrong) printf '{"id":"wrong","other":1}';;
            slow) sleep 30;;
        esac"#;
    let mut bench = Bench::new("id\ngood\nsays\ntests\ncrash\nsilent\nwrong\nslow\n", script).concurrency(8);
    bench.settings.timeout = Some(Duration::from_secs(2));
    let report = bench.run().await.unwrap();
    assert_eq!((report.exit, report.status), (5, "failed"));
    let errors = bench.column("error");
    let starts = [
        "",
        "failed: no such file",
        "failed: its tests did not pass",
        "failed: ",
        "no result",
        "invalid result",
        "timeout",
    ];
    for (error, start) in errors.iter().zip(starts) {
        assert!(error.starts_with(start), "{error:?} begins not with {start:?}");
    }
    assert_eq!(errors[0], "");
    assert_eq!(bench.column("status")[1..], ["failed"; 6]);
    assert_eq!(report.counts.completed, 1);
    assert_eq!(report.next.as_deref(), Some(format!("planex resume {} --retry", report.session).as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_rows_are_tried_again_as_often_as_asked() {
    let script = r#"cat >/dev/null; echo "$PLANEX_JOB_ID" >> ran.txt
        [ "$(grep -c . ran.txt)" -ge 3 ] || exit 1
        printf '{"id":"a","findings":"third time"}'"#;
    let mut bench = Bench::new("id\na\n", script);
    bench.options.retries = 2;
    let report = bench.run().await.unwrap();
    assert_eq!(report.exit, 0, "{:?}", report.failures);
    assert_eq!(bench.column("attempts"), ["3"]);
    assert!(bench.column("run")[0].ends_with("-a-retry-2"));
    let ran = bench.ran();
    assert!(ran[0].ends_with("-a") && ran[1].ends_with("-a-retry") && ran[2].ends_with("-a-retry-2"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_is_never_a_template_nor_a_shell_line() {
    let script = r#"cat > "prompt-$PLANEX_FIELD_ID"; printf '{"id":"%s","findings":"%s"}' "$PLANEX_FIELD_ID" "$PLANEX_FIELD_MY_NOTE""#;
    let bench = Bench::new("id,my note\na,{id} $(touch hacked)\n", script).template("Do {my note} in {{braces}}");
    bench.run().await.unwrap();
    let prompt = std::fs::read_to_string(bench.root.join("prompt-a")).unwrap();
    assert!(prompt.starts_with("Do {id} $(touch hacked) in {braces}\n"), "{prompt}");
    assert!(prompt.contains(r#""my note": "{id} $(touch hacked)""#), "the row is there as JSON: {prompt}");
    assert!(prompt.contains(r#""findings""#), "the schema is there: {prompt}");
    assert_eq!(bench.column("findings"), ["{id} $(touch hacked)"]);
    assert!(!bench.root.join("hacked").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_id_column_rows_are_numbered_and_without_a_schema_the_text_is_the_result() {
    let mut bench =
        Bench::new("topic\nx\ny\n", r#"cat >/dev/null; echo "about $PLANEX_FIELD_TOPIC""#).template("{topic}");
    bench.options.id_column = None;
    bench.options.schema = None;
    let report = bench.run().await.unwrap();
    assert_eq!(report.exit, 0, "{:?}", report.failures);
    assert_eq!(bench.column("result"), ["about x", "about y"]);
    assert!(bench.column("run")[1].ends_with("-row-2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_can_stop_the_rest_and_continue_runs_what_is_left() {
    let script = r#"cat >/dev/null; echo "$PLANEX_FIELD_ID" >> ran.txt
        case $PLANEX_FIELD_ID in
            b) printf '{"id":"b","findings":"enough","stop":true}';;
            *) printf '{"id":"%s","findings":"x"}' "$PLANEX_FIELD_ID";;
        esac"#;
    let bench = Bench::new("id\na\nb\nc\nd\n", script).concurrency(1);
    let report = bench.run().await.unwrap();
    assert_eq!((report.exit, report.status, report.counts.pending), (0, "stopped", 2));
    assert_eq!(bench.column("status"), ["completed", "completed", "pending", "pending"]);
    assert_eq!(bench.column("attempts"), ["1", "1", "", ""]);
    let again = planex_engine::workflow::fanout::go_on(&bench.engine(), &bench.options).await.unwrap();
    assert_eq!((again.session, again.exit, again.counts.completed), (report.session, 0, 4));
    assert_eq!(bench.ran(), ["a", "b", "c", "d"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_run_side_by_side_up_to_the_limit() {
    let script = r#"cat >/dev/null; echo + >> load.txt; sleep 0.3; echo - >> load.txt; printf '{"id":"%s","findings":"x"}' "$PLANEX_FIELD_ID""#;
    let ids: Vec<String> = (0..6).map(|n| format!("r{n}")).collect();
    let bench = Bench::new(&format!("id\n{}\n", ids.join("\n")), script).concurrency(3);
    let begun = Instant::now();
    assert_eq!(bench.run().await.unwrap().exit, 0);
    assert!(begun.elapsed() < Duration::from_millis(6 * 300), "{:?}", begun.elapsed());
    let load = std::fs::read_to_string(bench.root.join("load.txt")).unwrap();
    let mut now = 0;
    for line in load.lines() {
        now += if line == "+" { 1 } else { -1 };
        assert!(now <= 3, "{load}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writing_rows_say_that_nothing_keeps_them_apart() {
    let script = r#"cat >/dev/null; echo hi > "$PLANEX_FIELD_ID.txt"; printf '{"id":"%s","findings":"%s"}' "$PLANEX_FIELD_ID" "$PLANEX_MODE""#;
    let mut bench = Bench::new("id\na\nb\n", script);
    bench.options.mode = Mode::Write;
    let report = bench.run().await.unwrap();
    assert_eq!(bench.column("findings"), ["write", "write"]);
    assert!(bench.root.join("a.txt").exists() && bench.root.join("b.txt").exists());
    let journal = std::fs::read_to_string(report.dir.join(".planex/journal.ndjson")).unwrap();
    assert!(journal.contains("without isolation"), "{journal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_text_in_results_is_made_safe() {
    let script = r#"cat >/dev/null; printf '{"id":"a","findings":"\\u001b[31mred\\u0007, \\"quoted\\"\\nnext"}'"#;
    let bench = Bench::new("id\na\n", script);
    bench.run().await.unwrap();
    assert_eq!(bench.column("findings"), ["red, \"quoted\"\nnext"]);
}
