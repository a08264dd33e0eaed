//! [`Chain`]: the records so far, as far as the next one and a recovery depend on them.
//!
//! It is not what the records mean (`replay`), and it judges nothing: `reader` says which line may
//! follow.
//!
//! **Invariant:** a chain that was written and the chain that is read from the same bytes are the
//! same value, because both grow here.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::record::Crc;

/// The records so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chain {
    /// How many there are; also the `seq` of the next one.
    pub(crate) records: u64,
    /// The crc of the first one, which tells logs of one name apart.
    pub(crate) first: Crc,
    /// The crc of the last one, which the next one repeats.
    pub(crate) prev: Crc,
    /// Where their bytes end.
    pub(crate) end_bytes: u64,
    /// How many leading ones are known to be synced, by the word of the last one.
    pub(crate) durable: u64,
    /// Where each record begins that is not known to be synced, in their order;
    /// `len == records - durable`, and the last one of all is always among them.
    pub(crate) open_offsets_bytes: VecDeque<u64>,
}

impl Chain {
    /// Adds the next record: what it says of `durable`, its crc, and its length with its newline.
    pub(super) fn extend(&mut self, durable: u64, crc: Crc, line_bytes: u64) {
        if self.records == 0 {
            self.first = crc;
        }
        self.open_offsets_bytes.push_back(self.end_bytes);
        for _ in self.durable..durable {
            self.open_offsets_bytes.pop_front();
        }
        self.records += 1;
        self.prev = crc;
        self.end_bytes += line_bytes;
        self.durable = durable;
    }

    /// Where the records begin that are not known to be synced.
    pub(super) fn durable_end_bytes(&self) -> u64 {
        *self.open_offsets_bytes.front().unwrap_or(&self.end_bytes)
    }

    /// Whether records can make such a chain, and where the last one of them begins.
    pub(super) fn last_offset_bytes(&self) -> Option<u64> {
        let open = &self.open_offsets_bytes;
        let (ascending, last) = (open.iter().is_sorted_by(|a, b| a < b), *open.back()?);
        let counted = self.records.checked_sub(self.durable) == u64::try_from(open.len()).ok();
        (ascending && counted && last < self.end_bytes).then_some(last)
    }
}
