//! The behaviour of Apollo: a file for each, all in this one binary.

mod artifacts;
mod batch;
mod cancel;
mod changed_graph;
mod cli;
mod crash;
mod everywhere;
mod examples;
mod format_compat;
mod format_doc;
mod fuzz;
mod lock;
mod model;
mod mutants;
mod once;
mod optional;
mod params;
mod readme;
mod reliability;
mod repair;
mod resume;
mod retry;
mod simulation;
mod snapshot;
mod storm;
mod sync_count;
mod tail;
mod tidy;
mod torn_tail;
mod verify;

#[test]
fn every_file_beside_this_one_is_a_module_of_it() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let main = std::fs::read_to_string(here.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs")
            && !["main", "build"].contains(&module)
        {
            assert!(main.contains(&format!("mod {module};")), "{name} is in no test binary");
        }
    }
}
