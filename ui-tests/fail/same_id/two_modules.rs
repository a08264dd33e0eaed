use apollo::task;

mod a {
    #[apollo::step]
    pub fn load() {}
}

mod b {
    #[apollo::step]
    pub fn load() {}
}

task! { pub daily { steps: [a::load, b::load] } }

fn main() {}
