//! [`Context`]: what an attempt can see and do, and [`Inputs`], the values it was given.

use serde::de::DeserializeOwned;

use crate::output::Output;
use crate::step::StepError;

/// The values of a step's dependencies.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Indexed like the step's `depends_on`: the step's id and its output, where it has one.
    pub(crate) values: Vec<(String, Option<Output>)>,
}

impl Inputs {
    /// Decodes the value of the `index`-th dependency; `None` where that step left none.
    ///
    /// # Errors
    /// A permanent [`StepError`] when the stored bytes are no `T`.
    pub fn value<T: DeserializeOwned>(&self, index: usize) -> Result<Option<T>, StepError> {
        let Some((id, Some(output))) = self.values.get(index) else {
            return Ok(None);
        };
        output.decode().map(Some).map_err(|error| {
            StepError::permanent(format_args!("the output of `{id}` can't be read: {error}"))
        })
    }
}

/// What an attempt can see and do.
#[derive(Debug)]
pub struct Context {
    params: crate::params::Params,
}

impl Context {
    /// The task's parameters.
    pub(crate) const fn params(&self) -> &crate::params::Params {
        &self.params
    }
}
