//! Runs an `async fn` of a step on tokio; it is dropped at its timeout and when the run stops.
//!
//! It is not a spawner: the future stays on the attempt's own thread, so it need not be `Send`.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::function::contain;
use crate::cancel::{Cancel, OnCancel};
use crate::context::{Context, Inputs};
use crate::failure::StepError;
use crate::output::Output;
use crate::step::FutureBody;

/// Makes the runtime that a task's asynchronous steps share.
pub(crate) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).thread_name("apollo-async").enable_all().build()
}

/// Wakes the attempt when the run is being stopped.
#[derive(Default)]
struct WakeOnCancel(Mutex<Option<Waker>>);

impl OnCancel for WakeOnCancel {
    fn cancelled(&self) {
        if let Some(waker) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }
}

/// Runs a body to its end, its timeout, or until the run is being stopped.
pub(crate) fn run(
    runtime: &Runtime,
    body: FutureBody,
    context: &Context,
    inputs: &Inputs,
    timeout: Option<Duration>,
    cancel: &Cancel,
) -> Result<Output, StepError> {
    let wake = Arc::new(WakeOnCancel::default());
    let as_listener: Weak<dyn OnCancel> = Arc::<WakeOnCancel>::downgrade(&wake);
    cancel.listen(as_listener);
    let attempt = async {
        let mut body = pin!(body(context, inputs));
        let mut timer = pin!(async move {
            match timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        });
        poll_fn(|task| {
            *wake.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.waker().clone());
            if let Poll::Ready(result) = body.as_mut().poll(task) {
                return Poll::Ready(result);
            }
            if cancel.is_cancelled() {
                return Poll::Ready(Err(StepError::new("stopped: the run is being stopped")));
            }
            timer.as_mut().poll(task).map(|()| Err(timed_out(timeout)))
        })
        .await
    };
    // Around all of it: what the future holds is also dropped here, and may panic then.
    contain(|| runtime.block_on(attempt))
}

fn timed_out(timeout: Option<Duration>) -> StepError {
    let timeout = timeout.unwrap_or_default();
    StepError::new(format_args!("timed out after {} ms", timeout.as_millis()))
}
