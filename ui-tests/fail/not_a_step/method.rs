use apollo::step;

struct Store;

impl Store {
    #[step]
    fn fetch(&self) {}
}

fn main() {}
