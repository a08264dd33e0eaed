//! Storms: a pipeline's real process is raced, killed, failed from outside and cut off the power,
//! and the plain command has to finish its work.
//!
//! They are long where they are run by the program `storm`, and bounded in the tests. A storm
//! panics at the first promise that is broken, and says how to meet it again.

pub mod inject;
pub mod judged;
pub mod kill;
pub mod machine;
pub mod power;
pub mod race;
pub mod repeat;
pub mod undisturbed;
