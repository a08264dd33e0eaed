use apollo::{step, task};

mod ingest {
    #[apollo::step]
    pub fn fetch() {}
}

#[step(depends_on = [ingest::fecth])]
fn validate() {}

task! { pub daily { steps: [ingest::fetch, validate] } }

fn main() {}
