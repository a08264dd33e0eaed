//! The environment variables that the command line heeds: the only place that asks for one.
//!
//! It is not their meaning: `args` and `entry` know that.

use std::ffi::OsString;

/// Names the directory, where `--dir` does not.
pub(crate) const DIR: &str = "APOLLO_DIR";

/// Holds the value of a secret parameter: this and the parameter's name in capitals.
pub(crate) const PARAM: &str = "APOLLO_PARAM_";

/// Chooses the operation of the disk that fails or kills; feature `testing` only.
#[cfg(feature = "testing")]
pub(crate) const CRASH_AT: &str = "APOLLO_CRASH_AT";

/// The value of a variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this file is the door to the environment")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
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
