//! [`Params`]: the values of a task's parameters, as text that has passed their types.
//!
//! It is not the declaration of a parameter: that is `task::ParamInfo`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The values of a run's parameters, by name; each is the text that its type gives back.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Params(BTreeMap<String, String>);

/// A parameter's value that a type refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{name}`: {message}")]
#[non_exhaustive]
pub struct ParamError {
    /// The parameter's name.
    pub name: String,
    /// What is wrong with the value; never the value of a secret one.
    pub message: String,
}

impl ParamError {
    /// Says what is wrong with the value of a parameter.
    #[must_use]
    pub fn new(name: &str, message: impl fmt::Display) -> Self {
        Self { name: name.to_owned(), message: message.to_string() }
    }
}

impl Params {
    /// Sets a parameter.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// The text of a parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of a parameter in a type.
    ///
    /// # Errors
    /// [`ParamError`] when the task has no such parameter, or the type refuses its text.
    pub fn get<T: FromStr<Err: fmt::Display>>(&self, name: &str) -> Result<T, ParamError> {
        let text = self.text(name).ok_or_else(|| ParamError::new(name, "it has no value"))?;
        text.parse().map_err(|error: T::Err| ParamError::new(name, error))
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Shows the names only: a value may be a secret.
impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
