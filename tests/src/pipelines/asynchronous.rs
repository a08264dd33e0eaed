//! Asynchronous steps.

use std::time::Duration;

use apollo::{step, task};

macro_rules! nap {
    ($name:ident, $millis:expr $(, $($option:tt)*)?) => {
        #[step($($($option)*)?)]
        async fn $name() -> u32 {
            tokio::time::sleep(Duration::from_millis($millis)).await;
            $millis
        }
    };
}

nap!(nap_a, 300);
nap!(nap_b, 300);
nap!(nap_c, 300);
nap!(nap_d, 300);

#[step(depends_on = [nap_a, nap_b, nap_c, nap_d])]
fn awake(nap_a: &u32, nap_b: &u32, nap_c: &u32, nap_d: &u32) -> u32 {
    nap_a + nap_b + nap_c + nap_d
}

task! {
    /// Four that wait at once.
    pub naps { max_parallel: 4, steps: [nap_a, nap_b, nap_c, nap_d, awake] }
}

nap!(sleeper, 600_000, timeout = "50ms");

task! {
    /// Sleeps longer than it may.
    pub too_long { steps: [sleeper] }
}

nap!(forever, 600_000);

task! {
    /// Sleeps until it is stopped.
    pub endless { steps: [forever] }
}
