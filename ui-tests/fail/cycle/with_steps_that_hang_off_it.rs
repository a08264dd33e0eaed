use apollo::{step, task};

#[step]
fn start() {}

#[step(depends_on = [start, c])]
fn b() {}

#[step(depends_on = [b])]
fn c() {}

#[step(depends_on = [c])]
fn after() {}

task! { pub daily { steps: [start, b, c, after] } }

fn main() {}
