//! A scripted model server on loopback: what a test says instead of a model.
//!
//! It speaks the four dialects of the agents that planex drives (see [`Dialect`]), so the *real* command-line agents
//! run against it, with a dummy key and without a network. What it answers comes from a [`Script`] or a closure.
//! It keeps no conversation: where a conversation stands is read from each request, so any number of agents, also
//! resumed ones, are served at once.
//!
//! ```
//! use planex_testkit::{ModelServer, Rule, Script};
//! let server = ModelServer::start(Script::new().rule(Rule::when("Task ID: T1").shell("echo hi > a.txt").text("Done.")));
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! ```

mod dialect;
mod http;
mod reply;
mod request;
mod script;
mod serve;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::watch;

pub use dialect::Dialect;
pub use reply::{Call, Failure, Reply, Usage};
pub use request::ModelRequest;
pub use script::{Rule, Script, Turn, When};

/// What decides the answer to a request.
type Answer = dyn Fn(&mut ModelRequest) -> Reply + Send + Sync;

/// A running server; dropping it stops it and cuts what hangs.
pub struct ModelServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server that follows a script, on a free port of loopback.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    #[must_use]
    pub fn start(script: Script) -> Self {
        Self::start_on(0, script).unwrap_or_else(|error| fail(&error))
    }

    /// As [`ModelServer::start`], on a given port (0: a free one).
    ///
    /// # Errors
    /// When the port cannot be listened on.
    pub fn start_on(port: u16, script: Script) -> std::io::Result<Self> {
        let player = script::Player::new(script);
        Self::launch(port, Arc::new(move |request: &mut ModelRequest| player.answer(request)))
    }

    /// Starts a server whose answers a closure decides.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    #[must_use]
    pub fn start_with(answer: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::launch(0, Arc::new(move |request: &mut ModelRequest| answer(request)))
            .unwrap_or_else(|error| fail(&error))
    }

    fn launch(port: u16, answer: Arc<Answer>) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let state = serve::State { answer, requests: Arc::clone(&requests), stopped };
        let thread = std::thread::Builder::new().name("model-server".to_owned()).spawn(move || {
            runtime.block_on(serve::run(listener, Arc::new(state)));
            // Connections that hang on purpose are dropped with the runtime, without waiting for them.
            runtime.shutdown_background();
        })?;
        Ok(Self { address, requests, stop, thread: Some(thread) })
    }

    /// `http://127.0.0.1:PORT`, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// All model requests so far, in the order of their arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }

    /// Those whose conversation contains a text.
    #[must_use]
    pub fn requests_with(&self, marker: &str) -> Vec<ModelRequest> {
        lock(&self.requests).iter().filter(|request| request.contains(marker)).cloned().collect()
    }

    /// How many model requests came so far.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.requests).len()
    }

    /// Those that no rule of the script matched: a test that is sure of its script asserts that there is none.
    #[must_use]
    pub fn unmatched(&self) -> Vec<ModelRequest> {
        lock(&self.requests).iter().filter(|request| request.rule.is_none() && !request.is_side()).cloned().collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic in the server has been printed by its thread; panicking in a drop would hide the test's own.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A poisoned list of requests is as good as before: nothing is changed in two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::panic, reason = "a test without its server cannot go on; this is a room for tests")]
fn fail(error: &std::io::Error) -> ! {
    panic!("cannot start the model server: {error}")
}
