//! Futures need not be `Send`: each stays on the thread that made it.

use std::rc::Rc;

use apollo::{Context, step, task};

#[step(timeout = "10s")]
async fn fetch(ctx: &Context) -> Result<u32, std::io::Error> {
    let shared = Rc::new(ctx.retry_count());
    std::future::ready(()).await;
    Ok(*shared)
}

#[step(depends_on = [fetch])]
async fn join(fetch: &u32) {
    std::future::ready(*fetch).await;
}

task! { daily { steps: [fetch, join] } }

fn main() {
    let _ = daily();
}
