//! A gate asked at a terminal, in a terminal.

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};

use planex_testkit::TestEnv;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use crate::wait_for;

/// planex in a terminal of its own.
struct Screen {
    parser: Arc<Mutex<vt100::Parser>>,
    keys: Box<dyn std::io::Write + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
}

impl Screen {
    fn start(env: &TestEnv, args: &[&str], rows: u16, cols: u16) -> Self {
        let pair = native_pty_system().openpty(PtySize { rows, cols, ..PtySize::default() }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_planex"));
        command.args(args);
        command.cwd(env.dir());
        command.env_clear();
        for (name, value) in env.vars() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = Arc::new(Mutex::new(vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 2000)));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let fed = Arc::clone(&parser);
        std::thread::spawn(move || {
            // The master must live as long as it is read.
            let _master = pair.master;
            let mut bytes = [0_u8; 4096];
            while let Ok(count) = reader.read(&mut bytes) {
                if count == 0 {
                    break;
                }
                fed.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self { parser, keys, child }
    }

    fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    fn wait(&self, text: &str) {
        wait_for(&format!("`{text}` on the screen"), || self.text().contains(text));
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn code(&mut self) -> u32 {
        let mut code = None;
        wait_for("the end", || {
            code = self.child.try_wait().unwrap().map(|status| status.exit_code());
            code.is_some()
        });
        code.unwrap()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write("src/login.py", "def login(user):\n    return user\n");
    env
}

#[test]
fn a_gate_is_chosen_with_the_arrow_keys() {
    let env = project();
    let mut screen = Screen::start(&env, &["waves", "--agent", "native", "Add a rate limit to login"], 40, 100);
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
    let mut screen = Screen::start(&env, &["waves", "--agent", "native", "Add a rate limit to login"], 24, 40);
    screen.wait("> Approve");
    assert!(screen.text().contains("Choosing exploration angles\n"), "lines end where they end: {}", screen.text());
    screen.press("\u{3}");
    assert_eq!(screen.code(), 130, "{}", screen.text());
    let list = crate::planex(&env, &["sessions", "list", "--json"]).output().success().json_lines();
    assert_eq!(list.first().and_then(|session| session["status"].as_str()), Some("waiting"), "{list:?}");
}
