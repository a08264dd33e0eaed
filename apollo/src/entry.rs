//! `apollo::main!`: a pipeline binary's `main` in one line.
//!
//! It is not the command line: that is `cli`, and this only hands it the tasks.

/// Makes the `main` of a program that runs these tasks.
///
/// ```
/// use apollo::{step, task};
///
/// #[step]
/// fn fetch() {}
///
/// task! { daily { steps: [fetch] } }
///
/// apollo::main!(daily);
/// ```
///
/// Several tasks are named one after the other, each by its path: `main!(daily, reports::weekly)`.
/// Every program made like this has the commands `run`, `list`, `inspect`, `graph`, `check`,
/// `verify` and `help`, with the parameters of its tasks as options.
///
/// # Compile errors
/// Without the feature `cli` there is no command line; the message names the cure.
#[cfg(feature = "cli")]
#[macro_export]
macro_rules! main {
    ($($task:path),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::command_line(::std::vec![$($task()),+], ::std::env::args_os())
        }
    };
}

/// Says that there is no command line without the feature `cli`.
#[cfg(not(feature = "cli"))]
#[macro_export]
macro_rules! main {
    ($($task:tt)*) => {
        ::core::compile_error!(
            "`apollo::main!` needs the feature `cli` of apollo: remove `default-features = false`, \
             or add `features = [\"cli\"]`; without it, call `Task::run` in a `main` of your own"
        );
        fn main() {}
    };
}
