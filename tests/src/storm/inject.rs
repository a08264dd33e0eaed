//! System calls that fail, or are the last ones, one after the other, by `strace`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Output;

use super::judged::Judged;
use super::repeat::Repeat;
use super::undisturbed::Undisturbed;
use crate::child::{output, pipelines, said};
use crate::dir::{Dir, test_root};

/// The calls that change or sync something, or decide who may; one that a run does not make is
/// found out by its first number.
pub const CALLS: [&str; 16] = [
    "write",
    "pwrite64",
    "fdatasync",
    "fsync",
    "openat",
    "mkdir",
    "rename",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "ftruncate",
    "fallocate",
    "flock",
    "fcntl",
    "getdents64",
];

/// What happens at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The process is killed on its way into the call, which does not happen.
    Kill,
    /// The call says EIO and does nothing.
    Io,
    /// The call says ENOSPC and does nothing.
    NoSpace,
    /// A write says that it wrote 40 bytes, and wrote none: a disk that lies. Nobody promises to
    /// survive it, only to say it.
    Lie,
}

/// How the disturbed processes ended.
#[derive(Debug, Default)]
pub struct Injected {
    /// For each fault, in a fresh run and in a resume: how often its process ended in which way.
    points: BTreeMap<(Fault, bool), BTreeMap<String, u64>>,
    judged: String,
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = 0;
        for ((fault, resume), ends) in &self.points {
            let stage = if *resume { "resume" } else { "fresh run" };
            let points: u64 = ends.values().sum();
            let ends: Vec<_> = ends.iter().map(|(end, times)| format!("{end} {times}")).collect();
            writeln!(f, "{fault:?} in a {stage}: {points} calls: {}", ends.join(", "))?;
            all += points;
        }
        write!(
            f,
            "{all} calls met a fault: after each the plain command finished the work, or, of a \
             disk that lied, said so; {}",
            self.judged
        )
    }
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Kill, Self::Io, Self::NoSpace, Self::Lie];

    const fn as_strace(self) -> &'static str {
        match self {
            Self::Kill => "signal=KILL",
            Self::Io => "error=EIO",
            Self::NoSpace => "error=ENOSPC",
            Self::Lie => "retval=40",
        }
    }
}

/// Lets every `every`-th call of a kind, from the `first`-th, meet a fault, until there are none.
///
/// # Panics
/// When the plain command does not finish the work afterwards as an undisturbed run does.
pub fn inject(program: &str, calls: &[&str], first: usize, every: usize) -> Injected {
    let undisturbed = Undisturbed::three(program, &test_root());
    let dead_at = in_an_append(&undisturbed);
    let mut injected = Injected::default();
    let mut judged = Judged::default();
    for fault in Fault::ALL {
        for stage in [None, Some(&*dead_at)] {
            let calls = calls.iter().filter(|call| fault != Fault::Lie || **call == "write");
            for call in calls {
                for when in (first..).step_by(every) {
                    let point = Point { undisturbed: &undisturbed, program, fault, call, when };
                    let Some((dir, end)) = point.meet(stage) else { break };
                    let ends = injected.points.entry((fault, stage.is_some())).or_default();
                    *ends.entry(end).or_default() += 1;
                    judged.add(dir);
                }
            }
        }
    }
    injected.judged = judged.finish();
    injected
}

/// Where a process has to be killed to leave an open attempt and a torn tail.
fn in_an_append(undisturbed: &Undisturbed<'_>) -> String {
    for at in 1.. {
        let (dir, crash_at) = (Dir::new("torn"), format!("{at}:torn"));
        output(undisturbed.command(&dir).env("APOLLO_CRASH_AT", &crash_at));
        let log = dir.logs().first().map(|log| fs::read(log).expect("a readable log"));
        let is_torn = |log: &Vec<u8>| log.last().is_some_and(|last| *last != b'\n');
        if log.is_some_and(|log| is_torn(&log) && log.contains(&b'\n')) {
            return crash_at;
        }
    }
    unreachable!("there is no end of the numbers")
}

/// One call that meets a fault.
struct Point<'a> {
    undisturbed: &'a Undisturbed<'a>,
    program: &'a str,
    fault: Fault,
    call: &'a str,
    when: usize,
}

impl Point<'_> {
    /// Meets it, in a fresh run or in the resume of one that died; `None` when there is no such
    /// call.
    fn meet(&self, dead_at: Option<&str>) -> Option<(Dir, String)> {
        let Self { undisturbed, fault, call, when, .. } = self;
        let mut repeat = Repeat::new(format!("strace {call} {when}"));
        let dir = Dir::new("strace");
        if let Some(at) = dead_at {
            output(undisturbed.command(&dir).env("APOLLO_CRASH_AT", at));
        }
        let trace = dir.path().join("trace");
        let ended = self.traced(&dir, &trace);
        let hit = fs::read_to_string(&trace).unwrap_or_default().contains("(INJECTED)");
        let end = match (ended.status.code(), ended.status.signal()) {
            (Some(_), _) if !hit => return None,
            (Some(code), _) => format!("exit {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        repeat.said(format!("{fault:?}: {end}: {}", said(&ended)));
        if *fault != Fault::Lie {
            undisturbed.finish(&dir);
            undisturbed.check(&dir);
        } else if undisturbed.is_believed(&dir) {
            // A body may have run whose STEP_START the disk lost: outside it may be twice.
            undisturbed.check_kept(&dir);
        } else {
            return Some((dir, format!("{end}, found out")));
        }
        Some((dir, end))
    }

    fn traced(&self, dir: &Dir, trace: &Path) -> Output {
        let Self { program, fault, call, when, .. } = self;
        let inject = format!("inject={call}:{}:when={when}", fault.as_strace());
        let trace = trace.to_str().expect("a path in UTF-8");
        let only = format!("trace={call}");
        let args = ["-f", "-qq", "-o", trace, "-e", &only, "-e", &inject, program, "run", "three"];
        output(&mut pipelines("strace", dir.path(), &args))
    }
}
