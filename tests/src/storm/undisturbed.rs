//! [`Undisturbed`]: what a run leaves that nothing disturbs, and every other one has to leave.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child::{output, pipelines, said};
use crate::dir::Dir;
use crate::log::{Log, judge};
use crate::pipelines::thirty::{OF_THREE, REQUIRED_OF_THIRTY};

/// A task, and what is left of it when nothing disturbs it.
#[derive(Debug)]
pub struct Undisturbed<'a> {
    program: &'a str,
    task: &'static str,
    /// The steps that succeed.
    steps: &'static [&'static str],
    kept: Files,
    outside: Files,
    /// How long it took, its process included.
    pub took: Duration,
}

impl<'a> Undisturbed<'a> {
    /// Runs the task of thirty steps.
    pub fn thirty(program: &'a str, below: &Path) -> Self {
        Self::run(program, below, "thirty", &REQUIRED_OF_THIRTY)
    }

    /// Runs the task of three steps.
    pub fn three(program: &'a str, below: &Path) -> Self {
        Self::run(program, below, "three", &OF_THREE)
    }

    fn run(
        program: &'a str,
        below: &Path,
        task: &'static str,
        steps: &'static [&'static str],
    ) -> Self {
        let dir = Dir::below(below, "undisturbed");
        let (kept, outside, took) = <_>::default();
        let mut this = Self { program, task, steps, kept, outside, took };
        let began = Instant::now();
        assert_eq!(this.finish(&dir), 0, "nobody gives up");
        this.took = began.elapsed();
        this.kept = kept_in(&dir);
        this.outside = outside_in(&dir);
        this.check(&dir);
        judge(&dir.logs());
        this
    }

    /// The command that works on the task, in a directory.
    pub fn command(&self, dir: &Dir) -> Command {
        pipelines(self.program, dir.path(), &["run", self.task])
    }

    /// Gives the plain command until it succeeds. A step that was open in five deaths in a row is
    /// given up once, and tried again by the next command; tells how often that was.
    ///
    /// # Panics
    /// When it ends in another way.
    pub fn finish(&self, dir: &Dir) -> u32 {
        let mut given_up = 0;
        loop {
            let ended = output(&mut self.command(dir));
            match ended.status.code() {
                Some(0) => return given_up,
                Some(1) if said(&ended).contains("given up") => given_up += 1,
                code => panic!("the plain command ends with {code:?}: {}", said(&ended)),
            }
        }
    }

    /// Gives the plain command after something that nobody promises to survive: tells whether it
    /// comes to an end that `verify` has nothing to say against.
    ///
    /// # Panics
    /// When a process ends in an unknown way.
    pub fn is_believed(&self, dir: &Dir) -> bool {
        loop {
            let ended = output(&mut self.command(dir));
            match ended.status.code() {
                Some(0) => break,
                // An output that was altered is made again by the next command.
                Some(1 | 5) => {}
                Some(3) => return false,
                code => panic!("the plain command ends with {code:?}: {}", said(&ended)),
            }
        }
        let verify = &mut pipelines(self.program, dir.path(), &["verify", self.task]);
        output(verify).status.success()
    }

    /// Sees to it that a finished run recorded each success once, found nothing lost that was
    /// recorded, and left what it should, also outside.
    ///
    /// # Panics
    /// When it did not.
    pub fn check(&self, dir: &Dir) {
        let log = Log::read(&dir.only_log());
        assert!(!runs_again(&log), "what was recorded was lost: {:#?}", log.story());
        self.check_kept(dir);
        same(&self.outside, &outside_in(dir));
    }

    /// Sees to it that a finished run recorded each success once, or said why it did so again, and
    /// left the right artifacts and outputs.
    ///
    /// # Panics
    /// When it did not.
    pub fn check_kept(&self, dir: &Dir) {
        let log = Log::read(&dir.only_log());
        for step in self.steps {
            let times = log.count(step, "STEP_END", "SUCCESS");
            let right = times == 1 || (runs_again(&log) && times > 1);
            assert!(right, "{step} succeeded {times} times: {:#?}", log.story());
        }
        same(&self.kept, &kept_in(dir));
    }
}

/// Whether a header says that finished steps run again.
fn runs_again(log: &Log) -> bool {
    let again = |header: &&Value| header["detail"]["rerun"] != Value::Array(Vec::new());
    log.headers().iter().any(again)
}

/// Files by their names.
type Files = Vec<(String, Vec<u8>)>;

fn same(expected: &Files, found: &Files) {
    let names = |files: &Files| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(expected), names(found), "the same files are left");
    for ((name, expected), (_, found)) in expected.iter().zip(found) {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(expected), text(found), "{name}");
    }
}

/// Artifacts and outputs.
fn kept_in(dir: &Dir) -> Files {
    let mut kept = dir.content("artifacts");
    kept.extend(dir.content("state"));
    kept
}

/// What the steps did outside.
fn outside_in(dir: &Dir) -> Files {
    let ours = |name: &str| name.starts_with("ledger-") || name.starts_with("told-");
    dir.everything().into_iter().filter(|(name, _)| ours(name)).collect()
}
