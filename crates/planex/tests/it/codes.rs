//! Exit codes and what errors say.

use insta::assert_snapshot;
use planex_testkit::TestEnv;

use crate::{exits, planex, tidy};

fn error(env: &TestEnv, args: &[&str], code: i32) -> String {
    let output = planex(env, args).output().exits(code);
    assert_eq!(output.stdout, "", "nothing on standard output for {args:?}");
    tidy(env, &output.stderr)
}

#[test]
fn wrong_usage_is_two() {
    let env = TestEnv::new();
    assert_snapshot!(error(&env, &["wave", "x"], 2), @r"
    error: unrecognized subcommand 'wave'

      tip: a similar subcommand exists: 'waves'

    Usage: planex [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(error(&env, &["waves", "--yess"], 2), @r"
    error: invalid value '--yess' for '[REQUIREMENT]': unknown option; did you mean `--yes`? (a text that starts with - goes after --)

    For more information, try '--help'.
    ");
    assert_snapshot!(error(&env, &["waves"], 2), @r"
    error: no requirement given
    hint: give the requirement as an argument, as a .md or .txt file, or `-` for standard input
    ");
    assert_snapshot!(error(&env, &["-C", "nowhere", "sessions", "list"], 2), @r"
    error: `[ROOT]/work/nowhere` is not a folder
    hint: give an existing folder with -C DIR
    ");
    assert_snapshot!(error(&env, &["schema", "exploraton"], 2), @r"
    error: unknown schema `exploraton`
    hint: did you mean `exploration`?
    ");
    assert_snapshot!(error(&env, &["answer", "s", "q=a"], 2), @r"
    error: no session matches `s`
    hint: start one with `planex waves` or `planex fanout`
    ");
    assert_snapshot!(error(&env, &["mcp"], 2), @r"
    error: `planex mcp` serves the job it runs in, and there is none
    hint: agents start it by themselves inside a job, where PLANEX_JOB_ID and PLANEX_SESSION_DIR are set
    ");
    assert_snapshot!(error(&env, &["waves", "x", "--agent", "pln=codex"], 2), @"error: --agent: unknown role `pln`; did you mean `plan`?");
}

#[test]
fn invalid_input_is_three() {
    let env = TestEnv::new();
    env.write("empty.md", " \n");
    assert_snapshot!(error(&env, &["waves", "empty.md"], 3), @r"
    error: the requirement is empty
    hint: say in a sentence what is to be done
    ");
    let missing = error(&env, &["waves", "nowhere.md"], 3);
    assert!(missing.starts_with("error: [ROOT]/work/nowhere.md: "), "{missing}");
    let binary = planex(&env, &["explore", "-"]).stdin(b"caf\xe9").output().exits(3).stderr;
    assert!(binary.contains("standard input: not UTF-8 (first wrong byte at 3)"), "{binary}");
}

#[test]
fn a_job_may_not_answer_its_own_gate() {
    let env = TestEnv::new();
    let driving =
        [&["waves", "-y", "x"][..], &["waves", "--continue"], &["fanout", "a.csv", "--instruction", "b"], &["demo"]];
    let deciding = [
        &["answer", "s", "q=a"][..],
        &["trust"],
        &["resume"],
        &["cancel", "s"],
        &["init"],
        &["note", "s", "T1", "x"],
        &["--trust", "config", "show"],
    ];
    for args in driving.into_iter().chain(deciding).chain([&["sessions", "delete", "-y", "s"][..]]) {
        let output = planex(&env, args).env("PLANEX_JOB_ID", "s-T1").output().exits(2);
        assert!(
            output.stderr.contains("is refused inside a job") || output.stderr.contains("are refused"),
            "{args:?}: {}",
            output.stderr
        );
    }
}

/// What was asked for and could not be written is a failure; a reader that had enough is none.
#[cfg(target_os = "linux")]
#[test]
fn output_that_is_lost_is_one_and_a_closed_pipe_is_quiet() {
    let env = TestEnv::new();
    let shell = |line: &str| {
        let script = line.replace("PLANEX", env!("CARGO_BIN_EXE_planex"));
        env.command("/bin/sh").args(["-c", script.as_str()]).output()
    };
    for args in ["--help", "--version", "schema task", "config show", "completions bash", "agent list"] {
        let full = shell(&format!("PLANEX {args} > /dev/full")).exits(1);
        assert!(full.stderr.contains("failed to write to standard output: No space left"), "{args}: {}", full.stderr);
        // The reader has closed its end before planex starts.
        let closed = shell(&format!(
            "rm -f gone code; (until [ -e gone ]; do sleep 0.01; done; PLANEX {args}; echo $? > code) | \
             (exec 0<&-; touch gone; until [ -e code ]; do sleep 0.01; done)"
        ));
        assert!(!closed.stderr.contains("standard output"), "{args}: {}", closed.stderr);
        assert_eq!(env.read("code"), "0\n", "{args}");
    }
}

/// A FIFO in a file's place is refused at once, whoever would write to it some day.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_read() {
    let env = TestEnv::new();
    env.write("ok.csv", "id\n1\n");
    let _ = env.sh("mkfifo r.md r.csv").success();
    for args in [
        &["waves", "r.md"][..],
        &["explore", "--file", "r.md"],
        &["agent", "run", "--tool", "native", "--file", "r.md"],
        &["fanout", "r.csv", "--instruction", "ok.csv"],
        &["fanout", "ok.csv", "--instruction", "r.md"],
        &["fanout", "ok.csv", "--instruction", "ok.csv", "--output-schema", "r.md"],
    ] {
        let output = exits(&env, args, 3);
        assert!(output.stderr.contains("not a regular file"), "{args:?}: {}", output.stderr);
    }
}

/// A repository may bring links in place of planex's own folders and files.
#[cfg(unix)]
#[test]
fn state_that_leads_out_of_the_project_is_refused() {
    let env = TestEnv::new();
    let outside = env.root().join("outside");
    let _ = env.sh(&format!("mkdir {outside} && ln -s {outside} .workflow")).success();
    for args in [&["waves", "-y", "--agent", "native", "add a page"][..], &["init", "-y"]] {
        let output = exits(&env, args, 1);
        assert!(output.stderr.contains("work/.workflow leads out of"), "{args:?}: {}", output.stderr);
        assert!(output.stderr.contains("remove the link"), "{args:?}: {}", output.stderr);
    }
    let _ = env.sh(&format!("rm .workflow && mkdir .workflow && ln -s {outside} .workflow/.lite-plan")).success();
    let output = exits(&env, &["waves", "-y", "--agent", "native", "add a page"], 1);
    assert!(output.stderr.contains(".workflow/.lite-plan leads out of"), "{}", output.stderr);
    assert_eq!(env.sh(&format!("ls -A {outside}")).stdout, "");
}

/// A real keeper above it is enough: an agent can clear its environment, and leave its process group and session.
#[cfg(target_os = "linux")]
#[test]
fn a_job_without_its_environment_is_still_a_job() {
    let env = TestEnv::new();
    let planex_itself = env!("CARGO_BIN_EXE_planex");
    let script = format!(
        "#!/bin/sh\ncat >/dev/null\nfor args in 'trust' 'answer s q=a' '--trust config show' 'agent list'; do\n\
         env -i HOME=\"$HOME\" PATH=/usr/bin:/bin setsid -w {planex_itself} $args >out 2>&1\n\
         echo \"$? $(grep -c 'is refused inside a job' out)\" >>codes\ndone\necho '{{}}'\n"
    );
    env.script("sly", &script);
    let config = format!("[agents.sly]\ncommand = [\"{}/sly\"]\n", env.bin());
    env.write("../home/.config/planex/config.toml", config);
    let _ = planex(&env, &["agent", "run", "--tool", "sly", "--mode", "write", "-p", "x"]).output().success();
    assert_eq!(env.read("codes"), "2 1\n2 1\n2 1\n0 0\n");
}
