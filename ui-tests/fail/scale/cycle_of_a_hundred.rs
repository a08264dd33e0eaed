use apollo::{step, task};

macro_rules! ring {
    ($first:ident $($rest:ident)*) => {
        ring! { @ $first; $first $($rest)* }
        task! { daily { steps: [$first, $($rest),*] } }
    };
    (@ $last:ident; $a:ident) => { ring! { # $a $last } };
    (@ $last:ident; $a:ident $b:ident $($rest:ident)*) => {
        ring! { # $a $b }
        ring! { @ $last; $b $($rest)* }
    };
    (# $name:ident $next:ident) => {
        #[step(depends_on = [$next])]
        fn $name() {}
    };
}

apollo_ui_tests::hundred!(ring);

fn main() {}
