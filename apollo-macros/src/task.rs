//! `task!` parsed and validated into a [`TaskDef`].
//!
//! It is not an expansion: `expand/task.rs` makes one of it.
//!
//! **Invariant:** a [`TaskDef`] that was made without an error has at least one step in its list,
//! and no parameter that the command line could not tell from its own options.

mod params;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};

use crate::attr::{self, Entry};
use crate::diag::{self, Errors};
use crate::graph::{self, Mistake, Node};
use crate::paths::{Runtime, place};
use crate::step::path_text;

pub(crate) use params::{Param, doc_text};

/// The options of `task!`.
pub(crate) const KEYS: [&str; 8] = [
    "max_retries",
    "retry_delay",
    "max_parallel",
    "durability",
    "params",
    "steps",
    "graph",
    "crate",
];

/// A task as written: everything before its options.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) attrs: Vec<syn::Attribute>,
    pub(crate) vis: syn::Visibility,
    pub(crate) ident: Ident,
    /// What stands between the braces.
    pub(crate) options: TokenStream,
}

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(syn::Attribute::parse_outer)?;
        let vis = input.parse()?;
        let ident = input.call(Ident::parse_any)?;
        if !input.peek(syn::token::Brace) {
            return Err(input.error(diag::task_form()));
        }
        let body: Group = input.parse()?;
        Ok(Self { attrs, vis, ident, options: body.stream() })
    }
}

/// A task without mistakes, as far as tokens show them.
#[derive(Debug)]
pub(crate) struct TaskDef {
    pub(crate) name: String,
    pub(crate) max_retries: u32,
    pub(crate) retry_delay_ms: u64,
    pub(crate) max_parallel: Option<u32>,
    /// `always` or `batch`.
    pub(crate) durability: Option<String>,
    pub(crate) params: Vec<Param>,
    pub(crate) steps: Vec<ListedStep>,
    /// An expression that is text: the picture of the graph.
    pub(crate) graph: Option<TokenStream>,
}

/// One entry of `steps`.
#[derive(Debug)]
pub(crate) struct ListedStep {
    pub(crate) cfgs: Vec<syn::Attribute>,
    pub(crate) path: syn::Path,
}

impl Parse for ListedStep {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let cfgs = input.call(syn::Attribute::parse_outer)?;
        Ok(Self { cfgs, path: input.call(syn::Path::parse_mod_style)? })
    }
}

/// Where the runtime is, by the option `crate`.
pub(crate) fn runtime(head: &Head) -> Runtime {
    let mut quiet = Errors::new();
    let entries = attr::entries(head.options.clone(), ':', &mut quiet);
    let entry = entries.iter().find(|entry| entry.name == "crate");
    let root = entry.and_then(|entry| entry.path("a crate", CRATE, &mut quiet));
    // What was said here, `parse` says again.
    drop(quiet.finish());
    Runtime::new(root)
}

/// How the option `crate` is written.
const CRATE: &str = "crate: renamed_apollo";

/// Validates a task; what is wrong goes to `errors`.
pub(crate) fn parse(head: &Head, errors: &mut Errors) -> TaskDef {
    let name = head.ident.unraw().to_string();
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.len() > 100 || !name.bytes().all(legal) {
        errors.at(head.ident.span(), diag::task_name(&name));
    }
    let entries = attr::entries(head.options.clone(), ':', errors);
    let entries = attr::known(entries, "`task!`", &KEYS, errors);
    if entries.iter().all(|entry| entry.name != "steps") {
        errors.at(head.ident.span(), diag::no_steps_key(&name));
    }
    let mut task = TaskDef {
        name,
        max_retries: 3,
        retry_delay_ms: 10_000,
        max_parallel: None,
        durability: None,
        params: Vec::new(),
        steps: Vec::new(),
        graph: None,
    };
    for entry in &entries {
        task.set(entry, errors);
    }
    task
}

impl TaskDef {
    fn set(&mut self, entry: &Entry, errors: &mut Errors) {
        match entry.name.as_str() {
            "max_retries" => {
                let number = entry.number(0, "max_retries: 3", errors);
                self.max_retries = number.unwrap_or(self.max_retries);
            }
            "retry_delay" => {
                let ms = entry.duration_ms("retry_delay: \"10s\"", errors);
                self.retry_delay_ms = ms.unwrap_or(self.retry_delay_ms);
            }
            "max_parallel" => self.max_parallel = entry.number(1, "max_parallel: 4", errors),
            "durability" => {
                self.durability = entry.word(&["always", "batch"], "durability: batch", errors);
            }
            "params" => self.params = params::parse(entry, errors),
            "steps" => self.steps = steps(entry, &self.name, errors),
            "graph" => self.graph = graph_text(entry, errors),
            // `runtime` reads it; here only its mistakes are told.
            _ => drop(entry.path("the path of a crate", CRATE, errors)),
        }
    }
}

fn steps(entry: &Entry, task: &str, errors: &mut Errors) -> Vec<ListedStep> {
    let want = "a list of paths between brackets";
    let Some(list) = entry.group(Delimiter::Bracket, want, "steps: [fetch]", errors) else {
        return Vec::new();
    };
    if list.stream().is_empty() {
        errors.at(list.span(), diag::no_steps(task));
    }
    let parts = attr::split(list.stream()).into_iter();
    let found: Vec<_> = parts.filter_map(|part| step(part.into_iter().collect(), errors)).collect();
    // What stands under a `cfg` may not be there: that is the compiler's to judge.
    let sure: Vec<_> = found.iter().filter(|step| step.cfgs.is_empty()).collect();
    let node = |step: &&ListedStep| Node { name: path_text(&step.path), depends_on: Vec::new() };
    let nodes: Vec<_> = sure.iter().map(node).collect();
    for mistake in graph::judge(&nodes) {
        if let Mistake::Duplicate { node } = mistake
            && let (Some(step), Some(node)) = (sure.get(node), nodes.get(node))
        {
            errors.at(place(&step.path), diag::step_twice(&node.name));
        }
    }
    found
}

fn step(tokens: TokenStream, errors: &mut Errors) -> Option<ListedStep> {
    if let Ok(text) = syn::parse2::<syn::LitStr>(tokens.clone()) {
        errors.on(&tokens, diag::step_is_text(&text.value()));
        return None;
    }
    let mut trees = tokens.clone().into_iter();
    let alias = trees.find(|tree| matches!(tree, TokenTree::Ident(word) if word == "as"));
    if let Some(alias) = alias {
        errors.at(alias.span(), diag::alias_in_task());
        return None;
    }
    let Ok(step) = syn::parse2::<ListedStep>(tokens.clone()) else {
        errors.on(&tokens, diag::not_a_path("a step"));
        return None;
    };
    for attr in &step.cfgs {
        if !attr.path().is_ident("cfg") {
            errors.on(attr, diag::only_cfg());
        }
    }
    Some(step)
}

/// The text of a file, or text itself; what it says is its author's to keep true.
fn graph_text(entry: &Entry, errors: &mut Errors) -> Option<TokenStream> {
    let tokens = entry.tokens("graph: include_str!(\"daily_pipeline.txt\")", errors)?;
    let is_text = syn::parse2::<syn::LitStr>(tokens.clone()).is_ok()
        || syn::parse2::<syn::Macro>(tokens.clone()).is_ok_and(|call| {
            call.path.segments.last().is_some_and(|last| last.ident == "include_str")
        });
    if !is_text {
        errors.on(tokens, diag::graph_form());
        return None;
    }
    Some(tokens.clone())
}
