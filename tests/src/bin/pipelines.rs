//! The pipelines of the tests as a program.

use apollo_tests::pipelines::crashing::crashing;
use apollo_tests::pipelines::scripted::{cleaning, diamond, mixed, patience, row};
use apollo_tests::pipelines::small::{long_message, params};

apollo::main!(crashing, diamond, row, patience, cleaning, mixed, params, long_message);
