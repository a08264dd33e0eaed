use apollo::step;

#[step]
pub struct RawFile;

fn main() {}
