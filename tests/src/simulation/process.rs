//! [`Process`]: one process at work on a simulated disk, as its bodies and its observer see it, and
//! what has to be durable at each of their moments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use apollo::testing::SimDisk;
use apollo::{Event, Record, Timestamp};

use super::check::{Check, Violation};
use super::paths::check_named;
use super::story::{Line, Story};

/// One process at work.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) disk: SimDisk,
    /// Whether its fault ends it.
    pub(super) mortal: bool,
    /// The log, once it is known.
    pub(super) log: PathBuf,
    /// The log as the process sees it, and as a power cut would leave it.
    live: Story,
    durable: Story,
    /// When the epoch was opened, and how many operations the disk had done by then.
    pub(super) opened: Option<(Duration, u64)>,
    /// When each retry was announced.
    announced: BTreeMap<String, Duration>,
    /// The steps whose bodies are at work.
    pub(super) running: BTreeSet<String>,
    /// The attempts whose bodies began.
    pub(super) begun: BTreeSet<(String, u32)>,
}

/// The records that were told of, as bytes of a log.
#[derive(Debug, Clone, Default)]
pub struct Acknowledged {
    /// All of them.
    pub written: Vec<u8>,
    /// How many of these bytes were synced.
    pub synced_bytes: usize,
}

impl Acknowledged {
    /// Only so many bytes are anybody's promise any longer.
    pub(super) fn forget_behind(&mut self, bytes: usize) {
        self.written.truncate(bytes);
        self.synced_bytes = self.synced_bytes.min(bytes);
    }
}

impl Process {
    /// A process begins after another one, if there was one.
    pub(super) fn after(before: Option<Self>, disk: &SimDisk, mortal: bool) -> Self {
        // What was read of the log need not be read again.
        let (live, durable) =
            before.map(|before| (before.live, before.durable)).unwrap_or_default();
        Self {
            disk: disk.clone(),
            mortal,
            log: PathBuf::new(),
            live,
            durable,
            opened: None,
            announced: BTreeMap::new(),
            running: BTreeSet::new(),
            begun: BTreeSet::new(),
        }
    }

    /// How many attempts are open in the log.
    pub(super) fn open_attempts(&self) -> usize {
        self.live.open_attempts()
    }

    /// A body begins: its STEP_START, the ends of all it needs, and what they left are durable; of a
    /// step that is synced late, they are written.
    pub(super) fn body_begins(
        &mut self,
        step: &str,
        retry_count: u32,
        late: bool,
    ) -> Result<(), Violation> {
        let Self { disk, log, live, durable, running, begun, .. } = self;
        let (log, story) = (log.as_path(), if late { live } else { durable });
        let bytes = if late { disk.read(log) } else { disk.durable(log) };
        story.read_on(&bytes.unwrap_or_default());
        let newest = story.back_from(step).next();
        let started = newest.is_some_and(|line| line.is_start() && line.retry_count == retry_count);
        let is_begun = story.closed.is_none() && started;
        Check::StartDurable
            .holds(is_begun, || format!("`{step}` {retry_count} begins after {newest:?}"))?;
        let depends_on = &story.steps[step].depends_on;
        for on in depends_on {
            let fate = &story.steps[on];
            Check::DependencyDurable
                .holds(fate.is_over(), || format!("`{step}` begins while `{on}` is {fate:?}"))?;
        }
        check_named(log, story, depends_on, &|path| disk.durable(path))?;
        begun.insert((step.to_owned(), retry_count));
        let alone = running.insert(step.to_owned());
        Check::AttemptOnce.holds(alone, || format!("two bodies of `{step}` at once"))
    }

    /// A body of the only worker begins: it waited as long as its retry was announced for, of a wait
    /// in which a process died only the rest.
    pub(super) fn judge_wait(&mut self, step: &str, now: Duration) -> Result<(), Violation> {
        self.live.read_on(&self.disk.read(&self.log).unwrap_or_default());
        let mut lines = self.live.back_from(step).skip(1);
        let Some(announced) = lines.next().filter(|line| line.is_retry()) else { return Ok(()) };
        let of =
            |line: &Line, member: &str| line.detail.clone().unwrap_or_default()[member].clone();
        let delay = Duration::from_millis(of(announced, "delay_ms").as_u64().unwrap_or_default());
        let (since, wait) = if announced.epoch == self.live.epoch {
            (self.announced.get(step).copied().unwrap_or_default(), delay)
        } else {
            let moment = |text: &str| Timestamp::parse(text).expect("a timestamp of the log");
            let due = moment(of(announced, "retry_at").as_str().unwrap_or_default());
            let opened = self.live.header().map(|header| moment(&header.timestamp));
            let rest = due.since(opened.expect("a step begins in an epoch")).min(delay);
            (self.opened.map(|(at, _)| at).unwrap_or_default(), rest)
        };
        let waited = now.saturating_sub(since);
        Check::WaitsTheRest
            .holds(waited == wait, || format!("`{step}` waited {waited:?} instead of {wait:?}"))
    }

    /// A record is told of: it is written, and synced unless the run syncs late.
    pub(super) fn hear(
        &mut self,
        record: &Record,
        now: Duration,
        late: bool,
        acknowledged: &mut Acknowledged,
    ) -> Result<(), Violation> {
        let Self { disk, log, live, .. } = self;
        let log = log.as_path();
        live.read_on(&disk.read(log).unwrap_or_default());
        let (seq, name) = (record.seq, log.file_name().unwrap_or_default().to_string_lossy());
        let line = record.encode(&name).map(|line| line.bytes).unwrap_or_default();
        let Some(written) = live.bytes_to(seq).filter(|written| written.ends_with(&line)) else {
            return Check::AcknowledgedWritten.fails(format!("record {seq} is not in the log"));
        };
        acknowledged.written = written.to_vec();
        let durable = disk.durable(log).unwrap_or_default();
        let synced = durable.starts_with(written);
        if synced {
            acknowledged.synced_bytes = written.len();
        }
        match &record.event {
            Event::EpochOpened(_) => self.opened = Some((now, disk.operations())),
            Event::AttemptEnded { attempt, .. } => {
                self.announced.insert(attempt.step.to_string(), now);
                let step = [attempt.step.to_string()];
                check_named(log, live, &step, &|path| disk.durable(path))?;
            }
            Event::EpochClosed(_) | Event::AttemptStarted(_) | Event::Skipped { .. } => {}
        }
        let may_wait = late && record.event.step().is_some();
        Check::AcknowledgedSynced
            .holds(synced || may_wait, || format!("record {seq} is told of and not synced"))
    }
}
