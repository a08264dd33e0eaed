//! The protocol as a state machine: what two processes do to one directory, system call by system
//! call, and what the world does to them.
//!
//! It is not the code: there are no bytes here, no retries and no failing steps. A torn record is a
//! record that is not there, and bodies are children of a guard, which outlive their process for a
//! while.
//!
//! **Invariant:** every action uses up a fault, or brings the log or a process forward, so that
//! there are finitely many states.

use stateright::{Model, Property};

use super::epoch::{Commit, Epoch, NEEDS, Step};
use super::log::{Fold, Line, Log, Page};

/// The protocol, with one of its rules left out, or with all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protocol {
    pub(super) without: Option<Rule>,
    pub(super) faults: Faults,
}

/// A rule that can be left out, to see what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The lock of the task and the lock of the log are held for the epoch's whole life.
    Locks,
    /// The lock of the task is taken before the newest run is looked for.
    TaskLock,
    /// The kernel holds the locks, so that they end with their process.
    LocksOfTheKernel,
    /// Whoever was started by an attempt holds its lease, which the next attempt takes first.
    Lease,
    /// A body begins when its STEP_START is synced, not when it is written.
    SyncedStart,
    /// A record is acknowledged when it is synced, not when it is written.
    SyncBeforeAck,
    /// A new log's directory is synced before its first record is acknowledged.
    SyncedName,
    /// A sync that failed is not tried again.
    NoSecondSync,
    /// A recovery writes the records again that are not known to be synced.
    RewrittenEnd,
    /// A run that is found to be done is sealed before anybody is told so.
    SealedDone,
}

/// How many faults may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Faults {
    pub(super) kills: u8,
    pub(super) power_cuts: u8,
    /// Syncs that say EIO, once each, and leave pages clean that the disk lacks.
    pub(super) failed_syncs: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The runs of the task_id, the oldest first.
    pub(super) logs: Vec<Log>,
    /// Who has the lock of the task.
    lock: Option<usize>,
    pub(super) processes: [Process; 2],
    /// Bodies whose process is gone, in order.
    orphans: Vec<Body>,
    pub(super) left: Faults,
    pub(super) seen: Seen,
}

/// What must not happen and leaves no other trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Seen {
    pub(super) body_without_start: bool,
    pub(super) body_without_needs: bool,
    pub(super) body_of_a_done_step: bool,
    pub(super) late_write: bool,
    pub(super) lost_record: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Process {
    Idle,
    /// Has the lock of the task.
    Locked,
    /// Has looked for the newest run.
    Looked(Option<usize>),
    /// Has opened and locked a log, and is at a stage of its recovery.
    Recovering(usize, Recovery),
    Working(Epoch),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Recovery {
    Opened,
    Rewritten,
    Synced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Body {
    log: usize,
    step: usize,
    attempt: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Process: takes the lock of the task.
    Lock(usize),
    /// Process: looks for the newest run.
    Look(usize),
    /// Process: creates a log, or opens the one it found, and locks it.
    Open(usize),
    /// Process: one call of its recovery.
    Recover(usize),
    /// Process: writes what waits, with the STEP_STARTs of what is ready.
    Write(usize),
    /// Process: syncs the log, or its directory.
    Sync(usize),
    /// Process, step.
    BodyBegins(usize, usize),
    /// Process, step: the body writes something outside, and ends.
    BodyEnds(usize, usize),
    OrphanWrites(Body),
    OrphanEnds(Body),
    Kill(usize),
    /// Killed in the middle of a write: its last record is torn.
    KillTorn(usize),
    SyncFails(usize),
    /// The power is cut; so many records, and the new name, are lost where they can be.
    CutPower {
        records: usize,
        name: bool,
    },
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            logs: Vec::new(),
            lock: None,
            processes: [Process::Idle, Process::Idle],
            orphans: Vec::new(),
            left: self.faults,
            seen: Seen::default(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (process, at) in state.processes.iter().enumerate() {
            match at {
                Process::Idle => actions.push(Action::Lock(process)),
                Process::Locked => actions.push(Action::Look(process)),
                Process::Looked(_) => actions.push(Action::Open(process)),
                Process::Recovering(..) => actions.push(Action::Recover(process)),
                Process::Working(epoch) => {
                    actions.extend([Action::Write(process), Action::Sync(process)]);
                    for (step, at) in epoch.steps.iter().enumerate() {
                        match at {
                            Step::Runnable(_) => actions.push(Action::BodyBegins(process, step)),
                            Step::Running(_) => actions.push(Action::BodyEnds(process, step)),
                            Step::Waiting | Step::Starting(_) => {}
                            Step::Ended | Step::Ending | Step::Done => {}
                        }
                    }
                }
            }
            if *at != Process::Idle {
                actions.extend([Action::Kill(process), Action::KillTorn(process)]);
                actions.push(Action::SyncFails(process));
            }
        }
        for body in &state.orphans {
            actions.extend([Action::OrphanWrites(*body), Action::OrphanEnds(*body)]);
        }
        let most = state.logs.iter().map(|log| log.tail.len()).max().unwrap_or(0);
        for records in 0..=most {
            for name in [false, true] {
                actions.push(Action::CutPower { records, name });
            }
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        super::properties()
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let happened = match action {
            Action::Lock(process) => self.lock(&mut state, process),
            Action::Look(process) => state.look(process, self),
            Action::Open(process) => self.open(&mut state, process),
            Action::Recover(process) => self.recover(&mut state, process),
            Action::Write(process) => self.write(&mut state, process, false),
            Action::Sync(process) => self.sync(&mut state, process),
            Action::BodyBegins(process, step) => state.body_begins(process, step),
            Action::BodyEnds(process, step) => state.body_ends(process, step),
            Action::OrphanWrites(body) => state.body_writes(body),
            Action::OrphanEnds(body) => {
                state.orphans.retain(|other| *other != body);
                Some(())
            }
            Action::Kill(process) => self.kill(&mut state, process),
            Action::KillTorn(process) => {
                self.write(&mut state, process, true).and_then(|()| self.kill(&mut state, process))
            }
            Action::SyncFails(process) => self.sync_fails(&mut state, process),
            Action::CutPower { records, name } => self.cut_power(&mut state, records, name),
        };
        happened.filter(|()| state != *last).map(|()| state)
    }
}

impl Protocol {
    fn has(self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    fn lock(self, state: &mut State, process: usize) -> Option<()> {
        if state.is_finished() {
            return None;
        }
        if self.has(Rule::Locks) && self.has(Rule::TaskLock) {
            if state.lock.is_some() {
                return None;
            }
            state.lock = Some(process);
        }
        state.processes[process] = Process::Locked;
        Some(())
    }

    fn open(self, state: &mut State, process: usize) -> Option<()> {
        let Process::Looked(found) = state.processes[process] else { return None };
        let Some(log) = found else {
            let lock = self.has(Rule::Locks).then_some(process);
            state.logs.push(Log { lock, ..Log::default() });
            let epoch =
                Epoch::new(state.logs.len() - 1, Fold::default(), !self.has(Rule::SyncedName));
            state.processes[process] = Process::Working(epoch);
            return Some(());
        };
        if self.has(Rule::Locks) {
            if state.logs[log].lock.is_some() {
                // It is told so, and ends.
                state.leave(process);
                return Some(());
            }
            state.logs[log].lock = Some(process);
        }
        state.processes[process] = Process::Recovering(log, Recovery::Opened);
        Some(())
    }

    fn recover(self, state: &mut State, process: usize) -> Option<()> {
        let Process::Recovering(at, stage) = state.processes[process] else { return None };
        let log = &mut state.logs[at];
        let next = match stage {
            Recovery::Opened => {
                if self.has(Rule::RewrittenEnd) {
                    log.turn(Page::Lost, Page::Dirty);
                }
                Recovery::Rewritten
            }
            Recovery::Rewritten => {
                log.turn(Page::Dirty, Page::Stored);
                Recovery::Synced
            }
            Recovery::Synced => {
                log.named = true;
                log.ack();
                let fold = log.fold();
                if fold.closed {
                    state.leave(process);
                } else {
                    state.processes[process] = Process::Working(Epoch::new(at, fold, true));
                }
                return Some(());
            }
        };
        state.processes[process] = Process::Recovering(at, next);
        Some(())
    }

    /// Writes what waits; `torn` leaves the last record out.
    fn write(self, state: &mut State, process: usize, torn: bool) -> Option<()> {
        let State { processes, logs, orphans, .. } = state;
        let Process::Working(epoch) = &mut processes[process] else { return None };
        if epoch.commit.is_some() {
            return None;
        }
        let log = &mut logs[epoch.log];
        let leased = |step| {
            let held = |body: &Body| (body.log, body.step) == (epoch.log, step);
            self.has(Rule::Lease) && orphans.iter().any(held)
        };
        let mut batch = epoch.next_batch(log.fold(), [0, 1, 2].map(|step| !leased(step)));
        if batch.is_empty() {
            return None;
        }
        if torn {
            batch.pop();
        }
        let line = |record| Line { record, page: Page::Dirty, acked: false };
        log.tail.extend(batch.into_iter().map(line));
        epoch.commit = Some(Commit::SyncsFile);
        if !self.has(Rule::SyncedStart) {
            epoch.release();
        }
        if !self.has(Rule::SyncBeforeAck) {
            epoch.committed();
            log.ack();
        }
        Some(())
    }

    fn sync(self, state: &mut State, process: usize) -> Option<()> {
        let Process::Working(epoch) = &mut state.processes[process] else { return None };
        let log = &mut state.logs[epoch.log];
        match epoch.commit? {
            Commit::SyncsFile => log.turn(Page::Dirty, Page::Stored),
            Commit::SyncsName => (log.named, epoch.named) = (true, true),
        }
        if !epoch.named {
            epoch.commit = Some(Commit::SyncsName);
            return Some(());
        }
        epoch.commit = None;
        epoch.committed();
        log.ack();
        if epoch.closed {
            state.leave(process);
        }
        Some(())
    }

    fn sync_fails(self, state: &mut State, process: usize) -> Option<()> {
        let log = match &state.processes[process] {
            Process::Working(epoch) => epoch.commit.map(|_| epoch.log),
            Process::Recovering(log, Recovery::Rewritten) => Some(*log),
            Process::Idle | Process::Locked | Process::Looked(_) => None,
            Process::Recovering(_, Recovery::Opened | Recovery::Synced) => None,
        };
        state.left.failed_syncs = state.left.failed_syncs.checked_sub(1)?;
        state.logs[log?].turn(Page::Dirty, Page::Lost);
        if self.has(Rule::NoSecondSync) {
            state.end(process);
            state.leave(process);
        }
        Some(())
    }

    fn kill(self, state: &mut State, process: usize) -> Option<()> {
        state.left.kills = state.left.kills.checked_sub(1)?;
        state.end(process);
        self.die(state, process);
        Some(())
    }

    fn cut_power(self, state: &mut State, records: usize, name: bool) -> Option<()> {
        state.left.power_cuts = state.left.power_cuts.checked_sub(1)?;
        state.orphans.clear();
        self.die(state, 0);
        self.die(state, 1);
        let State { logs, seen, .. } = state;
        for log in &mut *logs {
            seen.lost_record |= log.cut_power(records);
        }
        let gone = |log: &Log| name && !log.named;
        seen.lost_record |= logs.iter().any(|log| gone(log) && log.acked);
        logs.retain(|log| !gone(log));
        Some(())
    }

    /// A process is gone, and did not come to leave.
    fn die(self, state: &mut State, process: usize) {
        if self.has(Rule::LocksOfTheKernel) {
            state.leave(process);
        } else {
            state.processes[process] = Process::Idle;
        }
    }
}

impl State {
    /// Whether the newest run is done, and somebody was told so.
    pub(super) fn is_finished(&self) -> bool {
        let is_finished = |log: &Log| log.fold().closed && log.tail.iter().all(|line| line.acked);
        self.logs.last().is_some_and(is_finished)
    }

    fn look(&mut self, process: usize, protocol: &Protocol) -> Option<()> {
        self.processes[process] = Process::Looked(self.logs.len().checked_sub(1));
        if let Some(log) = self.logs.last_mut()
            && !protocol.has(Rule::SealedDone)
            && log.fold().closed
        {
            log.ack();
            self.leave(process);
        }
        Some(())
    }

    fn body_begins(&mut self, process: usize, step: usize) -> Option<()> {
        let Process::Working(epoch) = &mut self.processes[process] else { return None };
        let Step::Runnable(attempt) = epoch.steps[step] else { return None };
        epoch.steps[step] = Step::Running(attempt);
        let log = &self.logs[epoch.log];
        let durable = if log.named { log.stored } else { Fold::default() };
        let needs = NEEDS[step].iter().all(|need| durable.successes[*need] > 0);
        self.seen.body_without_start |= durable.attempts[step] < attempt;
        self.seen.body_without_needs |= !needs;
        self.seen.body_of_a_done_step |= log.fold().successes[step] > 0;
        Some(())
    }

    fn body_ends(&mut self, process: usize, step: usize) -> Option<()> {
        let Process::Working(epoch) = &mut self.processes[process] else { return None };
        let Step::Running(attempt) = epoch.steps[step] else { return None };
        epoch.steps[step] = Step::Ended;
        let body = Body { log: epoch.log, step, attempt };
        self.body_writes(body)
    }

    /// An attempt changes something outside.
    fn body_writes(&mut self, Body { log, step, attempt }: Body) -> Option<()> {
        self.seen.late_write |= self.logs[log].fold().attempts[step] > attempt;
        Some(())
    }

    /// A process ends in the midst of its work: its bodies are on their own.
    fn end(&mut self, process: usize) {
        if let Process::Working(epoch) = &self.processes[process] {
            for (step, at) in epoch.steps.iter().enumerate() {
                if let Step::Running(attempt) = *at {
                    self.orphans.push(Body { log: epoch.log, step, attempt });
                }
            }
            self.orphans.sort_unstable();
        }
    }

    /// A process is gone, and its locks are free.
    fn leave(&mut self, process: usize) {
        self.processes[process] = Process::Idle;
        for lock in self.logs.iter_mut().map(|log| &mut log.lock).chain([&mut self.lock]) {
            lock.take_if(|holder| *holder == process);
        }
    }
}
