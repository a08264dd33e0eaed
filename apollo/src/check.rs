//! The judgement of a task's graph by the compiler: a `const fn` over what its steps say of
//! themselves.
//!
//! It is not what `task!` sees in its tokens: those mistakes never come here. This is the net
//! below, for what stands in other modules, in other crates, behind `cfg`.
//!
//! **Invariant:** a task whose judgement passed makes a `graph::Graph` without an error.
//! **Invariant:** O(V + E), and no text is touched unless there is a mistake to tell: the compiler
//! counts the turns of loops in a constant, and denies too many.

use crate::step::{StepInfo, hash};
use crate::task::ParamInfo;

/// No step.
const NONE: u32 = u32::MAX;
/// The largest number of mistakes that one message tells.
pub(crate) const TOLD: usize = 8;

/// A task as its expansion describes it.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// Its name.
    pub task: &'a str,
    /// Its parameters.
    pub params: &'a [ParamInfo],
    /// Its steps, in the order of declaration.
    pub steps: &'a [&'a StepInfo],
}

/// A mistake in a graph; every number is an index of `Judged::steps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// The task has no step.
    Empty,
    /// A step stands in the list twice.
    Repeated {
        /// The later one.
        step: u32,
    },
    /// Two steps have one id.
    SameId {
        /// The later one.
        step: u32,
        /// The earlier one.
        first: u32,
    },
    /// A dependency is not in the list.
    Missing {
        /// The dependent.
        step: u32,
        /// The index in its `depends_on`.
        dependency: u32,
    },
    /// A dependency stands in a step's `depends_on` twice.
    Twice {
        /// The dependent.
        step: u32,
        /// The later index in its `depends_on`.
        dependency: u32,
    },
    /// Steps wait for each other.
    Cycle {
        /// The one that was written first.
        step: u32,
        /// Where its steps begin in `Judgement::cycles`.
        start: u32,
        /// How many steps it has.
        len: u32,
    },
    /// A step takes a parameter that the task does not have.
    UnknownParam {
        /// The step.
        step: u32,
        /// The index in its `params`.
        param: u32,
    },
}

/// What is wrong with a task of `N` steps.
#[derive(Debug, Clone, Copy)]
pub struct Judgement<const N: usize> {
    mistakes: [Mistake; TOLD],
    /// May be more than `mistakes` holds.
    count: usize,
    /// The steps of all cycles, one after the other; no step is in two of them.
    cycles: [u32; N],
}

/// The number of dependencies of all steps together.
#[must_use]
pub const fn edges(mut steps: &[&StepInfo]) -> usize {
    let mut edges = 0;
    while let [step, rest @ ..] = steps {
        edges += step.depends_on.len();
        steps = rest;
    }
    edges
}

/// The size of the hash table for a number of steps.
#[must_use]
pub const fn table(steps: usize) -> usize {
    (2 * steps + 2).next_power_of_two()
}

/// Judges a task of `N` steps with `E` dependencies, by a hash table of `T` places.
#[must_use]
pub const fn judge<const N: usize, const E: usize, const T: usize>(
    task: Judged<'_>,
) -> Judgement<N> {
    let mut judgement = Judgement { mistakes: [Mistake::Empty; TOLD], count: 0, cycles: [NONE; N] };
    if N == 0 {
        judgement.add(Mistake::Empty);
        return judgement;
    }
    let mut by_key = [NONE; T];
    judgement.index(task.steps, &mut by_key);
    judgement.unique_ids(task.steps, &mut [NONE; T]);
    let mut first_edge = [0; N];
    let mut targets = [NONE; E];
    judgement.resolve(task.steps, &by_key, &mut first_edge, &mut targets);
    judgement.find_cycles(&first_edge, &targets);
    judgement.params(task);
    judgement
}

#[expect(
    clippy::indexing_slicing,
    reason = "a constant evaluation has no iterators; an index out \
    of bounds would be a compile error"
)]
#[expect(clippy::cast_possible_truncation, reason = "a list of 2^32 steps is no source file")]
impl<const N: usize> Judgement<N> {
    const fn add(&mut self, mistake: Mistake) {
        if self.count < TOLD {
            self.mistakes[self.count] = mistake;
        }
        self.count += 1;
    }

    /// The mistakes, the worst kind first; no more than one message tells.
    #[must_use]
    pub const fn mistakes(&self) -> &[Mistake] {
        let told = if self.count < TOLD { self.count } else { TOLD };
        self.mistakes.split_at(told).0
    }

    /// The number of mistakes.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The steps of a [`Mistake::Cycle`], each depending on the next, the last on the first.
    #[must_use]
    pub const fn cycle(&self, start: u32, len: u32) -> &[u32] {
        self.cycles.split_at(start as usize).1.split_at(len as usize).0
    }

    /// The step to underline; `usize::MAX` where there is no mistake.
    #[must_use]
    pub const fn guilty(&self) -> usize {
        if self.count == 0 {
            return usize::MAX;
        }
        match self.mistakes[0] {
            Mistake::Empty => 0,
            Mistake::Repeated { step }
            | Mistake::SameId { step, .. }
            | Mistake::Missing { step, .. }
            | Mistake::Twice { step, .. }
            | Mistake::Cycle { step, .. }
            | Mistake::UnknownParam { step, .. } => step as usize,
        }
    }

    /// The step to underline, to be counted down to by [`next`].
    ///
    /// # Panics
    /// In a constant, with the message, where there is no step to underline.
    #[must_use]
    #[track_caller]
    #[expect(clippy::panic, reason = "in a constant evaluation this is a compile error")]
    pub const fn start(&self, message: &str) -> usize {
        if N == 0 {
            panic!("{}", message);
        }
        self.guilty()
    }

    /// Fills the table from keys to steps.
    const fn index(&mut self, steps: &[&StepInfo], by_key: &mut [u32]) {
        let mut i = 0;
        while i < N {
            let mut place = steps[i].this.key as usize & (by_key.len() - 1);
            while by_key[place] != NONE
                && steps[by_key[place] as usize].this.key != steps[i].this.key
            {
                place = (place + 1) & (by_key.len() - 1);
            }
            if by_key[place] == NONE {
                by_key[place] = i as u32;
            } else {
                self.add(Mistake::Repeated { step: i as u32 });
            }
            i += 1;
        }
    }

    /// Finds two steps with one id.
    const fn unique_ids(&mut self, steps: &[&StepInfo], by_id: &mut [u32]) {
        let mut i = 0;
        while i < N {
            let id = steps[i].this.id.as_bytes();
            let mut place = hash(id) as usize & (by_id.len() - 1);
            while by_id[place] != NONE && !same(steps[by_id[place] as usize].this.id.as_bytes(), id)
            {
                place = (place + 1) & (by_id.len() - 1);
            }
            if by_id[place] == NONE {
                by_id[place] = i as u32;
            } else if steps[by_id[place] as usize].this.key != steps[i].this.key {
                self.add(Mistake::SameId { step: i as u32, first: by_id[place] });
            }
            i += 1;
        }
    }

    /// Turns keys into indexes: step `i` has the targets from `first_edge[i]` on.
    const fn resolve(
        &mut self,
        steps: &[&StepInfo],
        by_key: &[u32],
        first_edge: &mut [u32],
        targets: &mut [u32],
    ) {
        // Indexed by step: the last dependent, counted from 1.
        let mut named_by = [0; N];
        let (mut i, mut edge) = (0, 0);
        while i < N {
            first_edge[i] = edge as u32;
            let mut j = 0;
            while j < steps[i].depends_on.len() {
                let key = steps[i].depends_on[j].step.key;
                let mut place = key as usize & (by_key.len() - 1);
                while by_key[place] != NONE && steps[by_key[place] as usize].this.key != key {
                    place = (place + 1) & (by_key.len() - 1);
                }
                targets[edge] = by_key[place];
                if by_key[place] == NONE {
                    self.add(Mistake::Missing { step: i as u32, dependency: j as u32 });
                } else if named_by[by_key[place] as usize] == i + 1 {
                    self.add(Mistake::Twice { step: i as u32, dependency: j as u32 });
                } else {
                    named_by[by_key[place] as usize] = i + 1;
                }
                edge += 1;
                j += 1;
            }
            i += 1;
        }
    }

    /// Finds cycles that have no step in common, at least one in every knot of steps.
    const fn find_cycles(&mut self, first_edge: &[u32], targets: &[u32]) {
        let mut found = 0;
        let mut walk = Walk::<N>::START;
        let mut root = 0;
        while root < N {
            let mut depth = walk.enter(0, root as u32, first_edge);
            while depth > 0 {
                let step = walk.path[depth - 1] as usize;
                let end = if step + 1 < N { first_edge[step + 1] as usize } else { targets.len() };
                if walk.next[step] as usize == end {
                    walk.state[step] = if walk.state[step] == TOLD_OF { TOLD_OF } else { DONE };
                    depth -= 1;
                    continue;
                }
                let target = targets[walk.next[step] as usize];
                walk.next[step] += 1;
                if target == NONE {
                    continue;
                }
                if walk.state[target as usize] == NEW {
                    depth = walk.enter(depth, target, first_edge);
                } else if let Some(start) = walk.closes(depth, target) {
                    found = self.tell_cycle(&mut walk, start, depth, found);
                }
            }
            root += 1;
        }
    }

    /// Copies the end of the path, turned so that the step written first comes first.
    const fn tell_cycle(
        &mut self,
        walk: &mut Walk<N>,
        start: usize,
        end: usize,
        found: usize,
    ) -> usize {
        let (mut first, mut at) = (start, start);
        while at < end {
            first = if walk.path[at] < walk.path[first] { at } else { first };
            at += 1;
        }
        let len = end - start;
        let mut told = 0;
        while told < len {
            let step = walk.path[start + (first - start + told) % len];
            self.cycles[found + told] = step;
            walk.state[step as usize] = TOLD_OF;
            told += 1;
        }
        at = start;
        while at < end {
            walk.told_before[at] = walk.told(at);
            at += 1;
        }
        let (step, start, len) = (walk.path[first], found as u32, len as u32);
        self.add(Mistake::Cycle { step, start, len });
        found + told
    }

    /// Finds parameters that the task does not have.
    const fn params(&mut self, task: Judged<'_>) {
        let mut i = 0;
        while i < N {
            let mut j = 0;
            while j < task.steps[i].params.len() {
                let name = task.steps[i].params[j].name.as_bytes();
                let mut k = 0;
                while k < task.params.len() && !same(task.params[k].name.as_bytes(), name) {
                    k += 1;
                }
                if k == task.params.len() {
                    self.add(Mistake::UnknownParam { step: i as u32, param: j as u32 });
                }
                j += 1;
            }
            i += 1;
        }
    }
}

/// A walk in depth over the dependencies, without recursion.
struct Walk<const N: usize> {
    /// Indexed by step.
    state: [u8; N],
    /// Indexed by step: the next edge to follow.
    next: [u32; N],
    /// The steps from the root to here.
    path: [u32; N],
    /// Indexed by step: where it stands in `path`.
    place: [usize; N],
    /// Indexed like `path`: how many steps before this one are in a cycle that was told.
    told_before: [usize; N],
}

/// Not seen yet.
const NEW: u8 = 0;
/// On the path.
const OPEN: u8 = 1;
/// All that it depends on was seen.
const DONE: u8 = 2;
/// In a cycle that was told.
const TOLD_OF: u8 = 3;

#[expect(clippy::indexing_slicing, reason = "every index is a step of the graph")]
impl<const N: usize> Walk<N> {
    const START: Self =
        Self { state: [NEW; N], next: [0; N], path: [NONE; N], place: [0; N], told_before: [0; N] };

    /// Goes to a step that was not seen yet; gives the new depth.
    const fn enter(&mut self, depth: usize, step: u32, first_edge: &[u32]) -> usize {
        let step_index = step as usize;
        if self.state[step_index] != NEW {
            return depth;
        }
        self.told_before[depth] = self.told(depth);
        self.state[step_index] = OPEN;
        self.next[step_index] = first_edge[step_index];
        self.path[depth] = step;
        self.place[step_index] = depth;
        depth + 1
    }

    /// The number of told steps among the first `depth` ones of the path.
    const fn told(&self, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let last = self.path[depth - 1] as usize;
        self.told_before[depth - 1] + (self.state[last] == TOLD_OF) as usize
    }

    /// Where the path to here began a cycle that this edge closes, unless a step of it was told.
    const fn closes(&self, depth: usize, target: u32) -> Option<usize> {
        let start = self.place[target as usize];
        let open = self.state[target as usize] == OPEN;
        if open && self.told(depth) == self.told_before[start] { Some(start) } else { None }
    }
}

/// Compares two names, eight bytes at a turn.
const fn same(mut a: &[u8], mut b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    while let (Some((x, a_rest)), Some((y, b_rest))) =
        (a.split_first_chunk::<8>(), b.split_first_chunk::<8>())
    {
        if u64::from_le_bytes(*x) != u64::from_le_bytes(*y) {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    true
}

/// Counts down to the guilty step: called once for each, in the order of declaration, at the place
/// where it was written.
///
/// # Panics
/// In a constant, with the message, where the step is the guilty one.
#[must_use]
#[track_caller]
#[expect(clippy::panic, reason = "in a constant evaluation this is a compile error")]
pub const fn next(guilty: usize, message: &str) -> usize {
    if guilty == 0 {
        panic!("{}", message);
    }
    guilty - 1
}
