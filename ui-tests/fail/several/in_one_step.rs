use apollo::{step, task};

#[step(retyr = fixed, timeout = "soon", depends_on = ["fetch"], version = 0)]
async fn validate() {}

task! { pub daily { steps: [validate] } }

fn main() {}
