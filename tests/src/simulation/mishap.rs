//! [`Mishap`]: what happens to one process and to what it leaves, as a value and as a text.
//!
//! It is not the doing of it: a universe lives through it.

use std::fmt;
use std::str::FromStr;

use apollo::testing::Fault;
use rustix::io::Errno;

use super::draw::Draw;

/// What happens to one process and to what it leaves.
///
/// Its text is `kill@17+cut+jump:-3600`: the fault and the number of its operation, then what comes
/// afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mishap {
    /// The fault, and the operation of the disk that meets it, from 1.
    pub fault: Option<(Fault, u64)>,
    /// The disk has room for only so many bytes more.
    pub room_bytes: Option<u64>,
    /// Of what was written to the log and not synced, only so many bytes are left.
    pub tail_bytes: Option<u64>,
    /// Whether the power goes when the process has ended.
    pub cut: bool,
    /// A byte that was not synced rots before the power goes: the draw that chooses it.
    pub rot: Option<u64>,
    /// How far the wall clock is set forward before the next process begins, in seconds.
    pub jump_s: i64,
    /// A file that an unfinished step will read is lost: the draw that chooses it.
    pub lose: Option<u64>,
    /// A byte of such a file is altered: the draw that chooses it.
    pub alter: Option<u64>,
    /// Bits of a byte of the log change that may be synced: the byte's place, modulo the length, and
    /// below it the bits, 8 of them.
    pub flip: Option<u64>,
    /// The process does not run the task, it repairs its log.
    pub repairs: bool,
}

/// The faults of the enumerations, by their words.
pub const FAULTS: [(&str, Fault); 5] = [
    ("kill", Fault::Kill),
    ("torn", Fault::KillTorn),
    ("eio", Fault::Fail(Errno::IO)),
    ("enospc", Fault::Fail(Errno::NOSPC)),
    ("short", Fault::Short),
];

impl Mishap {
    /// One fault at one operation, and nothing else.
    pub fn at(fault: Fault, operation: u64) -> Self {
        Self { fault: Some((fault, operation)), ..Self::default() }
    }

    /// The power goes afterwards.
    #[must_use]
    pub fn and_cut(self) -> Self {
        Self { cut: true, ..self }
    }

    /// Draws one for a process that does about so many operations.
    pub fn draw(draw: &mut Draw, operations: u64) -> Self {
        let (_, fault) = FAULTS[draw.below(FAULTS.len() as u64) as usize];
        // A recovery is at the beginning, and most of what is delicate.
        let reach = if draw.one_in(3) { operations.min(14) } else { operations + operations / 8 };
        let mut mishap = Self::at(fault, 1 + draw.below(reach.max(1)));
        mishap.cut = !draw.one_in(3);
        mishap.repairs = draw.one_in(16);
        mishap.rot = (mishap.cut && draw.one_in(4)).then(|| draw.next());
        if draw.one_in(4) {
            let jumps = [-3_600, -4, -1, 1, 4, 60, 3_600];
            mishap.jump_s = jumps[draw.below(jumps.len() as u64) as usize];
        }
        match draw.below(24) {
            0 => mishap.lose = Some(draw.next()),
            1 => mishap.alter = Some(draw.next()),
            2 => mishap.flip = Some((draw.next() & !255) | (1 << draw.below(8))),
            3 => {
                // About what a run reserves and writes; a fault would excuse what does not fit.
                mishap.fault = None;
                mishap.room_bytes = Some(draw.below(400_000));
            }
            _ => {}
        }
        mishap
    }

    /// Whether the fault ends the process.
    pub fn kills(&self) -> bool {
        matches!(self.fault, Some((Fault::Kill | Fault::KillTorn | Fault::Dead, _)))
    }
}

impl fmt::Display for Mishap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            None => f.write_str("none")?,
            Some((fault, at)) => {
                let word = FAULTS.iter().find(|(_, known)| *known == fault);
                write!(f, "{}@{at}", word.map_or("dead", |(word, _)| word))?;
            }
        }
        let mut tell = |word: &str, number: Option<i128>| match number {
            Some(number) => write!(f, "+{word}:{number}"),
            None => Ok(()),
        };
        tell("room", self.room_bytes.map(Into::into))?;
        tell("tail", self.tail_bytes.map(Into::into))?;
        tell("rot", self.rot.map(Into::into))?;
        tell("jump", (self.jump_s != 0).then_some(self.jump_s.into()))?;
        tell("lose", self.lose.map(Into::into))?;
        tell("alter", self.alter.map(Into::into))?;
        tell("flip", self.flip.map(Into::into))?;
        f.write_str(if self.repairs { "+repairs" } else { "" })?;
        f.write_str(if self.cut { "+cut" } else { "" })
    }
}

impl FromStr for Mishap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("`{text}` is no mishap; one is `kill@17+cut`");
        let mut words = text.split('+');
        let mut mishap = match words.next().unwrap_or_default().split_once('@') {
            None if text.starts_with("none") => Self::default(),
            None => return Err(refused()),
            Some((word, at)) => {
                let known = FAULTS.iter().find(|(known, _)| *known == word);
                let (_, fault) = known.ok_or_else(refused)?;
                Self::at(*fault, at.parse().map_err(|_none| refused())?)
            }
        };
        for word in words {
            let (word, number) = word.split_once(':').unwrap_or((word, "0"));
            let number: i128 = number.parse().map_err(|_none| refused())?;
            match word {
                "cut" => mishap.cut = true,
                "repairs" => mishap.repairs = true,
                "flip" => mishap.flip = u64::try_from(number).ok(),
                "room" => mishap.room_bytes = u64::try_from(number).ok(),
                "tail" => mishap.tail_bytes = u64::try_from(number).ok(),
                "rot" => mishap.rot = u64::try_from(number).ok(),
                "jump" => mishap.jump_s = i64::try_from(number).unwrap_or_default(),
                "lose" => mishap.lose = u64::try_from(number).ok(),
                "alter" => mishap.alter = u64::try_from(number).ok(),
                _ => return Err(refused()),
            }
        }
        Ok(mishap)
    }
}
