//! A picture of the graph in the documentation.

#![deny(missing_docs)]

use apollo::{step, task};

#[step]
fn fetch() {}

task! {
    /// A day.
    pub daily {
        graph: include_str!("documented_graph.txt"),
        steps: [fetch],
    }
}

task! {
    pub weekly {
        graph: "fetch",
        steps: [fetch],
    }
}

fn main() {
    let _ = (daily(), weekly());
}
