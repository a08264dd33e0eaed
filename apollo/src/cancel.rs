//! [`Cancel`]: a request to stop, and who wants to hear of it.
//!
//! It is not a signal handler: only the command line handles signals, and calls it.
//!
//! **Invariant:** a request is never taken back, and whoever listens hears of it at once.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Who wants to hear of a request to stop.
pub(crate) trait OnCancel: Send + Sync {
    /// The request was made.
    fn cancelled(&self);
}

/// A request to stop that can be made from any thread; clones are the same request.
///
/// ```
/// let cancel = apollo::Cancel::new();
/// let other = cancel.clone();
/// other.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancel {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    requested: AtomicBool,
    /// A request that counts as this one too.
    parent: Option<Cancel>,
    listeners: Mutex<Vec<Weak<dyn OnCancel>>>,
}

impl Cancel {
    /// A request that nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop: nothing more is started, what runs is told, and the run can be
    /// resumed.
    pub fn cancel(&self) {
        self.inner.requested.store(true, Ordering::SeqCst);
        let listeners = self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.cancelled();
        }
    }

    /// Whether the request was made.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.requested.load(Ordering::SeqCst)
            || self.inner.parent.as_ref().is_some_and(Self::is_cancelled)
    }

    /// A request of its own that is also made whenever this one is.
    pub(crate) fn child(&self) -> Self {
        Self { inner: Arc::new(Inner { parent: Some(self.clone()), ..Inner::default() }) }
    }

    /// Calls a listener when the request is made; not for one that was made before.
    pub(crate) fn listen(&self, listener: Weak<dyn OnCancel>) {
        if let Some(parent) = &self.inner.parent {
            parent.listen(listener.clone());
        }
        let mut listeners = self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(listener);
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}
