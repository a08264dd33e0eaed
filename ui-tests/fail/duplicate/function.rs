use apollo::step;

#[step]
fn fetch() {}

#[step]
fn fetch() {}

fn main() {}
