//! Names and places in an expansion: the runtime's items, fresh identifiers, spans.
//!
//! It is not a list of what the runtime has: that is `apollo/src/__private.rs`.
//!
//! **Invariant:** an expansion names nothing by a bare word that its user could have given another
//! meaning: no prelude, no primitive type, no `core`.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// The path of the runtime: `::apollo`, or what the option `crate` says.
#[derive(Debug, Clone)]
pub(crate) struct Runtime {
    root: TokenStream,
}

impl Runtime {
    pub(crate) fn new(root: Option<syn::Path>) -> Self {
        let root = root.map_or_else(|| quote!(::apollo), ToTokens::into_token_stream);
        Self { root }
    }

    /// An item that only expansions may use.
    pub(crate) fn item(&self, name: &str) -> TokenStream {
        let (root, name) = (&self.root, Ident::new(name, Span::call_site()));
        quote!(#root::__private::#name)
    }
}

/// An identifier that the user's own can't meet.
pub(crate) fn fresh(name: &str) -> Ident {
    Ident::new(&format!("__apollo_{name}"), Span::mixed_site())
}

/// The user's identifier as one of ours: it resolves the same and is shown at the same place, and
/// no lint of the user's looks at it.
pub(crate) fn ours(ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(Span::call_site().located_at(ident.span()));
    ident
}

/// The place of a path in a list: its last segment.
pub(crate) fn place(path: &syn::Path) -> Span {
    path.segments.last().map_or_else(Span::call_site, |last| last.ident.span())
}

/// The place where a type begins; of `a::b::C<D>` that of `C`.
pub(crate) fn place_of_type(ty: &syn::Type) -> Span {
    match ty {
        syn::Type::Path(path) => place(&path.path),
        other => {
            other.to_token_stream().into_iter().next().map_or_else(Span::call_site, |t| t.span())
        }
    }
}

/// The same tokens, shown at a place; how each resolves stays what it was.
pub(crate) fn at(tokens: TokenStream, place: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let mut moved = Group::new(group.delimiter(), at(group.stream(), place));
                moved.set_span(group.span().located_at(place));
                return TokenTree::Group(moved);
            }
            token.set_span(token.span().located_at(place));
            token
        })
        .collect()
}
