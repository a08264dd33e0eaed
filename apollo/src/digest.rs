//! [`Digest`], the one hash for inputs, outputs, artifacts and the graph, and the canonical JSON
//! that most of them are taken of.
//!
//! It is not a checksum against torn lines: that is the `crc` of `record`.
//!
//! **Invariant:** canonical bytes depend on the value alone; keys are sorted by their UTF-8 bytes
//! here, whatever order the map of `serde_json` keeps.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256, written `sha256:<64 lower-case hex digits>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no digest: want sha256: and 64 lower-case hex digits", .text.escape_debug())]
#[non_exhaustive]
pub struct DigestError {
    /// The text as it was given.
    pub text: String,
}

impl Digest {
    /// Digests bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Digests the canonical JSON of a value.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical(value).as_bytes())
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// [`DigestError`] when the text is anything else.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix("sha256:").and_then(|hex| hex.as_bytes().try_into().ok());
        hex.and_then(Self::of_hex).ok_or_else(|| DigestError { text: text.to_owned() })
    }

    /// Reads the digits of the text form.
    #[must_use]
    pub(crate) fn of_hex(hex: &[u8; 64]) -> Option<Self> {
        from_hex(hex).map(Self)
    }

    /// The first digits, for a name that only has to be hard to guess wrong.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().skip("sha256:".len()).take(12).collect()
    }
}

/// Digests a stream that does not fit into memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Takes the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything taken.
    #[must_use]
    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Writes a value as compact JSON with the keys of every object sorted by their UTF-8 bytes.
#[must_use]
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            let mut opening = '{';
            for (key, member) in &entries {
                out.push(opening);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(member, out);
                opening = ',';
            }
            out.push_str(if entries.is_empty() { "{}" } else { "}" });
        }
        Value::Array(items) => {
            let mut opening = '[';
            for item in items {
                out.push(opening);
                write_canonical(item, out);
                opening = ',';
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

/// Reads the bytes that twice as many lower-case hex digits say.
#[must_use]
pub(crate) fn from_hex<const DIGITS: usize, const BYTES: usize>(
    hex: &[u8; DIGITS],
) -> Option<[u8; BYTES]> {
    const { assert!(DIGITS == 2 * BYTES, "a byte is two digits") };
    // Without a branch for each digit it is done many digits at once.
    let nibbles = hex.map(nibble);
    let mut bytes = [0; BYTES];
    for (byte, [high, low]) in bytes.iter_mut().zip(nibbles.as_chunks::<2>().0) {
        *byte = (high << 4) | (low & 0xf);
    }
    let wrong = nibbles.iter().fold(0, |seen, nibble| seen | nibble) > 0xf;
    (!wrong).then_some(bytes)
}

/// What a digit stands for; more than 0xf where it is none.
const fn nibble(digit: u8) -> u8 {
    let (decimal, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
    if decimal < 10 {
        decimal
    } else if letter < 6 {
        letter + 10
    } else {
        0xff
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        // Eight bytes at once: every record has two digests, and this is what they cost.
        let (words, _none) = self.0.as_chunks();
        words.iter().try_for_each(|word| write!(f, "{:016x}", u64::from_be_bytes(*word)))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        assert_eq!(canonical(&serde_json::from_str(json).unwrap()), expected);
    }

    #[test]
    fn keys_are_sorted_by_bytes_at_every_depth() {
        check(
            r#"{ "b":1, "a":{"\u00e9":2,"z":[{"y":1,"x":[]}]}, "B":{} }"#,
            "{\"B\":{},\"a\":{\"z\":[{\"x\":[],\"y\":1}],\"\u{e9}\":2},\"b\":1}",
        );
        check("[1.0,-0.0,1e300,\"\\n\\u0000\"]", r#"[1.0,-0.0,1e+300,"\n\u0000"]"#);
    }

    #[test]
    fn the_text_form_comes_back() {
        let digest = Digest::of(b"abc");
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Digest::parse(text), Ok(digest));
        assert!(Digest::parse(&text.to_uppercase()).is_err());
        assert!(Digest::parse(&text.replace("ba78", "+a78")).is_err());
    }
}
