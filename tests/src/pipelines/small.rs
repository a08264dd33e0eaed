//! Tasks of one or two steps for a single question each.

use apollo::{Context, Result, StepError, step, task};

#[step]
fn dated(#[param] day: &apollo::Date, #[param] limit: &u32) -> String {
    format!("{day} {limit}")
}

task! {
    /// Takes parameters.
    pub params {
        params: { day: apollo::Date = "2010-07-04", limit: u32 = 10, secret token: String },
        steps: [dated],
    }
}

#[step]
fn talkative() -> Result<()> {
    let long = "\u{1b}31m\n\"quoted\"\0\u{fffd}\u{e9}".repeat(100_000);
    Err(StepError::new(long))
}

task! {
    /// Fails with a message of a megabyte.
    pub long_message { steps: [talkative] }
}

#[step]
fn not_a_number() -> f64 {
    f64::NAN
}

task! {
    /// Returns what JSON has no word for.
    pub nan { steps: [not_a_number] }
}

#[step]
fn made(ctx: &Context) -> Result<apollo::Artifact> {
    let mut file = ctx.artifact("made.txt")?;
    std::io::Write::write_all(&mut file, b"made\n")?;
    file.finish()
}

#[step(depends_on = [made])]
fn used(ctx: &Context, made: &apollo::Artifact) -> Result<usize> {
    super::scripted::act(ctx)?;
    Ok(std::fs::read(ctx.artifact_path(made)?)?.len())
}

task! {
    /// One step reads the file of another one.
    pub artifacts { steps: [made, used] }
}

macro_rules! long {
    ($($name:ident)*) => {
        $(
            #[step]
            fn $name() -> Result<()> {
                Err(StepError::new(concat!(stringify!($name), " \u{1}\\\"\n").repeat(2_000)))
            }
        )*
        task! {
            /// Sixteen steps fail at once, each with a long message.
            pub chorus { max_parallel: 16, steps: [$($name),*] }
        }
    };
}

long!(v00 v01 v02 v03 v04 v05 v06 v07 v08 v09 v10 v11 v12 v13 v14 v15);
