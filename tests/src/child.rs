//! Child processes: the pipelines of the tests, started as a person would start them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The longest that anything here may take; reaching it is a failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A command of the program `pipelines`, with its Apollo directory below `dir`, in which it works.
pub fn pipelines(program: &str, dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(dir)
        .env("APOLLO_DIR", dir.join(".apollo"))
        .env("NO_COLOR", "1")
        .env_remove("APOLLO_CRASH_AT")
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
///
/// # Panics
/// When it can't be started.
pub fn output(command: &mut Command) -> Output {
    command.output().expect("a program that starts")
}

/// What a process said, both streams together.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Asks again and again until an answer comes.
///
/// # Panics
/// When none has come after a minute.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "waited a minute until {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Kills a process and takes its end.
///
/// # Panics
/// When it can't be waited for.
pub fn kill(mut child: Child) {
    drop(child.kill());
    child.wait().expect("a child that ends");
}

/// Whether a tool of the system is there.
pub fn has_tool(name: &str) -> bool {
    let asked = Command::new(name).arg("--version").output();
    asked.is_ok_and(|output| output.status.success())
}

/// An example of the workspace, built where it is missing.
///
/// # Panics
/// When it can't be built.
pub fn example(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let dir = BUILT.get_or_init(|| {
        let exe = std::env::current_exe().expect("a test knows its own file");
        let profile = exe.parent().and_then(Path::parent).expect("target/debug/deps");
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        // Up to date is the usual case: then this only looks.
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "apollo-examples", "--examples", "--manifest-path"]);
        cargo.arg(manifest).env("CARGO_TARGET_DIR", profile.parent().expect("target"));
        let built = cargo.output().expect("cargo starts");
        assert!(built.status.success(), "{}", said(&built));
        profile.join("examples")
    });
    dir.join(name)
}
