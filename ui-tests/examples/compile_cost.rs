//! What steps cost the compiler: `cargo check` of 10, 100, 1,000 and 4,096 steps with three
//! dependencies each, against the same functions without the macros.
//!
//! ```text
//! cargo run -p apollo-ui-tests --release --example compile_cost [NUMBER OF STEPS]..
//! ```
//!
//! It is not a test: the times are those of the machine. Each is the least of three runs, in
//! seconds, of the crate alone; what it depends on is compiled before.

#![expect(
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, writes its own files and runs cargo"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The dependencies of a step: those before it, at growing distances.
fn dependencies(step: usize) -> Vec<usize> {
    [1, 2, 5].into_iter().filter_map(|distance| step.checked_sub(distance)).collect()
}

/// A program of functions; with the macros, or the same without.
fn program(steps: usize, with_macros: bool) -> String {
    let mut text =
        String::from("#![allow(dead_code, unused_imports)]\nuse apollo::{step, task};\n");
    for step in 0..steps {
        let before = dependencies(step);
        let names: Vec<_> = before.iter().map(|one| format!("step_{one}")).collect();
        let inputs: Vec<_> = names.iter().map(|name| format!("{name}: &u64")).collect();
        if with_macros {
            let _ = writeln!(text, "#[step(depends_on = [{}], retry = fixed)]", names.join(", "));
        }
        let sum: Vec<_> = names.iter().map(|name| format!("*{name}")).collect();
        let sum = if sum.is_empty() { "0".to_owned() } else { sum.join(" + ") };
        let _ = writeln!(
            text,
            "fn step_{step}({}) -> Result<u64, String> {{\n    let sum = {sum};\n    \
             let text = sum.to_string();\n    \
             if text.len() > 19 {{ return Err(format!(\"{{text}} is too long\")); }}\n    \
             Ok(sum % 1_000 + {step})\n}}",
            inputs.join(", ")
        );
    }
    if with_macros {
        let names: Vec<_> = (0..steps).map(|step| format!("step_{step}")).collect();
        let _ = writeln!(text, "task! {{ pub all {{ steps: [{}] }} }}", names.join(", "));
    }
    text
}

/// The least time of three checks.
fn measure(folder: &Path, text: &str) -> Duration {
    let mut least = Duration::MAX;
    for run in 0..3 {
        fs::write(folder.join("src/lib.rs"), format!("{text}// {run}\n"))
            .expect("a temporary file");
        let start = Instant::now();
        let status = Command::new(env!("CARGO"))
            .args(["check", "--quiet", "--offline"])
            .current_dir(folder)
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTFLAGS")
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the program does not compile");
        least = least.min(start.elapsed());
    }
    least
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let manifest = format!(
        "[package]\nname = \"cost\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies.apollo]\npath = {:?}\ndefault-features = false\nfeatures = [\"macros\"]\n",
        root.join("apollo")
    );
    fs::create_dir_all(folder.path().join("src")).expect("a temporary folder");
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("a temporary file");
    fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock")).expect("the lock file");
    let mut sizes: Vec<usize> =
        std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![10, 100, 1_000, 4_096];
    }
    measure(folder.path(), "");
    println!("| steps | plain | apollo | ratio | a step |");
    println!("| --- | --- | --- | --- | --- |");
    for size in sizes {
        let plain = measure(folder.path(), &program(size, false)).as_secs_f64();
        let apollo = measure(folder.path(), &program(size, true)).as_secs_f64();
        let step_ms =
            (apollo - plain) * 1_000.0 / f64::from(u32::try_from(size).unwrap_or(u32::MAX));
        println!(
            "| {size} | {plain:.2} s | {apollo:.2} s | {:.1} | {step_ms:.2} ms |",
            apollo / plain
        );
    }
}
