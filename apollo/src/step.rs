//! What a step is: its constant description, its runner, and the error that it may end with.
//!
//! It is not the graph: a step names its dependencies and knows nothing of its dependents.
//!
//! **Invariant:** [`StepInfo`] is constant data without a pointer to another step's description,
//! so two steps that wrongly depend on each other can still be described, and judged.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::context::{Context, Inputs};
use crate::output::{Output, OutputError};
use crate::params::Params;
use crate::policy::{Durability, Need, OnUnknown, Retry};

/// A step's identity: the id people see and a key that no other step has.
#[derive(Debug, Clone, Copy)]
pub struct StepRef {
    /// 128 bits over module path and name.
    pub key: u128,
    /// The id in logs and on the screen.
    pub id: &'static str,
}

/// One dependency of a step.
#[derive(Debug, Clone, Copy)]
pub struct Dependency {
    /// The step that has to be done first.
    pub step: StepRef,
    /// Whether the function takes its value as a required input (`&T`), so that it can't run
    /// without one.
    pub value: bool,
}

/// A parameter of the task that a step takes.
#[derive(Debug, Clone, Copy)]
pub struct ParamUse {
    /// The parameter's name.
    pub name: &'static str,
    /// Its type as the step wrote it.
    pub type_name: &'static str,
}

/// Everything about a step that is known when the program is compiled.
#[derive(Debug, Clone, Copy)]
pub struct StepInfo {
    /// Who it is.
    pub this: StepRef,
    /// `module::path::name`, for messages.
    pub path: &'static str,
    /// What it depends on, in the order written.
    pub depends_on: &'static [Dependency],
    /// Whether the task can succeed without it.
    pub need: Need,
    /// How it is retried.
    pub retry: Retry,
    /// The longest time an attempt may take.
    pub timeout: Option<Duration>,
    /// When its records count as durable; the task's setting when `None`.
    pub durability: Option<Durability>,
    /// Raised by its author when its meaning changes.
    pub version: u32,
    /// The id that it had before.
    pub renamed_from: Option<&'static str>,
    /// The parameters that it takes.
    pub params: &'static [ParamUse],
    /// The types of its inputs as written, in the order of `depends_on`; `""` where none is taken.
    pub input_types: &'static [&'static str],
    /// The type of its output as written.
    pub output_type: &'static str,
    /// What `once` does when nobody knows whether the effect happened.
    pub on_unknown: OnUnknown,
}

/// The body of a plain function.
pub type FunctionBody = fn(&Context, &Inputs) -> Result<Output, StepError>;

/// The body of an `async fn`; the future stays on the thread that made it.
pub type FutureBody = for<'a> fn(&'a Context, &'a Inputs) -> StepFuture<'a>;

/// What a [`FutureBody`] returns.
pub type StepFuture<'a> = Pin<Box<dyn Future<Output = Result<Output, StepError>> + 'a>>;

/// How a step's body is called.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// On a thread.
    Function(FunctionBody),
    /// On tokio.
    Future(FutureBody),
}

/// The functions of a step.
#[derive(Debug, Clone, Copy)]
pub struct Runner {
    /// What does the work.
    pub body: Body,
    /// What undoes half-done work before another attempt.
    pub cleanup: Option<fn(&Context) -> Result<(), StepError>>,
    /// What answers whether the effect of `once` with this key happened.
    pub probe: Option<fn(&Context, &str) -> Result<bool, StepError>>,
    /// Parses the step's parameters, so that a bad one is refused before anything runs.
    pub accepts: fn(&Params) -> Result<(), StepError>,
}

/// A type that `#[step]` put beside a function.
pub trait Step: 'static {
    /// Its constant description.
    const INFO: &'static StepInfo;
    /// Its functions.
    const RUNNER: Runner;
    /// The value that it returns.
    type Output;
    /// How dependents receive the value: [`Required`] or [`Optional`].
    type Delivers;
}

/// The delivery of a required step: dependents take `&T`.
#[derive(Debug)]
pub struct Required<T>(std::marker::PhantomData<T>);

/// The delivery of an optional step: dependents take `Option<&T>`.
#[derive(Debug)]
pub struct Optional<T>(std::marker::PhantomData<T>);

/// Why an attempt failed.
///
/// Made from any error by `?`; the message is the error and its sources, joined by `: `.
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
