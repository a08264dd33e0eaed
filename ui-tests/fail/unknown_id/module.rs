use apollo::task;

mod ingest {
    #[apollo::step]
    pub fn fetch() {}
}

task! { pub daily { steps: [ingset::fetch] } }

fn main() {}
