//! Two processes that start at once for one run.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use super::judged::Judged;
use super::repeat::Repeat;
use crate::child::{pipelines, said, until};
use crate::dir::Dir;
use crate::log::Log;
use crate::pipelines::control::{ran, script};
use crate::simulation::Draw;

/// A process that says when it is ready, waits to be let go, and becomes the program.
const GATE: &str = "echo >&2; read -r _; exec \"$0\" \"$@\"";

/// In one race of so many, whoever works is held up until the other one has lost its patience.
const HELD_UP: u64 = 25;

/// The longest that one is let go after the other.
const LAG_MAX_US: u64 = 8_000;

/// What came of the races.
#[derive(Debug, Default)]
pub struct Races {
    races: u64,
    both_succeeded: u64,
    one_was_locked_out: u64,
    later_worked: u64,
    judged: String,
}

impl fmt::Display for Races {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { races, both_succeeded, one_was_locked_out, later_worked, judged } = self;
        write!(
            f,
            "{races} races: in {both_succeeded} both exited with 0, in {one_was_locked_out} one \
             with 4; in {later_worked} the one that was let go later did the work; one log and \
             one success of each step in all of them; {judged}"
        )
    }
}

/// Lets two processes race so many times; the races of a seed are always let go in the same way.
///
/// # Panics
/// When they work on two runs, a step succeeds twice, or one ends in another way than with 0 or 4.
pub fn race(program: &str, times: u64, seed: u64) -> Races {
    let mut races = Races::default();
    let mut judged = Judged::default();
    for seed in seed..seed + times {
        let mut repeat = Repeat::new(format!("race 1 {seed}"));
        let race = Race::of(&[program], seed);
        repeat.said(race.said());
        assert_eq!(race.broken(), None);
        let codes = race.ended.each_ref().map(|ended| ended.status.code());
        races.races += 1;
        races.one_was_locked_out += u64::from(codes.contains(&Some(4)));
        races.both_succeeded += u64::from(codes == [Some(0); 2]);
        races.later_worked += u64::from(race.later_worked());
        judged.add(race.dir);
    }
    races.judged = judged.finish();
    races
}

/// Lets two processes race whom the kernel gives every lock: tells what was broken, in which of so
/// many races. A race that finds nothing here would find nothing anywhere.
pub fn race_without_locks(program: &str, times: u64) -> Option<(u64, String)> {
    let lies = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=flock:retval=0", program];
    (0..times).find_map(|seed| Some((seed, Race::of(&lies, seed).broken()?)))
}

/// One race that is over.
#[derive(Debug)]
struct Race {
    dir: Dir,
    held_up: bool,
    /// The one that was let go first, and the other one.
    ended: [Output; 2],
    later_pid: u32,
}

impl Race {
    /// Lets two processes of a command race.
    fn of(command: &[&str], seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let dir = Dir::new("race");
        let held_up = seed % HELD_UP == HELD_UP - 1;
        script(&dir, "first", if held_up { "deaf" } else { "" });
        let lag_us = if draw.one_in(2) { 0 } else { draw.below(LAG_MAX_US) };
        let [mut one, mut other] = [(), ()].map(|()| at_the_gate(command, &dir));
        let let_go = |child: &mut Child| {
            let gate = child.stdin.take().expect("a gate");
            (&gate).write_all(b"\n").expect("a process behind the gate");
        };
        let_go(&mut one);
        let began = Instant::now();
        while began.elapsed() < Duration::from_micros(lag_us) {
            std::hint::spin_loop();
        }
        let_go(&mut other);
        if held_up {
            let ended = |child: &mut Child| child.try_wait().expect("a child of this process");
            until("one of the two is told that it is locked out", || {
                ended(&mut one).or_else(|| ended(&mut other))
            });
            script(&dir, "first.go", "");
        }
        let later_pid = other.id();
        let ended = [one, other].map(|child| child.wait_with_output().expect("an end"));
        Self { dir, held_up, ended, later_pid }
    }

    fn said(&self) -> String {
        self.ended.each_ref().map(said).join("\n")
    }

    /// The first promise that it broke.
    fn broken(&self) -> Option<String> {
        let codes = self.ended.each_ref().map(|ended| ended.status.code());
        let allowed: &[_] =
            if self.held_up { &[[0, 4], [4, 0]] } else { &[[0, 0], [0, 4], [4, 0]] };
        if !allowed.iter().any(|allowed| allowed.map(Some) == codes) {
            return Some(format!("they end with {codes:?}"));
        }
        let ran = ran(&self.dir);
        if ran != ["first 0", "second 0", "third 0"] {
            return Some(format!("what ran: {ran:?}"));
        }
        let logs = self.dir.logs();
        let [log] = logs.as_slice() else { return Some(format!("the logs are {logs:?}")) };
        let log = Log::read(log);
        let once = |step: &&str| log.count(step, "STEP_END", "SUCCESS") == 1;
        let all = ["first", "second", "third"].iter().all(once);
        (!all).then(|| format!("the log says {:?}", log.story()))
    }

    /// Whether the process did the work that was let go later.
    fn later_worked(&self) -> bool {
        Log::read(&self.dir.only_log()).headers()[0]["detail"]["pid"] == self.later_pid
    }
}

/// A command, as a process that has not become it yet.
fn at_the_gate(command: &[&str], dir: &Dir) -> Child {
    let mut gate = pipelines("sh", dir.path(), &["-c", GATE]);
    gate.args(command).args(["run", "row"]);
    let mut child = gate.stdin(Stdio::piped()).spawn().expect("a shell");
    let ready = child.stderr.as_mut().expect("a pipe").read_exact(&mut [0]);
    ready.expect("a shell that says that it is ready");
    child
}
