//! A task for the tests of the command line: a diamond whose right side is optional.

use std::time::Duration;

use crate::context::{Context, Inputs};
use crate::failure::StepError;
use crate::output::Output;
use crate::policy::{Backoff, Durability, Need, Retry};
use crate::receive::accepts_any;
use crate::step::{Body, Dependency, Runner, StepInfo, StepRef};
use crate::task::{ParamInfo, Task, TaskInfo};

const FETCH: StepRef = StepRef::new("fetch", "sample::fetch", 1, 1);
const LEFT: StepRef = StepRef::new("left", "sample::left", 2, 1);
const RIGHT: StepRef = StepRef::new("right", "sample::right", 3, 1);
const JOIN: StepRef = StepRef::new("join", "sample::join", 4, 1);

const fn on(step: StepRef) -> Dependency {
    Dependency { step, value: false }
}

static FETCH_INFO: StepInfo = StepInfo {
    retry: Retry { backoff: Backoff::Fixed, max_retries: Some(2), ..Retry::NONE },
    ..StepInfo::new(FETCH, "sample::fetch", "()")
};
static LEFT_INFO: StepInfo =
    StepInfo { depends_on: &[on(FETCH)], ..StepInfo::new(LEFT, "sample::left", "()") };
static RIGHT_INFO: StepInfo = StepInfo {
    depends_on: &[on(FETCH)],
    need: Need::Optional,
    ..StepInfo::new(RIGHT, "sample::right", "()")
};
static JOIN_INFO: StepInfo =
    StepInfo { depends_on: &[on(LEFT), on(RIGHT)], ..StepInfo::new(JOIN, "sample::join", "()") };

fn null(_: &Context, _: &Inputs) -> Result<Output, StepError> {
    Ok(Output::from_bytes(b"null".to_vec()))
}

fn fails(_: &Context, _: &Inputs) -> Result<Output, StepError> {
    Err(StepError::permanent("broken\u{1b}[2J\nsecond line"))
}

fn clean(_: &Context) -> Result<(), StepError> {
    Ok(())
}

const RUNNER: Runner =
    Runner { body: Body::Function(null), cleanup: None, probe: None, accepts: accepts_any };
const CLEANED: Runner = Runner { cleanup: Some(clean), ..RUNNER };
const BROKEN: Runner = Runner { body: Body::Function(fails), ..RUNNER };

fn number(text: &str) -> Result<String, String> {
    text.parse::<u32>().map(|value| value.to_string()).map_err(|error| error.to_string())
}

fn any(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

const TASK_DAY: ParamInfo = ParamInfo {
    name: "task_day",
    type_name: "u32",
    doc: " The day.",
    default: Some("7"),
    secret: false,
    normalize: number,
};
const TOKEN: ParamInfo = ParamInfo {
    name: "token",
    type_name: "String",
    doc: "",
    default: None,
    secret: true,
    normalize: any,
};

static DAILY: TaskInfo = TaskInfo {
    name: "daily",
    doc: " A day's work.",
    max_retries: 3,
    retry_delay: Duration::from_millis(1),
    max_parallel: Some(2),
    durability: Durability::Always,
    params: &[TASK_DAY],
    steps: &[&FETCH_INFO, &LEFT_INFO, &RIGHT_INFO, &JOIN_INFO],
    runners: &[RUNNER, CLEANED, RUNNER, RUNNER],
};
static BROKEN_LEFT: TaskInfo = TaskInfo {
    runners: &[RUNNER, Runner { cleanup: Some(clean), ..BROKEN }, BROKEN, RUNNER],
    ..DAILY
};
static SECRET: TaskInfo = TaskInfo { name: "guarded", params: &[TASK_DAY, TOKEN], ..DAILY };

/// The diamond.
pub(crate) fn daily() -> Task {
    Task::from_info(&DAILY)
}

/// The diamond, whose two sides fail.
pub(crate) fn broken() -> Task {
    Task::from_info(&BROKEN_LEFT)
}

/// The diamond under another name, with a secret parameter too.
pub(crate) fn guarded() -> Task {
    Task::from_info(&SECRET)
}
