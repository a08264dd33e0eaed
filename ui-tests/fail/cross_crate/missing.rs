use apollo::task;
use apollo_ui_tests::good;

task! { pub daily { steps: [good::validate] } }

fn main() {}
