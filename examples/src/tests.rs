//! The promises that the examples make about themselves.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn programs() -> Vec<PathBuf> {
    let entries = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        entries.filter(|path| path.extension() == Some("rs".as_ref())).collect();
    found.sort();
    found
}

#[test]
fn every_example_is_short_says_what_it_shows_and_is_declared() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(!programs().is_empty());
    for path in programs() {
        let (stem, text) = (path.file_stem().unwrap(), fs::read_to_string(&path).unwrap());
        let stem = stem.to_str().unwrap();
        assert!(text.lines().count() < 80, "{stem} has 80 lines or more");
        assert!(text.starts_with("//! "), "{stem} does not say what it shows");
        let declared = format!("[[example]]\nname = \"{stem}\"\npath = \"{stem}.rs\"\n");
        assert!(manifest.contains(&declared), "{stem} is not declared in Cargo.toml");
    }
}

#[test]
fn the_readme_shows_the_example_as_it_is() {
    let readme = fs::read_to_string(root().join("../README.md")).unwrap();
    let example = fs::read_to_string(root().join("daily_pipeline.rs")).unwrap();
    let shown = readme.split("```rust,ignore\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(shown.contains("task!"));
    assert!(example.ends_with(shown), "the code in README.md differs from daily_pipeline.rs");
}
