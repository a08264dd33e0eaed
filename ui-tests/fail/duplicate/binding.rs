use apollo::step;

mod ingest {
    #[apollo::step]
    pub fn load() {}
}

#[step]
fn load() {}

#[step(depends_on = [load, ingest::load])]
fn join() {}

fn main() {}
