//! What a step can return.

use std::collections::BTreeMap;

use apollo::{step, task};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Table<T> {
    rows: Vec<T>,
}

#[step]
fn nothing() {}

#[step]
fn unit() -> () {}

#[step]
fn tuple() -> (u8, String) {
    (1, String::new())
}

#[step]
fn map() -> Result<BTreeMap<String, Vec<(u8, f64)>>, String> {
    Ok(BTreeMap::new())
}

#[step]
fn generic() -> Table<Option<[u8; 4]>> {
    Table { rows: Vec::new() }
}

#[step]
fn option() -> Option<u8> {
    None
}

#[step(depends_on = [nothing, unit, tuple, map, generic, option])]
fn all(
    tuple: &(u8, String),
    map: &BTreeMap<String, Vec<(u8, f64)>>,
    generic: &Table<Option<[u8; 4]>>,
    nothing: &(),
) -> usize {
    let () = nothing;
    usize::from(tuple.0) + map.len() + generic.rows.len()
}

task! { daily { steps: [nothing, unit, tuple, map, generic, option, all] } }

fn main() {
    let _ = daily();
}
