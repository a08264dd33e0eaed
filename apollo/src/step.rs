//! What a step is: its constant description, its runner, and the error that it may end with.
//!
//! It is not the graph: a step names its dependencies and knows nothing of its dependents.
//!
//! **Invariant:** [`StepInfo`] is constant data without a pointer to another step's description,
//! so two steps that wrongly depend on each other can still be described, and judged.

use std::pin::Pin;
use std::time::Duration;

use crate::context::{Context, Inputs};
pub(crate) use crate::failure::{Result, StepError};
use crate::output::Output;
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

/// What the body of an `async fn` returns.
pub type StepFuture<'a> = Pin<Box<dyn Future<Output = Result<Output, StepError>> + 'a>>;

/// How a step's body is called.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// On a thread.
    Function(FunctionBody),
    /// On tokio.
    Future(FutureBody),
}

/// What undoes half-done work.
pub type CleanupBody = fn(&Context) -> Result<(), StepError>;

/// What answers whether an effect of `once` happened.
pub type ProbeBody = fn(&Context, &str) -> Result<bool, StepError>;

/// The functions of a step.
#[derive(Debug, Clone, Copy)]
pub struct Runner {
    /// What does the work.
    pub body: Body,
    /// What undoes half-done work before another attempt.
    pub cleanup: Option<CleanupBody>,
    /// What answers whether the effect of `once` with this key happened.
    pub probe: Option<ProbeBody>,
    /// Parses the step's parameters, so that a bad one is refused before anything runs.
    pub accepts: fn(&Params) -> Result<(), StepError>,
}

impl StepInfo {
    /// A required step without dependencies, parameters or options; expansions change what differs.
    #[must_use]
    pub const fn new(this: StepRef, path: &'static str, output_type: &'static str) -> Self {
        Self {
            this,
            path,
            depends_on: &[],
            need: Need::Required,
            retry: Retry::NONE,
            timeout: None,
            durability: None,
            version: 1,
            renamed_from: None,
            params: &[],
            input_types: &[],
            output_type,
            on_unknown: OnUnknown::Rerun,
        }
    }
}

impl StepRef {
    /// Makes the identity of the function at a place: of its module, name, line and column.
    ///
    /// Line and column keep two functions of one name in two function bodies apart; they enter no
    /// digest.
    #[must_use]
    pub const fn new(id: &'static str, path: &str, line: u32, column: u32) -> Self {
        let place = (line as u128) << 32 | column as u128;
        Self { key: hash(path.as_bytes()) ^ place.wrapping_mul(HASH_FACTOR), id }
    }
}

/// An odd number with well mixed bits: the multiplier of 128-bit FNV.
const HASH_FACTOR: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// Hashes bytes, eight at a turn, because each turn of a loop counts in a constant evaluation.
pub(crate) const fn hash(bytes: &[u8]) -> u128 {
    let mut state: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let (mut rest, mut word) = (bytes, 0_u64);
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        state = (state ^ u64::from_le_bytes(*eight) as u128).wrapping_mul(HASH_FACTOR);
        state ^= state >> 61;
        rest = tail;
    }
    while let [first, tail @ ..] = rest {
        word = word << 8 | *first as u64;
        rest = tail;
    }
    state = (state ^ word as u128).wrapping_mul(HASH_FACTOR);
    state ^= state >> 61;
    (state ^ bytes.len() as u128).wrapping_mul(HASH_FACTOR)
}

/// A type that `#[step]` put beside a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an Apollo step",
    label = "not a step",
    note = "a step is a function with `#[step]` above it, named by its path"
)]
pub trait Step: 'static {
    /// Who it is. Apart from [`Step::SPEC`], so that two steps that wrongly depend on each other
    /// can still be described.
    const ID: StepRef;
    /// Its description and its functions.
    const SPEC: StepSpec<Self::Output>;
    /// The value that it returns.
    type Output;
    /// How dependents receive the value: [`Required`] or [`Optional`].
    type Delivers;
}

/// What a step is, and how it is run.
#[derive(Debug)]
pub struct StepSpec<T> {
    /// Its constant description.
    pub info: &'static StepInfo,
    /// Its functions.
    pub runner: Runner,
    /// How its value becomes bytes and comes back.
    pub codec: Codec<T>,
}

impl StepSpec<()> {
    /// A step that `#[step]` refused: a task's judgement goes on as if it had no dependencies.
    #[must_use]
    pub const fn refused(info: &'static StepInfo) -> Self {
        fn accepts(_: &Params) -> Result<(), StepError> {
            Err(StepError::permanent("this step did not compile"))
        }
        fn body(_: &Context, _: &Inputs) -> Result<Output, StepError> {
            Err(StepError::permanent("this step did not compile"))
        }
        fn encode(_: &()) -> Result<Output, StepError> {
            Err(StepError::permanent("this step did not compile"))
        }
        fn load(_: &Inputs, _: usize) -> Result<Option<()>, StepError> {
            Err(StepError::permanent("this step did not compile"))
        }
        let body = Body::Function(body);
        let runner = Runner { body, cleanup: None, probe: None, accepts };
        Self { info, runner, codec: Codec { encode, load } }
    }
}

/// Stands in a list of steps until the right ones are put in, where some stand under a `cfg`.
#[doc(hidden)]
pub const FILLER: StepSpec<()> =
    StepSpec::refused(&StepInfo::new(StepRef { key: 0, id: "" }, "", ""));

/// How a step's value becomes bytes and comes back.
///
/// It stands in the step's description, so that a value that can't be kept is one error where the
/// step is, and none at its dependents.
#[derive(Debug)]
pub struct Codec<T> {
    /// Encodes the value.
    pub encode: fn(&T) -> Result<Output, StepError>,
    /// Decodes the value of the dependency at an index of `depends_on`.
    pub load: fn(&Inputs, usize) -> Result<Option<T>, StepError>,
}

/// The delivery of a required step: dependents take `&T`.
#[derive(Debug)]
pub struct Required<T>(std::marker::PhantomData<T>);

/// The delivery of an optional step: dependents take `Option<&T>`.
#[derive(Debug)]
pub struct Optional<T>(std::marker::PhantomData<T>);
