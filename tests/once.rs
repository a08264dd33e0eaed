//! An effect that must happen once, killed before, in and after it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use apollo::testing::{CrashDisk, Fault, SimDisk};
use apollo::{Context, Result, RunOptions, StepError, step, task};
use apollo_tests::dir::Dir;
use apollo_tests::disk::TestDisk;
use apollo_tests::log::{Log, judge};
use apollo_tests::pipelines::control::options;
use apollo_tests::pipelines::scripted::home;

fn effect(ctx: &Context) -> Result<bool> {
    let home = home(ctx)?;
    ctx.once("mail", || {
        if home.join("refuse").exists() {
            return Err(StepError::new("the post office is closed"));
        }
        let path = home.join("mail");
        let sent = fs::read_to_string(&path).unwrap_or_default();
        Ok(fs::write(path, sent + "sent\n")?)
    })
}

fn was_sent(ctx: &Context, _key: &str) -> Result<bool> {
    Ok(home(ctx)?.join("mail").exists())
}

#[step(probe = was_sent)]
fn probed(ctx: &Context) -> Result<bool> {
    effect(ctx)
}

#[step(on_unknown = skip)]
fn skipping(ctx: &Context) -> Result<bool> {
    effect(ctx)
}

#[step(on_unknown = fail)]
fn failing(ctx: &Context) -> Result<bool> {
    effect(ctx)
}

#[step]
fn repeating(ctx: &Context) -> Result<bool> {
    effect(ctx)
}

task! { probing { steps: [probed] } }
task! { leaving { steps: [skipping] } }
task! { stopping { steps: [failing] } }
task! { again { steps: [repeating] } }

fn mails(dir: &Dir) -> usize {
    fs::read_to_string(dir.path().join("mail")).unwrap_or_default().lines().count()
}

/// Dies at every operation of a run; tells for each how many mails there are in the end.
fn dying_everywhere(task: &apollo::Task) -> Vec<(usize, bool)> {
    let dir = Dir::new("count");
    let counter = Arc::new(CrashDisk::new(TestDisk::quick(), 0, Fault::Dead));
    task.run(&options(&dir).disk(counter.clone())).unwrap();
    let (mut ends, mut dirs) = (Vec::new(), Vec::new());
    for at in 1..=counter.operations() {
        let dir = Dir::new("once");
        let dead = CrashDisk::new(TestDisk::quick(), at, Fault::Dead);
        drop(task.run(&options(&dir).disk(Arc::new(dead))));
        let resumed = task.run(&options(&dir).disk(TestDisk::quick())).is_ok();
        ends.push((mails(&dir), resumed));
        dirs.push(dir);
    }
    let logs: Vec<_> = dirs.iter().flat_map(Dir::logs).collect();
    judge(&logs);
    ends
}

#[test]
fn a_probe_lets_the_effect_happen_exactly_once_wherever_the_process_dies() {
    let ends = dying_everywhere(&probing());
    assert!(ends.iter().all(|end| *end == (1, true)), "{ends:?}");
}

#[test]
fn without_a_probe_the_step_says_what_an_unknown_end_means() {
    let ends = dying_everywhere(&leaving());
    assert!(ends.iter().all(|end| end.1 && end.0 <= 1), "at most once: {ends:?}");
    let ends = dying_everywhere(&again());
    assert!(ends.iter().all(|end| end.1 && (1..=2).contains(&end.0)), "at least once: {ends:?}");
    let ends = dying_everywhere(&stopping());
    assert!(ends.iter().any(|end| !end.1), "a person has to look: {ends:?}");
    assert!(ends.iter().all(|end| end.0 <= 1), "{ends:?}");
}

#[test]
fn an_effect_that_failed_has_not_happened_and_one_that_happened_is_not_repeated() {
    let dir = Dir::new("refused");
    fs::write(dir.path().join("refuse"), "").unwrap();
    assert!(stopping().run(&options(&dir)).is_err());
    fs::remove_file(dir.path().join("refuse")).unwrap();
    stopping().run(&options(&dir)).unwrap();
    stopping().run(&options(&dir).resume_from("failing").unwrap()).unwrap();
    assert_eq!(mails(&dir), 1);
    let log = Log::read(&dir.only_log());
    assert_eq!(log.count("failing", "STEP_END", "SUCCESS"), 2);
    judge(&dir.logs());
}

/// How often the effect happened whose world no power cut reaches.
static PAID: AtomicU32 = AtomicU32::new(0);

fn was_paid(_ctx: &Context, _key: &str) -> Result<bool> {
    Ok(PAID.load(Ordering::SeqCst) > 0)
}

#[step(probe = was_paid)]
fn pay(ctx: &Context) -> Result<bool> {
    ctx.once("bill", || {
        PAID.fetch_add(1, Ordering::SeqCst);
        Ok(())
    })
}

task! { paying { steps: [pay] } }

#[test]
fn a_marker_that_a_killed_attempt_left_is_made_durable_before_the_effect() {
    let run = |disk: &SimDisk| {
        paying().run(&RunOptions::new().dir("/.apollo").disk(Arc::new(disk.clone())))
    };
    let whole = SimDisk::new(0);
    run(&whole).unwrap();
    let mut at_the_marker = 0;
    for first in 1..=whole.operations() {
        for second in 1..=whole.operations() {
            PAID.store(0, Ordering::SeqCst);
            let disk = SimDisk::new(first * 1_000 + second);
            disk.fault(first, Fault::Dead);
            drop(run(&disk));
            let (_operation, path) = disk.met().unwrap();
            if !path.components().any(|part| part.as_os_str() == "once") {
                break;
            }
            at_the_marker += 1;
            // Killed at the marker, the machine goes on; then the power is cut.
            let next = disk.kill();
            next.fault(second, Fault::Dead);
            drop(run(&next));
            run(&next.cut_power()).unwrap();
            let paid = PAID.load(Ordering::SeqCst);
            assert_eq!(paid, 1, "killed at {first}, the power cut at {second} of the resume");
        }
    }
    assert!(at_the_marker > 50, "{at_the_marker}");
}
