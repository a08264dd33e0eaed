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
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(panic_error(payload)))
}

/// The error of a body that panicked.
fn panic_error(payload: Box<dyn Any + Send>) -> StepError {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("with a payload that is no text");
    let error = StepError::new(format_args!("panicked: {text}"));
    // The payload is the body's, and so is what happens when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    error
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    fn check(call: impl FnOnce() -> Result<(), StepError>, expected: &str) {
        assert_eq!(contain(call).unwrap_err().message(), expected);
    }

    #[test]
    fn whatever_a_body_panics_with_is_an_error() {
        check(|| panic!("a text"), "panicked: a text");
        check(|| panic!("number {}", 7), "panicked: number 7");
        check(|| panic_any(7), "panicked: with a payload that is no text");
        check(|| panic_any(Bomb), "panicked: with a payload that is no text");
    }
}
