//! Steps and tasks made by `macro_rules!`, with every kind of fragment.

use apollo::{step, task};

macro_rules! loaders {
    ($($name:ident: $ty:ty = $value:expr),* $(,)?) => {
        $(#[step(depends_on = [], retry(fixed, max = 2, delay = "1s"))]
        fn $name() -> $ty {
            $value
        })*
    };
}

macro_rules! after {
    ($name:ident, $dependency:path, $ty:ty, $id:literal, $delay:literal) => {
        #[step(depends_on = [$dependency], id = $id, retry(exponential, delay = $delay))]
        fn $name(input: &$ty) -> Result<$ty, String> {
            Ok(input.clone())
        }
    };
}

macro_rules! all {
    ($task:ident: $($step:path),*) => {
        task! { $task { steps: [$($step),*] } }
    };
}

loaders! { load_a: u32 = 1, load_b: Vec<String> = Vec::new() }
after!(copy_b, load_b, Vec<String>, "copy-of-b", "3s");
all!(daily: load_a, load_b, copy_b);

fn main() {
    assert!(daily().graph().index_of("copy-of-b").is_some());
}
