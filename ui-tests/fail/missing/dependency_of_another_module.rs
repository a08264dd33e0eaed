use apollo::task;

mod ingest {
    #[apollo::step]
    pub fn fetch() {}

    #[apollo::step(depends_on = [fetch])]
    pub fn validate() {}
}

task! { pub daily { steps: [ingest::validate] } }

fn main() {}
