use apollo::step;

#[step]
fn fetch();

fn main() {}
