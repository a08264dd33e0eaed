//! `params: { /// docs name: Type = "default", secret token: String }`.

use proc_macro2::{Delimiter, Ident};
use syn::ext::IdentExt as _;
use syn::parse::{Parse as _, ParseStream, Parser as _};

use crate::attr::Entry;
use crate::diag::{self, Errors};

/// A parameter of a task.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: syn::Type,
    pub(crate) doc: String,
    pub(crate) default: Option<String>,
    pub(crate) secret: bool,
}

/// The options of a pipeline's command line, which a parameter's `--name` must not hide.
const RESERVED: [&str; 30] = [
    "accept-changes",
    "against",
    "at",
    "color",
    "dir",
    "dry-run",
    "follow",
    "format",
    "help",
    "interval",
    "jobs",
    "json",
    "keep",
    "max-parallel",
    "new",
    "no-color",
    "output",
    "param",
    "params",
    "quiet",
    "resume-from",
    "run",
    "seq",
    "skip",
    "step",
    "task",
    "task-id",
    "verbose",
    "version",
    "watch",
];

pub(super) fn parse(entry: &Entry, errors: &mut Errors) -> Vec<Param> {
    let (want, form) = ("declarations between braces", "params: { task_date: Date }");
    let Some(group) = entry.group(Delimiter::Brace, want, form, errors) else {
        return Vec::new();
    };
    let parser = |input: ParseStream<'_>| {
        let mut found: Vec<Param> = Vec::new();
        while !input.is_empty() {
            found.extend(param(input, &found, errors)?);
            if !input.is_empty() {
                input
                    .parse::<syn::Token![,]>()
                    .map_err(|error| syn::Error::new(error.span(), diag::missing_comma()))?;
            }
        }
        Ok(found)
    };
    match parser.parse2(group.stream()) {
        Ok(found) => found,
        Err(error) => {
            errors.push(error);
            Vec::new()
        }
    }
}

/// Reads one declaration; `Ok(None)` where it was read and is wrong.
fn param(
    input: ParseStream<'_>,
    before: &[Param],
    errors: &mut Errors,
) -> syn::Result<Option<Param>> {
    let attrs = input.call(syn::Attribute::parse_outer)?;
    let form = |error: syn::Error| syn::Error::new(error.span(), diag::param_form());
    let secret = input.peek(Ident::peek_any) && !input.peek2(syn::Token![:]);
    if secret {
        let word = input.call(Ident::parse_any).map_err(form)?;
        if word != "secret" {
            return Err(syn::Error::new(word.span(), diag::param_form()));
        }
    }
    let ident = input.call(Ident::parse_any).map_err(form)?;
    input.parse::<syn::Token![:]>().map_err(form)?;
    let ty = syn::Type::parse(input).map_err(form)?;
    let name = ident.unraw().to_string();
    let mut right = legal_name(&ident, &name, before, errors);
    let default = match input.parse::<Option<syn::Token![=]>>()? {
        Some(_) => {
            let default = default(input, errors)?;
            right &= default.is_some();
            if secret && default.is_some() {
                errors.at(ident.span(), diag::secret_default());
            }
            default
        }
        None => None,
    };
    for attr in attrs.iter().filter(|attr| !attr.path().is_ident("doc")) {
        errors.on(attr, diag::only_doc());
    }
    let doc = doc_text(&attrs);
    Ok(right.then_some(Param { name, ty, doc, default, secret }))
}

fn legal_name(ident: &Ident, name: &str, before: &[Param], errors: &mut Errors) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let option = name.replace('_', "-");
    let text = if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.bytes().all(legal) {
        diag::param_name(name)
    } else if RESERVED.contains(&option.as_str()) {
        diag::param_reserved(name, &option)
    } else if before.iter().any(|other| other.name == name) {
        diag::param_twice(name)
    } else {
        return true;
    };
    errors.at(ident.span(), text);
    false
}

/// Reads a literal as the text that the parameter's type parses.
fn default(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Option<String>> {
    let minus = input.peek(syn::Token![-]) && input.peek2(syn::Lit);
    if minus {
        input.parse::<syn::Token![-]>()?;
    }
    let literal = if input.peek(syn::Lit) { Some(input.parse::<syn::Lit>()?) } else { None };
    let text = match literal {
        Some(syn::Lit::Str(text)) if !minus => Some(text.value()),
        Some(syn::Lit::Char(text)) if !minus => Some(text.value().to_string()),
        Some(syn::Lit::Bool(word)) if !minus => Some(word.value.to_string()),
        Some(syn::Lit::Int(number)) => Some(number.base10_digits().to_owned()),
        Some(syn::Lit::Float(number)) => Some(number.base10_digits().to_owned()),
        Some(other) => {
            errors.on(&other, diag::default_not_literal());
            None
        }
        None => {
            let expr = input.parse::<syn::Expr>()?;
            errors.on(&expr, diag::default_not_literal());
            None
        }
    };
    Ok(text.map(|text| if minus { format!("-{text}") } else { text }))
}

/// The documentation of attributes as text: lines without the space that `///` leaves.
pub(crate) fn doc_text(attrs: &[syn::Attribute]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for attr in attrs {
        if let syn::Meta::NameValue(doc) = &attr.meta
            && doc.path.is_ident("doc")
            && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &doc.value
        {
            let text = text.value();
            lines.extend(text.split('\n').map(|line| line.trim().to_owned()));
        }
    }
    lines.join("\n").trim().to_owned()
}
