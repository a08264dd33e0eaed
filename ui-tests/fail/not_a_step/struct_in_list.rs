use apollo::task;

struct RawFile;

task! { pub daily { steps: [RawFile] } }

fn main() {}
