//! SIGINT and SIGTERM become a request to stop; a second one kills at once. SIGXFSZ becomes the
//! error of the write that met the limit on file sizes.
//!
//! It is not part of the library: only a program that handed its command line over comes here.
//!
//! **Invariant:** the handler itself does nothing but note the signal; everything else happens on
//! an ordinary thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use rustix::process::Signal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::{emulate_default_handler, exit};

use super::exit::{INTERRUPTED, TERMINATED};
use super::output::Screen;
use super::text::Style;
use crate::cancel::Cancel;

/// Listens as long as it lives.
#[derive(Debug)]
pub(crate) struct Listener {
    handle: Handle,
    first: Arc<AtomicI32>,
}

impl Listener {
    /// Makes the first signal a request to stop, and lets a second one kill.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(cancel: Cancel, screen: Arc<Screen>) -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        // Whether it came does not matter, only that it no longer kills.
        flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)))?;
        let first = Arc::new(AtomicI32::new(0));
        let this = Self { handle: signals.handle(), first: Arc::clone(&first) };
        let listen = move || {
            for signal in signals.forever() {
                if first.swap(signal, Ordering::SeqCst) != 0 {
                    if emulate_default_handler(signal).is_err() {
                        exit(128 + signal);
                    }
                    continue;
                }
                let text = "when the running steps have returned; again to kill";
                screen.note(Style::Warn, "stopping", text);
                cancel.cancel();
            }
        };
        std::thread::Builder::new().name("apollo-signals".to_owned()).spawn(listen)?;
        Ok(this)
    }

    /// The exit code of the signal that came, if one did.
    pub(crate) fn code(&self) -> Option<u8> {
        match self.first.load(Ordering::SeqCst) {
            0 => None,
            SIGTERM => Some(TERMINATED),
            _ => Some(INTERRUPTED),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.handle.close();
    }
}
