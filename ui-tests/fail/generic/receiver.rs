#![allow(unused_variables)]

use apollo::step;

pub trait Fetch {
    #[step]
    fn fetch(self: Box<Self>);
}

fn main() {}
