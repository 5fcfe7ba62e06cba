//! Ending on demand: the first Ctrl-C asks, the second kills.

use tokio_util::sync::CancellationToken;

/// Two tokens, set by whoever hears signals: the binary, or a test.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    end: CancellationToken,
    kill: CancellationToken,
}

impl Cancel {
    /// Nothing is asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The first call asks everything to end in its own way, the second kills.
    pub fn interrupt(&self) {
        if self.end.is_cancelled() {
            self.kill.cancel();
        }
        self.end.cancel();
    }

    /// Whether something asked to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.end.is_cancelled()
    }

    /// Set once jobs are to end in their own way.
    #[must_use]
    pub fn end(&self) -> &CancellationToken {
        &self.end
    }

    /// Set once jobs are to be killed at once.
    #[must_use]
    pub fn kill(&self) -> &CancellationToken {
        &self.kill
    }
}
