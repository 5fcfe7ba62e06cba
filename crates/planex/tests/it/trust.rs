//! Trust on first use.

use planex_core::settings::file::{Source, parse};
use planex_core::settings::keys::KEYS;
use planex_core::settings::trust::needs_trust;
use planex_core::settings::value::Kind;
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

/// What the loader withholds and what the engine asks trust for are two lists; this holds them together.
#[test]
fn what_is_withheld_is_what_trust_is_asked_for() {
    for key in KEYS {
        let name = key.name.replace("roles.*", "roles.plan").replace("agents.*", "agents.x");
        let value = match key.kind {
            Kind::Text | Kind::Name => "\"a\"",
            Kind::Word(words) => &format!("\"{}\"", words.first().unwrap()),
            Kind::List => "[\"a\"]",
            Kind::Map => "{ A = \"b\" }",
            Kind::Duration | Kind::Count | Kind::Positive | Kind::Size | Kind::Money => "1",
            Kind::Bool => "true",
            Kind::Zone => "\"utc\"",
            Kind::Destination => "\"tree\"",
        };
        let text = format!("{name} = {value}\n");
        let entries = parse(Source { file: "planex.toml", text: &text }).unwrap();
        let withheld = entries.iter().any(needs_trust);
        let asked = !planex_engine::trust::trusted_parts("planex.toml".into(), &text).unwrap().lines.is_empty();
        assert_eq!(withheld, asked, "{text}");
    }
}
