//! [`Output`]: a step's value as the bytes that are digested, kept and given to dependents.
//!
//! It is not the file: `store` writes it.
//!
//! **Invariant:** decoding [`Output::bytes`] and encoding the result gives the same bytes; a value
//! for which that fails never becomes an output.

mod finite;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::digest::{Digest, canonical};

/// The canonical JSON of a step's value, and its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    bytes: Vec<u8>,
    digest: Digest,
}

/// A value that does not survive being written and read again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The value could not be written as JSON.
    #[error("the output can't be written as JSON")]
    Encode {
        /// What the serializer said.
        #[source]
        source: serde_json::Error,
    },
    /// The JSON of the value could not be read back.
    #[error("the output does not survive being written as JSON: it can't be read back")]
    Decode {
        /// What the deserializer said.
        #[source]
        source: serde_json::Error,
    },
    /// The value that was read back is another one.
    #[error("the output does not survive being written as JSON: another value is read back")]
    Changed,
}

impl Output {
    /// Encodes a value and proves that it survives.
    ///
    /// # Errors
    /// [`OutputError`] when the value can't be written, or does not come back the same; a number
    /// that is not finite is refused, because JSON has no word for it.
    pub fn encode<T: Serialize + DeserializeOwned>(value: &T) -> Result<Self, OutputError> {
        let written = to_canonical(value)?;
        let back: T =
            serde_json::from_str(&written).map_err(|source| OutputError::Decode { source })?;
        if to_canonical(&back)? != written {
            return Err(OutputError::Changed);
        }
        Ok(Self::from_bytes(written.into_bytes()))
    }

    /// Takes bytes that were encoded before.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        let digest = Digest::of(&bytes);
        Self { bytes, digest }
    }

    /// The canonical JSON.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The digest of the bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether the value is `null`, which needs no file: its digest says it all.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.bytes == b"null"
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// What the deserializer says, where the bytes are not a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.bytes)
    }
}

fn to_canonical<T: Serialize>(value: &T) -> Result<String, OutputError> {
    let not_finite = |error| OutputError::Encode { source: serde::ser::Error::custom(error) };
    finite::check(value).map_err(not_finite)?;
    let value = serde_json::to_value(value).map_err(|source| OutputError::Encode { source })?;
    Ok(canonical(&value))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    fn check<T: Serialize + DeserializeOwned>(value: &T, expected: Result<&str, &str>) {
        let seen = Output::encode(value).map(|output| output.bytes().to_vec());
        let seen = seen.map_err(|error| match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        });
        match (seen, expected) {
            (Ok(bytes), Ok(text)) => assert_eq!(String::from_utf8(bytes).unwrap(), text),
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (seen, expected) => panic!("{seen:?} instead of {expected:?}"),
        }
    }

    #[derive(Serialize, Deserialize)]
    struct Forgets {
        #[serde(skip_deserializing, default)]
        half: u8,
    }

    #[test]
    fn what_survives_is_written_canonically() {
        check(&(), Ok("null"));
        check(
            &BTreeMap::from([("b", 1), ("a", 2)])
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<BTreeMap<_, _>>(),
            Ok(r#"{"a":2,"b":1}"#),
        );
        check(&(1.5_f64, Some("x".to_owned()), None::<u8>), Ok(r#"[1.5,"x",null]"#));
    }

    #[test]
    fn what_does_not_survive_is_refused() {
        check(&f64::NAN, Err("no word for the number NaN"));
        check(&Some(f64::INFINITY), Err("no word for the number inf"));
        check(&vec![BTreeMap::from([(1, Some(f32::NAN))])], Err("NaN"));
        check(&Forgets { half: 1 }, Err("another value is read back"));
        check(&BTreeMap::from([(vec![1_u8], 1_u8)]), Err("can't be written as JSON"));
    }
}
