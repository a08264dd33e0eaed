//! A [`TaskDef`] as a function that makes the task, the compiler's judgement, and the entry in the
//! list of tasks.
//!
//! **Invariant:** everything stands inside the function, so a task takes one name of its module.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::step::link;
use super::{durability, duration, option};
use crate::attr::type_text;
use crate::paths::{Runtime, at, fresh, place, place_of_type};
use crate::task::{Head, ListedStep, Param, TaskDef, doc_text};

/// Expands a task.
pub(crate) fn task(def: &TaskDef, head: &Head, runtime: &Runtime) -> TokenStream {
    let Head { attrs, vis, ident, .. } = head;
    let names = Names { steps: fresh("STEPS"), params: fresh("PARAMS"), info: fresh("INFO") };
    let Names { steps, params, info } = &names;
    let [step_info, param_info, task_info, task, inventory, registered] =
        ["StepInfo", "ParamInfo", "TaskInfo", "Task", "inventory", "Registered"]
            .map(|name| runtime.item(name));
    let infos = list(def, runtime, &quote!(&'static #step_info), &quote!(info));
    let params_of_task = def.params.iter().map(|param| parameter(param, runtime));
    let fields = fields(def, head, runtime, &names);
    let judgement = judgement(def, head, runtime, &names);
    let docs = docs(def);
    let docs = docs.lines().map(|line| format!(" {line}"));
    let picture =
        def.graph.as_ref().map(|text| quote!(#[doc = "\n```text"] #[doc = #text] #[doc = "```"]));
    quote! {
        #(#attrs)*
        #(#[doc = #docs])*
        #picture
        #[allow(rustdoc::private_intra_doc_links)]
        #[must_use]
        #vis fn #ident() -> #task {
            const #steps: &[&#step_info] = #infos;
            const #params: &[#param_info] = &[#(#params_of_task),*];
            static #info: #task_info = #task_info { #fields };
            #judgement
            #inventory::submit! { #registered(&#info) }
            #task::from_info(&#info)
        }
    }
}

/// The items inside the function.
struct Names {
    steps: Ident,
    params: Ident,
    info: Ident,
}

/// An array of a member of every listed step's description.
///
/// Under a `cfg` a step is put in by a statement, because an element of an array can't have one.
fn list(def: &TaskDef, runtime: &Runtime, ty: &TokenStream, member: &TokenStream) -> TokenStream {
    let step = runtime.item("Step");
    let members = def.steps.iter().map(|one| listed(one, &step, &quote!(SPEC.#member)));
    if def.steps.iter().all(|one| one.cfgs.is_empty()) {
        return quote!(&[#(#members),*]);
    }
    let [filler, usize] = ["FILLER", "usize"].map(|name| runtime.item(name));
    let cfgs: Vec<_> = def.steps.iter().map(|ListedStep { cfgs, .. }| quote!(#(#cfgs)*)).collect();
    quote! {
        {
            const LEN: #usize = {
                let mut len = 0;
                #(#cfgs { len += 1; })*
                len
            };
            const LIST: [#ty; LEN] = {
                let mut list = [#filler.#member; LEN];
                let mut at = 0;
                #(#cfgs { list[at] = #members; at += 1; })*
                let _ = at;
                list
            };
            &LIST
        }
    }
}

/// An item of a listed step, shown at its path.
fn listed(one: &ListedStep, step: &TokenStream, item: &TokenStream) -> TokenStream {
    let path = &one.path;
    // The path keeps its own places, so that an unknown module is shown at its segment.
    let (start, end) = (at(quote!(<), place(path)), at(quote!(as #step>::#item), place(path)));
    quote!(#start #path #end)
}

fn parameter(param: &Param, runtime: &Runtime) -> TokenStream {
    let [param_info, param_type] = ["ParamInfo", "ParamType"].map(|name| runtime.item(name));
    let Param { name, ty, doc, default, secret } = param;
    let type_name = type_text(ty);
    let default = option(runtime, default.as_ref().map(|text| quote!(#text)));
    let normalize = at(quote!(<#ty as #param_type>::normalize), place_of_type(ty));
    quote! {
        #param_info {
            name: #name,
            type_name: #type_name,
            doc: #doc,
            default: #default,
            secret: #secret,
            normalize: #normalize,
        }
    }
}

fn fields(def: &TaskDef, head: &Head, runtime: &Runtime, names: &Names) -> TokenStream {
    let Names { steps, params, .. } = names;
    let runner = runtime.item("Runner");
    let (name, doc, max_retries) = (&def.name, doc_text(&head.attrs), def.max_retries);
    let retry_delay = duration(runtime, def.retry_delay_ms);
    let max_parallel = option(runtime, def.max_parallel.map(|most| quote!(#most)));
    let durability = durability(runtime, def.durability.as_deref().unwrap_or("always"));
    let runners = list(def, runtime, &quote!(#runner), &quote!(runner));
    quote! {
        name: #name,
        doc: #doc,
        max_retries: #max_retries,
        retry_delay: #retry_delay,
        max_parallel: #max_parallel,
        durability: #durability,
        params: #params,
        steps: #steps,
        runners: #runners,
    }
}

/// The judgement of the graph. It stands in a free `const _`, because the compiler evaluates no
/// other constant of code that nobody calls; the guilty step is found by counting down to it at
/// each step's place, because an error is shown where its call stands.
fn judgement(def: &TaskDef, head: &Head, runtime: &Runtime, names: &Names) -> TokenStream {
    let Names { steps, params, .. } = names;
    let [judged, judgement, judge, edges, table, message, next, usize] =
        ["Judged", "Judgement", "judge", "edges", "table", "Message", "next", "usize"]
            .map(|name| runtime.item(name));
    let name = &def.name;
    let count_down = def.steps.iter().map(|one| {
        let cfgs = &one.cfgs;
        let call = at(quote!(guilty = #next(guilty, TEXT.text());), place(&one.path));
        if cfgs.is_empty() { call } else { quote!(#(#cfgs)* { #call }) }
    });
    let start = at(quote!(JUDGEMENT.start(TEXT.text())), head.ident.span());
    quote! {
        const _: () = {
            const TASK: #judged<'static> = #judged { task: #name, params: #params, steps: #steps };
            const N: #usize = TASK.steps.len();
            const JUDGEMENT: #judgement<N> = #judge::<N, { #edges(#steps) }, { #table(N) }>(TASK);
            const TEXT: #message = #message::of(TASK, &JUDGEMENT);
            let mut guilty = #start;
            #(#count_down)*
        };
    }
}

/// What the documentation of the function says of the task.
fn docs(def: &TaskDef) -> String {
    let mut lines = vec![String::new(), "# Steps".to_owned(), String::new()];
    for (number, one) in def.steps.iter().enumerate() {
        lines.push(format!("{}. {}", number + 1, link(&one.path)));
    }
    lines.join("\n")
}
