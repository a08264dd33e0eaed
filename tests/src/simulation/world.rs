//! [`World`]: what the bodies of a simulated run do outside the disk, and what they and the observer
//! see while they do it.
//!
//! It is not on the disk: no crash takes anything of it, so it knows what really happened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use apollo::testing::SimDisk;
use apollo::{Clock as _, Context, Event, Notice, Observer, Record};

use super::check::{Check, Violation};
use super::clock::StageClock;
use super::gate::Gate;
use super::paths;
use super::process::{Acknowledged, Process};

/// The worlds that bodies find by the task_id of their context.
static WORLDS: Mutex<BTreeMap<String, Arc<World>>> = Mutex::new(BTreeMap::new());

/// What bodies do outside the disk.
#[derive(Debug)]
pub struct World {
    task_id: String,
    /// Records may be synced later than they are told of.
    late: bool,
    clock: Arc<StageClock>,
    gate: Option<Gate>,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    process: Option<Process>,
    /// The attempts whose bodies ran: log, step, number.
    attempts: BTreeSet<(PathBuf, String, u32)>,
    cleaned: BTreeSet<(String, u32)>,
    /// Steps that left something half done.
    soiled: BTreeSet<String>,
    /// How often each effect happened.
    effects: BTreeMap<String, u32>,
    /// What was told to be in each log.
    acknowledged: BTreeMap<PathBuf, Acknowledged>,
    violation: Option<Violation>,
}

/// How a body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// As any body.
    Plain,
    /// As one of a step with a cleanup, whose STEP_START is always synced.
    Cleaned,
}

impl World {
    /// Makes a world that bodies find until [`World::end`]; bodies that run side by side pass a gate
    /// when it has a seed for one.
    pub fn begin(
        task_id: &str,
        late: bool,
        clock: &Arc<StageClock>,
        gate_seed: Option<u64>,
    ) -> Arc<Self> {
        let world = Arc::new(Self {
            task_id: task_id.to_owned(),
            late,
            clock: Arc::clone(clock),
            gate: gate_seed.map(Gate::new),
            inside: Mutex::default(),
        });
        let mut worlds = WORLDS.lock().unwrap_or_else(PoisonError::into_inner);
        worlds.insert(task_id.to_owned(), Arc::clone(&world));
        world
    }

    /// Forgets it.
    pub fn end(&self) {
        WORLDS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.task_id);
    }

    /// The world that a body is in.
    ///
    /// # Panics
    /// When the body runs outside a simulation.
    pub(super) fn of(ctx: &Context) -> Arc<Self> {
        let worlds = WORLDS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(worlds.get(ctx.task_id()).expect("a simulated run"))
    }

    /// A process begins; its fault may end it.
    pub fn enter(&self, disk: &SimDisk, mortal: bool) {
        if let Some(gate) = &self.gate {
            gate.reset();
        }
        let mut inside = self.lock();
        let before = inside.process.take();
        inside.process = Some(Process::after(before, disk, mortal));
    }

    /// How many operations the process had done when its epoch was open.
    pub fn opened_at_operation(&self) -> Option<u64> {
        self.lock().process.as_ref()?.opened.map(|(_, operations)| operations)
    }

    /// The attempts whose bodies began in this process.
    pub fn begun(&self) -> BTreeSet<(String, u32)> {
        self.lock().process.as_ref().map(|process| process.begun.clone()).unwrap_or_default()
    }

    /// How often each effect happened.
    pub fn effects(&self) -> BTreeMap<String, u32> {
        self.lock().effects.clone()
    }

    /// What was told to be in each log.
    pub fn acknowledged(&self) -> BTreeMap<PathBuf, Acknowledged> {
        self.lock().acknowledged.clone()
    }

    /// The power went: what was told of and not synced is nobody's promise any longer.
    pub fn forget_unsynced(&self) {
        for acknowledged in self.lock().acknowledged.values_mut() {
            acknowledged.written.truncate(acknowledged.synced_bytes);
        }
    }

    /// A log was damaged behind so many bytes: what was told of there is nobody's promise any longer,
    /// and attempts whose records are lost may come again.
    pub fn forget_behind(&self, log: &Path, bytes: usize) {
        let mut inside = self.lock();
        if let Some(acknowledged) = inside.acknowledged.get_mut(log) {
            acknowledged.forget_behind(bytes);
        }
        inside.attempts.clear();
    }

    /// What was left half done is gone.
    pub fn clean(&self) {
        self.lock().soiled.clear();
    }

    /// The first check that did not hold while bodies ran.
    pub fn violation(&self) -> Option<Violation> {
        self.lock().violation.clone()
    }

    /// Notes the first check that does not hold.
    pub(super) fn note(&self, checked: Result<(), Violation>) {
        if let Err(violation) = checked {
            self.lock().violation.get_or_insert(violation);
        }
    }

    /// The disk as the process sees it.
    ///
    /// # Panics
    /// When no process is at work.
    pub(super) fn disk(&self) -> SimDisk {
        self.lock().process.as_ref().expect("a process at work").disk.clone()
    }

    /// Whether the process has met the fault that ends it: nothing that it does happens.
    pub(super) fn is_dead(&self) -> bool {
        let inside = self.lock();
        inside
            .process
            .as_ref()
            .is_some_and(|process| process.mortal && process.disk.met().is_some())
    }

    /// A body begins: everything it relies on is durable by now.
    pub(super) fn body_begins(&self, ctx: &Context, beginning: Beginning) {
        let (step, retry_count) = (ctx.step_id(), ctx.retry_count());
        let now = self.clock.monotonic();
        let late = self.late && beginning == Beginning::Plain;
        let mut inside = self.lock();
        let checked = inside.body_begins(step, retry_count, late).and_then(|()| {
            let cleaned = inside.cleaned.contains(&(step.to_owned(), retry_count));
            let clean = beginning == Beginning::Plain || retry_count == 0 || cleaned;
            Check::CleanedFirst
                .holds(clean, || format!("`{step}` {retry_count} begins without its cleanup"))?;
            match (&mut inside.process, &self.gate) {
                (Some(process), None) => process.judge_wait(step, now),
                _ => Ok(()),
            }
        });
        drop(inside);
        self.note(checked);
        if let Some(gate) = &self.gate {
            gate.pass(step, &|| ctx.is_cancelled() || self.is_dead());
        }
    }

    /// A body ends, with a value or without one.
    pub(super) fn body_ends(&self, step: &str) {
        if let Some(process) = &mut self.lock().process {
            process.running.remove(step);
        }
    }

    /// A cleanup runs.
    pub(super) fn cleanup(&self, step: &str, retry_count: u32) {
        let mut inside = self.lock();
        inside.cleaned.insert((step.to_owned(), retry_count));
        inside.soiled.remove(step);
    }

    /// A body leaves something half done, or has done it wholly.
    pub(super) fn soil(&self, step: &str, soiled: bool) {
        let mut inside = self.lock();
        let was = if soiled {
            !inside.soiled.insert(step.to_owned())
        } else {
            inside.soiled.remove(step);
            false
        };
        drop(inside);
        self.note(Check::CleanedFirst.holds(!was, || format!("`{step}` finds half-done work")));
    }

    /// An effect happens, for which the step must have left a marker that a power cut spares.
    pub(super) fn effect(&self, step: &str, key: &str) {
        let mut inside = self.lock();
        *inside.effects.entry(format!("{step}/{key}")).or_default() += 1;
        let Some(process) = &inside.process else { return };
        let files = process.disk.files();
        let markers = Path::new(paths::ROOT).join("state").join(paths::run_of(&process.log));
        let begins = format!("{step}.");
        let is_marker = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            path.starts_with(markers.join("once")) && name.starts_with(&begins)
        };
        let marked =
            files.iter().any(|(path, _)| is_marker(path) && process.disk.durable(path).is_some());
        drop(inside);
        self.note(Check::MarkerFirst.holds(marked, || format!("`{step}` has no durable marker")));
    }

    /// Whether an effect happened.
    pub(super) fn has_happened(&self, step: &str, key: &str) -> bool {
        self.lock().effects.contains_key(&format!("{step}/{key}"))
    }

    fn hear(&self, record: &Record) {
        let now = self.clock.monotonic();
        let mut inside = self.lock();
        let checked = inside.hear(record, now, self.late);
        let open = inside.process.as_ref().map_or(0, Process::open_attempts);
        drop(inside);
        self.note(checked);
        if let Some(gate) = &self.gate {
            let ended = matches!(record.event, Event::AttemptEnded { .. });
            let ended = record.event.step().filter(|_| ended);
            gate.committed(open, ended.map(apollo::StepId::as_str));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn body_begins(&mut self, step: &str, number: u32, late: bool) -> Result<(), Violation> {
        let Some(process) = &mut self.process else { return Ok(()) };
        process.body_begins(step, number, late)?;
        let first = self.attempts.insert((process.log.clone(), step.to_owned(), number));
        // The power may take a STEP_START that was not synced, and so its number comes again.
        Check::AttemptOnce.holds(first || late, || format!("`{step}` {number} runs twice"))
    }

    fn hear(&mut self, record: &Record, now: Duration, late: bool) -> Result<(), Violation> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let acknowledged = self.acknowledged.entry(process.log.clone()).or_default();
        process.hear(record, now, late, acknowledged)
    }
}

impl Observer for World {
    fn notice(&self, notice: Notice<'_>) {
        match notice {
            Notice::Log(path) => {
                if let Some(process) = &mut self.lock().process {
                    process.log = path.to_owned();
                }
            }
            Notice::Record(record) => self.hear(record),
            _ => {}
        }
    }
}
