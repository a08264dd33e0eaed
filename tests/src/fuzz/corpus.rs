//! The corpus: inputs that lead a target to places of its own, kept beside it, and what chance makes
//! of them.
//!
//! It is not a fuzzer: chance does not learn here which inputs lead somewhere new.

use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;

/// The inputs that are kept for a target, with their names, in the order of these.
///
/// # Panics
/// When they can't be read.
pub fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder(target)).expect("a folder for each target");
    let mut inputs: Vec<_> = entries
        .map(|entry| {
            let entry = entry.expect("a file");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a readable input"))
        })
        .collect();
    inputs.sort();
    inputs
}

/// Where the inputs of a target are kept.
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}

/// An input that chance makes of two others: a few places of the first changed, cut out, said twice
/// or taken from the second.
pub fn mutated(input: &[u8], other: &[u8], chance: &mut Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..chance.usize(1..=4) {
        let (at, end) = range(&bytes, chance);
        match chance.u8(0..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << chance.u8(0..8),
            1 if at < bytes.len() => bytes[at] = chance.u8(..),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let twice = bytes[at..end].to_vec();
                bytes.splice(at..at, twice);
            }
            4 => bytes.truncate(end),
            _ => {
                let (from, to) = range(other, chance);
                bytes.splice(at..end, other[from..to].iter().copied());
            }
        }
    }
    bytes
}

/// A range of bytes, more often a short one.
fn range(bytes: &[u8], chance: &mut Rng) -> (usize, usize) {
    let at = chance.usize(..=bytes.len());
    let most = (bytes.len() - at).min(1 << chance.u8(0..12));
    (at, at + chance.usize(..=most))
}
