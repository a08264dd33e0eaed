use apollo::task;
use apollo_ui_tests::good;

task! { pub daily { params: { day: String }, steps: [good::with_date] } }

fn main() {}
