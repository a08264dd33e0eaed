//! The attribute `#[step]` and the macro `task!` of the crate `apollo`, which re-exports both.
//!
//! Modules in order, each importing only those before it: `diag`, `suggest`, `graph`, `attr`,
//! `paths`, `step`, `task`, `expand`, `fallback`, `lib`.
//!
//! **Invariant:** a pure function of tokens: no state, no file, no environment, no clock.

mod attr;
mod diag;
mod expand;
mod fallback;
mod graph;
mod paths;
mod step;
mod suggest;
mod task;

use proc_macro2::{Span, TokenStream};
use quote::quote;

use crate::diag::Errors;

/// Makes a function a step.
#[proc_macro_attribute]
pub fn step(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let (options, item) = (TokenStream::from(options), TokenStream::from(item));
    guarded(item.clone(), || expand_step(options, item)).into()
}

/// Makes a task of steps.
#[proc_macro]
pub fn task(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    guarded(TokenStream::new(), || expand_task(tokens.into())).into()
}

fn expand_step(options: TokenStream, item: TokenStream) -> TokenStream {
    let Ok(function) = syn::parse2::<step::Function>(item.clone()) else {
        let mut errors = Errors::new();
        errors.at(step::first_word(&item), diag::not_a_function());
        let errors = errors.finish();
        return quote!(#item #errors);
    };
    let runtime = step::runtime(&options);
    let mut errors = Errors::new();
    if function.is_method() {
        errors.on(&function.sig.receiver(), diag::method());
        let (errors, item) = (errors.finish(), fallback::step(&function, &runtime));
        return quote!(#item #errors);
    }
    let def = step::parse(options, &function, &mut errors);
    match errors.finish() {
        None => expand::step::step(&def, &function, &runtime),
        Some(errors) => {
            let item = fallback::step(&function, &runtime);
            quote!(#item #errors)
        }
    }
}

fn expand_task(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let head = match syn::parse2::<task::Head>(tokens.clone()) {
        Ok(head) => head,
        Err(error) => {
            errors.at(error.span(), diag::task_form());
            return errors.finish().unwrap_or_default();
        }
    };
    let runtime = task::runtime(&head);
    let def = task::parse(&head, &mut errors);
    match errors.finish() {
        None => expand::task::task(&def, &head, &runtime),
        Some(errors) => {
            let task = fallback::task(&head, &runtime);
            quote!(#task #errors)
        }
    }
}

/// Catches a panic of ours, says that it is one, and leaves the user's item as it was.
fn guarded(item: TokenStream, expand: impl FnOnce() -> TokenStream) -> TokenStream {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(expand));
    caught.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let error = syn::Error::new(Span::call_site(), diag::our_bug(text.unwrap_or("no message")));
        let error = error.to_compile_error();
        quote!(#item #error)
    })
}
