use apollo::task;

macro_rules! retried {
    ($name:ident, $policy:ident) => {
        #[apollo::step(retry = $policy)]
        fn $name() {}
    };
}

retried!(fetch, sometimes);

task! { pub daily { steps: [fetch] } }

fn main() {}
