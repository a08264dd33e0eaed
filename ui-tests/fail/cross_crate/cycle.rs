use apollo::task;
use apollo_ui_tests::wrong;

task! { pub daily { steps: [wrong::chicken, wrong::egg] } }

fn main() {}
