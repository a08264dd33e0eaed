//! [`Universe`]: one simulated disk, clock and outside world, and the processes that work in it one
//! after the other, each with its mishap.
//!
//! It is not the judge of what they leave: that is `oracle`, which it asks after each of them.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use apollo::testing::{HookDisk, SimDisk};
use apollo::{
    AdmissionError, Disk as _, ReadError, RepairError, Repaired, RunError, RunOptions, Summary,
    Task,
};

use super::check::{Check, Violation};
use super::clock::StageClock;
use super::damage::{self, Damage};
use super::draw::Draw;
use super::mishap::Mishap;
use super::oracle::{self, Outcome};
use super::paths::{self, check_named};
use super::scenario::Scenario;
use super::story::{Fate, Story};
use super::trial::Trial;
use super::watch::{Failed, Watch};
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
    /// The newest log as it was read last.
    story: Story,
    /// Whether bits of it changed that may have been synced.
    flipped: bool,
    /// Whether everything that the next process finds is synced.
    settled: bool,
    /// Whether the power ever went.
    was_cut: bool,
}

/// More room than any run needs.
const ROOM_BYTES: u64 = 1 << 40;

/// What a process gave back.
#[derive(Debug)]
pub enum End {
    /// It ran the task.
    Ran(Result<Summary, RunError>),
    /// It repaired the log.
    Repaired(Result<Repaired, RepairError>),
}

/// What came of a process.
#[derive(Debug)]
pub struct Ended {
    /// What it gave back.
    pub end: End,
    /// How many operations its disk has counted.
    pub operations: u64,
    /// How many of them before its epoch was open; none where it never was.
    pub opened_at: Option<u64>,
}

impl Universe {
    /// A new one for a trial, whose every choice follows from the seed.
    ///
    /// # Panics
    /// When the run that stands before the scenario does not succeed.
    pub fn of(trial: &Trial) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Trial { scenario, seed, .. } = *trial;
        // No other universe has this task_id, and all are as long.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let task_id = format!("{}-{number:08}", scenario.name);
        let clock = Arc::new(StageClock::default());
        let gate = scenario.parallel.then_some(seed);
        let world = World::begin(&task_id, scenario.late, &clock, gate);
        let mut this = Self {
            scenario,
            task: (scenario.task)(),
            task_id,
            disk: SimDisk::new(seed),
            clock,
            world,
            processes: 0,
            older: Vec::new(),
            lost: BTreeSet::new(),
            story: Story::default(),
            flipped: false,
            settled: true,
            was_cut: false,
        };
        if scenario.begins_done {
            this.forget_wishes();
            let ended = this.run(&Mishap::default()).expect("no worker panics");
            assert!(ended.succeeded(), "{ended:?}");
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
        let damage = self.damage();
        let refused = damage.filter(|damage| damage.is_vouched);
        if damage != refused {
            // Nobody can know that an attempt began whose start is taken for a torn tail.
            self.world.clean();
        }
        let ended = match (mishap.repairs, refused) {
            (true, refused) => self.repair(mishap, &found, refused)?,
            (false, None) => self.run(mishap)?,
            (false, Some(damage)) => self.run_refused(mishap, damage)?,
        };
        if mishap.room_bytes.is_some() && !mishap.kills() {
            self.judge_full()?;
        }
        self.leave(mishap);
        self.judge_disk()?;
        if let Some(log) = log.filter(|_| self.settled || !mishap.cut) {
            oracle::judge_tail(&self.disk, &log, &found)?;
        }
        self.settled = mishap.cut;
        self.was_cut |= mishap.cut;
        self.clock.jump(mishap.jump_s);
        // Who loses records may lose the reader of a lost file, and then nobody misses it.
        if let Some(draw) = mishap.lose.or(mishap.alter).filter(|_| !self.flipped) {
            self.lose(&mut Draw::new(draw), mishap.lose.is_some());
        }
        if let Some(place) = mishap.flip.filter(|_| self.lost.is_empty()) {
            self.flip(place);
        }
        Ok(ended)
    }

    /// The process has ended; what becomes of what it wrote and did not sync.
    fn leave(&mut self, mishap: &Mishap) {
        if let Some(bytes) = mishap.tail_bytes {
            self.cut_tail(bytes);
        }
        if let Some(draw) = mishap.rot {
            self.rot(&mut Draw::new(draw));
        }
        self.disk = if mishap.cut { self.disk.cut_power() } else { self.disk.kill() };
        if mishap.cut {
            self.world.forget_unsynced();
        }
    }

    /// The plain run that must come to the end, and everything that must hold then.
    ///
    /// # Errors
    /// The first check that does not hold.
    pub fn finish(&mut self, expected: &[Outcome]) -> Result<(), Violation> {
        if self.damage().is_some_and(|damage| damage.is_vouched) {
            // It is refused, for as long as nobody repairs it.
            self.live(&Mishap::default())?;
            self.live(&Mishap { repairs: true, ..Mishap::default() })?;
        }
        let End::Ran(Ok(summary)) = self.live(&Mishap::default())?.end else {
            return Check::Ends.fails("the plain run did not come to its end");
        };
        let outcome = self.outcome();
        oracle::judge_outcome(&summary, &outcome, expected)?;
        self.judge_fixed_point()
    }

    /// What the newest run left.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(&self.disk, &self.world, self.was_cut || self.flipped)
    }

    /// Every process is told what a later one is told, also the first.
    pub fn forget_wishes(&mut self) {
        self.processes = 1;
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
        let (ended, failed) = self.process(mishap, |task, options| End::Ran(task.run(options)))?;
        if let (End::Ran(result), Some(failed)) = (&ended.end, failed) {
            oracle::judge_end(result, failed.as_ref())?;
        }
        Ok(ended)
    }

    /// A run on a log that is damaged: nothing is run, and nothing is written to it.
    fn run_refused(&mut self, mishap: &Mishap, damage: Damage) -> Result<Ended, Violation> {
        let before = self.disk.files();
        let (ended, failed) = self.process(mishap, |task, options| End::Ran(task.run(options)))?;
        let is_place = match &ended.end {
            End::Ran(Err(RunError::Admission(AdmissionError::Read {
                source: ReadError::Corrupt { line, offset_bytes, .. },
            }))) => (*line, *offset_bytes) == (damage.line, damage.offset_bytes),
            End::Ran(_) | End::Repaired(_) => false,
        };
        // A dead process, or one whose disk failed before it came to reading, refuses nothing.
        let excused = !matches!(failed, Some(None)) && !ended.succeeded();
        Check::CorruptionRefused
            .holds(is_place || excused, || format!("{damage:?}, but the run: {:?}", ended.end))?;
        let unlocked = |files: Vec<(PathBuf, Vec<u8>)>| -> Vec<_> {
            files.into_iter().filter(|(path, _)| matters(path, false)).collect()
        };
        let (before, after) = (unlocked(before), unlocked(self.disk.files()));
        Check::CorruptionRefused.holds(before == after, || differing(&before, &after))?;
        Ok(ended)
    }

    /// The log is repaired: under its name is the whole damaged log or the whole repaired one, and
    /// then the other one is kept.
    fn repair(
        &mut self,
        mishap: &Mishap,
        found: &[u8],
        damage: Option<Damage>,
    ) -> Result<Ended, Violation> {
        let log = self.newest_log();
        let task_id = self.task_id.clone();
        let act = |_: &Task, options: &RunOptions| End::Repaired(apollo::repair(options, &task_id));
        let (ended, failed) = self.process(mishap, act)?;
        let (End::Repaired(result), Some(log)) = (&ended.end, log) else { return Ok(ended) };
        match (result, failed) {
            (Ok(repaired), Some(_)) => {
                let place = repaired.damage.as_ref().map(|found| (found.line, found.offset_bytes));
                let is_same = place == damage.map(|damage| (damage.line, damage.offset_bytes));
                Check::Repaired
                    .holds(is_same, || format!("{damage:?}, but the repair: {repaired:?}"))?;
            }
            (Err(error), Some(None)) => return Check::Repaired.fails(format!("{error:?}")),
            (_, None) | (Err(_), Some(Some(_))) => {}
        }
        let now = self.disk.read(&log).unwrap_or_default();
        let good = damage.map_or(found.len(), |damage| damage.offset_bytes as usize);
        let is_whole = now == found || now == found[..good];
        Check::Repaired.holds(is_whole, || format!("{} bytes are left", now.len()))?;
        self.world.forget_behind(&log, good);
        Ok(ended)
    }

    /// A process does something with its disk. Tells what failed of it, and nothing of a process that
    /// died.
    fn process(
        &mut self,
        mishap: &Mishap,
        act: impl FnOnce(&Task, &RunOptions) -> End,
    ) -> Result<(Ended, Option<Option<Failed>>), Violation> {
        if let Some((fault, at)) = mishap.fault {
            self.disk.fault(at, fault);
        }
        self.disk.room(mishap.room_bytes.unwrap_or(ROOM_BYTES));
        self.world.enter(&self.disk, mishap.kills());
        self.clock.direct();
        let watch = Arc::new(Watch::of(&self.disk));
        let disk = HookDisk::new(Arc::new(self.disk.clone()), Arc::clone(&watch) as _);
        let options = self.options().disk(Arc::new(disk));
        let options = options.observer(Arc::clone(&self.world) as _);
        self.processes += 1;
        let end = catch_unwind(AssertUnwindSafe(|| act(&self.task, &options)));
        let end = end.or_else(|_payload| Check::NoDefect.fails("the process panicked"))?;
        let is_dead = mishap.kills() && self.disk.met().is_some();
        let seen = self.world.violation().or(watch.violation().filter(|_| !is_dead));
        if let Some(violation) = seen {
            return Err(violation);
        }
        let (operations, opened_at) = (self.disk.operations(), self.world.opened_at_operation());
        Ok((Ended { end, operations, opened_at }, (!is_dead).then(|| watch.failed())))
    }

    /// What is wrong with the newest log, where bits of it changed.
    fn damage(&self) -> Option<Damage> {
        let log = self.newest_log().filter(|_| self.flipped)?;
        let snapshot = self.disk.read(paths::snapshot(&log));
        Damage::of(&self.disk.read(&log)?, snapshot.as_deref())
    }

    /// Bits change: of the snapshot, where there is one, else of the log.
    fn flip(&mut self, place: u64) {
        let Some(log) = self.newest_log() else { return };
        let (offset, mask) = (place >> 8, (place & 255) as u8);
        let snapshot = paths::snapshot(&log);
        let kept = self.disk.read(&snapshot);
        let path = if kept.is_some() { &snapshot } else { &log };
        let len = self.disk.read(path).map_or(0, |content| content.len() as u64);
        if len == 0 {
            return;
        }
        let place = offset % len;
        assert!(self.disk.rot(path, place, mask), "a byte that is there");
        if self.disk.read(path).is_some_and(|now| damage::is_of_another_schema(&now)) {
            // Another version's log is never taken for a damaged one of this.
            assert!(self.disk.rot(path, place, mask), "the same byte");
            return;
        }
        if kept.is_none() {
            self.flipped = true;
            self.older.retain(|(older, _)| *older != log);
            if let Some(damage) = self.damage() {
                self.world.forget_behind(&log, damage.offset_bytes as usize);
            }
        }
    }

    fn newest_log(&self) -> Option<PathBuf> {
        paths::logs_on(&self.disk).pop()
    }

    /// What holds of the disk between two processes.
    fn judge_disk(&mut self) -> Result<(), Violation> {
        for (log, acknowledged) in self.world.acknowledged() {
            let found = self.disk.read(&log).unwrap_or_default();
            Check::AcknowledgedKept.holds(found.starts_with(&acknowledged.written), || {
                let (kept, told) = (found.len(), acknowledged.written.len());
                format!("{} has {kept} bytes, told of were {told}, or others", log.display())
            })?;
            let good = self.damage().map_or(found.len(), |damage| damage.offset_bytes as usize);
            let Self { story, lost, disk, .. } = self;
            story.read_on(found.get(..good).unwrap_or_default());
            let steps = story.steps.keys().filter(|step| !lost.contains(*step));
            check_named(&log, story, steps, &|path| disk.read(path))?;
        }
        let newest = self.newest_log();
        for (log, was) in self.older.iter().filter(|(log, _)| Some(log) != newest.as_ref()) {
            let is = self.disk.read(log);
            Check::OldRunKept.holds(is.as_ref() == Some(was), || log.display().to_string())?;
        }
        Ok(())
    }

    /// The room that was reserved took the end of every attempt that began.
    fn judge_full(&mut self) -> Result<(), Violation> {
        let begun = self.world.begun();
        let Some(log) = self.newest_log().filter(|_| !begun.is_empty()) else { return Ok(()) };
        self.story.read_on(&self.disk.read(&log).unwrap_or_default());
        for (step, number) in begun {
            let fate = &self.story.steps[&step];
            let ended = fate.attempts > number + 1 || !fate.open;
            Check::EndFits.holds(ended, || format!("`{step}` {number} has no end"))?;
        }
        let closed = self.story.closed.is_some();
        Check::EndFits.holds(closed, || "the summary is missing".to_owned())
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
        let ended = self.run(&Mishap::default())?;
        let done = matches!(&ended.end, End::Ran(Ok(summary)) if summary.already_done);
        let again = self.disk.files();
        let left = self.disk.cut_power().files();
        for (now, cut) in [(again, false), (left, true)] {
            let of = |all: &[(PathBuf, Vec<u8>)]| -> Vec<_> {
                all.iter().filter(|(path, _)| matters(path, cut)).cloned().collect()
            };
            let (before, now) = (of(&files), of(&now));
            Check::FixedPoint.holds(done && now == before, || differing(&before, &now))?;
        }
        Ok(())
    }

    /// Of what was written to the newest log and not synced, only so many bytes are left.
    fn cut_tail(&self, bytes: u64) {
        let Some(log) = self.newest_log() else { return };
        let live = self.disk.read(&log).unwrap_or_default();
        let synced = self.disk.durable(&log).map_or(0, |durable| durable.len());
        let end = live.len().min(synced + bytes as usize);
        self.disk.write(&log, &live[..end]).expect("a disk that works");
    }

    /// A byte of a log rots that was not synced.
    fn rot(&self, draw: &mut Draw) {
        let mut unsynced = Vec::new();
        for path in paths::logs_on(&self.disk) {
            let live = self.disk.read(&path).unwrap_or_default();
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
        // What is written and not synced may have happened or not: both have to leave a reader.
        let good = self.damage().map_or(u64::MAX, |damage| damage.offset_bytes);
        let good = |bytes: Option<Vec<u8>>| {
            let bytes = bytes.unwrap_or_default();
            Story::of(&bytes[..bytes.len().min(good as usize)])
        };
        let story = good(self.disk.read(&log));
        let durable = good(self.disk.durable(&log));
        let is_over = |story: &Story, id: &str| story.steps.get(id).is_none_or(Fate::is_over);
        let unfinished = story.steps.iter();
        let unfinished =
            unfinished.filter(|(id, fate)| !fate.is_over() && !is_over(&durable, id.as_str()));
        let read: BTreeSet<_> = unfinished.flat_map(|(_, fate)| &fate.depends_on).collect();
        let files: Vec<_> = read
            .into_iter()
            .filter(|step| story.steps[*step].is_success())
            .flat_map(|step| {
                let named = paths::named_by(&log, step, &story.steps[step]);
                let there = named.into_iter().filter(|(path, _)| self.disk.read(path).is_some());
                there.map(move |(path, _)| (step.clone(), path))
            })
            .collect();
        if files.is_empty() {
            return;
        }
        let (step, path) = &files[draw.below(files.len() as u64) as usize];
        if removed {
            let dir = path.parent().expect("a file below the root");
            let done = self.disk.remove_file(path).and_then(|()| self.disk.sync_dir(dir));
            done.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            // Whoever removed it is gone as well.
            self.disk = self.disk.kill();
        } else {
            let len = self.disk.read(path).map_or(0, |content| content.len() as u64);
            assert!(self.disk.rot(path, draw.below(len.max(1)), 1 << draw.below(8)), "a byte");
        }
        self.lost.insert(step.clone());
    }
}

impl Ended {
    /// Whether the task was run, with success.
    pub fn succeeded(&self) -> bool {
        matches!(&self.end, End::Ran(Ok(_)))
    }
}

impl Drop for Universe {
    fn drop(&mut self) {
        self.world.end();
    }
}

/// Whether a file may not change when a run that is done is run again: a lock names its holder, and a
/// power cut may bring back, or take, what a dead process had not given its name yet.
fn matters(path: &Path, cut: bool) -> bool {
    let is_lock = path.extension().is_some_and(|end| end == "lock");
    let excused = is_lock || cut && paths::is_unnamed(path);
    !excused
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
