use apollo::task;
use apollo_ui_tests::good;

task! { pub daily { steps: [good::fetch, apollo_ui_tests::again] } }

fn main() {}
