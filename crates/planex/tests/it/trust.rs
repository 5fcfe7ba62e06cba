//! Trust on first use.

use planex_testkit::TestEnv;

use crate::{ok, planex};

const CONFIG: &str = "[agents.mine]\ncommand = [\"true\"]\n";

#[test]
fn an_untrusted_command_does_not_run_and_yes_gives_no_trust() {
    let env = TestEnv::new();
    env.write("planex.toml", CONFIG);
    for args in [&["waves", "x"][..], &["waves", "-y", "x"]] {
        let output = planex(&env, args).output().exits(4);
        assert!(output.stderr.contains("agents.mine.command = [\"true\"]"), "{}", output.stderr);
        assert!(output.stderr.contains(&format!("planex trust {}", env.dir())), "{}", output.stderr);
    }
    assert!(!env.exists(".workflow"), "nothing was started");
    let show = planex(&env, &["config", "show"]).output().success();
    assert!(!show.stdout.contains("agents.mine") && show.stderr.contains("has no effect"), "{}", show.stderr);
}

#[test]
fn trust_is_given_bound_to_content_and_taken_back() {
    let env = TestEnv::new();
    env.write("planex.toml", CONFIG);
    ok(&env, &["trust"]);
    assert!(planex(&env, &["config", "show"]).output().success().stdout.contains("agents.mine.command"));
    env.write("planex.toml", "[agents.mine]\ncommand = [\"false\"]\n");
    assert!(!planex(&env, &["config", "show"]).output().success().stdout.contains("agents.mine.command"));
    let once = planex(&env, &["config", "show", "--trust"]).output().success().stdout;
    assert!(once.contains("agents.mine.command"), "{once}");
    ok(&env, &["trust"]);
    ok(&env, &["trust", "--revoke"]);
    assert!(!planex(&env, &["config", "show"]).output().success().stdout.contains("agents.mine.command"));
}

#[test]
fn a_limit_that_is_raised_is_not_taken_and_said_with_the_command() {
    let env = TestEnv::new();
    env.write("planex.toml", "concurrency = 64\nlimits.idle = 0\n");
    env.write("src/login.py", "def login(user):\n    return user\n");
    let waves = ["waves", "--gates", "defer", "--agent", "native", "Add a rate limit to login"];
    let output = planex(&env, &waves).output().exits(4);
    for name in ["planex.toml:1:15: `concurrency`", "planex.toml:2:15: `limits.idle`"] {
        let line = output.stderr.lines().find(|line| line.contains(name)).expect(name);
        assert!(line.contains("not taken") && line.contains("`planex trust`"), "{line}");
    }
    let show = || planex(&env, &["config", "show"]).output().success().stdout;
    assert!(show().contains("concurrency = 4"), "{}", show());
    ok(&env, &["trust"]);
    assert!(show().contains("concurrency = 64") && show().contains("limits.idle = 0s"), "{}", show());
    assert!(ok(&env, &["trust"]).stdout.contains("is trusted already"));
    assert!(!planex(&env, &waves).output().exits(4).stderr.contains("not taken"));
    // A lower one needs none.
    env.write("planex.toml", "concurrency = 2\n");
    assert!(ok(&env, &["trust"]).stdout.contains("nothing in"));
    assert!(show().contains("concurrency = 2"), "{}", show());
}

#[test]
fn an_agent_with_full_access_is_not_chosen_by_a_repository() {
    let env = TestEnv::new();
    env.write("../home/.config/planex/config.toml", "[agents.codex]\nfull_access = true\n");
    env.write("planex.toml", "[roles.execute]\nagent = \"codex\"\n");
    let output = planex(&env, &["waves", "-y", "x"]).output().exits(4);
    assert!(output.stderr.contains("roles.execute.agent = \"codex\""), "{}", output.stderr);
    assert!(output.stderr.contains(&format!("planex trust {}", env.dir())), "{}", output.stderr);
    env.write("../home/.config/planex/config.toml", "");
    assert!(ok(&env, &["trust"]).stdout.contains("nothing in"));
}
