//! [`Content`]: the bytes of one simulated file, as processes see them and as the platter has them.
//!
//! It is not a cache with pages: what was written and not synced is kept as it was asked for, and
//! only a power cut looks at it in grains.
//!
//! **Invariant:** what a sync failed to bring to the platter is never tried again, although the
//! live bytes go on showing it; only bytes that are written anew are synced anew.

use super::chance::Chance;

/// The bytes of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    /// What every process sees.
    live: Vec<u8>,
    /// What is left when everything that was not synced is lost.
    platter: Vec<u8>,
    /// What was done since the last sync, in its order.
    pending: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    SetLen(usize),
}

impl Content {
    /// A file that is whole on the platter.
    fn settled(bytes: Vec<u8>) -> Self {
        Self { live: bytes.clone(), platter: bytes, pending: Vec::new() }
    }

    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn platter(&self) -> &[u8] {
        &self.platter
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        write(&mut self.live, at, bytes);
        self.pending.push(Change::Write { at, bytes: bytes.to_owned() });
    }

    pub(super) fn set_len(&mut self, len: usize) {
        self.live.resize(len, 0);
        // Also where it is no news to those who read: it may be to the platter.
        self.pending.push(Change::SetLen(len));
    }

    /// Brings to the platter what is pending.
    pub(super) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            apply(&mut self.platter, &change);
        }
    }

    /// Fails to bring to the platter what is pending: by chance a part of it arrives, and the rest
    /// is forgotten.
    pub(super) fn fail_sync(&mut self, chance: &mut Chance) {
        self.platter = self.image(chance);
        self.pending.clear();
    }

    /// The file after a power cut; by chance a part of what is pending is there.
    pub(super) fn cut(&self, chance: &mut Chance) -> Self {
        Self::settled(self.image(chance))
    }

    /// The file after a power cut that kept all that was written back.
    pub(super) fn kept(&self) -> Self {
        Self::settled(self.whole())
    }

    /// The file after a power cut that lost what was not synced.
    pub(super) fn lost(&self) -> Self {
        Self::settled(self.platter.clone())
    }

    /// Changes bits of one byte on the platter, and what is seen of it; tells whether it is there.
    pub(super) fn rot(&mut self, at: usize, mask: u8) -> bool {
        let mut found = false;
        for byte in [self.live.get_mut(at), self.platter.get_mut(at)].into_iter().flatten() {
            *byte ^= mask;
            found = true;
        }
        found
    }

    /// The platter as it may be at any moment after the pending changes, and before a sync.
    fn image(&self, chance: &mut Chance) -> Vec<u8> {
        if self.pending.is_empty() {
            return self.platter.clone();
        }
        match chance.below(6) {
            0 => self.platter.clone(),
            1 => self.whole(),
            2 | 3 => self.prefix(chance),
            _ => self.scattered(chance),
        }
    }

    fn whole(&self) -> Vec<u8> {
        let mut image = self.platter.clone();
        self.pending.iter().for_each(|change| apply(&mut image, change));
        image
    }

    /// The first of the changes, and of the next one the first bytes; the length may have arrived
    /// before the bytes.
    fn prefix(&self, chance: &mut Chance) -> Vec<u8> {
        let mut image = self.platter.clone();
        let mut rest = self.pending.iter();
        for change in rest.by_ref().take(chance.below(self.pending.len())) {
            apply(&mut image, change);
        }
        if let Some(Change::Write { at, bytes }) = rest.next() {
            let torn = bytes.get(..chance.below(bytes.len() + 1)).unwrap_or_default();
            write(&mut image, *at, torn);
            if chance.one_in(2) && image.len() < at + bytes.len() {
                image.resize(at + bytes.len(), 0);
            }
        }
        image
    }

    /// Grains of what was written, in any order: each is there, is not, or is torn at a byte. The
    /// length is the old one, the new one or one between.
    fn scattered(&self, chance: &mut Chance) -> Vec<u8> {
        let whole = self.whole();
        let grain = 1 << (3 + chance.below(10));
        let (short, long) =
            (whole.len().min(self.platter.len()), whole.len().max(self.platter.len()));
        let mut image = self.platter.clone();
        image.resize(
            match chance.below(4) {
                0 => self.platter.len(),
                1 => short + chance.below(long - short + 1),
                _ => whole.len(),
            },
            0,
        );
        for change in &self.pending {
            let Change::Write { at, bytes } = change else { continue };
            for start in (at / grain..(at + bytes.len()).div_ceil(grain)).map(|n| n * grain) {
                let end = match chance.below(5) {
                    0 | 1 => start,
                    2 => start + chance.below(grain),
                    _ => start + grain,
                };
                let end = end.min(image.len()).min(whole.len());
                if let (Some(to), Some(from)) = (image.get_mut(start..end), whole.get(start..end)) {
                    to.copy_from_slice(from);
                }
            }
        }
        image
    }
}

fn apply(image: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { at, bytes } => write(image, *at, bytes),
        Change::SetLen(len) => image.resize(*len, 0),
    }
}

/// Writes at an offset; what is between the end and there becomes NULs.
fn write(image: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if !bytes.is_empty() && image.len() < at {
        image.resize(at, 0);
    }
    let inside = image.len().saturating_sub(at).min(bytes.len());
    let (over, after) = bytes.split_at(inside);
    if let Some(to) = image.get_mut(at..at + inside) {
        to.copy_from_slice(over);
    }
    image.extend_from_slice(after);
}
