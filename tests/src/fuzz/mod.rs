//! Fuzz targets: each takes any bytes, makes of them what it needs, and panics where a promise does
//! not hold. The program `fuzz` gives them to libFuzzer; a test gives them the corpus, and what
//! chance makes of it.
//!
//! They are not tests of examples: a target knows a rule, or a second and slower way to the same
//! answer, and no expected values.

pub mod corpus;
mod log;
mod message;
mod name;
mod record;
mod reference;
mod snapshot;

/// Takes any bytes, and panics where a promise does not hold.
pub type Check = fn(&[u8]);

/// Every target, by the name of its folder in the corpus.
pub const TARGETS: [(&str, Check); 5] = [
    ("log", log::check),
    ("message", message::check),
    ("name", name::check),
    ("record", record::check),
    ("snapshot", snapshot::check),
];
