//! [`Lost`]: a file that the log names by its digest, and that is not there as it was.
//!
//! It is not the decision what to do about it: that is the admission's and the executor's.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::digest::Digest;

/// What a file is to its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The value that a step returned.
    Output,
    /// A file that it left.
    Artifact,
}

/// Why an output or an artifact that the log names can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Lost {
    /// Its file is not there.
    #[error("the {kept} `{}` is missing", path.display())]
    Missing {
        /// What it is.
        kept: Kept,
        /// Where it should be.
        path: PathBuf,
    },
    /// Its file holds something else.
    #[error(
        "the {kept} `{}` was altered: the log says {expected}, its {bytes} bytes give {found}",
        path.display()
    )]
    Altered {
        /// What it is.
        kept: Kept,
        /// Where it is.
        path: PathBuf,
        /// What the log says.
        expected: Digest,
        /// What the bytes give.
        found: Digest,
        /// How many there are.
        bytes: u64,
    },
    /// Its file can't be read.
    #[error("can't read the {kept} `{}`", path.display())]
    Unreadable {
        /// What it is.
        kept: Kept,
        /// Where it is.
        path: PathBuf,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
}

impl Lost {
    /// What a file that can't be read means.
    pub(super) fn unread(kept: Kept, path: PathBuf, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            Self::Missing { kept, path }
        } else {
            Self::Unreadable { kept, path, source }
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Output => "output",
            Self::Artifact => "artifact",
        })
    }
}
