//! The log of the model: what its records mean, and where each of them is.
//!
//! It is not bytes: a torn record is a record that is not there.

/// A log: what is on the disk as its meaning, and what a power cut can take record by record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Log {
    /// The records that are on the disk, with all before them.
    pub(super) stored: Fold,
    /// The others.
    pub(super) tail: Vec<Line>,
    /// Whether its name survives a power cut.
    pub(super) named: bool,
    /// Whether somebody was told that a record is safe.
    pub(super) acked: bool,
    /// Who has its lock.
    pub(super) lock: Option<usize>,
}

/// What records mean, by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Fold {
    /// How many attempts there were.
    pub(super) attempts: [u8; 3],
    /// Whether the last one is open.
    pub(super) open: [bool; 3],
    pub(super) successes: [u8; 3],
    pub(super) closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) record: Record,
    pub(super) page: Page,
    /// Whether somebody was told that it is safe.
    pub(super) acked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Record {
    Opened,
    Started(usize),
    Succeeded(usize),
    Interrupted(usize),
    Closed,
}

/// Where a record is; a process that reads sees all of them alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Page {
    /// In memory; the next sync brings it to the disk.
    Dirty,
    /// On the disk.
    Stored,
    /// In memory only, and no sync knows of it.
    Lost,
}

impl Log {
    /// What a process reads.
    pub(super) fn fold(&self) -> Fold {
        self.tail.iter().fold(self.stored, |fold, line| fold.with(line.record))
    }

    pub(super) fn ack(&mut self) {
        self.acked = true;
        self.tail.iter_mut().for_each(|line| line.acked = true);
    }

    /// Turns pages of one kind into another one.
    pub(super) fn turn(&mut self, from: Page, into: Page) {
        for line in self.tail.iter_mut().filter(|line| line.page == from) {
            line.page = into;
        }
        let unsafe_from = self.tail.iter().position(|line| line.page != Page::Stored);
        for line in self.tail.drain(..unsafe_from.unwrap_or(self.tail.len())) {
            self.stored = self.stored.with(line.record);
        }
    }

    /// Loses so many records where they can be lost, and those behind one that no sync knows of;
    /// tells whether one was acknowledged.
    pub(super) fn cut_power(&mut self, records: usize) -> bool {
        let lost = self.tail.iter().position(|line| line.page == Page::Lost);
        let end = self.tail.len().saturating_sub(records).min(lost.unwrap_or(usize::MAX));
        let lost_acked = self.tail.drain(end..).any(|line| line.acked);
        self.turn(Page::Dirty, Page::Stored);
        lost_acked
    }
}

impl Fold {
    fn with(mut self, record: Record) -> Self {
        match record {
            Record::Opened => {}
            Record::Started(step) => {
                self.attempts[step] += 1;
                self.open[step] = true;
            }
            Record::Succeeded(step) => {
                self.successes[step] += 1;
                self.open[step] = false;
            }
            Record::Interrupted(step) => self.open[step] = false,
            Record::Closed => self.closed = true,
        }
        self
    }
}
