//! Names that are keywords.

use apollo::{step, task};

#[step]
fn r#type() -> u32 {
    1
}

#[step(depends_on = [r#type])]
fn r#match(r#type: &u32) -> u32 {
    *r#type
}

#[step(depends_on = [r#match as r#loop])]
fn r#async(#[param] r#in: &String, r#loop: &u32) -> usize {
    r#in.len() + *r#loop as usize
}

task! { r#final { params: { r#in: String }, steps: [r#type, r#match, r#async] } }

fn main() {
    let task = r#final();
    assert_eq!(task.name().as_str(), "final");
    assert!(task.graph().index_of("type").is_some());
}
