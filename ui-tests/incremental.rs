//! What `cargo check` alone finds in a workspace of two crates, after an edit of one of them; what
//! a crate that has "test" in its name may do; what a build without a feature says.
//!
//! The packages are made in a temporary folder, with the lock file of this workspace and a target
//! folder that is kept, so that only they are compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const GRAPH: &str = "
    #[apollo::step]
    pub fn fetch() {}

    #[apollo::step(depends_on = [fetch])]
    pub fn validate() {}
";

const TASK: &str = "apollo::task! { pub daily { steps: [steps::fetch, steps::validate] } }";

/// A workspace in a temporary folder: a library of steps, and a crate with a task of them.
struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    /// `name` is that of the crate with the task; no two tests share one, because cargo tells
    /// packages apart by where they are in their workspace.
    fn new(name: &str) -> Self {
        let workspace = Self { folder: tempfile::tempdir().unwrap() };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let members = format!("[workspace]\nresolver = \"3\"\nmembers = [\"steps\", {name:?}]\n");
        workspace.write("Cargo.toml", &members);
        fs::copy(root.join("Cargo.lock"), workspace.path("Cargo.lock")).unwrap();
        let apollo = root.join("apollo");
        let package = |folder: &str, name: &str, more: &str| {
            let text = format!(
                "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
                 [dependencies.apollo]\npath = {apollo:?}\ndefault-features = false\n\
                 features = [\"macros\"]\n\n{more}"
            );
            workspace.write(&format!("{folder}/Cargo.toml"), &text);
        };
        let library = format!("{name}_steps");
        let more = format!("[dependencies.steps]\npath = \"../steps\"\npackage = {library:?}\n");
        package("steps", &library, "");
        package(name, name, &more);
        workspace.write(&format!("{name}/src/lib.rs"), TASK);
        workspace.write("steps/src/lib.rs", GRAPH);
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs a command of cargo; gives what went wrong, in the compiler's words.
    fn cargo(&self, arguments: &[&str]) -> Result<(), String> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two-crates");
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .arg("--offline")
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", target)
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(text) }
    }
}

#[test]
fn an_edit_of_another_crate_is_judged_by_check_alone() {
    let workspace = Workspace::new("pipeline");
    assert_eq!(workspace.cargo(&["check"]), Ok(()));

    let cycle = GRAPH.replacen("#[apollo::step]", "#[apollo::step(depends_on = [validate])]", 1);
    workspace.write("steps/src/lib.rs", &cycle);
    let said = workspace.cargo(&["check"]).unwrap_err();
    assert!(said.contains("task `daily`: dependency cycle: fetch -> validate -> fetch"), "{said}");
    assert!(said.contains("pipeline/src/lib.rs:1:"), "{said}");

    let missing = GRAPH.replace("depends_on = [fetch]", "depends_on = [fetch, extra]");
    workspace
        .write("steps/src/lib.rs", &format!("{missing}\n#[apollo::step]\npub fn extra() {{}}"));
    let said = workspace.cargo(&["check"]).unwrap_err();
    assert!(said.contains("depends on `extra`, which is not in `steps`"), "{said}");

    workspace.write("steps/src/lib.rs", GRAPH);
    assert_eq!(workspace.cargo(&["check"]), Ok(()));
}

#[test]
fn a_crate_with_test_in_its_name_is_as_safe_as_any_other() {
    let workspace = Workspace::new("latest_tests");
    let graph = GRAPH.replace("#[apollo::step]", "#[apollo::step(depends_on = [validate])]");
    workspace.write("steps/src/lib.rs", &graph);
    for command in [&["check"][..], &["check", "--tests"], &["test", "--no-run"]] {
        let said = workspace.cargo(command).unwrap_err();
        assert!(said.contains("dependency cycle: fetch -> validate -> fetch"), "{said}");
    }
}

#[test]
fn an_async_step_names_the_feature_that_it_needs() {
    let workspace = Workspace::new("waiting");
    workspace.write("steps/src/lib.rs", "#[apollo::step]\npub async fn fetch() {}");
    let said = workspace.cargo(&["check", "-p", "waiting_steps"]).unwrap_err();
    assert!(said.contains("async steps need apollo's feature `async`"), "{said}");
    assert!(said.contains("steps/src/lib.rs:2:5"), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
}
