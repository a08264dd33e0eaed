//! The command line: what every program that is made by [`main!`](crate::main) can be told.
//!
//! It is not the library: nothing above this folder prints, asks the environment or handles a
//! signal.
//!
//! **Invariant:** a file uses only files above it in the list below: what all need comes first,
//! then the reading of the command line, then one file a command, and `command` last, which chooses
//! among them.

#[cfg(test)]
mod sample;
mod text;
pub mod exit;
mod output;
mod environment;
mod parameters;
mod grammar;
mod args;
mod narrator;
mod signals;
mod unfinished;
mod plan;
mod run;
mod find;
mod list;
mod inspect;
mod graph;
mod check;
mod verify;
mod repair;
mod command;

pub use command::command_line;
