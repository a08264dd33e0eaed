use apollo::{step, task};

#[step(depends_on = [b])]
fn a() {}

#[step(depends_on = [a])]
fn b() {}

#[step(depends_on = [d])]
fn c() {}

#[step(depends_on = [c])]
fn d() {}

task! { pub daily { steps: [a, b, c, d] } }

fn main() {}
