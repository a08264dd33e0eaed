//! `retry = fixed` and `retry(exponential, max = 5, delay = "10s", cap = "5m", jitter)`.

use proc_macro2::{Span, TokenStream};

use crate::attr::{self, Entry, Value};
use crate::diag::{self, Errors};

/// A policy as written; what is `None`, the task supplies.
#[derive(Debug, Default)]
pub(crate) struct Retry {
    /// `none`, `fixed` or `exponential`.
    pub(crate) policy: String,
    pub(crate) max: Option<u32>,
    pub(crate) delay_ms: Option<u64>,
    pub(crate) cap_ms: Option<u64>,
    pub(crate) jitter: bool,
}

const POLICIES: [&str; 3] = ["none", "fixed", "exponential"];
const KEYS: [&str; 4] = ["max", "delay", "cap", "jitter"];
const FORM: &str = "retry = exponential` or `retry(exponential, max = 5, delay = \"10s\")";

pub(super) fn parse(entry: &Entry, errors: &mut Errors) -> Option<Retry> {
    let Value::List(list) = &entry.value else {
        let policy = entry.word(&POLICIES, FORM, errors)?;
        return Some(Retry { policy, ..Retry::default() });
    };
    let mut parts = attr::split(list.clone()).into_iter();
    let first: TokenStream = parts.next().unwrap_or_default().into_iter().collect();
    let rest: TokenStream = parts
        .flat_map(|part| {
            part.into_iter()
                .chain([proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone).into()])
        })
        .collect();
    let policy = policy(entry.key.span(), first, errors);
    let options = attr::known(attr::entries(rest, '=', errors), "`retry`", &KEYS, errors);
    let mut retry = Retry { policy: policy.unwrap_or_default(), ..Retry::default() };
    for option in &options {
        retry.set(option, errors);
    }
    if let (Some(delay_ms), Some(cap_ms)) = (retry.delay_ms, retry.cap_ms)
        && cap_ms < delay_ms
        && let Some(cap) = options.iter().find(|option| option.name == "cap")
    {
        errors.at(cap.key.span(), diag::cap_below_delay());
    }
    Some(retry)
}

fn policy(key: Span, first: TokenStream, errors: &mut Errors) -> Option<String> {
    if first.is_empty() {
        errors.at(key, diag::no_policy());
        return None;
    }
    let mut quiet = Errors::new();
    let is_option = attr::entries(first.clone(), '=', &mut quiet)
        .first()
        .is_some_and(|entry| KEYS.contains(&entry.name.as_str()));
    drop(quiet.finish());
    if is_option {
        errors.on(&first, diag::no_policy());
        return None;
    }
    attr::read_word("retry", first, &POLICIES, FORM, errors)
}

impl Retry {
    fn set(&mut self, option: &Entry, errors: &mut Errors) {
        let useless = match self.policy.as_str() {
            "none" => true,
            "fixed" => option.name == "cap",
            _ => false,
        };
        if useless {
            errors.at(option.key.span(), diag::useless(&option.name, &self.policy));
            return;
        }
        match option.name.as_str() {
            "max" => self.max = option.number(1, "max = 5", errors),
            "delay" => self.delay_ms = option.duration_ms("delay = \"10s\"", errors),
            "cap" => self.cap_ms = option.duration_ms("cap = \"5m\"", errors),
            _ => self.jitter = option.flag(errors),
        }
    }
}
