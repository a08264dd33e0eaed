use apollo::{step, task};

macro_rules! steps {
    ($($name:ident: $dependency:ident,)*) => {
        $(#[step(depends_on = [$dependency])]
        fn $name() {})*
        task! { pub daily { steps: [$($name),*] } }
    };
}

steps! {
    s1: s2, s2: s3, s3: s4, s4: s5, s5: s6, s6: s7,
    s7: s8, s8: s9, s9: s10, s10: s11, s11: s12, s12: s1,
}

fn main() {}
