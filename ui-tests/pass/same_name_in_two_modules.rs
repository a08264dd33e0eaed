//! Two functions of one name, told apart by their ids.

use apollo::task;

mod a {
    #[apollo::step]
    pub fn load() -> u32 {
        1
    }
}

mod b {
    #[apollo::step(id = "load_b")]
    pub fn load() -> u32 {
        2
    }

    #[apollo::step(depends_on = [super::a::load, load as own])]
    pub fn join(own: &u32, load: &u32) -> u32 {
        own + load
    }
}

task! { daily { steps: [a::load, b::load, b::join] } }

fn main() {
    let _ = daily();
}
