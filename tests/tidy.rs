//! The rules of the house that a machine can hold: the total order of the modules, names, lengths,
//! and what a document promises about the tree.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of `apollo`: each imports only what stands before it.
const ORDER: &[&str] = &[
    "id",
    "digest",
    "time",
    "policy",
    "state",
    "params",
    "output",
    "record",
    "suggest",
    "failure",
    "context",
    "step",
    "graph",
    "task",
    "check",
    "explain",
    "receive",
    "returned",
    "replay",
    "scheduler",
    "verdict",
    "opening",
    "inspect",
    "cancel",
    "observer",
    "clock",
    "disk",
    "log",
    "store",
    "options",
    "program",
    "executor",
    "admission",
    "plan",
    "repair",
    "engine",
    "run",
    "testing",
    "cli",
    "entry",
    "__private",
    "lib",
];

/// The modules of `apollo-macros`.
const MACROS_ORDER: &[&str] =
    &["diag", "suggest", "graph", "attr", "paths", "step", "task", "expand", "fallback", "lib"];

/// Names that say nothing about what is inside.
const FORBIDDEN: &[&str] =
    &["util", "utils", "helpers", "common", "misc", "types", "errors", "prelude"];

/// A file may not be longer, without its tests.
const LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Rust file below a folder of the repository.
fn sources(folder: &str) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![root().join(folder)], Vec::new());
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A source without comments and the content of texts, line for line.
fn code(text: &str) -> String {
    let (mut bare, mut rest) = (String::new(), text);
    let blank = |bare: &mut String, gone: &str| {
        bare.extend(gone.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
    };
    while let Some(first) = rest.chars().next() {
        let after_word = bare.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let hashes =
            rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
        let raw = hashes.filter(|n| !after_word && rest[1 + n..].starts_with('"'));
        let gone = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(n) = raw {
            let end = format!("\"{}", "#".repeat(n));
            rest[n + 2..].find(&end).map_or(rest.len(), |at| n + 2 + at + end.len())
        } else if first == '"' {
            let mut escaped = false;
            let closes = rest[1..].find(|letter| {
                let closes = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                closes
            });
            closes.map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\'") {
            3
        } else if let Some(escaped) = rest.strip_prefix("'\\") {
            escaped.find('\'').map_or(1, |at| at + 3)
        } else {
            0
        };
        if gone == 0 {
            bare.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            blank(&mut bare, &rest[..gone]);
            rest = &rest[gone..];
        }
    }
    bare
}

/// The modules that a file declares, in their order.
fn declared(text: &str) -> Vec<String> {
    let named = |line: &str| {
        let line = line.strip_prefix("pub ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    };
    code(text).lines().filter_map(named).collect()
}

/// The path of the module that a file is, below `src`.
fn module(src: &Path, file: &Path) -> Vec<String> {
    let below = file.strip_prefix(src).unwrap().with_extension("");
    let mut path: Vec<String> =
        below.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    path
}

/// The paths that a source names by `crate::` or `super::`, with their lines; each made absolute.
fn imports(text: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let bare = code(text);
    let mut found = Vec::new();
    for word in ["crate::", "super::"] {
        for (at, _) in bare.match_indices(word) {
            let before = &bare[..at];
            if before.ends_with(|last: char| last.is_alphanumeric() || "_$:".contains(last)) {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            let (mut base, mut rest) = (Vec::new(), &bare[at + word.len()..]);
            if word == "super::" {
                let mut ups = 1;
                while let Some(next) = rest.strip_prefix(word) {
                    (ups, rest) = (ups + 1, next);
                }
                base = module[..module.len().saturating_sub(ups)].to_vec();
            }
            for path in tree(rest) {
                found.push((line, [base.clone(), path].concat()));
            }
        }
    }
    found
}

/// The paths of a use tree: `a::{b, c::d}` is two.
fn tree(text: &str) -> Vec<Vec<String>> {
    let text = text.trim_start();
    if let Some(inside) = text.strip_prefix('{') {
        let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
        for (at, letter) in inside.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    parts.push(&inside[start..at]);
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(&inside[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return parts.into_iter().flat_map(tree).collect();
    }
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    if word.is_empty() {
        return Vec::new();
    }
    match rest.strip_prefix("::") {
        Some(rest) => {
            let below = tree(rest);
            if below.is_empty() {
                return vec![vec![word.to_owned()]];
            }
            below.into_iter().map(|path| [vec![word.to_owned()], path].concat()).collect()
        }
        None => vec![vec![word.to_owned()]],
    }
}

/// The modules of a folder in their order: of the crate by `order`, else as its file declares them.
fn order_in(src: &Path, folder: &[String], order: &[&str]) -> Vec<String> {
    if folder.is_empty() {
        return order.iter().map(|name| (*name).to_owned()).collect();
    }
    let path = folder.iter().fold(src.to_owned(), |path, part| path.join(part));
    let texts = [path.join("mod.rs"), path.with_extension("rs")].map(fs::read_to_string);
    texts.into_iter().flatten().next().map(|text| declared(&text)).unwrap_or_default()
}

/// What is wrong with the imports of a crate.
fn order_mistakes(src: &Path, files: &[(PathBuf, String)], order: &[&str]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for (file, text) in files {
        let own = module(src, file);
        for (line, path) in imports(text, &own) {
            let differs = own.iter().zip(&path).position(|(own, other)| own != other);
            let Some(at) = differs else { continue };
            let siblings = order_in(src, &own[..at], order);
            let place = |name: &String| siblings.iter().position(|sibling| sibling == name);
            let shown = file.strip_prefix(src).unwrap().display();
            match (place(&own[at]), place(&path[at])) {
                (Some(mine), Some(other)) if other < mine => {}
                (Some(_), Some(_)) => mistakes.push(format!(
                    "{shown}:{line} imports {}, which stands below {}",
                    path[at], own[at]
                )),
                (None, _) => mistakes.push(format!("{shown}: {} has no place", own[at])),
                // A name that a folder's own file defines.
                (Some(_), None) if at > 0 => {}
                (Some(_), None) => mistakes.push(format!(
                    "{shown}:{line} imports {}, which is no module: name the module",
                    path[at]
                )),
            }
        }
    }
    mistakes.dedup();
    mistakes
}

fn files_of(folder: &str) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        let text = read(&path);
        (path, text)
    };
    sources(folder).into_iter().map(read).collect()
}

#[test]
fn every_import_of_the_runtime_stands_above() {
    let src = root().join("apollo/src");
    let mistakes = order_mistakes(&src, &files_of("apollo/src"), ORDER);
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

#[test]
fn every_import_of_the_macros_stands_above() {
    let src = root().join("apollo-macros/src");
    let mistakes = order_mistakes(&src, &files_of("apollo-macros/src"), MACROS_ORDER);
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

#[test]
fn the_order_is_said_once_and_the_same_everywhere() {
    let architecture = read(&root().join("ARCHITECTURE.md"));
    let said = architecture.split("```order\n").nth(1).unwrap().split("```").next().unwrap();
    let said: Vec<_> = said
        .lines()
        .filter(|line| !line.starts_with("--"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(said, ORDER, "ARCHITECTURE.md and this test");
    let mut built = declared(&read(&root().join("apollo/src/lib.rs")));
    built.push("lib".to_owned());
    assert_eq!(built, ORDER, "apollo/src/lib.rs and this test");
}

#[test]
fn the_order_finds_what_it_is_for() {
    let src = Path::new("/src");
    let check = |file: &str, text: &str, expected: &[&str]| {
        let files = [(src.join(file), text.to_owned())];
        assert_eq!(order_mistakes(src, &files, ORDER), expected, "{text}");
    };
    check("id.rs", "use crate::store::Store;", &["id.rs:1 imports store, which stands below id"]);
    check(
        "run.rs",
        "use crate::{id::RunId, cli};",
        &["run.rs:1 imports cli, which stands below run"],
    );
    check("run.rs", "// crate::cli\nlet x = \"crate::cli\"; use crate::id::RunId;", &[]);
    check(
        "log/x.rs",
        "fn f() { crate::engine::go() }",
        &["log/x.rs:1 imports engine, which stands below log"],
    );
    check(
        "run.rs",
        "use crate::RunId;",
        &["run.rs:1 imports RunId, which is no module: name the module"],
    );
    check("new.rs", "use crate::id::X;", &["new.rs: new has no place"]);
    check("entry.rs", "macro_rules! m { () => { $crate::lib_item } }", &[]);
}

#[test]
fn no_module_has_a_name_that_says_nothing() {
    for folder in ["apollo/src", "apollo-macros/src", "examples", "tests"] {
        for file in sources(folder) {
            let stem = file.file_stem().unwrap().to_str().unwrap();
            assert!(!FORBIDDEN.contains(&stem), "{}", file.display());
        }
    }
}

#[test]
fn no_source_is_too_long_or_has_strange_letters() {
    let mut mistakes = Vec::new();
    for folder in ["apollo/src", "apollo-macros/src", "examples", "tests"] {
        for file in sources(folder) {
            let (text, shown) = (read(&file), file.display());
            let is_test = file.components().any(|part| part.as_os_str() == "tests")
                || file.file_stem().is_some_and(|stem| stem == "tests");
            let product = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = product.lines().count();
            if lines > LINES_MAX && !is_test {
                mistakes
                    .push(format!("{shown} has {lines} lines, at most {LINES_MAX} are allowed"));
            }
            if let Some(line) = text.lines().position(|line| !line.is_ascii()) {
                mistakes.push(format!("{shown}:{} is not ASCII", line + 1));
            }
            if !text.starts_with("//!") && !is_test && folder != "examples" {
                mistakes.push(format!("{shown} does not say what it is"));
            }
        }
    }
    assert!(mistakes.is_empty(), "\n{}", mistakes.join("\n"));
}

/// Every text file that is kept in the repository.
fn kept() -> Vec<PathBuf> {
    let listed = std::process::Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    listed.split('\0').filter(|name| !name.is_empty()).map(|name| root().join(name)).collect()
}

#[test]
fn nothing_names_the_machine_that_it_was_made_on() {
    let machine = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    for file in kept() {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for (line, content) in text.lines().enumerate() {
            let named = machine.iter().find(|path| content.contains(**path));
            assert_eq!(named, None, "{}:{}", file.display(), line + 1);
        }
    }
}

#[test]
fn a_failing_ui_case_makes_one_mistake() {
    let cases = sources("ui-tests");
    for file in cases.iter().filter(|file| file.components().any(|part| part.as_os_str() == "fail"))
    {
        let stderr = file.with_extension("stderr");
        let said = read(&stderr);
        let several = file.components().any(|part| {
            let part = part.as_os_str().to_string_lossy();
            part.contains("several") || part.contains("many") || part.contains("all_at_once")
        });
        let errors = said.lines().filter(|line| line.starts_with("error")).count();
        assert!(errors > 0, "{} says nothing", stderr.display());
        assert!(errors == 1 || several, "{} has {errors} errors", stderr.display());
    }
}

#[test]
fn every_decision_is_in_the_index() {
    let dir = root().join("docs/adr");
    let index = read(&dir.join("README.md"));
    for entry in fs::read_dir(&dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&format!("({name})")), "{name}");
    }
}

#[test]
fn every_link_between_the_documents_leads_somewhere() {
    for file in kept() {
        if file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = read(&file);
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', '#']).next().unwrap();
            let elsewhere = target.is_empty() || target.contains("://") || target.contains(' ');
            let found = file.parent().unwrap().join(target).exists();
            assert!(elsewhere || found, "{} links to {target}", file.display());
        }
    }
}
