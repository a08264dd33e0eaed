//! Planted faults: deliberate breaks of the protocol, each of which the suite has to notice.
//!
//! They are no switches: the product knows nothing of them. Each is a change of its sources, made in
//! a copy of the workspace, built and judged there.
//!
//! A mutant is a file in `tests/mutants`, called as what is broken:
//!
//! ```text
//! What a sync failed to bring to the disk is missing in the middle of the log after a power cut.
//!
//! file: apollo/src/log/seal.rs
//! @@
//!          let mut again = Vec::new();
//! -        while from_bytes < scan.end_bytes {
//! +        while false {
//! ```
//!
//! First comes why it matters. `file:` names the source that the changes below it are made in, and
//! each `@@` begins one. Its lines are those of a diff: kept, taken out, put in. What it keeps and
//! takes out, whole lines, stands in the file exactly once: as much of it as that needs, and no more.
//!
//! The simulation judges it. What a simulated disk can't show by its nature, such as what the
//! system makes of a call, other tests judge: `judge: cargo test ..` names them.

mod mutant;
mod workshop;

pub use mutant::{Change, Judge, Mutant};
pub use workshop::{Verdict, Workshop};
