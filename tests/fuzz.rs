//! The fuzz targets, over the inputs that are kept for them and what chance makes of these: what
//! a fuzzer found once never comes back unseen, also where there is no fuzzer.

use apollo_tests::fuzz::TARGETS;
use apollo_tests::fuzz::corpus::{folder, inputs, mutated};
use fastrand::Rng;

/// How many inputs chance makes for each target.
const MUTATIONS: u64 = 500;

#[test]
fn every_kept_input_passes() {
    for (target, check) in TARGETS {
        for (name, input) in inputs(target) {
            println!("{target}: {name}");
            check(&input);
        }
    }
}

#[test]
fn whatever_chance_makes_of_the_kept_inputs_passes() {
    for (target, check) in TARGETS {
        let kept = inputs(target);
        for seed in 0..MUTATIONS {
            println!("{target}: seed {seed}");
            let mut chance = Rng::with_seed(seed);
            let mut any = || &kept[chance.usize(..kept.len())].1;
            let (input, other) = (any(), any());
            check(&mutated(input, other, &mut chance));
        }
    }
}

#[test]
fn every_folder_of_inputs_is_a_target() {
    let corpus = folder(TARGETS[0].0).parent().unwrap().to_owned();
    let mut folders: Vec<_> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, TARGETS.map(|(target, _)| target));
}
