//! What comes out of a step's functions: a value that can be kept, or an error that can be told.
//!
//! It is not [`Output`], the bytes of a value. The traits here exist to read a return type that
//! the macros see only as tokens, and for the words that the compiler says when it does not do.
//!
//! **Invariant:** an `Err` is never taken for a value. Where the return type is a `Result` under
//! another name, the program does not compile.

use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::{Context, Inputs};
use crate::output::Output;
use crate::step::{Codec, StepError, StepFuture};

/// A value that a step can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the output of a step",
    label = "can't be kept as JSON",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to `{Self}`; an output is \
            written when the step ends and read back for its dependents"
)]
pub trait StepOutput: Sized {
    /// How the value becomes bytes and comes back.
    const CODEC: Codec<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> StepOutput for T {
    const CODEC: Codec<Self> = Codec {
        encode: |value| Output::encode(value).map_err(|error| StepError::from_output(&error)),
        load: Inputs::value::<T>,
    };
}

/// The return type of a function whose name ends in `Result`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is called a result, but is none",
    label = "not a `Result`",
    note = "a step's return type of that name is taken for `std::result::Result` or an alias of it"
)]
pub trait StepResult {
    /// What it is, by its plain name.
    type Plain;

    /// The value itself, by its plain name.
    fn into_result(self) -> Self::Plain;
}

#[diagnostic::do_not_recommend]
impl<T, E> StepResult for Result<T, E> {
    type Plain = Self;

    fn into_result(self) -> Self {
        self
    }
}

/// Asks what a value's type can do; the answer is the method that the compiler finds first.
#[derive(Debug, Clone, Copy)]
pub struct Probe<T>(PhantomData<T>);

impl<T> Probe<T> {
    /// Asks about the type of a value.
    pub const fn of(_value: &T) -> Self {
        Self(PhantomData)
    }
}

/// The answer: a `Result`.
#[derive(Debug)]
pub struct HiddenResult;

/// The answer: not a `Result`.
#[derive(Debug)]
pub struct PlainValue;

impl<T, E> Probe<Result<T, E>> {
    /// Found first, where the type is a `Result`.
    #[must_use]
    pub const fn shape(&self) -> HiddenResult {
        HiddenResult
    }
}

/// Found where [`Probe`] itself has no `shape`.
pub trait ShapeOfAny {
    /// Every other type.
    fn shape(&self) -> PlainValue {
        PlainValue
    }
}

impl<T> ShapeOfAny for Probe<T> {}

/// Holds for the return type of a step that is written as a plain value.
#[diagnostic::on_unimplemented(
    message = "this step's return type is a `Result` under another name",
    label = "an error would be recorded as a value",
    note = "write it as `Result<T, E>`, or as a path that ends in `Result`"
)]
pub trait MustBePlain {
    /// Does nothing.
    fn plain(_shape: Self)
    where
        Self: Sized,
    {
    }
}

#[diagnostic::do_not_recommend]
impl MustBePlain for PlainValue {}

/// The answer: it becomes a boxed error.
#[derive(Debug)]
pub struct ViaBox;

/// The answer: it is an error of ours, or one that has sources though it can't be sent.
#[derive(Debug)]
pub struct ViaItself;

/// The answer: it can be shown.
#[derive(Debug)]
pub struct ViaDisplay;

/// The answer: nothing is known of it.
#[derive(Debug)]
pub struct ViaNothing;

/// Found first: errors, texts and what else becomes a boxed error.
pub trait FailsByBox {
    /// How it fails.
    fn failure(&self) -> ViaBox {
        ViaBox
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> FailsByBox for &Probe<E> {}

impl Probe<StepError> {
    /// Found second.
    #[must_use]
    pub const fn failure(&self) -> ViaItself {
        ViaItself
    }
}

impl Probe<Box<dyn Error>> {
    /// Found second.
    #[must_use]
    pub const fn failure(&self) -> ViaItself {
        ViaItself
    }
}

/// Found third: what can be shown.
pub trait FailsByDisplay {
    /// How it fails.
    fn failure(&self) -> ViaDisplay {
        ViaDisplay
    }
}

impl<E: Display> FailsByDisplay for Probe<E> {}

/// Found last.
pub trait FailsByNothing: Sized {
    /// How it fails.
    fn failure(self) -> ViaNothing {
        ViaNothing
    }
}

impl<E> FailsByNothing for Probe<E> {}

/// Makes the error that a function returned the error of its attempt, in the way `V`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the error of a step",
    label = "neither an error nor a text to show",
    note = "implement `std::error::Error` or `std::fmt::Display` for `{Self}`, or return \
            `apollo::Result`"
)]
pub trait Fails<V> {
    /// Makes it.
    fn into_step_error(self, via: V) -> StepError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn Error + Send + Sync>>> Fails<ViaBox> for E {
    fn into_step_error(self, _: ViaBox) -> StepError {
        StepError::from_error(&*self.into())
    }
}

#[diagnostic::do_not_recommend]
impl Fails<ViaItself> for StepError {
    fn into_step_error(self, _: ViaItself) -> StepError {
        self
    }
}

#[diagnostic::do_not_recommend]
impl Fails<ViaItself> for Box<dyn Error> {
    fn into_step_error(self, _: ViaItself) -> StepError {
        StepError::from_error(&*self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Display> Fails<ViaDisplay> for E {
    fn into_step_error(self, _: ViaDisplay) -> StepError {
        StepError::new(self)
    }
}

/// A function that can clean up after a step.
#[diagnostic::on_unimplemented(
    message = "this function can't be a cleanup",
    label = "not `fn(&Context) -> Result<(), E>`",
    note = "a cleanup is a plain `fn(&Context) -> Result<(), E>`"
)]
pub trait Cleanup<E> {
    /// Cleans up.
    ///
    /// # Errors
    /// What the function returns.
    fn clean(&self, context: &Context) -> Result<(), E>;
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&Context) -> Result<(), E>, E> Cleanup<E> for F {
    fn clean(&self, context: &Context) -> Result<(), E> {
        self(context)
    }
}

/// A function that can tell whether an effect of a step happened.
#[diagnostic::on_unimplemented(
    message = "this function can't be a probe",
    label = "not `fn(&Context, &str) -> Result<bool, E>`",
    note = "a probe is a plain `fn(&Context, &str) -> Result<bool, E>`; the text is the key of \
            `once`"
)]
pub trait Ask<E> {
    /// Asks about the effect with a key.
    ///
    /// # Errors
    /// What the function returns.
    fn ask(&self, context: &Context, key: &str) -> Result<bool, E>;
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&Context, &str) -> Result<bool, E>, E> Ask<E> for F {
    fn ask(&self, context: &Context, key: &str) -> Result<bool, E> {
        self(context, key)
    }
}

/// Holds in a build of Apollo that can run `async fn` steps.
#[diagnostic::on_unimplemented(
    message = "async steps need apollo's feature `async`",
    label = "an `async fn` step",
    note = "write `apollo = {{ version = \"..\", features = [\"async\"] }}` in Cargo.toml"
)]
pub trait AsyncSteps {
    /// Boxes the future of an attempt.
    fn boxed<'a>(future: impl Future<Output = Result<Output, StepError>> + 'a) -> StepFuture<'a> {
        Box::pin(future)
    }
}

/// This build of Apollo.
#[derive(Debug)]
pub struct ThisBuild;

#[cfg(feature = "async")]
impl AsyncSteps for ThisBuild {}
