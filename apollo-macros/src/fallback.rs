//! The user's item and stubs, where there were mistakes: one mistake stays one error, and the
//! editor goes on working.
//!
//! It is not an expansion of a model: there is none.
//!
//! **Invariant:** the user's item is emitted as it was, except for `#[param]`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::step::{emit, marker};
use crate::paths::{Runtime, ours};
use crate::step::Function;
use crate::task::Head;

/// A step that depends on nothing, takes nothing, and whose dependents type-check.
pub(crate) fn step(function: &Function, runtime: &Runtime) -> TokenStream {
    let item = emit(function, "");
    if function.is_method() {
        // No other item can stand where a method stands.
        return item;
    }
    let (marker, cfgs, name) = (marker(function), function.cfgs(), ours(&function.sig.ident));
    let text = function.sig.ident.to_string();
    let [step, step_ref, step_info, spec, refused] =
        ["Step", "StepRef", "StepInfo", "StepSpec", "Refused"].map(|name| runtime.item(name));
    let [concat, module_path, line, column] =
        ["concat", "module_path", "line", "column"].map(|name| runtime.item(name));
    quote! {
        #item
        #marker
        #(#cfgs)*
        #[automatically_derived]
        impl #step for #name {
            type Output = ();
            type Delivers = #refused;
            const ID: #step_ref = #step_ref::new(
                #text,
                #concat!(#module_path!(), "::", #text),
                #line!(),
                #column!(),
            );
            const SPEC: #spec<()> =
                #spec::refused(&#step_info::new(<Self as #step>::ID, "", ""));
        }
    }
}

/// A function that gives a task, and never does.
pub(crate) fn task(head: &Head, runtime: &Runtime) -> TokenStream {
    let Head { attrs, vis, ident, .. } = head;
    let task = runtime.item("Task");
    quote! {
        #(#attrs)*
        #[must_use]
        #vis fn #ident() -> #task { loop {} }
    }
}
