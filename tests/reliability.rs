//! docs/reliability.md is true where a program can tell: the tests that it names exist.

use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// The source that a name's front stands for: `x` a behaviour, `apollo/x` a file of the runtime.
fn source(front: &str) -> String {
    let path = match front.split_once('/') {
        Some((member, file)) => root().join(member).join("src").join(format!("{file}.rs")),
        None => root().join("tests").join(format!("{front}.rs")),
    };
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_test_that_the_document_names_exists() {
    let document = fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let rows = document.lines().filter(|line| line.starts_with("| ") && line.contains("::"));
    let names = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let mut named = 0;
    for name in names.filter(|name| name.contains("::") && !name.starts_with("apollo::")) {
        let (front, test) = name.rsplit_once("::").unwrap();
        let source = source(front);
        let written = format!("fn {test}(");
        let at = source.find(&written).unwrap_or_else(|| panic!("no `{name}`"));
        let before = source[..at].trim_end();
        assert!(before.ends_with("#[test]"), "`{name}` is no test");
        named += 1;
    }
    assert!(named > 30, "the document names {named} tests");
}
