//! [`Screen`]: the only printer.
//!
//! It is not the maker of text: what is printed comes from the commands, or from a failure.
//!
//! **Invariant:** whoever reads the output may go away at any time: a closed pipe is no failure,
//! and stops no run.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::exit::Failure;
use super::text::{Palette, Style, escaped};

/// Where a command prints.
pub(crate) struct Screen {
    inner: Mutex<Inner>,
    out: Palette,
    err: Palette,
}

struct Inner {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// The reader of stdout has gone away.
    closed: bool,
    /// What else went wrong with stdout.
    error: Option<io::Error>,
}

impl Screen {
    /// The process's own stdout and stderr; coloured where they are terminals and `colour` holds.
    pub(crate) fn of_process(colour: bool) -> Self {
        let palette = |is_terminal| Palette { colour: colour && is_terminal };
        let out = palette(io::stdout().is_terminal());
        let err = palette(io::stderr().is_terminal());
        Self { out, err, ..Self::new(Box::new(io::stdout()), Box::new(io::stderr())) }
    }

    /// A screen without colour.
    pub(crate) fn new(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Self {
        let inner = Mutex::new(Inner { out, err, closed: false, error: None });
        Self { inner, out: Palette::PLAIN, err: Palette::PLAIN }
    }

    /// The palette of stdout.
    pub(crate) const fn palette(&self) -> Palette {
        self.out
    }

    /// The palette of stderr.
    pub(crate) const fn err_palette(&self) -> Palette {
        self.err
    }

    /// Prints a line, which may have colours but no text that is not escaped.
    pub(crate) fn line(&self, line: &str) {
        self.raw(format!("{line}\n").as_bytes());
    }

    /// Prints lines.
    pub(crate) fn lines(&self, lines: &[String]) {
        if !lines.is_empty() {
            self.line(&lines.join("\n"));
        }
    }

    /// Prints bytes as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.closed {
            return;
        }
        let written = inner.out.write_all(bytes).and_then(|()| inner.out.flush());
        if let Err(error) = written {
            inner.closed = true;
            inner.error = (error.kind() != io::ErrorKind::BrokenPipe).then_some(error);
        }
    }

    /// Prints a value as one JSON document.
    pub(crate) fn json(&self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(&text),
            Err(error) => self.note(Style::Bad, "error", &error.to_string()),
        }
    }

    /// Says something on stderr: `word: text`, the text escaped line by line.
    pub(crate) fn note(&self, style: Style, word: &str, text: &str) {
        let mut lines = text.lines();
        let first = escaped(lines.next().unwrap_or_default()).into_owned();
        let mut said = format!("{}: {first}\n", self.err.paint(style, word));
        for line in lines {
            said.push_str("  ");
            said.push_str(&escaped(line));
            said.push('\n');
        }
        self.say(&said);
    }

    /// Says on stderr why a command ends without success.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.note(Style::Bad, "error", &failure.message);
        for cause in &failure.causes {
            self.say(&format!("  caused by: {}\n", escaped(cause)));
        }
        for detail in &failure.details {
            self.say(&format!("{}\n", escaped(detail)));
        }
        for hint in &failure.hints {
            self.note(Style::Busy, "hint", hint);
        }
    }

    /// Says on stderr what is ready to be said.
    pub(crate) fn say(&self, text: &str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.err.write_all(text.as_bytes()).and_then(|()| inner.err.flush()).is_err() {
            // Nobody is left to be told.
        }
    }

    /// What went wrong with stdout, other than that its reader went away.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).error.take()
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("out", &self.out).field("err", &self.err).finish()
    }
}

/// A screen whose output a test can read.
#[cfg(test)]
pub(crate) mod double {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::Screen;

    /// What was printed.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct Printed(Arc<Mutex<Vec<u8>>>);

    impl Printed {
        /// A screen, its stdout and its stderr.
        pub(crate) fn screen() -> (Screen, Self, Self) {
            let (out, err) = (Self::default(), Self::default());
            (Screen::new(Box::new(out.clone()), Box::new(err.clone())), out, err)
        }

        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Printed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::double::Printed;
    use super::*;

    #[derive(Debug)]
    struct Fails(io::ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn check(kind: io::ErrorKind, expected: Option<io::ErrorKind>) {
        let screen = Screen::new(Box::new(Fails(kind)), Box::new(io::sink()));
        screen.line("one");
        screen.line("two");
        assert_eq!(screen.take_error().map(|error| error.kind()), expected);
    }

    #[test]
    fn only_a_reader_that_went_away_is_no_error() {
        check(io::ErrorKind::BrokenPipe, None);
        check(io::ErrorKind::StorageFull, Some(io::ErrorKind::StorageFull));
    }

    #[test]
    fn a_failure_is_message_causes_details_and_hints() {
        let (screen, out, err) = Printed::screen();
        let mut failure = Failure::new(3, "no\u{1b}[2J").hint("do this");
        failure.causes.push("because".to_owned());
        failure.details.push("  a  b".to_owned());
        screen.failure(&failure);
        assert_eq!(out.text(), "");
        let expected = "error: no\\u{1b}[2J\n  caused by: because\n  a  b\nhint: do this\n";
        assert_eq!(err.text(), expected);
    }
}
