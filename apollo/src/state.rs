//! [`Status`]: the five states and the single table of legal moves.
//!
//! It is not the fold: `replay` asks here whether a move is legal, and makes it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of a step, and the `status` of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Not begun in this epoch.
    Pending,
    /// An attempt is open, or the next one is being waited for.
    Running,
    /// Done, on record.
    Success,
    /// Failed, and not tried again in this epoch.
    Failed,
    /// Left out on purpose.
    Skipped,
}

impl Status {
    /// Every state, in the order in which people read them.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Running, Self::Success, Self::Failed, Self::Skipped];

    /// Whether a step may go from this state to `next` within one epoch.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Pending => matches!(next, Self::Running | Self::Skipped),
            Self::Running => matches!(next, Self::Running | Self::Success | Self::Failed),
            Self::Success | Self::Failed | Self::Skipped => false,
        }
    }

    /// Whether a new epoch leaves a step in this state alone.
    #[must_use]
    pub const fn is_finished(self) -> bool {
        match self {
            Self::Success | Self::Skipped => true,
            Self::Pending | Self::Running | Self::Failed => false,
        }
    }

    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Success => "SUCCESS",
            Self::Failed => "FAILED",
            Self::Skipped => "SKIPPED",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_one_way() {
        let moves: Vec<_> = Status::ALL
            .iter()
            .flat_map(|from| Status::ALL.iter().map(move |to| (*from, *to)))
            .filter(|(from, to)| from.may_become(*to))
            .map(|(from, to)| format!("{from}>{to}"))
            .collect();
        let legal =
            "PENDING>RUNNING PENDING>SKIPPED RUNNING>RUNNING RUNNING>SUCCESS RUNNING>FAILED";
        assert_eq!(moves.join(" "), legal);
    }
}
