//! Two processes that start at once for one run.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::chance::{Chance, Repeat};
use super::judged::Judged;
use crate::child::{pipelines, said, until};
use crate::dir::Dir;
use crate::log::Log;
use crate::pipelines::control::{ran, script};

/// A process that says when it is ready, waits to be let go, and becomes the program.
const GATE: &str = "echo >&2; read -r _; exec \"$0\" \"$@\"";

/// In one race of so many, whoever works is held up until the other one has lost its patience.
const HELD_UP: u64 = 25;

/// The longest that one is let go after the other.
const LAG: Duration = Duration::from_millis(8);

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
        let _repeat = Repeat::new(format!("race 1 {seed}"));
        judged.add(races.one(program, seed));
    }
    races.judged = judged.finish();
    races
}

impl Races {
    fn one(&mut self, program: &str, seed: u64) -> Dir {
        let mut chance = Chance::new(seed);
        let dir = Dir::new("race");
        let held_up = seed % HELD_UP == HELD_UP - 1;
        script(&dir, "first", if held_up { "deaf" } else { "" });
        let lag = if chance.below(2) == 0 { Duration::ZERO } else { chance.shorter_than(LAG) };
        let [mut one, mut other] = [(), ()].map(|()| at_the_gate(program, &dir));
        let let_go = |child: &mut Child| {
            let gate = child.stdin.take().expect("a gate");
            (&gate).write_all(b"\n").expect("a process behind the gate");
        };
        let_go(&mut one);
        let began = Instant::now();
        while began.elapsed() < lag {
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
        let later = other.id();
        let both = [one, other].map(|child| child.wait_with_output().expect("an end"));
        let codes = both.each_ref().map(|ended| ended.status.code());
        let told = both.each_ref().map(said);
        match codes {
            [Some(0), Some(0)] => self.both_succeeded += 1,
            [Some(0), Some(4)] | [Some(4), Some(0)] => self.one_was_locked_out += 1,
            _ => panic!("{codes:?}: {told:?}"),
        }
        assert!(!held_up || codes.contains(&Some(4)), "nobody waits for ever: {told:?}");
        assert_eq!(ran(&dir), ["first 0", "second 0", "third 0"], "{told:?}");
        let log = Log::read(&dir.only_log());
        for step in ["first", "second", "third"] {
            assert_eq!(log.count(step, "STEP_END", "SUCCESS"), 1, "{:?}", log.story());
        }
        self.races += 1;
        self.later_worked += u64::from(log.headers()[0]["detail"]["pid"] == later);
        dir
    }
}

/// The command, as a process that has not become it yet.
fn at_the_gate(program: &str, dir: &Dir) -> Child {
    let mut gate = pipelines("sh", dir.path(), &["-c", GATE, program, "run", "row"]);
    let mut child = gate.stdin(Stdio::piped()).spawn().expect("a shell");
    let ready = child.stderr.as_mut().expect("a pipe").read_exact(&mut [0]);
    ready.expect("a shell that says that it is ready");
    child
}
