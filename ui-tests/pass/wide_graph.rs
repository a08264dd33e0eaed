//! A step that a thousand steps feed.

use apollo::{step, task};

macro_rules! wide {
    ($($name:ident)*) => {
        $(#[step]
        fn $name() {})*

        #[step(depends_on = [$($name),*])]
        fn last() {}

        task! { daily { steps: [$($name,)* last] } }
    };
}

apollo_ui_tests::thousand!(wide);

fn main() {
    let graph = daily().graph().clone();
    assert_eq!(graph.dependents(apollo::StepIndex(0)).len(), 1);
}
