//! The production engine on a simulated disk: every operation killed, failed and cut, and seeds.

use apollo_tests::simulation::{Expected, FAULTS, Mishap, SCENARIOS, Trial};

#[test]
fn first() {
    for scenario in SCENARIOS {
        let began = std::time::Instant::now();
        let expected = Expected::of(scenario).unwrap_or_else(|failure| panic!("{failure}"));
        println!("{}: {} operations", scenario.name, expected.operations);
        let mut runs = 0;
        for (_, fault) in FAULTS {
            for at in 1..=expected.operations {
                for mishap in [Mishap::at(fault, at), Mishap::at(fault, at).and_cut()] {
                    let trial = Trial { scenario, seed: 0, history: vec![mishap] };
                    trial.run(&expected).unwrap_or_else(|failure| panic!("{failure}"));
                    runs += 1;
                }
            }
        }
        println!("   {runs} in {:?}", began.elapsed());
    }
}
