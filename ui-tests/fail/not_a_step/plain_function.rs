use apollo::{step, task};

fn fetch() {}

task! { pub daily { steps: [fetch] } }

fn main() {}
