//! The planted faults fit into the sources as they are: who changes a protocol changes its mutants.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use apollo_tests::mutants::{Judge, Mutant};

#[test]
fn each_changes_what_stands_in_the_sources_once() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut mistakes = Vec::new();
    for mutant in Mutant::all().unwrap() {
        let mut sources = BTreeMap::new();
        for change in &mutant.changes {
            let read = || fs::read_to_string(workspace.join(&change.file)).unwrap_or_default();
            let source = sources.entry(&change.file).or_insert_with(read);
            match change.applied(source) {
                Ok(changed) => *source = changed,
                Err(mistake) => mistakes.push(format!("{}: {mistake}", mutant.name)),
            }
        }
    }
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

#[test]
fn there_are_enough_of_them_and_no_two_are_the_same() {
    let mutants = Mutant::all().unwrap();
    assert!(mutants.len() >= 40, "{}", mutants.len());
    let mut seen = BTreeMap::new();
    for mutant in &mutants {
        let before = seen.insert(format!("{:?}", mutant.changes), &mutant.name);
        assert_eq!(before, None, "{} is the same", mutant.name);
    }
    let of_tests = mutants.iter().filter(|mutant| mutant.judge != Judge::Simulation).count();
    assert!(of_tests * 2 < mutants.len(), "the simulation judges most of them, not {of_tests}");
}

#[test]
fn a_mutant_is_read_from_its_text_or_refused() {
    let change = "file: a.rs\n@@\n kept\n-gone\n+new\n";
    let mutant = Mutant::parse("x", &format!("It matters.\n\n{change}")).unwrap();
    assert_eq!((mutant.why.as_str(), &mutant.judge), ("It matters.", &Judge::Simulation));
    let applied = |source: &str| mutant.changes[0].applied(source);
    assert_eq!(applied("a\nkept\ngone\nb\n").unwrap(), "a\nkept\nnew\nb\n");
    assert!(applied("not kept\ngone\n").is_err(), "whole lines");
    assert!(applied("kept\ngone\nkept\ngone\n").is_err(), "once");
    let judged = format!("It matters.\njudge: cargo test -p a x\n{change}");
    let judge = Mutant::parse("x", &judged).unwrap().judge;
    assert_eq!(judge, Judge::Tests("test -p a x".to_owned()));
    for (text, why) in [
        (change, "why it matters"),
        ("It matters.\nfile: a.rs\n", "changes nothing"),
        ("It matters.\n@@\n-a\n", "before the name of its file"),
        ("It matters.\nfile: a.rs\n@@\n kept\n", "changes nothing"),
        ("It matters.\nfile: a.rs\n@@\nkept\n", "begins with"),
    ] {
        let refused = Mutant::parse("x", text).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}
