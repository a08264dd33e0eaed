use apollo::{step, task};

type Fallible<T> = Result<T, String>;

#[step]
async fn fetch() -> Fallible<u8> {
    Err("lost".to_owned())
}

task! { pub daily { steps: [fetch] } }

fn main() {}
