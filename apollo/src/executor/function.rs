//! Runs a plain function of a step on the thread that calls.
//!
//! It is not able to stop one: a function ends when it returns.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::context::{Context, Inputs};
use crate::failure::StepError;
use crate::output::Output;
use crate::step::FunctionBody;

/// Runs a body; a panic is a failed attempt like any other.
pub(crate) fn run(
    body: FunctionBody,
    context: &Context,
    inputs: &Inputs,
) -> Result<Output, StepError> {
    contain(|| body(context, inputs))
}

/// Runs a step's cleanup, so that half-done work of an earlier attempt is gone.
pub(crate) fn clean(
    cleanup: fn(&Context) -> Result<(), StepError>,
    context: &Context,
) -> Result<(), StepError> {
    contain(|| cleanup(context)).map_err(|error| error.prefixed("cleanup failed"))
}

/// Turns a panic into an error that names it.
pub(crate) fn contain<T>(call: impl FnOnce() -> Result<T, StepError>) -> Result<T, StepError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(panic_error(&*payload)))
}

/// The error of a body that panicked.
pub(crate) fn panic_error(payload: &(dyn Any + Send)) -> StepError {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    StepError::new(format_args!("panicked: {}", text.unwrap_or("with a payload that is no text")))
}
