//! What a step can fail with.

use std::error::Error;
use std::fmt;

use apollo::{StepError, step, task};

pub struct Shown;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("shown")
    }
}

#[step]
fn ours() -> apollo::Result<u8> {
    Err(StepError::permanent("ours"))
}

#[step]
fn of_io() -> std::io::Result<u8> {
    Err(std::io::Error::other("io"))
}

#[step]
fn boxed() -> Result<u8, Box<dyn Error + Send + Sync>> {
    Err("boxed".into())
}

#[step]
fn boxed_here() -> Result<u8, Box<dyn Error>> {
    Err("boxed here".into())
}

#[step]
fn text() -> Result<u8, String> {
    Err("text".to_owned())
}

#[step]
fn literal() -> Result<u8, &'static str> {
    Err("literal")
}

#[step]
async fn shown() -> Result<(), Shown> {
    Err(Shown)
}

#[step]
fn of_two() -> apollo::Result<u8> {
    Ok("7".parse::<u8>()? + u8::try_from(300)?)
}

task! { daily { steps: [ours, of_io, boxed, boxed_here, text, literal, shown, of_two] } }

fn main() {
    let _ = daily();
}
