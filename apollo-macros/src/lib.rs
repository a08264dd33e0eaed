//! The attribute `#[step]` and the macro `task!` of the crate `apollo`, which re-exports both.
//!
//! Modules in order, each importing only those before it: `diag`, `suggest`, `graph`, `attr`,
//! `paths`, `step`, `task`, `expand`, `fallback`, `lib`.
//!
//! **Invariant:** a pure function of tokens: no state, no file, no environment, no clock.

#![forbid(unsafe_code)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enums of syn have dozens of variants, and get more; ours are matched in full"
)]

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
///
/// The function stays what it was: it can be called, tested and documented. Beside it stands a type
/// of the same name, which other steps and tasks name by its path; `use` brings both.
///
/// ```
/// use apollo::{Context, step, task};
///
/// /// Counts the words of a day's text.
/// #[step(retry(exponential, max = 5, delay = "10s"))]
/// fn count(ctx: &Context, #[param] day: &str) -> apollo::Result<usize> {
///     Ok(ctx.task_id().len() + day.len())
/// }
///
/// #[step(depends_on = [count], optional)]
/// fn guess(count: &usize) -> Result<f64, String> {
///     if *count == 0 { Err("nothing to guess from".to_owned()) } else { Ok(1.5) }
/// }
///
/// #[step(depends_on = [count, guess as estimate])]
/// fn report(count: &usize, estimate: Option<&f64>) -> String {
///     format!("{count} words, {estimate:?}")
/// }
///
/// task! { daily { params: { day: String = "monday" }, steps: [count, guess, report] } }
///
/// assert_eq!(daily().graph().len(), 3);
/// ```
///
/// # Options
/// | option | meaning |
/// | --- | --- |
/// | `depends_on = [path, path as name]` | the steps that come first; `name` is that of the parameter that takes the value |
/// | `optional` | the task can succeed without it; dependents take `Option<&T>` |
/// | `retry = none`, `fixed` or `exponential` | whether and how a failed attempt is repeated; the task's `max_retries` and `retry_delay` hold |
/// | `retry(exponential, max = 5, delay = "10s", cap = "5m", jitter)` | the same, with its own numbers |
/// | `timeout = "10m"` | the longest time of an attempt; for an `async fn` |
/// | `cleanup = path` | `fn(&Context) -> Result<(), E>`: undoes half-done work before another attempt |
/// | `probe = path` | `fn(&Context, &str) -> Result<bool, E>`: whether an effect of `once` happened |
/// | `on_unknown = rerun`, `skip` or `fail` | what `once` does when nobody knows that |
/// | `version = 2` | raised when the step's meaning changes |
/// | `id = "other-id"` | the id in logs; the function's name where it is left out |
/// | `renamed_from = "old"` | the id that it had before |
/// | `durability = always` or `batch` | when its records count as durable |
/// | `crate = path` | where Apollo is, if it is not `::apollo` |
///
/// Durations are whole numbers with units (ms, s, m, h, d): `"10s"`, `"1h30m"`. `isolate`,
/// `command`, `limit` and `when` are names of later versions, and refused until then.
///
/// # Parameters of the function
/// * `ctx: &Context`, under any name, sees the attempt and does things for it.
/// * `#[param] name: &T` is the task's parameter of that name; `T` comes from text (`FromStr`), and
///   `&str` will do for a `String`.
/// * Everything else is the value of a dependency, bound by its name or its alias: `&T`, or
///   `Option<&T>` where that step is `optional`. A lone value of a lone dependency may have any
///   name. `&str`, `&[T]` and `&Path` will do for a `String`, a `Vec<T>` and a `PathBuf`. A
///   dependency that no parameter takes orders the steps and nothing else.
///
/// # Return type
/// A value that serde can write and read back, or a `Result` (any path that ends in `Result`) of
/// one. The error is anything that is an error or can be shown; a `StepError` can say that it is
/// permanent.
///
/// # Compile errors
/// Every mistake is told where it stands: an unknown option, a value that does not fit, an input
/// that no dependency has, a type that is not the dependency's, an output that can't be kept. What
/// the whole graph has to do with, [`task!`] tells.
///
/// ```compile_fail
/// # use apollo::step;
/// #[step(retyr = fixed)] // `#[step]` has no option `retyr`; did you mean `retry`?
/// fn fetch() {}
/// ```
///
/// Three of them are the compiler's own, because step and function share a name: a step called like
/// a crate or a module that is used in the same module (E0659, E0255) and one called like a struct
/// (E0428): give the function another name, and keep the id with `id = ".."`. A `pub` step can't
/// return a private type (E0446). A path to a function without `#[step]` is "expected type, found
/// function" (E0573).
#[proc_macro_attribute]
pub fn step(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let (options, item) = (TokenStream::from(options), TokenStream::from(item));
    guarded(item.clone(), || expand_step(options, item)).into()
}

/// Makes a task of steps: a function of its name that returns a `Task`.
///
/// ```
/// mod ingest {
///     #[apollo::step]
///     pub fn fetch() -> Vec<u8> {
///         vec![1, 2, 3]
///     }
/// }
///
/// #[apollo::step(depends_on = [ingest::fetch])]
/// fn validate(fetch: &[u8], #[param] least: &usize) -> Result<usize, String> {
///     if fetch.len() < *least { Err("too short".to_owned()) } else { Ok(fetch.len()) }
/// }
///
/// apollo::task! {
///     /// Fetches the file of a day.
///     pub daily {
///         max_retries: 3,
///         retry_delay: "10s",
///         max_parallel: 4,
///         durability: batch,
///         params: {
///             /// The least number of bytes.
///             least: usize = 2,
///             secret token: String,
///         },
///         steps: [ingest::fetch, validate, #[cfg(windows)] only_on_windows],
///     }
/// }
///
/// assert_eq!(daily().name().as_str(), "daily");
/// ```
///
/// # Options
/// | option | meaning |
/// | --- | --- |
/// | `steps: [path, ..]` | its steps; where two could run, the one written first goes first |
/// | `params: { name: Type = default, secret name: Type }` | what a run is given; the type is `FromStr` and `Display`, the default a literal |
/// | `max_retries: 3` | of steps that retry and don't say how often |
/// | `retry_delay: "10s"` | before the first retry |
/// | `max_parallel: 4` | how many steps run at once; the number of CPUs where it is left out |
/// | `durability: batch` | of steps that don't say; `always` where it is left out |
/// | `graph: include_str!("daily.txt")` | a picture for the documentation; keep it true by a test |
/// | `crate: path` | where Apollo is, if it is not `::apollo` |
///
/// A value of a secret parameter is never written down.
///
/// # Compile errors
/// The compiler judges the whole graph, also what stands in other crates or behind `cfg`, and by
/// `cargo check` alone: an empty task, a step twice, two steps with one id, a dependency that is
/// not in `steps`, a cycle, a parameter that is not in `params`. The step that is to blame is
/// underlined in the list.
///
/// ```compile_fail
/// # use apollo::{step, task};
/// #[step(depends_on = [validate])]
/// fn fetch() {}
///
/// #[step(depends_on = [fetch])]
/// fn validate() {}
///
/// task! { daily { steps: [fetch, validate] } } // dependency cycle: fetch -> validate -> fetch
/// ```
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
