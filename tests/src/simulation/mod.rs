//! The simulation: the production engine on a simulated disk and clock, with faults, and an oracle
//! that knows what has to hold.
//!
//! It is not a model: what runs here is what users run, parallel steps included. What is simulated
//! is the disk, the time, and the world outside.

mod act;
mod check;
mod clock;
mod damage;
mod draw;
mod enumeration;
mod expected;
mod gate;
mod mishap;
mod oracle;
mod paths;
mod process;
mod scenario;
mod story;
mod tasks;
mod trial;
mod universe;
mod watch;
mod world;

pub use check::{Check, Violation};
pub use draw::Draw;
pub use enumeration::{every_operation, every_recovery, every_room};
pub use expected::Expected;
pub use mishap::{FAULTS, Mishap};
pub use oracle::Outcome;
pub use scenario::{SCENARIOS, Scenario};
pub use story::Story;
pub use trial::{Failure, Trial};
pub use universe::{End, Ended, Universe};
