//! A tree to verify.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use planex_core::mask::Masker;
use planex_engine::store::SessionPaths;
use planex_engine::verify::{Check, CheckContext, run_checks};
use planex_sys::env::Environment;
use planex_sys::process::Guardian;
use tokio_util::sync::CancellationToken;

/// One guardian for all tests of this program.
fn guardian() -> Arc<Guardian> {
    static ONE: OnceLock<Arc<Guardian>> = OnceLock::new();
    Arc::clone(ONE.get_or_init(|| Arc::new(Guardian::start(None).unwrap())))
}

pub(crate) struct Bench {
    _folder: tempfile::TempDir,
    pub(crate) context: CheckContext,
    pub(crate) session: SessionPaths,
    pub(crate) cancel: CancellationToken,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let cwd = root.join("a tree");
        std::fs::create_dir(&cwd).unwrap();
        let session = SessionPaths::new(root.join("session"));
        let vars = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("MY_API_KEY", "hunter2hunter2"),
            ("FROM_OUTSIDE", "old"),
            ("PLANEX_JOB_ID", "outer"),
        ];
        let environment: Environment = vars.into_iter().collect();
        let context = CheckContext {
            guardian: guardian(),
            masker: Arc::new(Masker::new(environment.vars().iter())),
            environment: Arc::new(environment),
            env: BTreeMap::new(),
            cwd,
            logs: session.checks("s-T1"),
            name: "check".to_owned(),
            limit: Duration::from_secs(60),
            grace: Duration::from_millis(300),
            log_cap: 64 * 1024,
            kill: CancellationToken::new(),
        };
        Self { _folder: folder, context, session, cancel: CancellationToken::new() }
    }

    pub(crate) async fn run(&self, commands: &[&str]) -> Vec<Check> {
        let commands: Vec<String> = commands.iter().map(|command| (*command).to_owned()).collect();
        run_checks(&self.context, &commands, &self.cancel).await
    }

    pub(crate) async fn one(&self, command: &str) -> Check {
        self.run(&[command]).await.remove(0)
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.context.cwd.join(name)
    }

    /// Waits until a command has written this file whole (with a newline), and gives what is in it.
    pub(crate) async fn written(&self, name: &str) -> String {
        let path = self.path(name);
        until(|| std::fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))).await
    }
}

/// Waits until `found` finds something.
pub(crate) async fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    within(async {
        loop {
            if let Some(found) = found() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// Against a test that hangs; nothing depends on how long it really takes.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.unwrap()
}

/// Whether a process with this id is alive (a zombie is not).
pub(crate) fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
