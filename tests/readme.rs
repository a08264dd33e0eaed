//! README.md is true where a program can tell: its code is the example's, its tables are the
//! program's.

use std::fs;
use std::path::Path;
use std::process::Command;

use apollo_tests::child::{example, output, said};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    fs::read_to_string(path).expect("a file of the repository")
}

/// The first words of a table's rows, without their backticks.
fn rows(document: &str, head: &str) -> Vec<String> {
    let table = document.split(head).nth(1).expect("the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').nth(1).unwrap().trim().replace('`', "")).collect()
}

#[test]
fn the_code_is_the_example_without_its_imports() {
    let readme = read("README.md");
    let code = readme.split("```rust,ignore\n").nth(1).and_then(|rest| rest.split("```").next());
    let code = code.expect("a fence of code");
    let example = read("examples/daily_pipeline.rs");
    assert!(example.ends_with(code), "README.md shows another daily_pipeline than the example");
    let left_out = example.strip_suffix(code).unwrap();
    let import =
        |line: &str| line.is_empty() || line.starts_with("//!") || line.starts_with("use ");
    assert!(left_out.lines().all(import), "only imports are left out:\n{left_out}");
}

#[test]
fn the_exit_codes_are_those_of_the_crate() {
    use apollo::exit;
    let codes = [
        exit::SUCCESS,
        exit::FAILED,
        exit::USAGE,
        exit::REFUSED,
        exit::LOCKED,
        exit::STORAGE,
        exit::INTERRUPTED,
        exit::TERMINATED,
    ];
    let codes: Vec<_> = codes.iter().map(u8::to_string).collect();
    assert_eq!(rows(&read("README.md"), "| code | meaning |").join(", "), codes.join(", "));
}

#[test]
fn the_commands_and_options_are_those_of_a_program() {
    let program = example("daily_pipeline");
    let help = |args: &[&str]| said(&output(Command::new(&program).args(args)));
    let (commands, run) = (help(&["--help"]), help(&["run", "--help"]));
    let readme = read("README.md");
    for row in rows(&readme, "| command | what it does |") {
        for command in row.split(", ") {
            let name = command.split(' ').next().unwrap();
            assert!(commands.contains(&format!("\n  {name} ")), "no command {name}\n{commands}");
        }
    }
    for row in rows(&readme, "| option | what it does |") {
        let Some(option) = row.split(' ').find(|word| word.starts_with("--")) else { continue };
        assert!(run.contains(&format!("{option} ")) || run.contains(&format!("{option}\n")));
    }
    let shown = run.split_whitespace().filter(|word| word.starts_with("--") && *word != "--help");
    for option in shown {
        assert!(readme.contains(option), "README.md does not have {option}");
    }
}
