//! A [`StepDef`] as items: the function, a type of its name, and what the type says of it.
//!
//! **Invariant:** the function stays what it was, but for `#[param]` and its documentation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::{durability, duration, option};
use crate::attr::{show_ms, type_text};
use crate::paths::{Runtime, at, fresh, ours, place, place_of_type};
use crate::step::{
    Arg, ArgKind, Function, Retry, Returned, StepDef, is_for_compiler, is_option, is_str, path_text,
};

/// Expands a step.
pub(crate) fn step(def: &StepDef, function: &Function, runtime: &Runtime) -> TokenStream {
    let item = emit(function, &docs(def));
    let marker = marker(function);
    let cfgs = function.cfgs();
    let name = ours(&function.sig.ident);
    let text = function.sig.ident.to_string();
    let text = text.trim_start_matches("r#");
    let id = &def.id;
    let output = output(def);
    let output = at(quote!(type Output = #output;), result_place(def));
    let delivers = runtime.item(if def.options.optional { "Optional" } else { "Required" });
    let [step, step_ref, spec, concat, module_path, line, column] =
        ["Step", "StepRef", "StepSpec", "concat", "module_path", "line", "column"]
            .map(|name| runtime.item(name));
    let path = quote!(#concat!(#module_path!(), "::", #text));
    let Functions { items, runner } = functions(def, function, runtime);
    let info = info(def, &path, runtime);
    let codec = codec(def, runtime);
    quote! {
        #item
        #marker
        #(#cfgs)*
        #[automatically_derived]
        impl #step for #name {
            #output
            type Delivers = #delivers<<Self as #step>::Output>;
            const ID: #step_ref = #step_ref::new(#id, #path, #line!(), #column!());
            const SPEC: #spec<<Self as #step>::Output> = {
                #items
                #spec { info: #info, runner: #runner, codec: #codec }
            };
        }
    }
}

/// The user's function, without `#[param]`.
pub(crate) fn emit(function: &Function, docs: &str) -> TokenStream {
    let Function { attrs, vis, sig, body } = function;
    let mut sig = sig.clone();
    for arg in &mut sig.inputs {
        if let syn::FnArg::Typed(arg) = arg {
            arg.attrs.retain(is_for_compiler);
        }
    }
    let docs = docs.lines().map(|line| format!(" {line}"));
    let body = body.as_ref().map_or_else(|| quote!({ loop {} }), |body| quote!(#body));
    quote! {
        #(#attrs)*
        #(#[doc = #docs])*
        #vis #sig #body
    }
}

/// The type beside the function.
pub(crate) fn marker(function: &Function) -> TokenStream {
    let (cfgs, vis, name) = (function.cfgs(), &function.vis, ours(&function.sig.ident));
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #vis enum #name {}
    }
}

/// The type of the value.
fn output(def: &StepDef) -> TokenStream {
    match &def.returned {
        Returned::Unit => quote!(()),
        Returned::Plain { ty } | Returned::Result { value: ty, .. } => quote!(#ty),
    }
}

/// How the value is kept; a value that can't be is told at its type.
fn codec(def: &StepDef, runtime: &Runtime) -> TokenStream {
    let kept = runtime.item("StepOutput");
    let output = output(def);
    let codec = quote!(<#output as #kept>::CODEC);
    at(codec, result_place(def))
}

/// `StepInfo`, of which only what differs from a plain step is written.
fn info(def: &StepDef, path: &TokenStream, runtime: &Runtime) -> TokenStream {
    let [step, info, dependency, param_use] =
        ["Step", "StepInfo", "Dependency", "ParamUse"].map(|name| runtime.item(name));
    let output = match &def.returned {
        Returned::Unit => "()".to_owned(),
        Returned::Plain { ty } | Returned::Result { value: ty, .. } => type_text(ty),
    };
    let mut fields = Vec::new();
    if !def.depends_on.is_empty() {
        let dependencies = def.depends_on.iter().map(|one| {
            let path = &one.path;
            let value = one.taken_as.as_ref().is_some_and(|ty| !is_option(ty));
            let id = at(quote!(<#path as #step>::ID), place(path));
            quote!(#dependency { step: #id, value: #value })
        });
        let types = def
            .depends_on
            .iter()
            .map(|one| one.taken_as.as_ref().map_or_else(String::new, type_text));
        fields.push(quote!(depends_on: &[#(#dependencies),*], input_types: &[#(#types),*],));
    }
    let params = def.args.iter().filter_map(|arg| match &arg.kind {
        ArgKind::Param { name, value } => {
            let ty = if is_str(value) { "String".to_owned() } else { type_text(value) };
            Some(quote!(#param_use { name: #name, type_name: #ty }))
        }
        ArgKind::Context | ArgKind::Input { .. } => None,
    });
    let params: Vec<_> = params.collect();
    if !params.is_empty() {
        fields.push(quote!(params: &[#(#params),*],));
    }
    fields.extend(options(def, runtime));
    quote!(&#info { #(#fields)* ..#info::new(<Self as #step>::ID, #path, #output) })
}

/// The fields that options set.
fn options(def: &StepDef, runtime: &Runtime) -> Vec<TokenStream> {
    let options = &def.options;
    let mut fields = Vec::new();
    if options.optional {
        let need = runtime.item("Need");
        fields.push(quote!(need: #need::Optional,));
    }
    if let Some(policy) = &options.retry {
        let policy = retry(policy, runtime);
        fields.push(quote!(retry: #policy,));
    }
    if let Some(ms) = options.timeout_ms {
        let timeout = option(runtime, Some(duration(runtime, ms)));
        fields.push(quote!(timeout: #timeout,));
    }
    if let Some(word) = &options.durability {
        let durability = option(runtime, Some(durability(runtime, word)));
        fields.push(quote!(durability: #durability,));
    }
    if let Some(version) = options.version {
        fields.push(quote!(version: #version,));
    }
    if let Some(id) = &options.renamed_from {
        let id = option(runtime, Some(quote!(#id)));
        fields.push(quote!(renamed_from: #id,));
    }
    if let Some(word) = &options.on_unknown {
        let on_unknown = runtime.item("OnUnknown");
        let word = match word.as_str() {
            "skip" => quote!(Skip),
            "fail" => quote!(Fail),
            _ => quote!(Rerun),
        };
        fields.push(quote!(on_unknown: #on_unknown::#word,));
    }
    fields
}

fn retry(policy: &Retry, runtime: &Runtime) -> TokenStream {
    let [retry, backoff] = ["Retry", "Backoff"].map(|name| runtime.item(name));
    let word = match policy.policy.as_str() {
        "fixed" => quote!(Fixed),
        "exponential" => quote!(Exponential),
        _ => quote!(None),
    };
    let max = option(runtime, policy.max.map(|max| quote!(#max)));
    let delay = option(runtime, policy.delay_ms.map(|ms| duration(runtime, ms)));
    let cap = option(runtime, policy.cap_ms.map(|ms| duration(runtime, ms)));
    let jitter = policy.jitter;
    quote! {
        #retry {
            backoff: #backoff::#word,
            max_retries: #max,
            delay: #delay,
            cap: #cap,
            jitter: #jitter,
        }
    }
}

/// The functions that run a step.
struct Functions {
    items: TokenStream,
    runner: TokenStream,
}

fn functions(def: &StepDef, function: &Function, runtime: &Runtime) -> Functions {
    let [runner, body_kind, params, result, error, context] =
        ["Runner", "Body", "Params", "Result", "StepError", "Context"].map(|n| runtime.item(n));
    let run = run(def, function, runtime);
    let mut items = vec![run];
    let run = fresh("run");
    let body = if function.sig.asyncness.is_some() {
        quote!(#body_kind::Future(#run))
    } else {
        quote!(#body_kind::Function(#run))
    };
    let accepts = accepts(def, runtime).map_or_else(
        || runtime.item("accepts_any"),
        |checks| {
            let accepts = fresh("accepts");
            items.push(quote! {
                fn #accepts(params: &#params) -> #result<(), #error> {
                    #(#checks?;)*
                    #result::Ok(())
                }
            });
            quote!(#accepts)
        },
    );
    let [convert, ask, clean, bool, str] =
        ["Fails", "Ask", "Cleanup", "bool", "str"].map(|name| runtime.item(name));
    let failed = failed(runtime, &convert);
    let cleanup = def.options.cleanup.as_ref().map(|path| {
        let cleanup = fresh("cleanup");
        let call = at(quote!(#clean::clean(&#path, ctx)), place(path));
        let failed = at(failed.clone(), place(path));
        items.push(quote! {
            fn #cleanup(ctx: &#context) -> #result<(), #error> {
                match #call { #result::Ok(()) => #result::Ok(()), #failed }
            }
        });
        quote!(#cleanup)
    });
    let probe = def.options.probe.as_ref().map(|path| {
        let probe = fresh("probe");
        let call = at(quote!(#ask::ask(&#path, ctx, key)), place(path));
        let failed = at(failed.clone(), place(path));
        items.push(quote! {
            fn #probe(ctx: &#context, key: &#str) -> #result<#bool, #error> {
                match #call { #result::Ok(happened) => #result::Ok(happened), #failed }
            }
        });
        quote!(#probe)
    });
    let (cleanup, probe) = (option(runtime, cleanup), option(runtime, probe));
    let runner = quote! {
        #runner { body: #body, cleanup: #cleanup, probe: #probe, accepts: #accepts }
    };
    Functions { items: quote!(#(#items)*), runner }
}

/// The match arm that makes the user's error ours.
fn failed(runtime: &Runtime, convert: &TokenStream) -> TokenStream {
    let [result, probe, by_box, by_display, by_nothing] =
        ["Result", "Probe", "FailsByBox", "FailsByDisplay", "FailsByNothing"]
            .map(|name| runtime.item(name));
    quote! {
        #result::Err(error) => {
            use #by_box as _;
            use #by_display as _;
            use #by_nothing as _;
            let via = (&&#probe::of(&error)).failure();
            #result::Err(#convert::into_step_error(error, via))
        }
    }
}

/// The checks of a step's parameters; `None` where it takes none.
fn accepts(def: &StepDef, runtime: &Runtime) -> Option<Vec<TokenStream>> {
    let value_trait = runtime.item("ParamValue");
    let checks = def.args.iter().filter_map(|arg| match &arg.kind {
        ArgKind::Param { name, value } => {
            let kept = kept_as(value, runtime);
            let check = quote!(<#kept as #value_trait>::accepts(params, #name));
            Some(at(check, place_of_type(value)))
        }
        ArgKind::Context | ArgKind::Input { .. } => None,
    });
    Some(checks.collect::<Vec<_>>()).filter(|checks| !checks.is_empty())
}

/// The function that calls the user's with what it takes, and encodes what it returns.
fn run(def: &StepDef, function: &Function, runtime: &Runtime) -> TokenStream {
    let [context, inputs, result, output, error] =
        ["Context", "Inputs", "Result", "Output", "StepError"].map(|name| runtime.item(name));
    let run = fresh("run");
    let prepared: Vec<_> =
        def.args.iter().enumerate().map(|arg| prepare(arg, def, runtime)).collect();
    let (before, passed): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
    let name = ours(&function.sig.ident);
    let is_async = function.sig.asyncness;
    let wait = is_async.map(|_| quote!(.await));
    let call = quote!(#name(#(#passed),*) #wait);
    let finish = finish(&call, def, &name, runtime);
    let work = quote!(#(#before)* #finish);
    let Some(is_async) = is_async else {
        return quote! {
            fn #run(_ctx: &#context, _inputs: &#inputs) -> #result<#output, #error> { #work }
        };
    };
    let [future, build, boxes] =
        ["StepFuture", "ThisBuild", "AsyncSteps"].map(|name| runtime.item(name));
    let boxed = at(quote!(<#build as #boxes>::boxed), is_async.span);
    quote! {
        fn #run<'apollo>(_ctx: &'apollo #context, _inputs: &'apollo #inputs) -> #future<'apollo> {
            #boxed(async move { #work })
        }
    }
}

/// What stands before the call for one parameter, and what is passed.
fn prepare(
    (index, arg): (usize, &Arg),
    def: &StepDef,
    runtime: &Runtime,
) -> (TokenStream, TokenStream) {
    let slot = fresh(&format!("slot_{index}"));
    let place = place_of_type(&arg.ty);
    match &arg.kind {
        ArgKind::Context => (TokenStream::new(), at(quote!(_ctx), place)),
        ArgKind::Param { name, value } => {
            let value_trait = runtime.item("ParamValue");
            let kept = kept_as(value, runtime);
            let take = quote!(<#kept as #value_trait>::take(_ctx, #name));
            let take = at(take, place_of_type(value));
            (quote!(let #slot = #take?;), at(quote!(&#slot), place))
        }
        ArgKind::Input { dependency } => {
            let [step, receive] = ["Step", "Receive"].map(|name| runtime.item(name));
            let Some(one) = def.depends_on.get(*dependency) else {
                return (TokenStream::new(), TokenStream::new());
            };
            let (path, ty) = (&one.path, &arg.ty);
            let step = at(quote!(<#path as #step>), self::place(path));
            let load = quote!(let #slot = (#step::SPEC.codec.load)(_inputs, #dependency)?;);
            let taken = quote! {
                <#ty as #receive<'_, #step::Delivers>>::receive(&#slot, #step::ID.id)?
            };
            (load, at(taken, place))
        }
    }
}

/// The type that a parameter's value is kept as while the function has a reference to it.
fn kept_as(value: &syn::Type, runtime: &Runtime) -> TokenStream {
    if is_str(value) { runtime.item("String") } else { quote!(#value) }
}

/// What is done with the value of the call.
fn finish(call: &TokenStream, def: &StepDef, name: &Ident, runtime: &Runtime) -> TokenStream {
    let step = runtime.item("Step");
    let encode = quote!((<#name as #step>::SPEC.codec.encode));
    match &def.returned {
        Returned::Unit => quote!(#encode(&#call)),
        Returned::Plain { ty } => {
            let [probe, plain, any] =
                ["Probe", "MustBePlain", "ShapeOfAny"].map(|name| runtime.item(name));
            let check =
                at(quote!(#plain::plain((&#probe::of(&value)).shape());), place_of_type(ty));
            quote! {
                use #any as _;
                let value = #call;
                #check
                #encode(&value)
            }
        }
        Returned::Result { ty, error, .. } => {
            let [result, results, convert] =
                ["Result", "StepResult", "Fails"].map(|name| runtime.item(name));
            let failed = failed(runtime, &convert);
            let failed =
                at(failed, error.as_ref().map_or_else(|| place_of_type(ty), place_of_type));
            let outcome = at(quote!(<#ty as #results>::into_result(value)), place_of_type(ty));
            quote! {
                let value = #call;
                match #outcome {
                    #result::Ok(value) => #encode(&value),
                    #failed
                }
            }
        }
    }
}

fn result_place(def: &StepDef) -> Span {
    match &def.returned {
        Returned::Unit => Span::call_site(),
        Returned::Plain { ty } | Returned::Result { value: ty, .. } => place_of_type(ty),
    }
}

/// What the documentation of the function says of the step.
fn docs(def: &StepDef) -> String {
    let mut parts = Vec::new();
    if def.options.optional {
        parts.push("optional".to_owned());
    }
    parts.extend(def.options.retry.as_ref().map(retry_text));
    parts.extend(def.options.timeout_ms.map(|ms| format!("timeout {}", show_ms(ms))));
    let mut lines = vec![String::new(), "# Step".to_owned(), String::new()];
    let mut about = format!("Step `{}`", def.id);
    if !parts.is_empty() {
        about = format!("{about}: {}", parts.join(", "));
    }
    if def.depends_on.is_empty() {
        lines.push(format!("{about}. Depends on nothing."));
        return lines.join("\n");
    }
    let links: Vec<_> = def.depends_on.iter().map(|one| link(&one.path)).collect();
    lines.push(format!("{about}. Depends on {}.", links.join(", ")));
    lines.extend([String::new(), "```text".to_owned()]);
    let names: Vec<_> = def.depends_on.iter().map(|one| last_name(&one.path)).collect();
    lines.extend(picture(&names, &def.id));
    lines.push("```".to_owned());
    lines.join("\n")
}

fn retry_text(retry: &Retry) -> String {
    let mut text = format!("retry {}", retry.policy);
    let max = retry.max.map(|max| format!("at most {max}"));
    let delay = retry.delay_ms.map(|ms| format!("delay {}", show_ms(ms)));
    let cap = retry.cap_ms.map(|ms| format!("cap {}", show_ms(ms)));
    let details: Vec<_> = max.into_iter().chain(delay).chain(cap).collect();
    if !details.is_empty() {
        text = format!("{text} ({})", details.join(", "));
    }
    text
}

/// A link to a step's function; in this form it stays a plain name where the documentation has no
/// page for a private one.
pub(super) fn link(path: &syn::Path) -> String {
    format!("[`{}()`]", path_text(path))
}

fn last_name(path: &syn::Path) -> String {
    path_text(path).rsplit("::").next().unwrap_or_default().to_owned()
}

/// The arrows into a step, drawn with letters.
fn picture(names: &[String], id: &str) -> Vec<String> {
    if let [name] = names {
        return vec![format!("{name} --> {id}")];
    }
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
    let last = names.len().saturating_sub(1);
    let line = |(index, name): (usize, &String)| {
        let dashes = "-".repeat(width + 3 - name.chars().count());
        let end = if index == last { format!("+--> {id}") } else { "+".to_owned() };
        format!("{name} {dashes}{end}")
    };
    names.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_shows_every_arrow() {
        let names = ["fetch".to_owned(), "enrich_all".to_owned()];
        assert_eq!(picture(&names, "join"), ["fetch --------+", "enrich_all ---+--> join"]);
        assert_eq!(picture(&names[..1], "join"), ["fetch --> join"]);
    }
}
