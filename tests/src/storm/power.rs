//! Power cuts on a real file system, below a process that has just been killed.
//!
//! They find a missing sync of a file. A missing sync of a directory they can't find: these file
//! systems keep a new name together with its file. That is what the simulated disk is for.

use std::fmt;
use std::fs;
use std::path::Path;

use super::judged::Judged;
use super::machine::{Kind, Machine};
use super::repeat::Repeat;
use super::undisturbed::Undisturbed;
use crate::child::{has_tool, output, pipelines, said};
use crate::dir::Dir;
use crate::simulation::Draw;

/// Where the power is cut.
#[derive(Debug, Clone, Copy)]
pub enum Points {
    /// At so many operations, evenly in the work on thirty steps, each a little off by the seed; and
    /// once more in the recovery of every second one.
    Evenly(u64, u64),
    /// At every operation, and as above.
    All,
    /// At this one, and at this one of the recovery.
    At(u64, Option<u64>),
}

/// What the cuts met.
#[derive(Debug, Default)]
pub struct Cuts {
    kind: &'static str,
    /// How many operations of the disk the work has.
    operations: u64,
    cuts: u64,
    in_recovery: u64,
    /// Records that somebody had been told of, all of which were found again.
    acknowledged: usize,
    torn_tails: usize,
    /// Files that were written and not synced before each cut, and how many of them were lost.
    unsynced: u64,
    unsynced_lost: u64,
    /// How many records were lost where every sync was left out, and of how many.
    lost_without_syncs: Option<(usize, usize)>,
    judged: String,
}

impl fmt::Display for Cuts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, cuts, in_recovery, acknowledged, torn_tails, .. } = self;
        let Self { operations, unsynced, unsynced_lost, lost_without_syncs, judged, .. } = self;
        write!(
            f,
            "{kind}: {cuts} power cuts in work of {operations} operations, {in_recovery} of them in \
             a recovery; all of {acknowledged} acknowledged records were found again, {torn_tails} \
             torn tails were cut off, each run ended like an undisturbed one; {judged}\n\
             for comparison, of {unsynced} files that nobody synced {unsynced_lost} were lost, "
        )?;
        match lost_without_syncs {
            Some((lost, all)) => {
                write!(f, "and {lost} of {all} acknowledged records of a run without any sync")
            }
            None => write!(f, "and there is no strace for a run without any sync"),
        }
    }
}

/// Cuts the power at some operations of the work on thirty steps.
///
/// # Errors
/// Why this machine can't play power cuts.
///
/// # Panics
/// When an acknowledged record is lost, or a run does not end like an undisturbed one.
pub fn storm(program: &str, kind: Kind, points: Points) -> Result<Cuts, String> {
    let mut machine = Machine::start(kind)?;
    let undisturbed = Undisturbed::thirty(program, &machine.disk());
    let operations = operations(&undisturbed, &machine.disk());
    let mut met = Cuts { kind: kind.name(), operations, ..Cuts::default() };
    met.lost_without_syncs = lost_without_syncs(&undisturbed, program, &mut machine);
    let mut judged = Judged::default();
    for (at, again) in points.of(operations) {
        judged.add(met.one(&undisturbed, &mut machine, at, again));
    }
    met.judged = judged.finish();
    Ok(met)
}

impl Points {
    /// The operations, each with that of its recovery.
    fn of(self, operations: u64) -> Vec<(u64, Option<u64>)> {
        let (points, seed) = match self {
            Self::At(at, again) => return vec![(at, again)],
            Self::Evenly(points, seed) => (points.clamp(1, operations), seed),
            Self::All => (operations, 0),
        };
        let point = |n| {
            let mut draw = Draw::new(seed + n);
            let (from, to) = (n * operations / points, (n + 1) * operations / points);
            let at = 1 + from + draw.below(to - from);
            (at, (n % 2 == 1).then(|| 1 + draw.below(operations / 4)))
        };
        (0..points).map(point).collect()
    }
}

/// Does the work while every sync is left out, cuts the power, and tells how many records were lost
/// that somebody had been told of: were there none, no cut here would show anything. `None` where
/// there is no `strace`.
fn lost_without_syncs(
    undisturbed: &Undisturbed<'_>,
    program: &str,
    machine: &mut Machine,
) -> Option<(usize, usize)> {
    if !has_tool("strace") {
        return None;
    }
    let dir = machine.dir();
    let lies = "inject=fsync,fdatasync:retval=0";
    let run = ["-f", "-qq", "-o", "/dev/null", "-e", lies, program, "run", "thirty", "--json"];
    let told = output(&mut pipelines("strace", dir.path(), &run)).stdout;
    machine.cut_power();
    let log = dir.logs().first().map(|log| fs::read(log).expect("a readable log"));
    let log = log.unwrap_or_default();
    let lines = || told.split_inclusive(|byte| *byte == b'\n');
    let lost = lines().filter(|line| !contains(&log, line)).count();
    assert!(lost > 0, "a record that was never synced can be lost");
    undisturbed.finish(&dir);
    Some((lost, lines().count()))
}

/// How many operations of the disk the work has, about: steps that end side by side share some.
fn operations(undisturbed: &Undisturbed<'_>, below: &Path) -> u64 {
    let dir = Dir::below(below, "count");
    let count = dir.path().join("count");
    let spec = format!("count:{}", count.display());
    output(undisturbed.command(&dir).env("APOLLO_CRASH_AT", spec));
    let text = fs::read_to_string(count).expect("a count");
    text.trim().parse().expect("a number")
}

impl Cuts {
    /// One run, with a cut at an operation, and at another one of its recovery.
    fn one(
        &mut self,
        undisturbed: &Undisturbed<'_>,
        machine: &mut Machine,
        at: u64,
        again: Option<u64>,
    ) -> Dir {
        let mut repeat = Repeat::new(format!(
            "cut {} at {at} {}",
            self.kind,
            again.map(|again| again.to_string()).unwrap_or_default()
        ));
        let dir = machine.dir();
        let first = self.run_and_cut(undisturbed, machine, &dir, at, &mut repeat);
        let second = again.map(|again| {
            self.in_recovery += 1;
            self.run_and_cut(undisturbed, machine, &dir, again, &mut repeat)
        });
        let log = dir.logs().first().map(|log| fs::read(log).expect("a readable log"));
        let log = log.unwrap_or_default();
        for told in [Some(first), second].into_iter().flatten() {
            assert!(contains(&log, &told), "lost: {}", String::from_utf8_lossy(&told));
            self.acknowledged += told.iter().filter(|byte| **byte == b'\n').count();
        }
        undisturbed.finish(&dir);
        undisturbed.check(&dir);
        self.torn_tails += dir.torn_tails();
        dir
    }

    /// Works until an operation, and cuts the power; gives the records that somebody was told of.
    fn run_and_cut(
        &mut self,
        undisturbed: &Undisturbed<'_>,
        machine: &mut Machine,
        dir: &Dir,
        at: u64,
        repeat: &mut Repeat,
    ) -> Vec<u8> {
        let unsynced = dir.path().join("unsynced");
        fs::write(&unsynced, "written and not synced").expect("a file of the test");
        let torn = if at.is_multiple_of(2) { ":torn" } else { "" };
        let mut command = undisturbed.command(dir);
        let ended = output(command.arg("--json").env("APOLLO_CRASH_AT", format!("{at}{torn}")));
        repeat.said(said(&ended));
        machine.cut_power();
        self.cuts += 1;
        self.unsynced += 1;
        self.unsynced_lost += u64::from(fs::read(unsynced).unwrap_or_default().is_empty());
        let whole = ended.stdout.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        ended.stdout[..whole].to_vec()
    }
}

fn contains(log: &[u8], lines: &[u8]) -> bool {
    lines.is_empty() || log.windows(lines.len()).any(|window| window == lines)
}
