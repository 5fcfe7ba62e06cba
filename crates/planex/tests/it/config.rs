//! Configuration: layers, origins, faults, `config set`.

use insta::assert_snapshot;
use planex_testkit::TestEnv;

use crate::{exits, ok, planex, tidy};

fn user_config(env: &TestEnv, text: &str) {
    env.write("../home/.config/planex/config.toml", text);
}

#[test]
fn every_value_says_where_it_comes_from() {
    let env = TestEnv::new();
    user_config(&env, "concurrency = 2\nlang = \"ja\"\n");
    env.write("planex.toml", "# ours\n\n[limits]\nidle = 60\n");
    let output = planex(&env, &["config", "show", "--timeout", "90"]).env("PLANEX_LANG", "en").output().success();
    let shown: Vec<String> = output
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.ends_with("# default"))
        .collect();
    let shown = tidy(&env, &shown.join("\n"));
    assert_snapshot!(shown, @r"
    concurrency = 2 # [ROOT]/home/.config/planex/config.toml:1
    timeout = 1m 30s # --timeout
    lang = en # $PLANEX_LANG
    limits.idle = 1m 00s # planex.toml:4
    ");
    assert_eq!(planex(&env, &["config", "get", "concurrency"]).output().success().stdout, "2\n");
    let json = planex(&env, &["config", "get", "limits.idle", "--json"]).output().success().json_lines();
    assert_eq!(json, [serde_json::json!({"key": "limits.idle", "value": "1m 00s", "origin": "planex.toml:4"})]);
}

#[test]
fn faults_name_file_line_and_column() {
    let env = TestEnv::new();
    env.write("planex.toml", "lang = \"en\"\nconcurency = 3\n\n[roles.plan]\ntimeout = \"soon\"\n");
    let output = planex(&env, &["config", "show"]).output().exits(3);
    assert_snapshot!(tidy(&env, &output.stderr), @r#"
    error: the configuration cannot be used
    planex.toml:2:1: unknown key `concurency`; did you mean `concurrency`?
        concurency = 3
        ^
    planex.toml:5:11: `roles.plan.timeout`: `soon` is no duration: a number is missing; write for example 90, 90s, 10m or 1h30m
        timeout = "soon"
                  ^
    "#);
}

#[test]
fn set_writes_one_value_and_keeps_the_rest() {
    let env = TestEnv::new();
    env.write("planex.toml", "# keep me\nlang = \"en\" # and me\n");
    ok(&env, &["config", "set", "lang", "zh", "--project"]);
    ok(&env, &["config", "set", "limits.execute", "20m", "--project"]);
    assert_snapshot!(env.read("planex.toml"), @r#"
    # keep me
    lang = "zh" # and me

    [limits]
    execute = "20m"
    "#);
    ok(&env, &["config", "set", "concurrency", "7"]);
    assert_eq!(planex(&env, &["config", "get", "concurrency"]).output().success().stdout, "7\n");
    let wrong = planex(&env, &["config", "set", "limit.execute", "1"]).output().exits(2).stderr;
    assert_eq!(wrong.trim_end(), "error: unknown key `limit.execute`; did you mean `limits.execute`?");
}

#[test]
fn colours_follow_the_rules() {
    let env = TestEnv::new();
    let plain = planex(&env, &["config", "show"]).output().success().stdout;
    assert!(!plain.contains('\u{1b}'));
    let coloured = planex(&env, &["config", "show", "--color", "always"]).output().success().stdout;
    assert!(coloured.contains('\u{1b}'), "a flag beats NO_COLOR and the missing terminal");
}

#[test]
fn init_writes_once_and_its_file_is_valid() {
    let env = TestEnv::new();
    env.write("src/lib.rs", "pub fn a() {}\n");
    env.git_init();
    let first = planex(&env, &["init"]).output().success();
    assert_snapshot!(first.stdout, @r"
    wrote planex.toml
    wrote .workflow/project-tech.json
    added .workflow/ to .git/info/exclude
    ");
    env.write("planex.toml", "lang = \"en\"\n");
    let second = planex(&env, &["init"]).output().success();
    assert_snapshot!(second.stdout, @r"
    kept  planex.toml
    kept  .workflow/project-tech.json (--force writes it anew)
    ");
    assert_eq!(env.read("planex.toml"), "lang = \"en\"\n");
    assert_eq!(env.git(&["status", "--porcelain"]), "?? planex.toml");
}

#[test]
fn doctor_tells_what_is_wrong_and_how_to_mend_it() {
    let env = TestEnv::new();
    let fine = planex(&env, &["doctor"]).output().success().stdout;
    assert!(fine.contains("git version") && fine.contains("npm install -g"), "{fine}");
    env.write("planex.toml", "langg = 1\n");
    let output = planex(&env, &["doctor"]).output().exits(1);
    assert!(output.stdout.contains("planex.toml:1:1: unknown key `langg`; did you mean `lang`?"), "{}", output.stdout);
    let json = planex(&env, &["doctor", "--json"]).output().exits(1);
    assert_eq!(json.json_lines().len(), json.stdout.lines().count(), "standard output is JSON Lines alone");
}

#[test]
fn doctor_names_broken_files_of_sessions() {
    let env = TestEnv::new();
    ok(&env, &["doctor"]);
    env.write(".workflow/.lite-plan/wpp-x/.planex/meta.json", "{ torn");
    env.write(".workflow/.lite-plan/wpp-x/.planex/gates/tasks.json", "[]");
    let output = planex(&env, &["doctor"]).output().exits(1).stdout;
    for said in ["meta.json:1:3: ", "mend it or remove it", "gates/tasks.json:1:", "planex resume wpp-x"] {
        assert!(output.contains(said), "{said}: {output}");
    }
}

#[test]
fn guidelines_are_made_listed_and_loaded() {
    let env = TestEnv::new();
    ok(&env, &["spec", "init"]);
    let add =
        ["spec", "add", "No raw SQL", "--category", "planning", "--keywords", "sql,db", "--text", "Use the builder."];
    ok(&env, &add);
    let list = planex(&env, &["spec", "list"]).output().success().stdout;
    assert!(list.contains("No raw SQL"), "{list}");
    let with = planex(&env, &["spec", "load", "--category", "planning", "--keywords", "sql"]).output().success().stdout;
    let without = planex(&env, &["spec", "load", "--category", "planning"]).output().success().stdout;
    assert!(with.contains("Use the builder.") && !without.contains("Use the builder."), "{with}\n{without}");
    exits(&env, &["spec", "load", "--category", "plan"], 2);
}

#[cfg(unix)]
#[test]
fn a_device_under_the_name_of_the_configuration_is_refused() {
    let env = TestEnv::new();
    std::os::unix::fs::symlink("/dev/zero", env.dir().join("planex.toml")).unwrap();
    let output = planex(&env, &["config", "show"]).output().exits(3);
    assert!(output.stderr.contains("planex.toml is no file"), "{}", output.stderr);
}

#[test]
fn a_number_that_is_too_large_is_called_that() {
    let env = TestEnv::new();
    let most = "is too large: at most 9223372036854775807";
    for args in [
        &["waves", "x", "--dry-run", "-c", "99999999999999999999"][..],
        &["config", "set", "concurrency", "99999999999999999999"],
    ] {
        let refused = planex(&env, args).output().exits(2);
        assert!(refused.stderr.contains(most), "{}", refused.stderr);
    }
    env.write("planex.toml", "lang = \"en\"\nconcurrency = 99999999999999999999\n");
    let refused = planex(&env, &["config", "show"]).output().exits(3);
    assert!(
        refused.stderr.contains("planex.toml:2:15: `concurrency`: `99999999999999999999` is too large"),
        "{}",
        refused.stderr
    );
}
