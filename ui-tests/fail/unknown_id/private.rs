use apollo::task;

mod ingest {
    #[apollo::step]
    fn fetch() {}
}

task! { pub daily { steps: [ingest::fetch] } }

fn main() {}
