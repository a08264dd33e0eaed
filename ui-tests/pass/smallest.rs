//! One step, no option.

use apollo::{step, task};

#[step]
fn hello() {}

task! { hello_task { steps: [hello] } }

fn main() {
    assert_eq!(hello_task().name().as_str(), "hello_task");
}
