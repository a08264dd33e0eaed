//! The script of a test: what each scripted step is to do, and what it did.

use std::fs;

use apollo::RunOptions;

use crate::child::until;
use crate::dir::Dir;

/// Says what a step does from now on; an empty script lets it succeed.
///
/// # Panics
/// When the directory can't be written.
pub fn script(dir: &Dir, step: &str, what: &str) {
    let control = dir.path().join("control");
    fs::create_dir_all(&control).expect("a directory of the test");
    fs::write(control.join(step), what).expect("a file of the test");
}

/// Waits until an attempt of a step has begun: its line in `ran` is whole, so that no kill takes it
/// back, and its script was read.
///
/// # Panics
/// When it has not begun after a minute.
pub fn begun(dir: &Dir, step: &str) {
    until(&format!("the step {step} has begun"), || {
        let ran = fs::read_to_string(dir.path().join("ran")).ok()?;
        let mut lines = ran.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        lines.any(|line| line.split(' ').next() == Some(step)).then_some(())
    });
}

/// The attempts that ran, as `step retry_count`, and forgets them.
pub fn ran(dir: &Dir) -> Vec<String> {
    let path = dir.path().join("ran");
    let text = fs::read_to_string(&path).unwrap_or_default();
    drop(fs::remove_file(path));
    text.lines().map(str::to_owned).collect()
}

/// Options that keep everything in the test's directory.
pub fn options(dir: &Dir) -> RunOptions {
    RunOptions::new().dir(dir.apollo())
}
