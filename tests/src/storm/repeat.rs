//! [`Repeat`]: how a disturbance that broke a promise is met again.

/// Says, when a storm panics, which command meets the same disturbance again, and what the process
/// said that met it.
#[derive(Debug)]
pub struct Repeat {
    command: String,
    said: String,
}

impl Repeat {
    /// The arguments of the program `storm`.
    pub const fn new(command: String) -> Self {
        Self { command, said: String::new() }
    }

    /// Notes what the disturbed process said.
    pub fn said(&mut self, said: String) {
        self.said = said;
    }
}

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.said);
            let Self { command, said: _ } = self;
            println!("again: cargo run --release -p apollo-tests --bin storm -- {command}");
        }
    }
}
