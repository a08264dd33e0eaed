//! A user's own steps killed everywhere: what is idempotent passes, and what is not is named, with
//! the place and the difference.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use apollo::testing::{CrashEverywhere, NotCrashSafe, Survived, crash_everywhere};
use apollo::{Context, Notice, Observer, Result, RunOptions, StepError, Task, step, task};

/// What is outside: each test has one of its own.
#[derive(Debug)]
struct World(Mutex<Vec<String>>);

impl World {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn add(&self, row: impl ToString) {
        self.0.lock().unwrap().push(row.to_string());
    }

    fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    fn rows(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Kills everywhere in a world that is made new each time, and looked at.
fn in_world<'a>(task: &'a Task, world: &'static World) -> CrashEverywhere<'a> {
    CrashEverywhere::new(task).setup(|| world.clear()).observe(|| world.rows())
}

/// A task that is not safe: the text of the first thing that is wrong, without the directory, which
/// is there with the log of the run.
fn told(result: std::result::Result<Survived, NotCrashSafe>) -> String {
    let said = format!("{:?}", result.unwrap_err());
    let (before, rest) = said.split_once("  kept: ").unwrap_or_else(|| panic!("{said}"));
    let (dir, after) = rest.split_once('\n').unwrap_or((rest, ""));
    let logs = fs::read_dir(Path::new(dir).join("logs")).unwrap();
    let names = logs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().any(|name| name.ends_with(".jsonl")), "{dir}");
    fs::remove_dir_all(dir).unwrap();
    format!("{before}  kept: ...\n{after}")
}

fn append(path: &Path, text: &str) -> Result<()> {
    let mut file = fs::File::options().create(true).append(true).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}

// ---- what is idempotent

#[step]
fn two() -> u64 {
    2
}

#[step]
fn three(ctx: &Context) -> Result<u64> {
    let mut file = ctx.artifact("three.txt")?;
    writeln!(file, "three")?;
    file.finish()?;
    ctx.log("written");
    ctx.progress(1, 2);
    Ok(3)
}

#[step(depends_on = [two, three])]
fn sum(two: &u64, three: &u64) -> u64 {
    two + three
}

task! { good { steps: [two, three, sum] } }

/// Which points there are, each once, in their order.
#[test]
fn a_task_is_killed_before_and_after_every_record_and_wherever_a_body_writes() {
    let survived = crash_everywhere(&good());
    assert_eq!(survived.records, 8);
    let mut points: Vec<_> = survived.points.iter().map(ToString::to_string).collect();
    points.dedup();
    let expected = "\
before the first record
after STEP_START of `two` was recorded (record 1), before its body began
in the body of `two`, or right after it
after the body of `two` ended, before its output was kept
in the body of `two`, or right after it
after the body of `two` ended, before its STEP_END was recorded (record 2)
after STEP_START of `three` was recorded (record 3), before its body began
in the body of `three`, or right after it
in the body of `three`, as it began an artifact
in the body of `three`, as it wrote its artifact `three.txt`
in the body of `three`, as it logged a line
in the body of `three`, when it told its progress, 1 of 2
after the body of `three` ended, before its artifacts were published
in the body of `three`, or right after it
after the body of `three` ended, before its artifacts were published
after the artifacts of `three` were published, before its output was kept
after the body of `three` ended, before its output was kept
in the body of `three`, or right after it
after the body of `three` ended, before its STEP_END was recorded (record 4)
after STEP_START of `sum` was recorded (record 5), before its body began
after the body of `sum` ended, before its output was kept
in the body of `sum`, or right after it
after the body of `sum` ended, before its STEP_END was recorded (record 6)
after the closing TASK_SUMMARY was recorded (record 7), before it was synced
after record 7";
    assert_eq!(points.join("\n"), expected);
}

task! { short { steps: [nothing] } }

#[step]
fn nothing() {}

/// Counts the torn tails that second runs find.
#[derive(Debug, Default)]
struct TornTails(AtomicUsize);

impl Observer for TornTails {
    fn notice(&self, notice: Notice<'_>) {
        if matches!(notice, Notice::Warning(text) if text.starts_with("a torn tail of ")) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[test]
fn every_byte_of_the_log_is_a_torn_tail_once() {
    let (task, tails) = (short(), Arc::new(TornTails::default()));
    let options = RunOptions::new().observer(tails.clone());
    let few = crash_everywhere(&task).points.len();
    let survived = CrashEverywhere::new(&task).options(options).every_byte().run().unwrap();
    let points: Vec<_> = survived.points.iter().map(ToString::to_string).collect();
    for records in ["records 0, 1", "records 2, 3"] {
        let torn = format!("in the write of {records}, after ");
        let torn: Vec<_> = points.iter().filter_map(|point| point.strip_prefix(&torn)).collect();
        let bytes = torn.len() + 1;
        assert!(bytes > 500, "{records}: {bytes} bytes");
        for (kept, said) in (1..).zip(torn) {
            assert_eq!(said, format!("{kept} of {bytes} bytes"));
        }
    }
    let whole_lines = 2;
    assert_eq!(tails.0.load(Ordering::SeqCst), points.len() - few - whole_lines);
}

#[test]
fn several_steps_at_once_are_killed_as_well() {
    let (task, options) = (good(), RunOptions::new().max_parallel(3));
    let survived = CrashEverywhere::new(&task).options(options).run().unwrap();
    assert!(survived.points.len() > survived.records);
}

#[test]
fn of_very_many_operations_some_are_enough() {
    let task = good();
    let all = crash_everywhere(&task).points.len();
    let some = CrashEverywhere::new(&task).at_most(10).run().unwrap().points.len();
    assert!((6..=10).contains(&some), "{some} of {all}");
}

static MAILS: World = World::new();

fn was_sent(_ctx: &Context, key: &str) -> Result<bool> {
    Ok(MAILS.rows().iter().any(|mail| mail == key))
}

#[step(probe = was_sent)]
fn probed(ctx: &Context) -> Result<()> {
    ctx.once("done", || {
        MAILS.add("done");
        Ok(())
    })?;
    Ok(())
}

task! { probing { steps: [probed] } }

#[test]
fn an_effect_that_a_probe_finds_again_happens_once() {
    in_world(&probing(), &MAILS).run().unwrap();
}

static TABLE: World = World::new();

#[step(depends_on = [two])]
fn tagged(ctx: &Context, two: &u64) -> Result<()> {
    let delete = |tags: &[apollo::Digest]| {
        let carries = |row: &String| tags.iter().any(|tag| row.ends_with(&tag.to_string()));
        TABLE.0.lock().unwrap().retain(|row| !carries(row));
        Ok(())
    };
    ctx.replace_tagged(delete, |tag| {
        for row in 0..*two {
            TABLE.add(format!("{row} {tag}"));
            ctx.progress(row, *two);
        }
        Ok(())
    })
}

task! { tagging { steps: [two, tagged] } }

#[test]
fn rows_that_are_replaced_by_their_tag_are_there_once_wherever_the_body_dies() {
    in_world(&tagging(), &TABLE).run().unwrap();
}

#[step(optional)]
fn forecast() -> Result<u64> {
    Err(StepError::permanent("no answer"))
}

#[step(retry(fixed, max = 3, delay = "1h"))]
fn third_time(ctx: &Context) -> Result<u32> {
    if ctx.retry_count() < 2 { Err(StepError::new("not yet")) } else { Ok(3) }
}

#[step(depends_on = [forecast, third_time])]
fn report(forecast: Option<&u64>, third_time: &u32) -> String {
    format!("{forecast:?} {third_time}")
}

task! { patient { steps: [forecast, third_time, report] } }

#[test]
fn an_optional_step_that_fails_and_one_that_is_retried_survive_without_waiting() {
    let survived = crash_everywhere(&patient());
    assert_eq!(survived.records, 12, "two failed attempts, and a failed step");
}

#[step(timeout = "1m")]
async fn slowly(ctx: &Context) -> Result<u64> {
    tokio::task::yield_now().await;
    ctx.log("still here");
    Ok(7)
}

task! { asynchronous { steps: [slowly] } }

#[test]
fn an_asynchronous_step_is_killed_in_its_body_too() {
    let survived = crash_everywhere(&asynchronous());
    let points: Vec<_> = survived.points.iter().map(ToString::to_string).collect();
    assert!(points.contains(&"in the body of `slowly`, as it logged a line".to_owned()));
}

#[step]
fn says_where(ctx: &Context) -> Result<(String, std::path::PathBuf)> {
    Ok((ctx.run_id().to_owned(), ctx.work_dir()?.join("here")))
}

#[step(depends_on = [says_where], retry(fixed, max = 1, delay = "1ms"))]
fn waits_once(ctx: &Context) -> Result<()> {
    if ctx.retry_count() == 0 { Err(StepError::new("not yet")) } else { Ok(()) }
}

task! { telling { steps: [says_where, waits_once] } }

#[test]
fn a_step_may_return_where_it_is_also_in_real_time() {
    let task = telling();
    crash_everywhere(&task);
    CrashEverywhere::new(&task).real_time().run().unwrap();
}

#[step]
fn greet(#[param] name: &str) -> String {
    format!("hello {name}")
}

task! { greeting { params: { name: String }, steps: [greet, broken] } }

#[test]
fn parameters_and_skipped_steps_are_those_of_the_options() {
    let task = greeting();
    let options = RunOptions::new().param("name", "ada").skip("broken").unwrap();
    CrashEverywhere::new(&task).options(options).run().unwrap();
}

// ---- what is not

#[step]
fn appends(ctx: &Context) -> Result<usize> {
    let path = ctx.work_dir()?.join("ledger.txt");
    append(&path, "one line\n")?;
    Ok(fs::read_to_string(path)?.lines().count())
}

task! { appending { steps: [appends] } }

#[test]
fn a_step_that_appends_and_counts_is_named_with_the_place_and_the_difference() {
    let expected = "\
step `appends` is not idempotent: killed and done again, it leaves something else
  killed: in the body of `appends`, or right after it
  differs: the output of `appends`
    expected: 1
    got:      2
  kept: ...
help: a file: `ctx.artifact(name)` writes it whole, in place of what is there
help: rows elsewhere: `ctx.replace_tagged(delete, write)` deletes what an attempt before wrote
help: an effect that can't be taken back: `ctx.once(key, effect)`, with a `probe`
help: anything: `cleanup = ...` takes away what an attempt before left, if it left something";
    assert_eq!(told(CrashEverywhere::new(&appending()).run()), expected);
    let panic = catch_unwind(|| crash_everywhere(&appending())).unwrap_err();
    let said = panic.downcast::<String>().unwrap();
    assert!(said.starts_with(expected.split("  kept").next().unwrap()), "{said}");
    let dir = said.split("kept: ").nth(1).unwrap().lines().next().unwrap();
    fs::remove_dir_all(dir).unwrap();
}

#[step]
fn fill(ctx: &Context) -> Result<()> {
    append(&ctx.work_dir()?.join("ledger.txt"), "first\nsecond\n")
}

#[step(depends_on = [fill])]
fn count(ctx: &Context) -> Result<usize> {
    Ok(fs::read_to_string(ctx.work_dir()?.join("ledger.txt"))?.lines().count())
}

task! { filling { steps: [fill, count] } }

#[test]
fn the_step_that_ran_again_is_to_blame_and_not_the_one_that_counts_what_it_left() {
    let said = told(CrashEverywhere::new(&filling()).run());
    let expected = "\
step `fill` is not idempotent: killed and done again, it leaves something else
  killed: after the body of `fill` ended, before its STEP_END was recorded (record 2)
  differs: the file `ledger.txt` in the working directory, from byte 13 on
    expected: first\\nsecond\\n
    got:      first\\nsecond\\nfirst\\nsecond\\n
  kept: ...
";
    assert!(said.starts_with(expected), "{said}");
}

fn empty(ctx: &Context) -> Result<()> {
    match fs::remove_file(ctx.work_dir()?.join("ledger.txt")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

#[step(id = "fill", cleanup = empty)]
fn fill_clean(ctx: &Context) -> Result<()> {
    fill(ctx)
}

#[step(id = "count", depends_on = [fill_clean])]
fn count_clean(ctx: &Context) -> Result<usize> {
    count(ctx)
}

task! { cleaning { steps: [fill_clean, count_clean] } }

#[test]
fn a_cleanup_mends_it() {
    crash_everywhere(&cleaning());
}

fn empty_what_is_there(ctx: &Context) -> Result<()> {
    Ok(fs::remove_file(ctx.work_dir()?.join("ledger.txt"))?)
}

#[step(cleanup = empty_what_is_there)]
fn fill_trusting(ctx: &Context) -> Result<()> {
    fill(ctx)
}

task! { trusting { steps: [fill_trusting] } }

#[test]
fn a_cleanup_that_trusts_to_find_something_is_found() {
    let said = told(CrashEverywhere::new(&trusting()).run());
    let expected = "\
the task does not finish after a crash: step `fill_trusting`: cleanup failed: No such file or \
directory (os error 2)
  killed: after STEP_START of `fill_trusting` was recorded (record 1), before its body began
  kept: ...
help: a cleanup may find nothing, or the half of it, and succeeds then as well";
    assert_eq!(said, expected);
}

#[step]
fn export(ctx: &Context) -> Result<()> {
    let dir = ctx.work_dir()?.join("export");
    fs::create_dir_all(&dir)?;
    append(&dir.join("table\t1.csv"), "a,b\n")
}

task! { by_hand { steps: [two, export] } }

#[test]
fn a_file_written_past_the_context_is_told_with_its_name_escaped() {
    let said = told(CrashEverywhere::new(&by_hand()).run());
    assert!(said.starts_with("step `export` is not idempotent"), "{said}");
    assert!(said.contains("the file `table\\t1.csv` of `export`, from byte 4 on"), "{said}");
    assert!(said.contains("got:      a,b\\na,b\\n\n"), "{said}");
}

static COUNTER: World = World::new();

#[step]
fn numbered() -> usize {
    COUNTER.add("called");
    COUNTER.rows().len()
}

#[step(depends_on = [numbered])]
fn doubled(numbered: &usize) -> usize {
    numbered * 2
}

task! { counting { steps: [two, numbered, doubled] } }

#[test]
fn an_output_that_counts_the_attempts_is_found_where_it_is_made() {
    let task = counting();
    let said = told(CrashEverywhere::new(&task).setup(|| COUNTER.clear()).run());
    assert!(said.starts_with("step `numbered` is not idempotent"), "{said}");
    assert!(said.contains("the output of `numbered`\n    expected: 1\n    got:      2"), "{said}");
    let said = told(CrashEverywhere::new(&task).run());
    assert!(said.starts_with("step `numbered` is not deterministic: done once each"), "{said}");
    assert!(said.contains("help: `setup` makes the world outside new before each run"), "{said}");
}

static ORDERS: World = World::new();

#[step]
fn order() {
    ORDERS.add("ten boxes");
}

task! { ordering { steps: [order] } }

#[test]
fn an_effect_outside_that_happens_twice_is_seen_by_the_observer() {
    let said = told(in_world(&ordering(), &ORDERS).run());
    let expected = "\
step `order` is not idempotent: killed and done again, it leaves something else
  killed: after the body of `order` ended, before its STEP_END was recorded (record 2)
  differs: what was observed, from byte 12 on
    expected: [\"ten boxes\"]
    got:      [\"ten boxes\",\"ten boxes\"]
  kept: ...
";
    assert!(said.starts_with(expected), "{said}");
}

static LETTERS: World = World::new();

#[step]
fn unprobed(ctx: &Context) -> Result<()> {
    ctx.once("letter", || {
        LETTERS.add("letter");
        Ok(())
    })?;
    Ok(())
}

task! { posting { steps: [unprobed] } }

#[test]
fn once_without_a_probe_is_found_where_nobody_knows_whether_it_happened() {
    let said = told(in_world(&posting(), &LETTERS).run());
    assert!(said.starts_with("step `unprobed` is not idempotent"), "{said}");
    assert!(said.contains("in the body of `unprobed`, as `ctx.once` kept a mark\n"), "{said}");
    assert!(
        said.contains("help: nobody knew whether the effect had happened: a `probe`"),
        "{said}"
    );
}

static HALVES: World = World::new();

#[step]
fn believes_its_mark(ctx: &Context) {
    if HALVES.rows().is_empty() {
        HALVES.add("begun");
        ctx.log("half of it");
        HALVES.add("done");
    }
}

task! { believing { steps: [believes_its_mark] } }

#[test]
fn a_body_is_killed_in_the_middle_where_it_logs() {
    let said = told(in_world(&believing(), &HALVES).run());
    assert!(said.contains("killed: in the body of `believes_its_mark`, as it logged a"), "{said}");
    assert!(said.contains("got:      [\"begun\"]\n"), "{said}");
}

static SHARED: World = World::new();

#[step(optional)]
fn grumbler() -> Result<()> {
    if !SHARED.rows().is_empty() {
        SHARED.add("somebody was here");
    }
    Err(StepError::permanent("never mind"))
}

#[step(depends_on = [grumbler])]
fn visitor() {
    if SHARED.rows().is_empty() {
        SHARED.add("visitor");
    }
}

task! { sharing { steps: [grumbler, visitor] } }

#[test]
fn where_several_steps_were_done_again_all_are_named_that_may_have_done_it() {
    let said = told(in_world(&sharing(), &SHARED).run());
    let expected = "\
one of the steps `grumbler`, `visitor` is not idempotent: killed and done again, it leaves \
something else
  killed: after the body of `visitor` ended, before its STEP_END was recorded (record 4)
  differs: what was observed, from byte 10 on
    expected: [\"visitor\"]
    got:      [\"visitor\",\"somebody was here\"]
";
    assert!(said.starts_with(expected), "{said}");
}

#[step]
fn chance() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0)
}

task! { gambling { steps: [two, chance] } }

#[test]
fn a_step_that_is_not_deterministic_is_not_taken_for_one_that_is_not_idempotent() {
    let said = told(CrashEverywhere::new(&gambling()).run());
    assert!(said.starts_with("step `chance` is not deterministic"), "{said}");
    assert!(!said.contains("killed"), "{said}");
}

#[step]
fn broken() -> Result<()> {
    Err(StepError::permanent("no such\tplace"))
}

task! { breaking { steps: [two, broken] } }

#[test]
fn a_task_that_fails_anyway_is_told_before_anything_is_killed() {
    let said = told(CrashEverywhere::new(&breaking()).run());
    let expected =
        "the task fails without any crash: step `broken`: no such\\tplace\n  kept: ...\n";
    assert_eq!(said, expected);
    let refused = CrashEverywhere::new(&greeting()).run().unwrap_err();
    let NotCrashSafe::Undisturbed { failure, dir } = refused else { panic!("{refused:?}") };
    assert_eq!(failure, "parameter `name`: it needs a value");
    fs::remove_dir_all(dir).unwrap();
}
