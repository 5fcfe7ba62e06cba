//! planex in a terminal of its own.

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};

use planex_testkit::TestEnv;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::wait_for;

/// A terminal with a program on it.
pub(crate) struct Screen {
    parser: Arc<Mutex<vt100::Parser>>,
    keys: Box<dyn std::io::Write + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    /// Must live as long as it is read.
    master: Box<dyn MasterPty + Send>,
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize { rows, cols, ..PtySize::default() }
}

impl Screen {
    /// planex with `args`.
    pub(crate) fn start(env: &TestEnv, args: &[&str], rows: u16, cols: u16) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_planex"));
        command.args(args);
        Self::of(env, command, rows, cols)
    }

    /// planex with `args` in a shell that goes on with `rest`.
    pub(crate) fn wrapped(env: &TestEnv, args: &[&str], rest: &str, rows: u16, cols: u16) -> Self {
        Self::shell(env, "", args, rest, rows, cols)
    }

    /// The same behind `before`.
    pub(crate) fn shell(env: &TestEnv, before: &str, args: &[&str], rest: &str, rows: u16, cols: u16) -> Self {
        let mut command = CommandBuilder::new("/bin/sh");
        let line = format!("{before}'{}' \"$@\"{rest}", env!("CARGO_BIN_EXE_planex"));
        command.args(["-c", &line, "sh"]);
        command.args(args);
        Self::of(env, command, rows, cols)
    }

    fn of(env: &TestEnv, mut command: CommandBuilder, rows: u16, cols: u16) -> Self {
        let pair = native_pty_system().openpty(size(rows, cols)).unwrap();
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
            let mut bytes = [0_u8; 4096];
            while let Ok(count) = reader.read(&mut bytes) {
                if count == 0 {
                    break;
                }
                fed.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self { parser, keys, child, master: pair.master }
    }

    /// What stands on the screen.
    pub(crate) fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    /// Whether the cursor was hidden and not shown again.
    pub(crate) fn cursor_is_hidden(&self) -> bool {
        self.parser.lock().unwrap().screen().hide_cursor()
    }

    /// Waits until `text` stands on the screen.
    pub(crate) fn wait(&self, text: &str) {
        wait_for(&format!("`{text}` on the screen"), || self.text().contains(text));
    }

    /// Types.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Makes the terminal another size.
    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        self.parser.lock().unwrap().screen_mut().set_size(rows.try_into().unwrap(), cols.try_into().unwrap());
        self.master.resize(size(rows, cols)).unwrap();
    }

    /// The process on it.
    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Waits for its end; its exit code.
    pub(crate) fn code(&mut self) -> u32 {
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
