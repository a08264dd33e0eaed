//! [`Universe`]: one simulated disk, clock and outside world, and the processes that work in it one
//! after the other, each with its mishap.
//!
//! It is not the judge of what they leave: that is `oracle`, which it asks after each of them.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apollo::testing::SimDisk;
use apollo::{Disk as _, RunError, RunOptions, Summary, Task};

use super::check::{Check, Violation};
use super::clock::StageClock;
use super::draw::Draw;
use super::mishap::Mishap;
use super::oracle::{self, Outcome};
use super::paths::{self, check_named};
use super::scenario::Scenario;
use super::story::Story;
use super::world::World;

/// A disk, a clock, a world outside, and the processes that work in it.
#[derive(Debug)]
pub struct Universe {
    scenario: &'static Scenario,
    task: Task,
    task_id: String,
    disk: SimDisk,
    clock: Arc<StageClock>,
    world: Arc<World>,
    /// How many processes there were, without those before the scenario begins.
    processes: u32,
    /// What must be as it was: the logs of runs before this one.
    older: Vec<(PathBuf, Vec<u8>)>,
    /// Steps whose files a mishap lost or altered: what the log says of them is nobody's promise.
    lost: BTreeSet<String>,
    /// Whether everything that the next process finds is synced.
    settled: bool,
}

/// What came of a process.
pub type Ended = Result<Summary, RunError>;

impl Universe {
    /// A new one, whose every choice follows from the seed.
    ///
    /// # Panics
    /// When the run that stands before the scenario does not succeed.
    pub fn new(scenario: &'static Scenario, task_id: &str, seed: u64) -> Self {
        let clock = Arc::new(StageClock::default());
        let gate = scenario.parallel.then_some(seed);
        let world = World::begin(task_id, scenario.late, &clock, gate);
        let mut this = Self {
            scenario,
            task: (scenario.task)(),
            task_id: task_id.to_owned(),
            disk: SimDisk::new(seed),
            clock,
            world,
            processes: 0,
            older: Vec::new(),
            lost: BTreeSet::new(),
            settled: true,
        };
        if scenario.begins_done {
            let ended = this.run(&Mishap::default()).expect("no worker panics");
            ended.expect("an undisturbed run succeeds");
            this.disk = this.disk.kill();
            this.processes = 0;
            this.older = paths::logs_on(&this.disk)
                .into_iter()
                .map(|log| (log.clone(), this.disk.read(&log).unwrap_or_default()))
                .collect();
        }
        this
    }

    /// A process begins, meets its mishap, and ends; then everything is looked at.
    ///
    /// # Errors
    /// The first check that does not hold.
    pub fn live(&mut self, mishap: &Mishap) -> Result<Ended, Violation> {
        let log = self.newest_log();
        let found = log.as_ref().and_then(|log| self.disk.read(log)).unwrap_or_default();
        let ended = self.run(mishap)?;
        if let Some(violation) = self.world.violation() {
            return Err(violation);
        }
        oracle::judge_end(&ended, mishap, &self.disk)?;
        if let Some(draw) = mishap.rot {
            self.rot(&mut Draw::new(draw));
        }
        self.disk = if mishap.cut { self.disk.cut_power() } else { self.disk.kill() };
        if mishap.cut {
            self.world.forget_unsynced();
        }
        self.judge_disk()?;
        if let Some(log) = log.filter(|_| self.settled || !mishap.cut) {
            oracle::judge_tail(&self.disk, &log, &found)?;
        }
        self.settled = mishap.cut;
        self.clock.jump(mishap.jump_s);
        if let Some(draw) = mishap.lose.or(mishap.alter) {
            self.lose(&mut Draw::new(draw), mishap.lose.is_some());
        }
        Ok(ended)
    }

    /// The plain run that must come to the end, and everything that must hold then.
    ///
    /// # Errors
    /// The first check that does not hold.
    pub fn finish(&mut self, expected: &[Outcome]) -> Result<(), Violation> {
        let summary = match self.live(&Mishap::default())? {
            Ok(summary) => summary,
            Err(error) => return Check::Ends.fails(format!("the plain run: {error:?}")),
        };
        let outcome = self.outcome();
        oracle::judge_outcome(&summary, &outcome, expected)?;
        self.judge_fixed_point()
    }

    /// What the newest run left.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(&self.disk, &self.world)
    }

    /// How many operations the disk has done for the process.
    pub fn operations(&self) -> u64 {
        self.disk.operations()
    }

    /// How many operations it had done when the epoch was opened.
    pub fn opened_at_operation(&self) -> Option<u64> {
        self.world.opened_at_operation()
    }

    /// The disk.
    pub fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// What a process is told.
    fn options(&self) -> RunOptions {
        let named = RunOptions::new().dir(paths::ROOT).task_id(&self.task_id).expect("a task_id");
        let options = named.max_interruptions(10_000).clock(Arc::clone(&self.clock) as _);
        let options = (self.scenario.always)(options);
        match self.scenario.first.filter(|_| self.processes == 0) {
            Some(first) => first(options),
            None => options,
        }
    }
}

impl Universe {
    fn run(&mut self, mishap: &Mishap) -> Result<Ended, Violation> {
        if let Some((fault, at)) = mishap.fault {
            self.disk.fault(at, fault);
        }
        self.world.enter(&self.disk, mishap.kills());
        self.clock.direct();
        let options = self.options().disk(Arc::new(self.disk.clone()));
        let options = options.observer(Arc::clone(&self.world) as _);
        self.processes += 1;
        let ended = catch_unwind(AssertUnwindSafe(|| self.task.run(&options)));
        ended.or_else(|_payload| Check::NoDefect.fails("the run panicked"))
    }

    fn newest_log(&self) -> Option<PathBuf> {
        paths::logs_on(&self.disk).pop()
    }

    /// What holds of the disk between two processes.
    fn judge_disk(&self) -> Result<(), Violation> {
        for (log, acknowledged) in self.world.acknowledged() {
            let found = self.disk.read(&log).unwrap_or_default();
            Check::AcknowledgedKept.holds(found.starts_with(&acknowledged.written), || {
                let (kept, told) = (found.len(), acknowledged.written.len());
                format!("{} has {kept} bytes, told of were {told}, or others", log.display())
            })?;
            let story = Story::of(&found);
            let steps = story.steps.keys().filter(|step| !self.lost.contains(*step));
            check_named(&log, &story, steps, &|path| self.disk.read(path))?;
        }
        for (log, was) in &self.older {
            let is = self.disk.read(log);
            Check::OldRunKept.holds(is.as_ref() == Some(was), || log.display().to_string())?;
        }
        Ok(())
    }

    /// Reading changes nothing; running again changes nothing but the name of the lock's holder; and
    /// nothing is left that a power cut could take.
    fn judge_fixed_point(&mut self) -> Result<(), Violation> {
        let files = self.disk.files();
        let options = self.options().disk(Arc::new(self.disk.clone()));
        let planned = self.task.plan(&options).is_ok_and(|plan| plan.done);
        Check::FixedPoint.holds(planned && self.disk.files() == files, || {
            "asking what a run would do".to_owned()
        })?;
        let unlocked = |files: Vec<(PathBuf, Vec<u8>)>| -> Vec<_> {
            files.into_iter().filter(|(path, _)| path.extension() != Some("lock".as_ref())).collect()
        };
        let files = unlocked(files);
        for cut in [false, true] {
            let mishap = Mishap { cut, ..Mishap::default() };
            let done = self.live(&mishap)?.is_ok_and(|summary| summary.already_done);
            let now = unlocked(self.disk.files());
            Check::FixedPoint.holds(done && now == files, || differing(&files, &now))?;
        }
        Ok(())
    }

    /// A byte that was not synced rots.
    fn rot(&self, draw: &mut Draw) {
        let mut unsynced = Vec::new();
        for (path, live) in self.disk.files() {
            let durable = self.disk.durable(&path).unwrap_or_default();
            let same = live.iter().zip(&durable).take_while(|(live, durable)| live == durable);
            let synced = same.count();
            if synced < live.len() {
                unsynced.push((path, synced, live.len()));
            }
        }
        if unsynced.is_empty() {
            return;
        }
        let (path, from, to) = &unsynced[draw.below(unsynced.len() as u64) as usize];
        let at = *from as u64 + draw.below((to - from) as u64);
        assert!(self.disk.rot(path, at, 1 << draw.below(8)), "a byte that is there");
    }

    /// A file is removed, or altered, that an unfinished step will read.
    fn lose(&mut self, draw: &mut Draw, removed: bool) {
        let Some(log) = self.newest_log() else { return };
        let story = Story::of(&self.disk.read(&log).unwrap_or_default());
        let is_over = |step: &&String| story.steps[*step].is_over();
        let unfinished = story.steps.iter().filter(|(id, _)| !is_over(id));
        let read: BTreeSet<_> = unfinished.flat_map(|(_, fate)| &fate.depends_on).collect();
        let files: Vec<_> = read
            .into_iter()
            .filter(|step| story.steps[*step].is_success())
            .flat_map(|step| {
                let named = paths::named_by(&log, step, &story.steps[step]);
                named.into_iter().map(move |(path, _)| (step.clone(), path))
            })
            .collect();
        if files.is_empty() {
            return;
        }
        let (step, path) = &files[draw.below(files.len() as u64) as usize];
        if removed {
            let dir = path.parent().expect("a file below the root");
            let done = self.disk.remove_file(path).and_then(|()| self.disk.sync_dir(dir));
            done.expect("a disk that works");
            // Whoever removed it is gone as well.
            self.disk = self.disk.kill();
        } else {
            let len = self.disk.read(path).map_or(0, |content| content.len() as u64);
            assert!(self.disk.rot(path, draw.below(len.max(1)), 1 << draw.below(8)), "a byte");
        }
        self.lost.insert(step.clone());
    }
}

impl Drop for Universe {
    fn drop(&mut self) {
        self.world.end();
    }
}

/// The first file that is not in both.
fn differing(before: &[(PathBuf, Vec<u8>)], after: &[(PathBuf, Vec<u8>)]) -> String {
    let only = |one: &[(PathBuf, Vec<u8>)], other: &[(PathBuf, Vec<u8>)]| {
        one.iter().find(|file| !other.contains(file)).map(|(path, _)| path.clone())
    };
    let path = only(before, after).or_else(|| only(after, before));
    let path = path.as_deref().unwrap_or(Path::new("the run is not done, and no file"));
    format!("{} differs", path.display())
}
