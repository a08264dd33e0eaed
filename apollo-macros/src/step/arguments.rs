//! The parameters of a step's function: context, parameters of the task, values of dependencies.
//!
//! **Invariant:** values are bound by name; a lone value and a lone dependency need none.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;

use super::Function;
use super::dependencies::Dependency;
use crate::attr::type_text;
use crate::diag::{self, Errors};
use crate::suggest::nearest;

/// One parameter of the function.
#[derive(Debug)]
pub(crate) struct Arg {
    pub(crate) kind: ArgKind,
    /// The whole type, named lifetimes left to the compiler.
    pub(crate) ty: syn::Type,
}

/// What a parameter of the function is.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a step has few parameters")]
pub(crate) enum ArgKind {
    /// `&Context`.
    Context,
    /// `#[param] name: &T`.
    Param { name: String, value: syn::Type },
    /// The value of the dependency at an index.
    Input { dependency: usize },
}

/// A value that is not bound yet.
struct Input<'a> {
    name: Option<&'a Ident>,
    pat: &'a syn::Pat,
    /// The index among the parameters.
    index: usize,
}

pub(super) fn parse(
    function: &Function,
    depends_on: &mut [Dependency],
    errors: &mut Errors,
) -> Vec<Arg> {
    let mut args = Vec::new();
    let mut inputs = Vec::new();
    for (index, arg) in function.sig.inputs.iter().enumerate() {
        let syn::FnArg::Typed(arg) = arg else { continue };
        let ty = without_lifetimes(&arg.ty);
        let name = match &*arg.pat {
            syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                Some(&pat.ident)
            }
            syn::Pat::Wild(_) => None,
            other => {
                errors.on(other, diag::not_a_name());
                continue;
            }
        };
        if opaque(&arg.ty, errors) {
            continue;
        }
        if let Some(kind) = context_or_param(arg, name, depends_on, &args, errors) {
            args.extend(kind.map(|kind| Arg { kind, ty }));
        } else {
            inputs.push(Input { name, pat: &arg.pat, index: args.len() });
            args.push(Arg { kind: ArgKind::Input { dependency: index }, ty });
        }
    }
    bind(&inputs, &mut args, depends_on, errors);
    args
}

/// `impl Trait` makes a function generic.
fn opaque(ty: &syn::Type, errors: &mut Errors) -> bool {
    let inner = match peel(ty) {
        syn::Type::Reference(reference) => peel(&reference.elem),
        other => other,
    };
    let opaque = matches!(inner, syn::Type::ImplTrait(_));
    if opaque {
        errors.on(inner, diag::generic());
    }
    opaque
}

/// `Some(None)` where a mistake was told; `None` where it is a value of a dependency.
fn context_or_param(
    arg: &syn::PatType,
    name: Option<&Ident>,
    depends_on: &[Dependency],
    before: &[Arg],
    errors: &mut Errors,
) -> Option<Option<ArgKind>> {
    let param = arg.attrs.iter().find(|attr| attr.path().is_ident("param"));
    let foreign = |attr: &&syn::Attribute| {
        attr.path().is_ident("cfg") || !(attr.path().is_ident("param") || is_for_compiler(attr))
    };
    if let Some(attr) = arg.attrs.iter().find(foreign) {
        let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
        errors.on(attr, diag::parameter_attribute(nearest(&name, ["param"]).is_some()));
        return Some(None);
    }
    let dependency = |name: &Ident| {
        let name = name.unraw().to_string();
        depends_on.iter().any(|one| one.binding == name).then_some(name)
    };
    if let Some(attr) = param {
        if !matches!(attr.meta, syn::Meta::Path(_)) {
            errors.on(attr, diag::param_takes_nothing());
            return Some(None);
        }
        return Some(task_param(arg, name, name.and_then(dependency), errors));
    }
    if is_context(&arg.ty) && name.and_then(dependency).is_none() {
        if before.iter().any(|arg| matches!(arg.kind, ArgKind::Context)) {
            errors.on(&arg.ty, diag::context_twice());
            return Some(None);
        }
        if !matches!(peel(&arg.ty), syn::Type::Reference(by) if by.mutability.is_none()) {
            errors.on(&arg.ty, diag::context_by_reference());
            return Some(None);
        }
        return Some(Some(ArgKind::Context));
    }
    None
}

fn task_param(
    arg: &syn::PatType,
    name: Option<&Ident>,
    dependency: Option<String>,
    errors: &mut Errors,
) -> Option<ArgKind> {
    let Some(name) = name else {
        errors.on(&arg.pat, diag::not_a_name());
        return None;
    };
    if let Some(dependency) = dependency {
        errors.at(name.span(), diag::param_is_dependency(&dependency));
        return None;
    }
    if is_context(&arg.ty) {
        errors.on(&arg.ty, diag::param_is_context());
        return None;
    }
    let value = match peel(&arg.ty) {
        syn::Type::Reference(by) if by.mutability.is_none() => without_lifetimes(&by.elem),
        other => {
            let inner = match other {
                syn::Type::Reference(by) => &by.elem,
                other => other,
            };
            errors.on(&arg.ty, diag::param_by_reference(&type_text(inner)));
            return None;
        }
    };
    let name = name.unraw().to_string();
    Some(ArgKind::Param { name: name.trim_start_matches('_').to_owned(), value })
}

/// Binds values to dependencies.
fn bind(
    inputs: &[Input<'_>],
    args: &mut [Arg],
    depends_on: &mut [Dependency],
    errors: &mut Errors,
) {
    let lone = inputs.len() == 1 && depends_on.len() == 1;
    let mut unbound = Vec::new();
    for input in inputs {
        let written = input.name.map(|name| name.unraw().to_string()).unwrap_or_default();
        let found = depends_on.iter().position(|one| one.binding == written).or_else(|| {
            let used = written.trim_start_matches('_');
            depends_on.iter().position(|one| one.binding == used)
        });
        let found = if lone { found.or(Some(0)) } else { found };
        let Some((dependency, one)) = found.and_then(|at| Some((at, depends_on.get_mut(at)?)))
        else {
            unbound.push((input, written));
            continue;
        };
        let Some(arg) = args.get_mut(input.index) else { continue };
        if one.taken_as.replace(arg.ty.clone()).is_some() {
            errors.on(input.pat, diag::taken_twice(&written));
        }
        arg.kind = ArgKind::Input { dependency };
    }
    for (input, written) in unbound {
        let free = depends_on.iter().filter(|one| one.taken_as.is_none());
        let free: Vec<_> = free.map(|one| one.binding.as_str()).collect();
        let meant = nearest(&written, free.iter().copied());
        if input.name.is_some() {
            errors.on(input.pat, diag::no_such_dependency(&written, meant, &free));
        } else {
            errors.on(input.pat, diag::not_a_name());
        }
    }
}

/// Whether an attribute of a parameter stays on the function: levels of lints, and `cfg`, which
/// is told as a mistake and must not become two.
pub(crate) fn is_for_compiler(attr: &syn::Attribute) -> bool {
    let names = ["allow", "expect", "warn", "deny", "forbid", "cfg"];
    names.iter().any(|name| attr.path().is_ident(name))
}

fn is_context(ty: &syn::Type) -> bool {
    match peel(ty) {
        syn::Type::Reference(by) => is_context(&by.elem),
        syn::Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.ident == "Context")
        }
        _ => false,
    }
}

/// The type inside parentheses, and inside the group that a `macro_rules!` fragment leaves.
pub(super) fn peel(ty: &syn::Type) -> &syn::Type {
    match ty {
        syn::Type::Group(group) => peel(&group.elem),
        syn::Type::Paren(paren) => peel(&paren.elem),
        other => other,
    }
}

/// Whether a type is `str`, which a parameter is taken as where it is kept as a `String`.
pub(crate) fn is_str(ty: &syn::Type) -> bool {
    matches!(peel(ty), syn::Type::Path(path) if path.path.is_ident("str"))
}

/// Whether a type is written as an `Option`.
pub(crate) fn is_option(ty: &syn::Type) -> bool {
    matches!(peel(ty), syn::Type::Path(path)
        if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

/// The type with every named lifetime left to the compiler, which knows the function's.
fn without_lifetimes(ty: &syn::Type) -> syn::Type {
    let tokens = elide(ty.to_token_stream());
    syn::parse2(tokens).unwrap_or_else(|_| ty.clone())
}

fn elide(tokens: TokenStream) -> TokenStream {
    let mut after_quote = false;
    let tokens = tokens.into_iter().map(|token| {
        let lifetime = std::mem::replace(
            &mut after_quote,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\''),
        );
        match token {
            TokenTree::Group(group) => {
                let mut elided = proc_macro2::Group::new(group.delimiter(), elide(group.stream()));
                elided.set_span(group.span());
                TokenTree::Group(elided)
            }
            TokenTree::Ident(name) if lifetime && name != "static" => {
                TokenTree::Ident(Ident::new("_", name.span()))
            }
            other => other,
        }
    });
    tokens.collect()
}
