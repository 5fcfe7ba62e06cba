//! A gate asked at a terminal, in a terminal.

use planex_testkit::TestEnv;

use crate::screen::Screen;
use crate::{exits, ok, wait_for};

fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/login.py", "def login(user):\n    return user\n");
    env
}

const WAVES: [&str; 4] = ["waves", "--agent", "native", "Add a rate limit to login"];

#[test]
fn a_gate_is_chosen_with_the_arrow_keys() {
    let env = project();
    let mut screen = Screen::start(&env, &WAVES, 40, 100);
    screen.wait("> Approve");
    // Down twice: cancel.
    screen.press("\u{1b}[B\u{1b}[B");
    screen.wait("> Cancel");
    screen.press("\r");
    assert_eq!(screen.code(), 4, "{}", screen.text());
}

#[test]
fn a_narrow_terminal_will_do_and_ctrl_c_keeps_the_state() {
    let env = project();
    let mut screen = Screen::start(&env, &WAVES, 24, 40);
    screen.wait("> Approve");
    assert!(screen.text().contains("Choosing exploration angles\n"), "lines end where they end: {}", screen.text());
    screen.press("\u{3}");
    assert_eq!(screen.code(), 130, "{}", screen.text());
    let list = crate::planex(&env, &["sessions", "list", "--json"]).output().success().json_lines();
    assert_eq!(list.first().and_then(|session| session["status"].as_str()), Some("waiting"), "{list:?}");
}

#[test]
fn an_answer_of_another_process_ends_the_prompt() {
    let env = project();
    let mut screen = Screen::start(&env, &WAVES, 40, 100);
    screen.wait("> Approve");
    ok(&env, &["answer", "rate", "confirm=approve"]);
    screen.wait("answered meanwhile by `planex answer`: approve");
    screen.wait("> Execute");
    ok(&env, &["answer", "rate", "confirm=cancel"]);
    assert_eq!(screen.code(), 4, "{}", screen.text());
    assert!(screen.text().contains("by `planex answer`: cancel"), "{}", screen.text());
    // The prompts are gone from the screen.
    assert!(!screen.text().contains("> Approve") && !screen.text().contains("> Execute"), "{}", screen.text());
}

#[test]
fn letters_choose_and_a_terminal_may_change_its_size() {
    let env = project();
    let mut screen = Screen::start(&env, &WAVES, 40, 100);
    screen.wait("> Approve");
    screen.resize(24, 40);
    screen.press("j");
    screen.wait("> Modify");
    screen.press("k");
    screen.wait("> Approve");
    screen.resize(30, 60);
    screen.press("ca");
    screen.wait("> Cancel");
    screen.press("\r");
    assert_eq!(screen.code(), 4, "{}", screen.text());
}

#[test]
fn the_terminal_is_given_back_as_it_was() {
    for (keys, code) in [("\u{3}", 130), ("\u{1b}", 130), ("3\r", 4)] {
        let env = project();
        let mut screen = Screen::wrapped(&env, &WAVES, "; echo \"code $?\"; stty -a; echo end", 50, 100);
        screen.wait("> Approve");
        screen.press(keys);
        screen.wait(&format!("code {code}"));
        screen.wait("end");
        assert_eq!(screen.code(), 0);
        let text = screen.text();
        let has = |word: &str| text.split_whitespace().any(|w| w.trim_matches(';') == word);
        assert!(has("icanon") && has("echo") && !has("-icanon"), "{text}");
        assert!(!screen.cursor_is_hidden());
    }
}

#[cfg(unix)]
#[test]
fn a_signal_at_the_prompt_keeps_the_state() {
    let env = project();
    let mut screen = Screen::start(&env, &WAVES, 40, 100);
    screen.wait("> Approve");
    let _ = env.sh(&format!("kill -TERM {}", screen.pid())).success();
    assert_eq!(screen.code(), 130, "{}", screen.text());
}

#[test]
fn trust_is_asked_for_and_no_is_the_default() {
    let env = TestEnv::new();
    env.script("mine", "#!/bin/sh\nexit 0\n");
    env.write("planex.toml", format!("[agents.mine]\ncommand = [\"{}/mine\"]\n", env.bin()));
    for (keys, code, said) in [("\r", 4, "not trusted"), ("y\r", 0, "trusted as it is now")] {
        let mut screen = Screen::start(&env, &["trust"], 24, 80);
        screen.wait("> No");
        screen.press(keys);
        assert_eq!(screen.code(), code, "{}", screen.text());
        wait_for(said, || screen.text().replace('\n', " ").contains(said));
    }
}

#[test]
fn without_a_text_an_editor_opens() {
    let env = project();
    env.script("editor", "#!/bin/sh\nprintf 'Add a rate limit to login' >\"$2\"\n");
    env.write("planex.toml", "");
    let editor = format!("EDITOR='{}/editor --wait' ", env.bin());
    let mut screen = Screen::shell(&env, &editor, &["waves", "--agent", "native"], "", 40, 100);
    screen.wait("> Approve");
    screen.press("\u{3}");
    assert_eq!(screen.code(), 130, "{}", screen.text());
    let list = crate::planex(&env, &["sessions", "list"]).output().success().stdout;
    assert!(list.contains("rate-limit"), "{list}");
    exits(&env, &["waves", "--agent", "native"], 2);
}

#[test]
fn a_tiny_terminal_will_do() {
    let env = project();
    let mut screen = Screen::start(&env, &WAVES, 5, 20);
    screen.wait("> Approve");
    for chosen in ["> Modify", "> Cancel", "> Approve", "> Modify", "> Cancel"] {
        screen.press("\u{1b}[B");
        screen.wait(chosen);
        let text = screen.text();
        assert!(text.contains("angles?") && text.matches('>').count() == 1, "what is asked stays in sight: {text}");
    }
    screen.press("\r");
    assert_eq!(screen.code(), 4, "{}", screen.text());
}
