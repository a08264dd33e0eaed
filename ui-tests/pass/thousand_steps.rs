//! A thousand steps, each depending on the one before: no lint, no limit.

use apollo::{step, task};

macro_rules! chain {
    ($first:ident $($rest:ident)*) => {
        #[step]
        fn $first() {}
        chain! { @ $first; $($rest)* }
        task! { daily { steps: [$first, $($rest),*] } }
    };
    (@ $before:ident;) => {};
    (@ $before:ident; $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident
        $i:ident $j:ident $($rest:ident)*) => {
        chain! { # $before $a; $a $b; $b $c; $c $d; $d $e; $e $f; $f $g; $g $h; $h $i; $i $j }
        chain! { @ $j; $($rest)* }
    };
    (@ $before:ident; $a:ident $($rest:ident)*) => {
        chain! { # $before $a }
        chain! { @ $a; $($rest)* }
    };
    (# $($before:ident $name:ident);*) => {
        $(#[step(depends_on = [$before])]
        fn $name() {})*
    };
}

apollo_ui_tests::thousand!(chain);

fn main() {
    assert_eq!(daily().graph().topological().len(), 1000);
}
