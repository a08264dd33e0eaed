//! `#[step]` parsed and validated into a [`StepDef`].
//!
//! It is not an expansion: `expand/step.rs` makes one of it.
//!
//! **Invariant:** a [`StepDef`] that was made without an error expands into items that compile,
//! except for what only the compiler sees: paths and types.

mod dependencies;
mod arguments;
mod retry;
mod returns;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};

use crate::attr::{self, Entry, Value};
use crate::diag::{self, Errors};
use crate::paths::Runtime;

pub(crate) use arguments::{Arg, ArgKind, is_for_compiler, is_option, is_str};
pub(crate) use dependencies::{Dependency, path_text};
pub(crate) use retry::Retry;
pub(crate) use returns::Returned;

/// The options of `#[step]`.
const KEYS: [&str; 12] = [
    "depends_on",
    "optional",
    "retry",
    "timeout",
    "cleanup",
    "probe",
    "on_unknown",
    "version",
    "renamed_from",
    "id",
    "durability",
    "crate",
];

/// Options that are not carried out yet, and must not be ignored.
const LATER: [&str; 4] = ["isolate", "command", "limit", "when"];

/// A function as written; its body stays tokens.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<syn::Attribute>,
    pub(crate) vis: syn::Visibility,
    pub(crate) sig: syn::Signature,
    /// `None` where a `;` stands.
    pub(crate) body: Option<TokenTree>,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(syn::Attribute::parse_outer)?;
        let (vis, sig) = (input.parse()?, input.parse()?);
        let body = if input.peek(syn::token::Brace) {
            Some(input.parse()?)
        } else {
            input.parse::<syn::Token![;]>()?;
            None
        };
        Ok(Self { attrs, vis, sig, body })
    }
}

impl Function {
    /// Whether it takes `self`, so stands where no other item can stand.
    pub(crate) fn is_method(&self) -> bool {
        self.sig.receiver().is_some()
    }

    /// The attributes that decide whether it exists; all that is made beside it has them too.
    pub(crate) fn cfgs(&self) -> impl Iterator<Item = &syn::Attribute> {
        self.attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
    }
}

/// A step without mistakes, as far as tokens show them.
#[derive(Debug)]
pub(crate) struct StepDef {
    pub(crate) id: String,
    pub(crate) options: Options,
    pub(crate) depends_on: Vec<Dependency>,
    /// In the order of the function's parameters.
    pub(crate) args: Vec<Arg>,
    pub(crate) returned: Returned,
}

/// The options that need nothing of the function.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) optional: bool,
    pub(crate) retry: Option<Retry>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) cleanup: Option<syn::Path>,
    pub(crate) probe: Option<syn::Path>,
    /// `rerun`, `skip` or `fail`.
    pub(crate) on_unknown: Option<String>,
    pub(crate) version: Option<u32>,
    pub(crate) renamed_from: Option<String>,
    /// `always` or `batch`.
    pub(crate) durability: Option<String>,
    id: Option<String>,
    depends_on: Vec<Dependency>,
}

/// Where the runtime is, by the option `crate`; the other options are none of its business.
pub(crate) fn runtime(options: &TokenStream) -> Runtime {
    let mut quiet = Errors::new();
    let entries = attr::entries(options.clone(), '=', &mut quiet);
    let entry = entries.iter().find(|entry| entry.name == "crate");
    let root = entry.and_then(|entry| entry.path("a crate", CRATE, &mut quiet));
    // What was said here, `parse` says again.
    drop(quiet.finish());
    Runtime::new(root)
}

/// How the option `crate` is written.
pub(crate) const CRATE: &str = "crate = renamed_apollo";

/// Validates a step; what is wrong goes to `errors`.
pub(crate) fn parse(options: TokenStream, function: &Function, errors: &mut Errors) -> StepDef {
    let entries = attr::entries(options, '=', errors);
    let (later, entries): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| LATER.contains(&entry.name.as_str()));
    for entry in &later {
        errors.at(entry.key.span(), diag::not_supported(&format!("`{}`", entry.name)));
    }
    let entries = attr::known(entries, "`#[step]`", &KEYS, errors);
    let name = function.sig.ident.unraw().to_string();
    let mut options = Options::default();
    for entry in &entries {
        options.set(entry, function, &name, errors);
    }
    let has_command = later.iter().any(|entry| entry.name == "command");
    let id = own_id(&mut options, &function.sig.ident, errors);
    let mut depends_on = std::mem::take(&mut options.depends_on);
    // Parameters of a generic function would be told of once more.
    let args = if signature(function, has_command, errors) {
        arguments::parse(function, &mut depends_on, errors)
    } else {
        Vec::new()
    };
    let returned = returns::parse(&function.sig.output, errors);
    StepDef { id, options, depends_on, args, returned }
}

impl Options {
    fn set(&mut self, entry: &Entry, function: &Function, name: &str, errors: &mut Errors) {
        let durability = ["always", "batch"];
        match entry.name.as_str() {
            "depends_on" => self.depends_on = dependencies::parse(entry, name, errors),
            "optional" => self.optional = entry.flag(errors),
            "retry" => self.retry = retry::parse(entry, errors),
            "timeout" => self.timeout_ms = timeout_ms(entry, function, errors),
            "cleanup" => self.cleanup = entry.path("a function", "cleanup = undo", errors),
            "probe" => self.probe = entry.path("a function", "probe = was_sent", errors),
            "on_unknown" => {
                let words = ["rerun", "skip", "fail"];
                self.on_unknown = entry.word(&words, "on_unknown = skip", errors);
            }
            "version" => self.version = entry.number(1, "version = 2", errors),
            "renamed_from" => self.renamed_from = id(entry, "renamed_from = \"load\"", errors),
            "id" => self.id = id(entry, "id = \"load\"", errors),
            "durability" => {
                self.durability = entry.word(&durability, "durability = batch", errors);
            }
            // `runtime` reads it; here only its mistakes are told.
            _ => drop(entry.path("the path of a crate", CRATE, errors)),
        }
    }
}

fn timeout_ms(entry: &Entry, function: &Function, errors: &mut Errors) -> Option<u64> {
    let ms = entry.duration_ms("timeout = \"10m\"", errors)?;
    if ms == 0 {
        if let Value::Tokens(value) = &entry.value {
            errors.on(value, diag::zero("timeout"));
        }
        return None;
    }
    if function.sig.asyncness.is_none() {
        errors.at(entry.key.span(), diag::timeout_on_function());
    }
    Some(ms)
}

fn id(entry: &Entry, form: &str, errors: &mut Errors) -> Option<String> {
    let (id, span) = entry.text(form, errors)?;
    if is_step_id(&id) {
        return Some(id);
    }
    errors.at(span, diag::bad_id(&id));
    None
}

/// The alphabet of step ids; the runtime's `StepId` has the same.
fn is_step_id(id: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=100).contains(&id.len()) && id.bytes().all(legal) && !id.starts_with(['.', '-'])
}

fn own_id(options: &mut Options, ident: &Ident, errors: &mut Errors) -> String {
    let name = ident.unraw().to_string();
    let id = options.id.take().unwrap_or_else(|| {
        if !is_step_id(&name) {
            errors.at(ident.span(), diag::id_of_name(&name));
        }
        name
    });
    if options.renamed_from.as_ref() == Some(&id) {
        errors.at(ident.span(), diag::renamed_from_itself());
    }
    id
}

/// What a function must be so that a task can run it by its name alone; gives whether it is not
/// generic. What has a command, needs no body.
fn signature(function: &Function, has_command: bool, errors: &mut Errors) -> bool {
    let sig = &function.sig;
    let mut generic = false;
    if function.body.is_none() && !has_command {
        errors.at(sig.ident.span(), diag::no_body());
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        errors.on(token, diag::qualified("unsafe"));
    }
    if let Some(abi) = &sig.abi {
        errors.on(abi, diag::qualified("extern"));
    }
    for param in &sig.generics.params {
        let ident = match param {
            syn::GenericParam::Lifetime(_) => continue,
            syn::GenericParam::Type(param) => &param.ident,
            syn::GenericParam::Const(param) => &param.ident,
        };
        errors.at(ident.span(), diag::generic());
        generic = true;
    }
    !generic
}

/// The word that says what an item is: behind its attributes and its visibility.
pub(crate) fn first_word(item: &TokenStream) -> Span {
    let skip = |input: ParseStream<'_>| {
        input.call(syn::Attribute::parse_outer)?;
        input.parse::<syn::Visibility>()?;
        let span = input.span();
        input.parse::<TokenStream>()?;
        Ok(span)
    };
    skip.parse2(item.clone()).unwrap_or_else(|_| Span::call_site())
}
