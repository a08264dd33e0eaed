//! Durability `batch`: synced late, written at once, and mixed with steps that sync.
//!
//! The story of the bug: the thread that syncs late may be the one that commits the start of a
//! step. It runs no step itself, so it has to wake somebody who does, or the run sleeps for ever.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use apollo::testing::{CrashDisk, Fault, SimClock, SimDisk};
use apollo::{Cancel, Context, RealDisk, Result, RunOptions, Timestamp, step, task};
use apollo_tests::child::{PATIENCE, kill, pipelines, until};
use apollo_tests::dir::Dir;
use apollo_tests::disk::TestDisk;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::{begun, options, ran, script};
use apollo_tests::pipelines::scripted::mixed;

macro_rules! fan {
    ($($name:ident)*) => {
        $(
            #[step]
            fn $name() -> Result<()> {
                Ok(())
            }
        )*
        task! { each { max_parallel: 1, steps: [$($name),*] } }
        task! { late { max_parallel: 1, durability: batch, steps: [$($name),*] } }
    };
}

fan!(f00 f01 f02 f03 f04 f05 f06 f07 f08 f09 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19);

/// How often a run of a task syncs.
fn syncs(task: &apollo::Task) -> u64 {
    let dir = Dir::new("syncs");
    let disk = Arc::new(CrashDisk::new(Arc::new(RealDisk), 0, Fault::Kill));
    task.run(&options(&dir).disk(disk.clone())).unwrap();
    judge(&dir.logs());
    disk.syncs()
}

#[test]
fn a_batch_is_synced_less_often() {
    let (each, late) = (syncs(&each()), syncs(&late()));
    println!("twenty steps: {each} syncs, {late} in batches");
    assert!(each >= 20 && late <= 16, "{each} and {late}");
}

#[test]
fn the_one_who_syncs_late_wakes_those_who_run() {
    for round in 0..6 {
        let dir = Dir::new("late");
        // A body that ends while the late sync of its own start is under way.
        script(&dir, "two", "hang");
        let (told, ended) = channel();
        let apollo = dir.apollo();
        std::thread::spawn(move || {
            let options = apollo::RunOptions::new().dir(apollo);
            let slow = TestDisk::slow(Duration::from_millis(60));
            drop(told.send(mixed().run(&options.disk(slow))));
        });
        begun(&dir, "two");
        // Its output takes 60 ms more, and the late sync goes from 50 to 110 ms.
        std::thread::park_timeout(Duration::from_millis(8 * round));
        script(&dir, "two.go", "");
        let result = ended.recv_timeout(PATIENCE).expect("the run sleeps for ever");
        assert_eq!(result.unwrap().steps.len(), 4);
        judge(&dir.logs());
    }
}

#[test]
fn what_was_written_survives_the_end_of_the_process() {
    let dir = Dir::new("written");
    script(&dir, "three", "hang");
    let program = env!("CARGO_BIN_EXE_pipelines");
    let child = pipelines(program, dir.path(), &["run", "mixed"]).spawn().unwrap();
    begun(&dir, "three");
    kill(child);
    script(&dir, "three", "");
    mixed().run(&options(&dir)).unwrap();
    assert_eq!(ran(&dir), ["one 0", "two 0", "three 0", "three 1", "four 0"]);
    let log = Log::read(&dir.only_log());
    assert_eq!(log.count("one", "STEP_END", "SUCCESS"), 1);
    judge(&dir.logs());
}

/// Its start is synced with the header.
#[step(durability = batch)]
fn hurries() -> Result<()> {
    Ok(())
}

#[step(depends_on = [hurries], durability = batch)]
fn lingers(ctx: &Context) -> Result<()> {
    until("somebody has seen that the start is durable", || ctx.is_cancelled().then_some(()));
    Ok(())
}

task! { lingering { max_parallel: 1, steps: [hurries, lingers] } }

#[test]
fn a_record_that_nobody_follows_is_synced_while_its_step_runs() {
    let (disk, stop) = (SimDisk::new(0), Cancel::new());
    let clock = SimClock::new(Timestamp::from_unix_us(1_700_000_000_000_000));
    let options = RunOptions::new().dir("/.apollo").disk(Arc::new(disk.clone()));
    let options = options.clock(Arc::new(clock)).cancel(stop.clone());
    std::thread::scope(|scope| {
        scope.spawn(|| lingering().run(&options));
        until("its start is durable", || {
            let log = disk.durable("/.apollo/logs/task_lingering_1700000000.jsonl")?;
            let text = String::from_utf8_lossy(&log).into_owned();
            let mut starts = text.lines().filter(|line| line.contains("STEP_START"));
            starts.any(|line| line.contains("lingers")).then_some(())
        });
        stop.cancel();
    });
}
