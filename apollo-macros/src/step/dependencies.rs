//! `depends_on = [path, path as name]`.

use proc_macro2::{Delimiter, Ident, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};

use crate::attr::{self, Entry};
use crate::diag::{self, Errors};
use crate::graph::{self, Mistake, Node};
use crate::paths::place;

/// A dependency, and how the function takes its value.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) path: syn::Path,
    /// The name that a parameter of the function has to have.
    pub(crate) binding: String,
    /// The type of the parameter; `None` where the dependency is order only.
    pub(crate) taken_as: Option<syn::Type>,
    /// The token that an error of the binding stands at.
    ident: Ident,
}

/// `path` or `path as name`.
struct Written {
    path: syn::Path,
    alias: Option<Ident>,
}

impl Parse for Written {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path = input.call(syn::Path::parse_mod_style)?;
        let alias = match input.parse::<Option<syn::Token![as]>>()? {
            Some(_) => Some(input.call(Ident::parse_any)?),
            None => None,
        };
        Ok(Self { path, alias })
    }
}

/// Reads the dependencies of the step called `step`.
pub(super) fn parse(entry: &Entry, step: &str, errors: &mut Errors) -> Vec<Dependency> {
    let form = "depends_on = [fetch]";
    let list = entry.group(Delimiter::Bracket, "a list of paths between brackets", form, errors);
    let Some(list) = list else { return Vec::new() };
    let parts = attr::split(list.stream()).into_iter();
    let found: Vec<_> =
        parts.filter_map(|part| dependency(part.into_iter().collect(), errors)).collect();
    let wrong = judge(step, &found, errors);
    let mut kept: Vec<Dependency> = Vec::new();
    for (index, dependency) in found.into_iter().enumerate() {
        if wrong.contains(&index) {
            continue;
        }
        if kept.iter().any(|other| other.binding == dependency.binding) {
            errors.at(dependency.ident.span(), diag::binding_twice(&dependency.binding));
            continue;
        }
        kept.push(dependency);
    }
    kept
}

fn dependency(tokens: TokenStream, errors: &mut Errors) -> Option<Dependency> {
    if let Ok(text) = syn::parse2::<syn::LitStr>(tokens.clone()) {
        errors.on(&tokens, diag::dependency_is_text(&text.value()));
        return None;
    }
    let Ok(Written { path, alias }) = syn::parse2(tokens.clone()) else {
        errors.on(&tokens, diag::not_a_path("a step"));
        return None;
    };
    let ident = alias.or_else(|| path.segments.last().map(|last| last.ident.clone()))?;
    Some(Dependency { binding: ident.unraw().to_string(), path, taken_as: None, ident })
}

/// Tells what the tokens show of the graph; gives the indexes that are wrong.
fn judge(step: &str, found: &[Dependency], errors: &mut Errors) -> Vec<usize> {
    let names: Vec<_> = found.iter().map(|one| path_text(&one.path)).collect();
    let mut nodes = vec![Node { name: step.to_owned(), depends_on: names.clone() }];
    for name in &names {
        if nodes.iter().all(|node| node.name != *name) {
            nodes.push(Node { name: name.clone(), depends_on: Vec::new() });
        }
    }
    let mut wrong = Vec::new();
    for mistake in graph::judge(&nodes) {
        let (index, text) = match mistake {
            Mistake::Twice { dependency, .. } => {
                let name = names.get(dependency).map_or("", String::as_str);
                (dependency, diag::dependency_twice(name))
            }
            Mistake::Cycle { nodes: cycle } => {
                let cycle = cycle.iter().filter_map(|at| nodes.get(*at));
                let text = graph::show_cycle(cycle.map(|node| node.name.as_str()));
                let at = names.iter().position(|name| name == step).unwrap_or_default();
                (at, diag::depends_on_itself(&text))
            }
            // Every node was made of a name here, once.
            Mistake::Duplicate { .. } | Mistake::Unknown { .. } => continue,
        };
        if let Some(dependency) = found.get(index) {
            errors.at(place(&dependency.path), text);
        }
        wrong.push(index);
    }
    wrong
}

/// A path as text, without `r#`.
pub(crate) fn path_text(path: &syn::Path) -> String {
    let names: Vec<_> = path.segments.iter().map(|one| one.ident.unraw().to_string()).collect();
    let start = if path.leading_colon.is_some() { "::" } else { "" };
    format!("{start}{}", names.join("::"))
}
