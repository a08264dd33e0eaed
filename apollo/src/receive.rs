//! What comes into a step's function: the values of its dependencies and the task's parameters.
//!
//! It is not `Inputs`: that holds the bytes. The traits here exist for the words that the
//! compiler says when a parameter's type is wrong; expansions of `#[step]` call them.
//!
//! **Invariant:** a required step is taken by reference and an optional one as an `Option` of it,
//! nothing else, so a function can't forget that an optional step may have failed.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::context::Context;
use crate::params::{ParamError, Params};
use crate::step::{Optional, Required, StepError};

/// The delivery of a step that `#[step]` refused: dependents may take it as anything, so that one
/// mistake is one error.
#[derive(Debug)]
pub struct Refused;

/// What a step delivers, and where its decoded value is kept while a function has a reference to it.
pub trait Delivery {
    /// The kept value.
    type Slot;
}

impl<T> Delivery for Required<T> {
    type Slot = Option<T>;
}

impl<T> Delivery for Optional<T> {
    type Slot = Option<T>;
}

impl Delivery for Refused {
    type Slot = Option<()>;
}

/// A type of parameter that takes what a step delivers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't take the value of this dependency, which delivers `{D}`",
    label = "the step delivers `{D}`",
    note = "a step's value `T` is taken as `&T`",
    note = "the value of a step marked `optional` is taken as `Option<&T>`, because that step may \
            have failed"
)]
pub trait Receive<'a, D: Delivery>: Sized {
    /// Takes the value of the step called `id`.
    ///
    /// # Errors
    /// A permanent [`StepError`] when a required step left no value.
    fn receive(slot: &'a D::Slot, id: &str) -> Result<Self, StepError>;
}

#[diagnostic::do_not_recommend]
impl<'a, T> Receive<'a, Required<T>> for &'a T {
    fn receive(slot: &'a Option<T>, id: &str) -> Result<Self, StepError> {
        slot.as_ref().ok_or_else(|| {
            StepError::permanent(format_args!("step `{id}` left no value, and this one needs it"))
        })
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T> Receive<'a, Optional<T>> for Option<&'a T> {
    fn receive(slot: &'a Option<T>, _id: &str) -> Result<Self, StepError> {
        Ok(slot.as_ref())
    }
}

/// Also takes the value as what it lends: clippy asks for `&str` where a function needs no `&String`.
macro_rules! lends {
    ($([$($param:ident)?] $owned:ty => $lent:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a $(, $param)?> Receive<'a, Required<$owned>> for &'a $lent {
            fn receive(slot: &'a Option<$owned>, id: &str) -> Result<Self, StepError> {
                <&$owned as Receive<'a, Required<$owned>>>::receive(slot, id).map(|value| &**value)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'a $(, $param)?> Receive<'a, Optional<$owned>> for Option<&'a $lent> {
            fn receive(slot: &'a Option<$owned>, _id: &str) -> Result<Self, StepError> {
                Ok(slot.as_deref())
            }
        }
    )*};
}

lends! {
    [] String => str;
    [] Box<str> => str;
    [] PathBuf => Path;
    [T] Vec<T> => [T];
}

#[diagnostic::do_not_recommend]
impl<T> Receive<'_, Refused> for T {
    fn receive(_slot: &Option<()>, id: &str) -> Result<Self, StepError> {
        Err(StepError::permanent(format_args!("step `{id}` did not compile")))
    }
}

/// A type that a step can take a parameter of the task as.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the type of a parameter",
    label = "does not come from text",
    note = "implement `std::str::FromStr` for it, with an error that implements \
            `std::fmt::Display`; it must be `Send + Sync + 'static` too"
)]
pub trait ParamValue: Sized {
    /// Parses the parameter called `name`.
    ///
    /// # Errors
    /// [`ParamError`] when it has no value, or the type refuses it.
    fn parse(params: &Params, name: &str) -> Result<Self, ParamError>;

    /// Parses the parameter called `name` for an attempt.
    ///
    /// # Errors
    /// A permanent [`StepError`] where [`ParamValue::parse`] has an error.
    fn take(context: &Context, name: &str) -> Result<Self, StepError> {
        Self::parse(context.params(), name).map_err(StepError::permanent)
    }

    /// Tells whether the type takes the parameter's text.
    ///
    /// # Errors
    /// A permanent [`StepError`] when it does not.
    fn accepts(params: &Params, name: &str) -> Result<(), StepError> {
        Self::parse(params, name).map(drop).map_err(StepError::permanent)
    }
}

#[diagnostic::do_not_recommend]
impl<T: FromStr<Err: Display> + Send + Sync + 'static> ParamValue for T {
    fn parse(params: &Params, name: &str) -> Result<Self, ParamError> {
        params.get(name)
    }
}

/// A type that a task can declare a parameter with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the type of a task's parameter",
    label = "does not come from text and go back to it",
    note = "implement `std::fmt::Display` and `std::str::FromStr` for it, with an error that \
            implements `std::fmt::Display`"
)]
pub trait ParamType {
    /// Parses a text as the type and gives the type's own text of the value.
    ///
    /// # Errors
    /// What the type says of a text that it refuses.
    fn normalize(text: &str) -> Result<String, String>;
}

#[diagnostic::do_not_recommend]
impl<T: FromStr<Err: Display> + Display> ParamType for T {
    fn normalize(text: &str) -> Result<String, String> {
        text.parse::<T>().map(|value| value.to_string()).map_err(|error| error.to_string())
    }
}

/// Accepts any parameters: for the step that takes none.
///
/// # Errors
/// None; the signature is that of [`crate::step::Runner::accepts`].
pub const fn accepts_any(_params: &Params) -> Result<(), StepError> {
    Ok(())
}
