//! A value is taken as what it lends, so that clippy has nothing to say.

#![deny(clippy::ptr_arg)]

use std::path::{Path, PathBuf};

use apollo::{step, task};

#[step]
fn text(#[param] day: &str) -> String {
    day.to_owned()
}

#[step(optional)]
fn list() -> Vec<u8> {
    vec![1]
}

#[step(depends_on = [text])]
fn file(text: &str) -> PathBuf {
    PathBuf::from(text)
}

#[step(depends_on = [text, list, file])]
fn all(text: &str, list: Option<&[u8]>, file: &Path) -> usize {
    text.len() + list.map_or(0, <[u8]>::len) + file.as_os_str().len()
}

task! { daily { params: { day: String }, steps: [text, list, file, all] } }

fn main() {
    let _ = daily();
}
