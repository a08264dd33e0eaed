//! [`Check`]: what must hold after any fault, by name; and [`Violation`], one that did not.

use std::fmt;

/// What must hold after any fault and the next plain run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The next plain run ends as an undisturbed one does.
    Ends,
    /// A fault that matters ends the epoch as a failure of the storage, and nothing else does.
    FailureTold,
    /// After a failed write or sync nothing is written to the log in that process.
    Poisoned,
    /// No worker panics and no defect is reported.
    NoDefect,
    /// Outputs, artifacts and effects are those of an undisturbed run, to the byte.
    SameResult,
    /// Each success is on record once, unless a header names the step to run again.
    SuccessOnce,
    /// The log reads as records that follow each other: JSON, seq, prev, crc, legal moves.
    LogReads,
    /// A record is told of after it is written, and its line is the one that is told.
    AcknowledgedWritten,
    /// A record is told of after it is synced.
    AcknowledgedSynced,
    /// A record that was told of is in the log for ever, byte for byte.
    AcknowledgedKept,
    /// A record, or a snapshot, vouches only for records that are durable when it is written.
    VouchedDurable,
    /// A body runs after its STEP_START is durable.
    StartDurable,
    /// A body runs after the STEP_ENDs of all it needs are durable.
    DependencyDurable,
    /// A file that a durable record names is durable, and has its digest.
    NamedFileWhole,
    /// No attempt runs twice, and no two bodies of a step at once.
    AttemptOnce,
    /// A second attempt begins with the cleanup.
    CleanedFirst,
    /// Before the effect of `once` happens its marker is durable.
    MarkerFirst,
    /// The effect of `once` happens once.
    EffectOnce,
    /// A wait for a retry lasts as long as it was announced, over crashes and clock jumps.
    WaitsTheRest,
    /// What was cut off the log is kept beside it, durable before it is gone.
    TailKept,
    /// The end of a body that came back is on record, also on a full disk.
    EndFits,
    /// Reading and running again change no byte.
    FixedPoint,
    /// What a run says of its steps is what its log says.
    LiveIsReplayed,
    /// A second run at the same time is turned away.
    OneAtATime,
    /// An older run is left as it was.
    OldRunKept,
    /// What is damaged and was synced is refused, with its place.
    CorruptionRefused,
    /// A repair leaves the damaged log or the repaired one, whole, and loses nothing of either.
    Repaired,
    /// The independent reader accepts the log.
    Judged,
}

impl Check {
    /// Its name, as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ends => "ends",
            Self::FailureTold => "failure-told",
            Self::Poisoned => "poisoned",
            Self::NoDefect => "no-defect",
            Self::SameResult => "same-result",
            Self::SuccessOnce => "success-once",
            Self::LogReads => "log-reads",
            Self::AcknowledgedWritten => "acknowledged-written",
            Self::AcknowledgedSynced => "acknowledged-synced",
            Self::AcknowledgedKept => "acknowledged-kept",
            Self::VouchedDurable => "vouched-durable",
            Self::StartDurable => "start-durable",
            Self::DependencyDurable => "dependency-durable",
            Self::NamedFileWhole => "named-file-whole",
            Self::AttemptOnce => "attempt-once",
            Self::CleanedFirst => "cleaned-first",
            Self::MarkerFirst => "marker-first",
            Self::EffectOnce => "effect-once",
            Self::WaitsTheRest => "waits-the-rest",
            Self::TailKept => "tail-kept",
            Self::EndFits => "end-fits",
            Self::FixedPoint => "fixed-point",
            Self::LiveIsReplayed => "live-is-replayed",
            Self::OneAtATime => "one-at-a-time",
            Self::OldRunKept => "old-run-kept",
            Self::CorruptionRefused => "corruption-refused",
            Self::Repaired => "repaired",
            Self::Judged => "judged",
        }
    }

    /// Says that it does not hold.
    ///
    /// # Errors
    /// Always: the violation.
    pub fn fails<T>(self, what: impl fmt::Display) -> Result<T, Violation> {
        Err(Violation { check: self, what: what.to_string() })
    }

    /// Holds this check to a condition.
    ///
    /// # Errors
    /// The violation, when the condition is not met.
    pub fn holds(self, met: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
        if met { Ok(()) } else { self.fails(what()) }
    }
}

/// A check that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The check.
    pub check: Check,
    /// What was seen.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check.as_str(), self.what)
    }
}
