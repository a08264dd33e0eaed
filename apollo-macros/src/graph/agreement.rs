//! The same random graphs, judged by the macros, by the compiler's `const fn` and by `Graph::new`:
//! the three agree on every one.

use apollo::__private::{Dependency, Judged, Judgement, StepInfo, StepRef, judge, table};
use apollo::{Graph, GraphStep, StepId, StepIndex};

use super::{Mistake, Node};

/// The number of steps of every graph; a const parameter of the compiler's judgement.
const N: usize = 7;
/// The largest number of dependencies of a graph.
const E: usize = 9;

/// A linear congruential generator: the graphs are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

/// A graph as each step's targets; `N` is a step that is not there.
fn random_graph(random: &mut Random) -> Vec<Vec<usize>> {
    let mut targets = vec![Vec::new(); N];
    let acyclic = random.below(2) == 0;
    for _ in 0..E {
        let from = if acyclic { 1 + random.below(N - 1) } else { random.below(N) };
        let missing = random.below(40) == 0;
        let below = if acyclic { from } else { N };
        let target = if missing { N } else { random.below(below) };
        if !targets[from].contains(&target) || random.below(20) == 0 {
            targets[from].push(target);
        }
    }
    targets
}

fn by_macro(targets: &[Vec<usize>]) -> Vec<Mistake> {
    let name = |step: &usize| format!("s{step}");
    let node = |(step, targets): (usize, &Vec<usize>)| Node {
        name: name(&step),
        depends_on: targets.iter().map(name).collect(),
    };
    super::judge(&targets.iter().enumerate().map(node).collect::<Vec<_>>())
}

fn by_compiler(targets: &[Vec<usize>]) -> Judgement<N> {
    let this = |step: usize| StepRef {
        key: (step as u128 + 1) << 3,
        id: "s0s1s2s3s4s5s6s7".get(step * 2..step * 2 + 2).unwrap(),
    };
    let info = |(step, targets): (usize, &Vec<usize>)| {
        let dependency = |target: &usize| Dependency { step: this(*target), value: false };
        let depends_on: Vec<_> = targets.iter().map(dependency).collect();
        StepInfo { depends_on: depends_on.leak(), ..StepInfo::new(this(step), "", "") }
    };
    let infos: Vec<_> = targets.iter().enumerate().map(info).collect();
    let steps: Vec<_> = infos.iter().collect();
    judge::<N, E, { table(N) }>(Judged { task: "t", params: &[], steps: &steps })
}

/// The mistakes that both know, each by its step and, for cycles, by all steps.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    missing: usize,
    twice: usize,
    cycles: Vec<Vec<usize>>,
}

fn found_by_macro(targets: &[Vec<usize>]) -> Found {
    let mut found = Found { missing: 0, twice: 0, cycles: Vec::new() };
    for mistake in by_macro(targets) {
        match mistake {
            Mistake::Duplicate { .. } => unreachable!("every name is given once"),
            Mistake::Unknown { .. } => found.missing += 1,
            Mistake::Twice { .. } => found.twice += 1,
            Mistake::Cycle { nodes } => found.cycles.push(nodes),
        }
    }
    found
}

fn found_by_compiler(targets: &[Vec<usize>]) -> Found {
    use apollo::__private::Mistake as Told;
    let judgement = by_compiler(targets);
    let mut found = Found { missing: 0, twice: 0, cycles: Vec::new() };
    for mistake in judgement.mistakes() {
        match *mistake {
            Told::Missing { .. } => found.missing += 1,
            Told::Twice { .. } => found.twice += 1,
            Told::Cycle { start, len, .. } => {
                let steps = judgement.cycle(start, len);
                found.cycles.push(steps.iter().map(|step| *step as usize).collect());
            }
            Told::Empty
            | Told::Repeated { .. }
            | Told::SameId { .. }
            | Told::UnknownParam { .. } => {
                unreachable!("{mistake:?}")
            }
        }
    }
    found
}

#[apollo::step]
fn sample() {}

apollo::task! { one { steps: [sample] } }

/// Whether `Graph::new` takes the graph.
fn taken_at_run_time(sample: &GraphStep, targets: &[Vec<usize>]) -> bool {
    let index = |target: &usize| StepIndex(u32::try_from(*target).unwrap());
    let step = |(step, targets): (usize, &Vec<usize>)| GraphStep {
        id: StepId::parse(&format!("s{step}")).unwrap(),
        depends_on: targets.iter().map(index).collect(),
        needs_value: vec![false; targets.len()],
        ..sample.clone()
    };
    Graph::new(targets.iter().enumerate().map(step).collect()).is_ok()
}

#[test]
fn macros_compiler_and_run_time_agree_on_random_graphs() {
    let task = one();
    let sample = task.graph().step(StepIndex(0));
    let mut random = Random(2026);
    let (mut right, mut cyclic) = (0, 0);
    for _ in 0..20_000 {
        let targets = random_graph(&mut random);
        let found = found_by_macro(&targets);
        // One message tells eight mistakes; the first kinds come first.
        if found.missing + found.twice + found.cycles.len() <= 8 {
            let by_compiler = found_by_compiler(&targets);
            assert_eq!(by_compiler, found, "{targets:?}");
        }
        let clean = found == Found { missing: 0, twice: 0, cycles: Vec::new() };
        assert_eq!(taken_at_run_time(sample, &targets), clean, "{targets:?}");
        right += usize::from(clean);
        cyclic += usize::from(!found.cycles.is_empty());
    }
    assert!(right > 1_000 && cyclic > 1_000, "{right} right, {cyclic} cyclic");
}
