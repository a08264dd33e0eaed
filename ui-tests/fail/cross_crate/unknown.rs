use apollo::task;
use apollo_ui_tests::good;

task! { pub daily { steps: [good::fecth] } }

fn main() {}
