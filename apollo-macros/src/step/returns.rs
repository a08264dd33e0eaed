//! The return type of a step's function.
//!
//! **Invariant:** a type is taken for a `Result` by its last name alone; the compiler refuses the
//! program where that was wrong, in either direction.

use super::arguments::peel;
use crate::diag::{self, Errors};

/// What a step's function returns.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a step has one return type")]
pub(crate) enum Returned {
    /// Nothing.
    Unit,
    /// A value.
    Plain { ty: syn::Type },
    /// A type called `Result`, its first argument, and its second where it is written.
    Result { ty: syn::Type, value: syn::Type, error: Option<syn::Type> },
}

pub(super) fn parse(output: &syn::ReturnType, errors: &mut Errors) -> Returned {
    let syn::ReturnType::Type(_, ty) = output else { return Returned::Unit };
    let ty = peel(ty).clone();
    if let syn::Type::Path(path) = &ty
        && let Some(last) = path.path.segments.last()
        && last.ident == "Result"
    {
        let mut types = types(&last.arguments);
        let (value, error) = (types.next(), types.next());
        drop(types);
        let Some(value) = value else {
            errors.on(&ty, diag::result_of_what());
            return Returned::Unit;
        };
        owned(&value, errors);
        return Returned::Result { ty: ty.clone(), value, error };
    }
    owned(&ty, errors);
    Returned::Plain { ty }
}

fn types(arguments: &syn::PathArguments) -> impl Iterator<Item = syn::Type> {
    let arguments = match arguments {
        syn::PathArguments::AngleBracketed(list) => Some(list.args.iter()),
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(peel(ty).clone()),
        _ => None,
    })
}

/// A value is kept after the step has ended, and read back by its type's name.
fn owned(ty: &syn::Type, errors: &mut Errors) {
    match peel(ty) {
        syn::Type::Reference(_) => errors.on(ty, diag::output_is_reference()),
        syn::Type::ImplTrait(_) => errors.on(ty, diag::output_is_opaque()),
        syn::Type::Never(_) => errors.on(ty, diag::output_is_never()),
        _ => {}
    }
}
