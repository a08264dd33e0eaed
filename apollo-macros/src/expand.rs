//! Models to tokens; the only files with `quote!`, besides `paths` and `fallback`.
//!
//! **Invariant:** an expansion has no `unsafe`, no lint level and no bare word of the prelude.

pub(crate) mod step;
pub(crate) mod task;

use proc_macro2::TokenStream;
use quote::quote;

use crate::paths::Runtime;

/// `Some(value)` or `None` of the runtime's `Option`.
fn option(runtime: &Runtime, value: Option<TokenStream>) -> TokenStream {
    let option = runtime.item("Option");
    value.map_or_else(|| quote!(#option::None), |value| quote!(#option::Some(#value)))
}

fn duration(runtime: &Runtime, ms: u64) -> TokenStream {
    let duration = runtime.item("Duration");
    quote!(#duration::from_millis(#ms))
}

fn durability(runtime: &Runtime, word: &str) -> TokenStream {
    let durability = runtime.item("Durability");
    if word == "batch" { quote!(#durability::Batch) } else { quote!(#durability::Always) }
}
