//! The command line: what every program that is made by [`main!`](crate::main) can be told.
//!
//! It is not the library: nothing above this folder prints, asks the environment or handles a
//! signal.
//!
//! Order, each file above those that use it: `exit` and what it needs of `text`, `output`,
//! `environment`, `parameters`, `grammar`, `args`; `narrator`, `signals`, `find`; then one file a
//! command; `command` last, which chooses among them.

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
mod command;
#[cfg(test)]
mod sample;

pub use command::command_line;
