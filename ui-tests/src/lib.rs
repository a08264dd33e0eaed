//! Steps in another crate, for the cases of `pass/` and `fail/cross_crate/`: right ones and wrong
//! ones, which only a task can tell from each other.

mod names;

/// Steps that make a graph.
pub mod good {
    use apollo::step;

    /// Delivers a number.
    #[step]
    pub fn fetch() -> u32 {
        1
    }

    /// Takes it.
    #[step(depends_on = [fetch])]
    pub fn validate(fetch: &u32) -> u32 {
        *fetch
    }

    /// May fail.
    #[step(depends_on = [validate], optional)]
    pub fn enrich(validate: &u32) -> u64 {
        u64::from(*validate)
    }

    /// Takes a parameter of the task.
    #[step]
    pub fn with_date(#[param] task_date: &str) -> usize {
        task_date.len()
    }
}

/// Steps that wait for each other.
pub mod wrong {
    use apollo::step;

    /// Comes first.
    #[step(depends_on = [egg])]
    pub fn chicken() {}

    /// Comes first.
    #[step(depends_on = [chicken])]
    pub fn egg() {}
}

pub use good::fetch as again;
