use apollo::task;

macro_rules! pair {
    ($a:ident, $b:ident) => {
        #[apollo::step(depends_on = [$b])]
        fn $a() {}

        #[apollo::step(depends_on = [$a])]
        fn $b() {}
    };
}

pair!(chicken, egg);

task! { pub daily { steps: [chicken, egg] } }

fn main() {}
