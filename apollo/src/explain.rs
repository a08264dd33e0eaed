//! The text that tells a task's mistakes, written by the compiler itself.
//!
//! It is not for mistakes of tokens: `apollo-macros` tells those.
//!
//! **Invariant:** the text depends on names alone, never on a path of the machine.

use crate::check::{Judged, Judgement, Mistake, TOLD};
use crate::step::StepInfo;
use crate::suggest::near;

/// The longest text, in bytes.
const LONGEST: usize = 4096;

/// The text that tells a task's mistakes.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    bytes: [u8; LONGEST],
    len: usize,
}

#[expect(
    clippy::indexing_slicing,
    reason = "a constant evaluation has no iterators; an index out \
    of bounds would be a compile error"
)]
impl Message {
    /// Writes the message of a judgement; empty where there is no mistake.
    #[must_use]
    pub const fn of<const N: usize>(task: Judged<'_>, judgement: &Judgement<N>) -> Self {
        let mut message = Self { bytes: [0; LONGEST], len: 0 };
        let mut mistakes = judgement.mistakes();
        while let [mistake, rest @ ..] = mistakes {
            if message.len > 0 {
                message.push("\n");
            }
            message.push_all(&["task `", task.task, "`: "]);
            message.tell(task, judgement, *mistake);
            mistakes = rest;
        }
        if judgement.count() > TOLD {
            message.push("\nand more: these are the first");
        }
        message
    }

    /// The text.
    #[must_use]
    pub const fn text(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the graph of this task is wrong",
        }
    }

    const fn tell<const N: usize>(
        &mut self,
        task: Judged<'_>,
        judgement: &Judgement<N>,
        mistake: Mistake,
    ) {
        match mistake {
            Mistake::Empty => self.push("it has no steps\nhelp: name at least one in `steps`"),
            Mistake::Repeated { step } => {
                let id = task.steps[step as usize].this.id;
                self.push_all(&["step `", id, "` is listed twice\nhelp: remove one of the two"]);
            }
            Mistake::SameId { step, first } => {
                let (step, first) = (task.steps[step as usize], task.steps[first as usize]);
                self.push_all(&["two steps have the id `", step.this.id, "`: `", first.path]);
                self.push_all(&["` and `", step.path]);
                self.push("`\nhelp: give one of them another: `#[step(id = \"..\")]`");
            }
            Mistake::Missing { step, dependency } => {
                let step = task.steps[step as usize];
                let missing = step.depends_on[dependency as usize].step.id;
                self.push_all(&["step `", step.this.id, "` depends on `", missing]);
                self.push_all(&["`, which is not in `steps`\nhelp: add `", missing]);
                self.push_all(&["` to `steps`, or remove it from the `depends_on` of `"]);
                self.push_all(&[step.this.id, "`"]);
            }
            Mistake::Twice { step, dependency } => {
                let step = task.steps[step as usize];
                let dependency = step.depends_on[dependency as usize].step.id;
                self.push_all(&["step `", step.this.id, "` depends on `", dependency, "` twice"]);
                self.push("\nhelp: two paths lead to one step; remove one of the two");
            }
            Mistake::Cycle { start, len, .. } => self.tell_cycle(task, judgement.cycle(start, len)),
            Mistake::UnknownParam { step, param } => {
                let step = task.steps[step as usize];
                self.tell_param(task, step, step.params[param as usize].name);
            }
        }
    }

    const fn tell_cycle(&mut self, task: Judged<'_>, cycle: &[u32]) {
        self.push("dependency cycle: ");
        let mut at = 0;
        while at < cycle.len() {
            // A cycle of a thousand steps is told by its ends.
            if at == 16 && cycle.len() > 24 {
                self.push(".. -> ");
                at = cycle.len() - 4;
            }
            self.push_all(&[task.steps[cycle[at] as usize].this.id, " -> "]);
            at += 1;
        }
        self.push(task.steps[cycle[0] as usize].this.id);
        self.push("\nhelp: each depends on the next; remove one of these from `depends_on`");
    }

    const fn tell_param(&mut self, task: Judged<'_>, step: &StepInfo, name: &str) {
        self.push_all(&["step `", step.this.id, "` takes the parameter `", name]);
        self.push("`, which is not in `params`");
        let (mut best, mut at) = (usize::MAX, 0);
        let mut meant = "";
        while at < task.params.len() {
            if let Some(distance) = near(name, task.params[at].name)
                && distance < best
            {
                (best, meant) = (distance, task.params[at].name);
            }
            at += 1;
        }
        if meant.is_empty() {
            self.push_all(&["\nhelp: add `", name, ": ..` to `params`"]);
        } else {
            self.push_all(&["\nhelp: did you mean `", meant, "`?"]);
        }
    }

    const fn push_all(&mut self, mut texts: &[&str]) {
        while let [text, rest @ ..] = texts {
            self.push(text);
            texts = rest;
        }
    }

    /// Appends a text; cuts at the end of the buffer, where a letter of several bytes is dropped
    /// by [`Message::text`]'s check.
    const fn push(&mut self, text: &str) {
        let mut bytes = text.as_bytes();
        while let [byte, rest @ ..] = bytes
            && self.len < LONGEST
        {
            self.bytes[self.len] = *byte;
            self.len += 1;
            bytes = rest;
        }
    }
}
