//! The rules that the cases themselves keep.

use std::fs;
use std::path::{Path, PathBuf};

const FAMILIES: [&str; 20] = [
    "alias_of_result",
    "attribute",
    "cfg",
    "cross_crate",
    "cycle",
    "duplicate",
    "error",
    "generic",
    "macro_made",
    "missing",
    "not_a_step",
    "optional",
    "output",
    "param",
    "same_id",
    "several",
    "scale",
    "types",
    "unknown_id",
    "value",
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.collect();
    files.sort();
    files
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let found = files(&folder);
    let names: Vec<_> =
        found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    let mut families = FAMILIES;
    families.sort_unstable();
    assert_eq!(names, families, "the families of `fail/`");
    found.iter().flat_map(|family| files(family)).collect()
}

#[test]
fn every_case_is_short_and_has_its_text() {
    for case in cases() {
        let other = if case.extension().unwrap() == "rs" { "stderr" } else { "rs" };
        assert!(case.with_extension(other).exists(), "{} has no .{other}", case.display());
        let text = fs::read_to_string(&case).unwrap();
        if other == "stderr" {
            assert!(text.lines().count() <= 25, "{} is too long", case.display());
        }
    }
}

#[test]
fn one_mistake_is_one_error() {
    for case in cases().iter().filter(|case| case.extension().unwrap() == "stderr") {
        let text = fs::read_to_string(case).unwrap();
        let errors = text.lines().filter(|line| line.starts_with("error")).count();
        let several = case.parent().unwrap().ends_with("several");
        assert!(errors == 1 || several, "{} has {errors} errors", case.display());
        assert!(!text.contains("$RUST"), "{} depends on the sources of std", case.display());
        assert!(!text.contains("panicked at"), "{} names our own sources", case.display());
    }
}
