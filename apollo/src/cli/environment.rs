//! The environment variables that the command line heeds: the only place that asks for one.
//!
//! It is not their meaning: `args` and `entry` know that.

use std::ffi::OsString;

use super::exit::Failure;
use crate::options::RunOptions;

/// Names the directory, where `--dir` does not.
pub(crate) const DIR: &str = "APOLLO_DIR";

/// Holds the value of a secret parameter: this and the parameter's name in capitals.
pub(crate) const PARAM: &str = "APOLLO_PARAM_";

/// Chooses the operation of the disk that fails or kills; feature `testing` only.
#[cfg(feature = "testing")]
const CRASH_AT: &str = "APOLLO_CRASH_AT";

/// The value of a variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this file is the door to the environment")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Lets the disk fail, or take the process down, at the operation that a test chose.
///
/// # Errors
/// A failure when the variable says something else.
#[cfg(feature = "testing")]
pub(crate) fn on_test_disk(options: RunOptions) -> Result<RunOptions, Failure> {
    use std::sync::Arc;

    use super::exit::USAGE;
    use crate::disk::{CrashDisk, RealDisk};

    let Some(value) = variable(CRASH_AT) else { return Ok(options) };
    let disk = CrashDisk::from_env_value(&value.to_string_lossy(), Arc::new(RealDisk))
        .map_err(|error| Failure::new(USAGE, format!("{CRASH_AT}: {error}")))?;
    Ok(options.disk(Arc::new(disk)))
}

/// Leaves the disk as it is: without the feature `testing` no test chooses.
///
/// # Errors
/// None; the signature is that of the other one.
#[cfg(not(feature = "testing"))]
#[expect(clippy::unnecessary_wraps, reason = "with the feature `testing` it can fail")]
pub(crate) const fn on_test_disk(options: RunOptions) -> Result<RunOptions, Failure> {
    Ok(options)
}

/// Whether colours are welcome: `NO_COLOR` is not set, and the terminal can show them.
pub(crate) fn wants_colour() -> bool {
    variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the terminal shows more than ASCII.
pub(crate) fn is_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    locale.is_some_and(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
