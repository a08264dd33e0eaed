use super::*;
use crate::digest::Digest;
use crate::id::{TaskId, TaskName};
use crate::policy::Retry;
use crate::record::{Attempt, Crc, End, Event, Header, HeaderStep, OpenReason, Record, SCHEMA};

/// Applies events one after the other.
struct Log {
    state: RunState,
    epoch: u32,
}

impl Log {
    fn new() -> Self {
        let mut this = Self { state: RunState::default(), epoch: 0 };
        this.open(0);
        this
    }

    /// A diamond whose right side is optional.
    fn open(&mut self, epoch: u32) {
        self.epoch = epoch;
        let step = |id: &str, on: &[&str], optional| HeaderStep {
            id: id.parse().unwrap(),
            depends_on: on.iter().map(|on| on.parse().unwrap()).collect(),
            optional,
            retry: Retry::NONE.resolve(0, std::time::Duration::ZERO),
            timeout_ms: None,
            digest: Digest::of(id.as_bytes()),
            version: 1,
        };
        self.push(Event::EpochOpened(Box::new(Header {
            schema: SCHEMA,
            apollo: "0".to_owned(),
            task: TaskName::parse("x").unwrap(),
            task_id: TaskId::parse("x").unwrap(),
            params: BTreeMap::from([("token".to_owned(), None)]),
            graph_digest: Digest::of(b""),
            max_parallel: 1,
            reason: OpenReason::Start,
            steps: vec![
                step("a", &[], false),
                step("b", &["a"], false),
                step("c", &["a"], true),
                step("d", &["b", "c"], false),
            ],
            rerun: Vec::new(),
            resume_from: None,
            renamed: BTreeMap::new(),
            warnings: vec!["take care".to_owned()],
            host: "h".to_owned(),
            pid: 1,
            program: None,
        })));
    }

    fn push(&mut self, event: Event) {
        let seq = self.state.records();
        let timestamp = Timestamp::from_unix_us(i64::try_from(seq).unwrap() * 1_000_000);
        let (epoch, prev) = (self.epoch, Crc::default());
        self.state.apply(&Record { timestamp, seq, epoch, durable: 0, prev, event }).unwrap();
    }

    fn attempt(&self, id: &str, retry_count: u32) -> Attempt {
        Attempt { step: id.parse().unwrap(), retry_count, input_digest: Digest::of(b"i") }
    }

    fn start(&mut self, id: &str) {
        let attempt = self.attempt(id, self.state.by_id(id).unwrap().attempts);
        self.push(Event::AttemptStarted(attempt));
    }

    fn end(&mut self, id: &str, error: Option<&str>) {
        let attempt = self.attempt(id, self.state.by_id(id).unwrap().attempts - 1);
        let end = match error {
            None => End::Success { output_digest: Digest::of(b"o"), artifacts: BTreeMap::new() },
            Some(error) => End::Failed { error: error.to_owned(), reason: None },
        };
        self.push(Event::AttemptEnded { attempt, duration_ms: Some(5), end });
    }

    fn run(&mut self, id: &str, error: Option<&str>) {
        self.start(id);
        self.end(id, error);
    }

    fn close(&mut self) {
        let closing = self.state.closing(9);
        self.push(Event::EpochClosed(Box::new(closing)));
    }

    fn report(&self, live: Live) -> Report {
        let run = RunId::new(&TaskId::parse("x").unwrap(), 1);
        Report::new(&run, "log".to_owned(), &self.state, live)
    }

    /// The standing, and each step that waits, with what it waits for, and what is next.
    fn check(&self, live: Live, state: Standing, waits: &str, next: &str) {
        let report = self.report(live);
        let waiting = report.steps.iter().filter(|step| !step.waits_for.is_empty()).map(|step| {
            let on = step.waits_for.iter().map(|(id, status)| format!("{id}:{status}"));
            format!("{}<{}", step.id, on.collect::<Vec<_>>().join(","))
        });
        let ids: Vec<_> = report.next.iter().map(StepId::as_str).collect();
        let seen = (report.state, waiting.collect::<Vec<_>>().join(" "), ids.join(" "));
        assert_eq!(seen, (state, waits.to_owned(), next.to_owned()));
    }
}

const LIVE: Live = Live::Yes(None);

#[test]
fn a_run_without_a_record_never_began() {
    let log = Log { state: RunState::default(), epoch: 0 };
    log.check(Live::No, Standing::Empty, "", "");
    log.check(LIVE, Standing::Running, "", "");
}

#[test]
fn a_live_run_says_what_it_waits_for_and_a_dead_one_what_comes_next() {
    let mut log = Log::new();
    log.start("a");
    log.check(LIVE, Standing::Running, "b<a:RUNNING c<a:RUNNING d<b:PENDING,c:PENDING", "");
    let waits = "b<a:RUNNING c<a:RUNNING d<b:PENDING,c:PENDING";
    log.check(Live::No, Standing::Interrupted, waits, "a");
    let cut_off: Vec<_> = log.report(Live::No).steps.iter().map(|step| step.cut_off).collect();
    assert_eq!(cut_off, [true, false, false, false]);
    log.end("a", None);
    log.check(LIVE, Standing::Running, "d<b:PENDING,c:PENDING", "b c");
}

#[test]
fn an_optional_failure_holds_nothing_up_in_its_epoch_only() {
    let mut log = Log::new();
    log.run("a", None);
    log.run("c", Some("no\nmore"));
    log.check(LIVE, Standing::Running, "d<b:PENDING", "b");
    log.run("b", Some("no"));
    log.close();
    log.check(Live::No, Standing::Failed, "d<b:FAILED,c:FAILED", "b c");
}

#[test]
fn a_step_that_went_without_an_optional_one_is_stale_once_that_succeeds() {
    let mut log = Log::new();
    log.run("a", None);
    log.run("c", Some("no"));
    log.run("b", None);
    log.run("d", None);
    log.close();
    log.check(Live::No, Standing::Degraded, "", "");
    log.open(1);
    log.run("c", None);
    log.close();
    log.check(Live::No, Standing::Success, "", "");
    let stale: Vec<_> = log.report(Live::No).steps.into_iter().map(|step| step.stale).collect();
    assert_eq!(stale, [vec![], vec![], vec![], vec![StepId::parse("c").unwrap()]]);
}

#[test]
fn a_report_is_json_with_the_names_of_secrets_only() {
    let mut log = Log::new();
    log.start("a");
    let worker = Worker { pid: 7, host: "h".to_owned(), since: Timestamp::from_unix_us(0) };
    let json = serde_json::to_value(log.report(Live::Yes(Some(worker)))).unwrap();
    assert_eq!(json["state"], "RUNNING");
    assert_eq!(json["worker"]["pid"], 7);
    assert_eq!(json["params"]["token"], serde_json::Value::Null);
    assert_eq!(json["steps"][1]["waits_for"][0], serde_json::json!(["a", "RUNNING"]));
    assert_eq!(json["warnings"][0], "take care");
}
