//! Options: `key = value` in `#[step(..)]` and `key: value` in `task!`, and the readers of values.
//!
//! It is not what an option means: `step` and `task` know their keys.
//!
//! **Invariant:** a reader that gives `None` has told why; one bad option never hides another.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;

use crate::diag::{self, Errors};
use crate::suggest::nearest;

/// One option as written.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Ident,
    /// The key's text, without `r#`.
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// What follows a key.
#[derive(Debug)]
pub(crate) enum Value {
    /// Nothing.
    None,
    /// `= ..` or `: ..`; may be empty.
    Tokens(TokenStream),
    /// `(..)`.
    List(TokenStream),
}

/// Splits at commas; the last part may be empty, where a list ends with one.
pub(crate) fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => parts.push(Vec::new()),
            (_, Some(part)) => part.push(token),
            (_, None) => parts.push(vec![token]),
        }
    }
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts
}

/// Reads options whose key and value are divided by a character.
pub(crate) fn entries(tokens: TokenStream, divider: char, errors: &mut Errors) -> Vec<Entry> {
    let end = tokens.clone().into_iter().last().map_or_else(Span::call_site, |last| last.span());
    let mut found = Vec::new();
    for part in split(tokens) {
        let mut part = part.into_iter();
        match part.next() {
            Some(TokenTree::Ident(key)) => found.extend(entry(key, part, divider, errors)),
            Some(token) => errors.at(token.span(), diag::no_key()),
            None => errors.at(end, diag::no_key()),
        }
    }
    found
}

fn entry(
    key: Ident,
    mut rest: std::vec::IntoIter<TokenTree>,
    divider: char,
    errors: &mut Errors,
) -> Option<Entry> {
    let name = key.unraw().to_string();
    let value = match rest.next() {
        None => Value::None,
        Some(TokenTree::Punct(punct)) if punct.as_char() == divider => {
            return Some(Entry { key, name, value: Value::Tokens(rest.collect()) });
        }
        Some(TokenTree::Group(group)) if is_list(&group) => Value::List(group.stream()),
        Some(TokenTree::Ident(next)) => {
            errors.at(next.span(), diag::missing_comma());
            return None;
        }
        Some(token) => {
            errors.at(token.span(), diag::no_divider(&name, divider));
            return None;
        }
    };
    if let Some(extra) = rest.next() {
        errors.at(extra.span(), diag::missing_comma());
        return None;
    }
    Some(Entry { key, name, value })
}

fn is_list(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
}

/// Keeps the options whose key is legal and new.
pub(crate) fn known(
    entries: Vec<Entry>,
    owner: &str,
    legal: &[&str],
    errors: &mut Errors,
) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        let name = entry.name.as_str();
        if !legal.contains(&name) {
            let meant = nearest(name, legal.iter().copied());
            errors.at(entry.key.span(), diag::unknown_key(owner, name, meant, legal));
        } else if kept.iter().any(|other| other.name == name) {
            errors.at(entry.key.span(), diag::key_twice(name));
        } else {
            kept.push(entry);
        }
    }
    kept
}

impl Entry {
    /// The value's tokens; `form` is how the option is written.
    pub(crate) fn tokens(&self, form: &str, errors: &mut Errors) -> Option<&TokenStream> {
        match &self.value {
            Value::Tokens(tokens) if !tokens.is_empty() => return Some(tokens),
            Value::Tokens(_) | Value::None => {
                errors.at(self.key.span(), diag::needs_value(&self.name, form));
            }
            Value::List(list) => {
                let text = diag::bad_form(&self.name, form);
                if list.is_empty() {
                    errors.at(self.key.span(), text);
                } else {
                    errors.on(list, text);
                }
            }
        }
        None
    }

    /// Reads an option that is a word alone.
    pub(crate) fn flag(&self, errors: &mut Errors) -> bool {
        match &self.value {
            Value::None => return true,
            Value::Tokens(value) | Value::List(value) if !value.is_empty() => {
                errors.on(value, diag::takes_no_value(&self.name));
            }
            Value::Tokens(_) | Value::List(_) => {
                errors.at(self.key.span(), diag::takes_no_value(&self.name));
            }
        }
        false
    }

    /// Reads one of several words.
    pub(crate) fn word(&self, legal: &[&str], form: &str, errors: &mut Errors) -> Option<String> {
        let tokens = self.tokens(form, errors)?.clone();
        read_word(&self.name, tokens, legal, form, errors)
    }

    /// Reads a whole number from `least` on.
    pub(crate) fn number(&self, least: u32, form: &str, errors: &mut Errors) -> Option<u32> {
        let tokens = self.tokens(form, errors)?;
        let literal = syn::parse2::<syn::LitInt>(tokens.clone()).ok();
        let Some(literal) = literal.filter(|one| !one.base10_digits().starts_with('-')) else {
            errors.on(tokens, diag::bad_value(&self.name, "a whole number", form));
            return None;
        };
        match literal.base10_parse::<u32>() {
            Ok(number) if number >= least => return Some(number),
            Ok(_) => errors.on(tokens, diag::zero(&self.name)),
            Err(_) => errors.on(tokens, diag::too_large(&self.name, &u32::MAX.to_string())),
        }
        None
    }

    /// Reads a duration, in milliseconds.
    pub(crate) fn duration_ms(&self, form: &str, errors: &mut Errors) -> Option<u64> {
        let tokens = self.tokens(form, errors)?;
        match syn::parse2::<syn::Lit>(tokens.clone()) {
            Ok(syn::Lit::Str(text)) => match parse_duration_ms(&text.value()) {
                Some(Some(ms)) => return Some(ms),
                Some(None) => errors.on(tokens, diag::too_large(&self.name, "1000000d")),
                None => errors.on(tokens, diag::bad_duration(&text.value())),
            },
            Ok(syn::Lit::Int(number)) => {
                errors.on(tokens, diag::duration_without_unit(number.base10_digits()));
            }
            Ok(_) | Err(_) => errors.on(tokens, diag::bad_value(&self.name, "a duration", form)),
        }
        None
    }

    /// Reads text, and where it stands.
    pub(crate) fn text(&self, form: &str, errors: &mut Errors) -> Option<(String, Span)> {
        let tokens = self.tokens(form, errors)?;
        match syn::parse2::<syn::LitStr>(tokens.clone()) {
            Ok(text) => Some((text.value(), text.span())),
            Err(_) => {
                errors.on(tokens, diag::bad_value(&self.name, "text", form));
                None
            }
        }
    }

    /// Reads the path of a function or module.
    pub(crate) fn path(&self, what: &str, form: &str, errors: &mut Errors) -> Option<syn::Path> {
        let tokens = self.tokens(form, errors)?;
        let path = syn::parse::Parser::parse2(syn::Path::parse_mod_style, tokens.clone());
        if path.is_err() {
            errors.on(tokens, diag::bad_value(&self.name, what, form));
        }
        path.ok()
    }

    /// Reads what stands between brackets or braces, and the whole value for an error.
    pub(crate) fn group(
        &self,
        delimiter: Delimiter,
        want: &str,
        form: &str,
        errors: &mut Errors,
    ) -> Option<Group> {
        let tokens = self.tokens(form, errors)?;
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (Some(TokenTree::Group(group)), None) if group.delimiter() == delimiter => Some(group),
            _ => {
                errors.on(tokens, diag::bad_value(&self.name, want, form));
                None
            }
        }
    }
}

/// Reads one of several words from tokens.
pub(crate) fn read_word(
    key: &str,
    tokens: TokenStream,
    legal: &[&str],
    form: &str,
    errors: &mut Errors,
) -> Option<String> {
    if let Ok(word) = syn::parse::Parser::parse2(Ident::parse_any, tokens.clone()) {
        let word = word.to_string();
        if legal.contains(&word.as_str()) {
            return Some(word);
        }
        let meant = nearest(&word, legal.iter().copied());
        errors.on(&tokens, diag::bad_word(key, &word, meant, legal));
        return None;
    }
    let text = syn::parse2::<syn::LitStr>(tokens.clone()).map(|text| text.value());
    match text {
        Ok(word) if legal.contains(&word.as_str()) => {
            errors.on(&tokens, diag::word_is_text(key, &word));
        }
        Ok(_) | Err(_) => {
            let legal: Vec<_> = legal.iter().map(|word| format!("`{word}`")).collect();
            let want = format!("one of {}", legal.join(", "));
            errors.on(&tokens, diag::bad_value(key, &want, form));
        }
    }
    None
}

/// Reads "1h30m" as milliseconds; `Some(None)` where it is more than a million days.
pub(crate) fn parse_duration_ms(text: &str) -> Option<Option<u64>> {
    let mut total_ms = Some(0_u64);
    let mut rest = text;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|len| *len > 0)?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let unit_ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => DAY_MS,
            _ => return None,
        };
        let part_ms = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_ms));
        total_ms = total_ms.zip(part_ms).and_then(|(total, part)| total.checked_add(part));
        rest = tail;
        if rest.is_empty() {
            return Some(total_ms.filter(|ms| *ms <= 1_000_000 * DAY_MS));
        }
    }
}

const DAY_MS: u64 = 24 * 3_600_000;

/// Shows milliseconds as people write them.
pub(crate) fn show_ms(ms: u64) -> String {
    let units = [("d", DAY_MS), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    let unit = units.into_iter().find(|(_, unit_ms)| ms >= *unit_ms && ms.is_multiple_of(*unit_ms));
    unit.map_or_else(|| format!("{ms}ms"), |(unit, unit_ms)| format!("{}{unit}", ms / unit_ms))
}

/// A type's tokens as text, without the spaces that the compiler's own printing has; it enters a
/// step's digest, so it must not depend on how the source is laid out.
pub(crate) fn type_text(ty: &syn::Type) -> String {
    let mut text = String::new();
    write_tokens(ty.to_token_stream(), &mut text);
    text
}

fn write_tokens(tokens: TokenStream, out: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                out.push_str(open);
                write_tokens(group.stream(), out);
                out.push_str(close);
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ',' | ';' => out.extend([punct.as_char(), ' ']),
                '+' | '=' => out.extend([' ', punct.as_char(), ' ']),
                other => out.push(other),
            },
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                if out.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    out.push(' ');
                }
                out.push_str(&token.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<Option<u64>>) {
        assert_eq!(parse_duration_ms(text), expected, "{text:?}");
    }

    #[test]
    fn durations_have_whole_numbers_and_units() {
        check("10s", Some(Some(10_000)));
        check("1h30m", Some(Some(5_400_000)));
        check("0ms", Some(Some(0)));
        check("99999999999999999999d", Some(None));
        for bad in ["", "10", "s", "1.5s", "10 s", "-1s", "10sec", "1h 30m", "1h30"] {
            check(bad, None);
        }
    }

    #[test]
    fn milliseconds_are_shown_in_the_largest_whole_unit() {
        let shown = [0, 1, 1_500, 10_000, 600_000, 5_400_000, DAY_MS].map(show_ms);
        assert_eq!(shown, ["0ms", "1ms", "1500ms", "10s", "10m", "90m", "1d"]);
    }

    #[test]
    fn types_are_shown_without_the_layout_of_their_source() {
        let shown = |text| type_text(&syn::parse_str(text).unwrap());
        assert_eq!(shown("Vec < ( u8 ,String ) >"), "Vec<(u8, String)>");
        assert_eq!(shown("& mut dyn Fn(u8) -> bool"), "&mut dyn Fn(u8)->bool");
        assert_eq!(shown("[u8;4]"), "[u8; 4]");
    }

    #[test]
    fn options_are_split_and_the_bad_ones_are_told() {
        let mut errors = Errors::new();
        let tokens = "a, b = 1 + 2, c(x, y), 5, d e, f: 1,".parse().unwrap();
        let names: Vec<_> = entries(tokens, '=', &mut errors).into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let told = errors.finish().unwrap().to_string();
        assert_eq!(told.matches("compile_error").count(), 3, "{told}");
    }
}
