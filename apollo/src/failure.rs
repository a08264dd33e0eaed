//! [`StepError`]: why an attempt failed, in words and whether a retry can help.
//!
//! It is not a record: the engine makes one of it.

use std::fmt;

use crate::output::OutputError;

/// Why an attempt failed.
///
/// Made from any error by `?`; the message is the error and its sources, joined by `: `.
///
/// ```
/// fn read() -> apollo::Result<String> {
///     Ok(std::fs::read_to_string("/nowhere/at/all")?)
/// }
///
/// let error = read().unwrap_err();
/// assert!(!error.is_permanent(), "the file may come");
/// assert!(error.message().contains("No such file"));
/// ```
pub struct StepError {
    message: String,
    permanent: bool,
}

/// The result of a step.
pub type Result<T, E = StepError> = std::result::Result<T, E>;

impl StepError {
    /// Makes an error from anything that can be shown.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), permanent: false }
    }

    /// Makes an error that no retry can cure.
    ///
    /// ```
    /// use apollo::{Result, StepError, step};
    ///
    /// #[step(retry = exponential)]
    /// fn parse() -> Result<u32> {
    ///     let text = "forty-two";
    ///     text.parse().map_err(|error| StepError::permanent(format_args!("`{text}`: {error}")))
    /// }
    ///
    /// assert!(parse().unwrap_err().is_permanent());
    /// ```
    pub fn permanent(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), permanent: true }
    }

    /// Whether a retry is pointless.
    #[must_use]
    pub const fn is_permanent(&self) -> bool {
        self.permanent
    }

    /// What went wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Joins an error and its sources.
    #[must_use]
    pub fn from_error(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !message.ends_with(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            source = cause.source();
        }
        Self { message, permanent: false }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<E: std::error::Error + 'static> From<E> for StepError {
    fn from(error: E) -> Self {
        Self::from_error(&error)
    }
}

impl StepError {
    /// The same error, with what was being done in front.
    pub(crate) fn prefixed(self, what: &str) -> Self {
        Self { message: format!("{what}: {}", self.message), ..self }
    }

    /// The error of a value that does not survive: no retry changes that.
    pub(crate) fn from_output(error: &OutputError) -> Self {
        Self { permanent: true, ..Self::from_error(error) }
    }
}
