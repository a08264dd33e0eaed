use apollo::{step, task};

struct RawFile;

#[step(depends_on = [RawFile])]
fn validate() {}

task! { pub daily { steps: [validate] } }

fn main() {}
