//! The errors of one invocation, and every text that a macro can say.
//!
//! It is not where mistakes are found: `attr`, `step` and `task` find them.
//!
//! **Invariant:** nothing is lost: an [`Errors`] that nobody asked for its errors panics, which
//! `lib` catches and calls our bug.
//! **Invariant:** the first line says what is wrong, in lower case, without a full stop; lines that
//! begin with `help: ` say what to do.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes that were found, each with its place.
#[derive(Debug)]
pub(crate) struct Errors {
    found: Option<Vec<syn::Error>>,
}

impl Errors {
    pub(crate) const fn new() -> Self {
        Self { found: Some(Vec::new()) }
    }

    /// Takes a mistake of one token.
    pub(crate) fn at(&mut self, span: Span, text: impl Into<String>) {
        self.push(syn::Error::new(span, text.into()));
    }

    /// Takes a mistake that several tokens make together.
    pub(crate) fn on(&mut self, tokens: &impl ToTokens, text: impl Into<String>) {
        self.push(syn::Error::new_spanned(tokens, text.into()));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        if let Some(found) = &mut self.found {
            found.push(error);
        }
    }

    /// The mistakes as tokens that make the compiler say them; `None` where there are none.
    pub(crate) fn finish(mut self) -> Option<TokenStream> {
        let found = self.found.take().unwrap_or_default();
        if found.is_empty() {
            return None;
        }
        Some(found.iter().map(syn::Error::to_compile_error).collect())
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        let lost = self.found.as_ref().is_some_and(|found| !found.is_empty());
        assert!(!lost || std::thread::panicking(), "errors were found and not told");
    }
}

// What the macros share.

pub(crate) fn our_bug(what: &str) -> String {
    format!(
        "Apollo's macro failed: {what}\nhelp: this is a bug of Apollo, not of your code; please \
         report it with this item"
    )
}

pub(crate) fn missing_comma() -> &'static str {
    "expected `,` before this"
}

pub(crate) fn no_divider(key: &str, divider: char) -> String {
    let space = if divider == '=' { " " } else { "" };
    format!("expected `{divider}` after `{key}`\nhelp: write `{key}{space}{divider} ..`")
}

pub(crate) fn bad_form(key: &str, form: &str) -> String {
    format!("`{key}` takes no list\nhelp: write `{form}`")
}

pub(crate) fn no_key() -> &'static str {
    "expected the name of an option"
}

pub(crate) fn unknown_key(owner: &str, key: &str, meant: Option<&str>, legal: &[&str]) -> String {
    let legal: Vec<_> = legal.iter().map(|key| format!("`{key}`")).collect();
    let meant = meant.map(|key| format!("\nhelp: did you mean `{key}`?")).unwrap_or_default();
    format!("{owner} has no option `{key}`{meant}\nhelp: the options are {}", legal.join(", "))
}

pub(crate) fn key_twice(key: &str) -> String {
    format!("`{key}` is set twice\nhelp: remove one of the two")
}

pub(crate) fn takes_no_value(key: &str) -> String {
    format!("`{key}` takes no value\nhelp: write `{key}` alone, or remove it")
}

pub(crate) fn needs_value(key: &str, form: &str) -> String {
    format!("`{key}` needs a value\nhelp: write `{form}`")
}

pub(crate) fn bad_value(key: &str, want: &str, form: &str) -> String {
    format!("`{key}` takes {want}\nhelp: for example `{form}`")
}

pub(crate) fn bad_word(key: &str, word: &str, meant: Option<&str>, legal: &[&str]) -> String {
    let legal: Vec<_> = legal.iter().map(|word| format!("`{word}`")).collect();
    let meant = meant.map(|word| format!("\nhelp: did you mean `{word}`?")).unwrap_or_default();
    format!("`{key}` can't be `{word}`{meant}\nhelp: it is one of {}", legal.join(", "))
}

pub(crate) fn word_is_text(key: &str, word: &str) -> String {
    format!("`{key}` takes a word, not text\nhelp: write `{key} = {word}` without quotes")
}

pub(crate) fn bad_duration(text: &str) -> String {
    format!(
        "`{text}` is no duration\nhelp: write whole numbers with units (ms, s, m, h, d), for \
         example \"10s\" or \"1h30m\""
    )
}

pub(crate) fn duration_without_unit(text: &str) -> String {
    format!("a duration is text with a unit\nhelp: write \"{text}s\" for seconds")
}

pub(crate) fn zero(key: &str) -> String {
    format!("`{key}` can't be zero\nhelp: write more, or leave `{key}` out")
}

pub(crate) fn too_large(key: &str, most: &str) -> String {
    format!("`{key}` is too large\nhelp: the most is {most}")
}

pub(crate) fn not_supported(what: &str) -> String {
    format!("{what} is not supported yet\nhelp: remove it; it will come with a later version")
}

// What `#[step]` says.

pub(crate) fn not_a_function() -> &'static str {
    "`#[step]` goes on a function\nhelp: a step is a `fn` or an `async fn` that stands in a module"
}

pub(crate) fn no_body() -> &'static str {
    "a step needs a body\nhelp: write `{ .. }` instead of `;`"
}

pub(crate) fn method() -> &'static str {
    "a step is a function, not a method\nhelp: move it out of the `impl`, and take the values it \
     needs from its dependencies or with `#[param]`"
}

pub(crate) fn generic() -> &'static str {
    "a step can't be generic\nhelp: a task runs it by its name alone; write the type itself"
}

pub(crate) fn qualified(what: &str) -> String {
    format!("a step can't be `{what}`\nhelp: remove `{what}`")
}

pub(crate) fn bad_id(id: &str) -> String {
    format!(
        "`{}` is no step id\nhelp: use 1 to 100 of A-Z a-z 0-9 _ . -, starting with a letter, a \
         digit or _",
        id.escape_debug()
    )
}

pub(crate) fn id_of_name(name: &str) -> String {
    format!(
        "`{name}` can't be the id of a step\nhelp: add `id = \"..\"` with 1 to 100 of A-Z a-z 0-9 \
         _ . -, or rename the function"
    )
}

pub(crate) fn renamed_from_itself() -> &'static str {
    "a step can't be renamed from its own id\nhelp: `renamed_from` is the id that it had before"
}

pub(crate) fn dependency_is_text(text: &str) -> String {
    format!(
        "a dependency is the path of a step function, not text\nhelp: write `{}` without quotes",
        text.escape_debug()
    )
}

pub(crate) fn not_a_path(what: &str) -> String {
    format!("expected the path of {what}\nhelp: for example `fetch` or `ingest::fetch`")
}

pub(crate) fn depends_on_itself(cycle: &str) -> String {
    format!("a step can't depend on itself: {cycle}\nhelp: remove it from `depends_on`")
}

pub(crate) fn dependency_twice(name: &str) -> String {
    format!("`{name}` is in `depends_on` twice\nhelp: remove one of the two")
}

pub(crate) fn binding_twice(name: &str) -> String {
    format!(
        "two dependencies are called `{name}`\nhelp: give one of them another name: `path as name`"
    )
}

pub(crate) fn no_such_dependency(name: &str, meant: Option<&str>, known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let help = match (meant, known.is_empty()) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, true) => format!(
            "add `depends_on = [{name}]`, or write `#[param] {name}: ..` for a parameter of the task"
        ),
        (None, false) => format!(
            "it depends on {}; write `path as {name}` there, or `#[param] {name}: ..` for a \
             parameter of the task",
            known.join(", ")
        ),
    };
    format!("no dependency of this step is called `{name}`\nhelp: {help}")
}

pub(crate) fn taken_twice(name: &str) -> String {
    format!("the value of `{name}` is taken twice\nhelp: remove one of the two parameters")
}

pub(crate) fn not_a_name() -> &'static str {
    "a parameter of a step is a plain name\nhelp: it is bound to the dependency of that name; take \
     it apart in the body"
}

pub(crate) fn parameter_attribute(meant: bool) -> &'static str {
    if meant {
        "a parameter of a step has no attribute but `#[param]`\nhelp: did you mean `#[param]`?"
    } else {
        "a parameter of a step has no attribute but `#[param]`\nhelp: remove it"
    }
}

pub(crate) fn param_takes_nothing() -> &'static str {
    "`#[param]` takes nothing\nhelp: the parameter's own name is that of the task's parameter"
}

pub(crate) fn param_by_reference(ty: &str) -> String {
    format!("a parameter of the task is taken by reference\nhelp: write `&{ty}`")
}

pub(crate) fn param_is_dependency(name: &str) -> String {
    format!(
        "`{name}` is a dependency of this step, so it can't be a parameter of the task\nhelp: \
         remove `#[param]`, or call the dependency otherwise: `path as name`"
    )
}

pub(crate) fn param_is_context() -> &'static str {
    "the context is no parameter of the task\nhelp: remove `#[param]`"
}

pub(crate) fn context_by_reference() -> &'static str {
    "the context is taken by reference\nhelp: write `&Context`"
}

pub(crate) fn context_twice() -> &'static str {
    "the context is taken twice\nhelp: remove one of the two parameters"
}

pub(crate) fn output_is_reference() -> &'static str {
    "the output of a step is an owned value\nhelp: it is kept after the step has ended; return the \
     value, not a reference"
}

pub(crate) fn output_is_opaque() -> &'static str {
    "the output of a step needs a type with a name\nhelp: it is read back for dependents; write the \
     type itself"
}

pub(crate) fn output_is_never() -> &'static str {
    "a step returns, or the task never ends\nhelp: write the type of its value, or leave it out"
}

pub(crate) fn result_of_what() -> &'static str {
    "a `Result` needs the type of its value\nhelp: write `Result<T, E>`, for example `Result<(), \
     std::fmt::Error>`; a type of yours that is no result needs another name"
}

pub(crate) fn timeout_on_function() -> &'static str {
    "a timeout on a plain `fn` needs an isolated process, which is not supported yet\nhelp: make it \
     an `async fn`, which is cancelled at its timeout, or remove `timeout`"
}

pub(crate) fn no_policy() -> &'static str {
    "`retry(..)` begins with a policy\nhelp: for example `retry(exponential, max = 5, delay = \
     \"10s\")`"
}

pub(crate) fn useless(key: &str, policy: &str) -> String {
    format!("`{key}` has no meaning with `{policy}`\nhelp: remove it")
}

pub(crate) fn cap_below_delay() -> &'static str {
    "`cap` is less than `delay`\nhelp: the cap is the longest wait; the delay is the first"
}

// What `task!` says.

pub(crate) fn task_form() -> &'static str {
    "expected a task\nhelp: write `task! { pub name { steps: [first, second] } }`"
}

pub(crate) fn task_name(name: &str) -> String {
    format!("`{name}` is no task name\nhelp: use 1 to 100 of A-Z a-z 0-9 _")
}

pub(crate) fn no_steps_key(task: &str) -> String {
    format!("task `{task}` has no `steps`\nhelp: add `steps: [..]`")
}

pub(crate) fn no_steps(task: &str) -> String {
    format!("task `{task}` has no steps\nhelp: name at least one in `steps`")
}

pub(crate) fn step_is_text(text: &str) -> String {
    format!(
        "a step is named by the path of its function, not by text\nhelp: write `{}` without quotes",
        text.escape_debug()
    )
}

pub(crate) fn step_twice(name: &str) -> String {
    format!("step `{name}` is listed twice\nhelp: remove one of the two")
}

pub(crate) fn alias_in_task() -> &'static str {
    "a step of a task has no other name\nhelp: `as` belongs into the `depends_on` of a step"
}

pub(crate) fn only_cfg() -> &'static str {
    "a step in a list has no attribute but `#[cfg(..)]`\nhelp: remove it"
}

pub(crate) fn only_doc() -> &'static str {
    "a parameter has no attribute but its documentation\nhelp: remove it"
}

pub(crate) fn param_form() -> &'static str {
    "expected a parameter\nhelp: write `name: Type` or `name: Type = \"default\"`"
}

pub(crate) fn param_twice(name: &str) -> String {
    format!("parameter `{name}` is declared twice\nhelp: remove one of the two")
}

pub(crate) fn param_reserved(name: &str, option: &str) -> String {
    format!(
        "a parameter can't be called `{name}`: `--{option}` is an option of the command line\nhelp: \
         choose another name"
    )
}

pub(crate) fn param_name(name: &str) -> String {
    format!("`{name}` is no parameter name\nhelp: use a-z 0-9 _, starting with a letter")
}

pub(crate) fn default_not_literal() -> &'static str {
    "a default is a literal\nhelp: write text, a number, `true` or `false`; it is parsed as the \
     parameter's type"
}

pub(crate) fn secret_default() -> &'static str {
    "a secret parameter can't have a default\nhelp: what stands in the source is no secret; remove \
     the default"
}

pub(crate) fn graph_form() -> &'static str {
    "`graph` takes the text of a file\nhelp: write `graph: include_str!(\"daily_pipeline.txt\")`"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_were_told_are_tokens_and_errors_that_were_not_are_our_bug() {
        assert!(Errors::new().finish().is_none());
        let mut errors = Errors::new();
        errors.at(Span::call_site(), "one");
        errors.at(Span::call_site(), "two");
        assert_eq!(errors.finish().unwrap().to_string().matches("compile_error").count(), 2);
        let lost = std::panic::catch_unwind(|| Errors::new().at(Span::call_site(), "lost"));
        assert!(lost.is_err());
    }
}
