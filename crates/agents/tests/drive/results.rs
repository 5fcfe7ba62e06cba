//! Where a result comes from, and what is made of a bad one.

use planex_agents::Update;
use planex_agents::drive::asked_to_stop;
use planex_core::job::{CauseKind, Exit, JobStatus, ResultSource};
use planex_core::settings::{PromptVia, ResultVia};
use serde_json::json;

use crate::support::Bench;

#[tokio::test]
async fn a_result_in_prose_with_fences_is_found() {
    let bench = Bench::new(r#"cat > /dev/null; printf 'Here {you} go:\n```json\n{"ok": "true"}\n```\nBye\n'"#);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    assert_eq!(ran.outcome.result, Some(json!({ "ok": true, "id": "T1" })));
    assert_eq!(ran.outcome.source, Some(ResultSource::Text));
    assert_eq!(ran.outcome.exit, Some(Exit::Code(0)));
    assert!(matches!(ran.updates[0], Update::Started { .. }), "{:?}", ran.updates);
    assert!(bench.path("ident.json").exists());
    assert!(bench.read("output.log").contains("Here {you} go"));
}

#[tokio::test]
async fn every_job_sees_its_prompt_and_variables() {
    let mut bench = Bench::new(
        r#"cat; echo; env | grep ^PLANEX_ | sort; cat "$PLANEX_ROW_FILE" "$PLANEX_SCHEMA_FILE" "$PLANEX_PROMPT_FILE" > /dev/null || exit 3
           test -d "$TMPDIR" || exit 4; touch "$TMPDIR/x"; echo '{"ok":true}' > "$PLANEX_RESULT_FILE""#,
    );
    bench.spec.prompt = "first line\n'quote' $(no) `no`".repeat(10_000);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.source, Some(ResultSource::File), "{:?}", ran.outcome);
    let log = bench.read("output.log");
    for wanted in [
        "PLANEX_JOB_ID=s-T1",
        "PLANEX_ROLE=execute",
        "PLANEX_MODE=write",
        "PLANEX_FIELD_ID=T1",
        "PLANEX_FIELD_KEY_FILES=a;b",
        "'quote' $(no) `no`",
    ] {
        assert!(log.contains(wanted), "{wanted}");
    }
    assert_eq!(bench.read("prompt.md"), bench.spec.prompt);
}

#[tokio::test]
async fn an_exit_code_fails_the_job_unless_the_file_is_there() {
    let mut bench = Bench::new(r#"echo '{"ok":true}'; echo 'no luck: 429 Too Many Requests' >&2; exit 1"#);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Failed);
    let cause = ran.outcome.cause.unwrap();
    assert_eq!(cause.kind, CauseKind::RateLimited);
    assert!(cause.message.contains("no luck"), "{cause}");
    assert_eq!(ran.outcome.result, None);
    bench = Bench::new(r#"echo '{"ok":true}' > "$PLANEX_RESULT_FILE"; exit 1"#);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    assert_eq!((ran.outcome.source, ran.outcome.exit), (Some(ResultSource::File), Some(Exit::Code(1))));
}

#[tokio::test]
async fn the_table_says_where_the_result_is() {
    let script = r#"echo '{"ok":false}'; echo '{"ok":true}' > "$PLANEX_RESULT_FILE""#;
    for (via, ok) in [(ResultVia::Auto, true), (ResultVia::File, true), (ResultVia::Stdout, false)] {
        let mut bench = Bench::new(script);
        bench.settings.result = via;
        let ran = bench.run().await;
        assert_eq!(ran.outcome.result.unwrap()["ok"], json!(ok), "{via:?}");
    }
}

#[tokio::test]
async fn the_prompt_can_come_as_a_file() {
    let mut bench = Bench::new("");
    bench.settings.command =
        ["sh", "-c", r#"grep -q prompt "$1" && test -z "$(cat)" && echo '{"ok":true}'"#, "x", "{prompt_file}"]
            .map(str::to_owned)
            .to_vec();
    bench.settings.prompt = PromptVia::File;
    assert_eq!(bench.run().await.outcome.status, JobStatus::Completed);
}

#[tokio::test]
async fn a_bad_answer_is_asked_for_once_more() {
    let script = r#"n=$(cat count 2>/dev/null || echo 0); echo $((n+1)) > count; prompt=$(cat)
        case $n in 0) echo 'I am done!';; *) echo "$prompt" > second; echo '{"id":"T1","ok":true}';; esac"#;
    let bench = Bench::new(script);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    let second = std::fs::read_to_string(bench.spec.cwd.join("second")).unwrap();
    assert!(second.contains("I am done!") && second.contains("the prompt") && second.contains("\"ok\""), "{second}");
    assert!(ran.outcome.notes.iter().any(|note| note.starts_with("asked once more")), "{:?}", ran.outcome.notes);
    assert!(bench.read("output.log").contains("I am done"));
    assert!(bench.read("output-repair.log").contains("T1"));
}

#[tokio::test]
async fn an_agent_that_can_resume_is_resumed_for_its_result() {
    let mut bench = Bench::new("");
    let script = r#"echo "$@" >> args; if [ "$1" = --resume ]; then echo '{"ok":true}'; else echo hello; fi"#;
    bench.settings.command = ["sh", "-c", script, "x"].map(str::to_owned).to_vec();
    bench.settings.resume_args = Some(vec!["--resume".into(), "{session}".into()]);
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    assert_eq!(std::fs::read_to_string(bench.spec.cwd.join("args")).unwrap(), "\n--resume s-T1\n");
    assert_eq!(ran.outcome.agent_session.as_deref(), Some("s-T1"));
    assert!(!bench.read("prompt-repair.md").contains("Your answer was"));
}

#[tokio::test]
async fn nothing_twice_is_no_result() {
    let bench = Bench::new("echo run >> runs");
    let ran = bench.run().await;
    assert_eq!(ran.outcome.status, JobStatus::Failed);
    let cause = ran.outcome.cause.unwrap();
    assert_eq!((cause.kind, cause.message.as_str()), (CauseKind::NoResult, "no result reported"));
    assert_eq!(std::fs::read_to_string(bench.spec.cwd.join("runs")).unwrap(), "run\nrun\n");
}

#[tokio::test]
async fn what_does_not_fit_twice_is_an_invalid_result_with_the_text_kept() {
    let ran = Bench::new(r#"echo 'sorry {"ok": 7}'"#).run().await;
    let cause = ran.outcome.cause.unwrap();
    assert_eq!(cause.kind, CauseKind::InvalidResult);
    assert!(cause.message.contains("/ok"), "{cause}");
    assert!(ran.outcome.text.contains("sorry"));
}

#[tokio::test]
async fn a_foreign_id_counts_as_no_result() {
    let ran = Bench::new(r#"echo '{"id":"T2","ok":true}'"#).run().await;
    assert_eq!(ran.outcome.status, JobStatus::Failed);
    assert_eq!(ran.outcome.cause.unwrap().kind, CauseKind::NoResult);
    assert!(ran.outcome.notes.iter().any(|note| note.contains("T2")), "{:?}", ran.outcome.notes);
}

#[tokio::test]
async fn the_first_of_two_reports_counts_and_a_stop_is_said() {
    let script = r#"f="$(dirname "$PLANEX_RESULT_FILE")/reports.ndjson"
        echo '{"ts":"x","result":{"ok":true},"stop":true}' >> "$f"; echo '{"ts":"x","result":{"ok":false},"stop":false}' >> "$f"; exit 7"#;
    let ran = Bench::new(script).run().await;
    assert_eq!(ran.outcome.status, JobStatus::Completed, "{:?}", ran.outcome);
    assert_eq!(ran.outcome.source, Some(ResultSource::Mcp));
    assert_eq!(ran.outcome.result, Some(json!({ "ok": true, "id": "T1" })));
    assert!(asked_to_stop(&ran.outcome));
    assert!(ran.outcome.notes.iter().any(|note| note.contains("later report")), "{:?}", ran.outcome.notes);
}

#[tokio::test]
async fn secrets_are_masked_everywhere() {
    let script =
        r#"echo "key is $MY_API_KEY"; echo "err $MY_API_KEY" >&2; echo "{\"ok\":true,\"note\":\"$MY_API_KEY\"}""#;
    let bench = Bench::new(script);
    let ran = bench.run().await;
    let all = format!("{:?}{:?}{}{}", ran.outcome, ran.updates, bench.read("output.log"), bench.read("stderr.log"));
    assert!(!all.contains("hunter2"), "{all}");
    assert!(all.contains("key is ***"), "{all}");
}

#[tokio::test]
async fn a_repair_turn_does_not_double_the_logs() {
    let mut bench = Bench::new("yes | head -c 3000000; yes | head -c 3000000 >&2");
    bench.context.log_cap = 1024 * 1024;
    let ran = bench.run().await;
    assert_eq!(ran.outcome.cause.unwrap().kind, CauseKind::NoResult);
    let size = |name: &str| std::fs::metadata(bench.path(name)).unwrap().len();
    let (first, repair) = (size("output.log"), size("output-repair.log"));
    assert!(repair > 50_000 && first + repair <= bench.context.log_cap + 1000, "{first} + {repair}");
    let errors = size("stderr.log") + size("stderr-repair.log");
    assert!(errors <= bench.context.log_cap / 4 + 1000, "{errors}");
}

/// What is kept of a text is cut; a secret that a cut would halve is masked nevertheless.
#[tokio::test]
async fn a_secret_where_a_text_is_cut_is_masked() {
    let pad = |length: usize| "x".repeat(length);
    for (script, wanted) in [
        (format!(r#"echo "{} $MY_API_KEY" >&2; exit 3"#, pad(490)), JobStatus::Failed),
        (format!(r#"echo "$MY_API_KEY {}" >&2; exit 3"#, pad(8 * 1024 - 9)), JobStatus::Failed),
        (format!(r#"echo '{{"ok":"{} '"$MY_API_KEY"'"}}'"#, pad(1900)), JobStatus::Failed),
        (format!(r#"echo '{{"ok":"'"$MY_API_KEY"'"}}' > "$PLANEX_RESULT_FILE"; echo {}"#, pad(290)), JobStatus::Failed),
        (
            format!(r#"echo '{{"ok":true,"pin":'$MY_API_KEY'}}'; echo "{{\"ok\":true,\"s\":\"{}\"}}""#, pad(9)),
            JobStatus::Completed,
        ),
    ] {
        let bench = Bench::new(&script);
        let ran = bench.run().await;
        assert_eq!(ran.outcome.status, wanted, "{script}: {:?}", ran.outcome);
        let mut all = format!("{:?}{:?}", ran.outcome, ran.updates);
        for file in ["output.log", "stderr.log", "prompt-repair.md"] {
            all.push_str(&std::fs::read_to_string(bench.path(file)).unwrap_or_default());
        }
        assert!(!all.contains("hunter2h") && !all.contains("er2hunter2"), "{script}: {all}");
    }
}

#[tokio::test]
async fn results_of_an_earlier_start_do_not_count() {
    let bench = Bench::new("true");
    std::fs::create_dir_all(&bench.spec.run_dir).unwrap();
    std::fs::write(bench.path("answer.json"), r#"{"ok":true}"#).unwrap();
    std::fs::write(bench.path("reports.ndjson"), "{\"result\":{\"ok\":true}}\n").unwrap();
    assert_eq!(bench.run().await.outcome.status, JobStatus::Failed);
}
