//! A task of another module, and one of the crate only.

mod pipelines {
    #[apollo::step]
    pub fn fetch() {}

    apollo::task! { pub daily { steps: [fetch] } }
    apollo::task! { pub(crate) hourly { steps: [fetch] } }
}

fn main() {
    assert_eq!(pipelines::daily().graph().digest(), pipelines::hourly().graph().digest());
}
