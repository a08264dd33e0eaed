//! [`Machine`]: the file system of a simulated machine: names, files, room, and who holds what open.
//!
//! It is not the door: that a process is dead, or meets a fault, is known above.
//!
//! **Invariant:** the same calls in the same order from the same seed leave the same bytes.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::chance::Chance;
use super::inode::{Inode, Lock};
use super::names::{Ino, Names};
use crate::disk::{Metadata, Open};

/// The user that everything belongs to.
pub(super) const USER: u32 = 1000;

/// What is free on a new disk.
const FREE_BYTES: u64 = 1 << 40;

/// A simulated machine's file system.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) names: Names,
    /// Indexed by [`Ino`]; what is a directory has an empty one.
    inodes: Vec<Inode>,
    /// What files can take in all, and what they have taken.
    capacity_bytes: u64,
    used_bytes: u64,
    chance: Chance,
    /// The number that was given last to a process or an opening.
    last: u64,
    /// All processes up to this number ended with a power cut.
    cut_at: u64,
}

/// What an opening is known by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened {
    pub(super) ino: Ino,
    number: u64,
}

/// How much of what was not synced a power cut leaves.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Nothing,
    Everything,
    /// Each file and each name has its own luck.
    Some,
}

impl Machine {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            names: Names::default(),
            inodes: vec![Inode::default()],
            capacity_bytes: FREE_BYTES,
            used_bytes: 0,
            chance: Chance::new(seed),
            last: 0,
            cut_at: 0,
        }
    }

    /// A number that no process and no opening has.
    pub(super) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether no power cut has ended a process.
    pub(super) fn has_power(&self, process: u64) -> bool {
        process > self.cut_at
    }

    pub(super) fn free_bytes(&self) -> u64 {
        self.capacity_bytes.saturating_sub(self.used_bytes)
    }

    pub(super) fn set_free_bytes(&mut self, free_bytes: u64) {
        self.capacity_bytes = self.used_bytes.saturating_add(free_bytes);
    }

    /// Opens a file, which is created where `how` says so.
    pub(super) fn open(&mut self, process: u64, path: &Path, how: Open) -> io::Result<Opened> {
        let entry = self.names.entry(path)?;
        let ino = match (self.names.get(&entry), how) {
            (Some(_), Open::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(ino), _) if self.names.is_dir(ino) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
            }
            (Some(ino), Open::Read | Open::Write | Open::Create) => ino,
            (None, Open::Read | Open::Write) => return Err(io::ErrorKind::NotFound.into()),
            (None, Open::Create | Open::CreateNew) => {
                let ino = self.next_ino();
                self.names.make(entry, ino);
                ino
            }
        };
        let number = self.next();
        self.inode_mut(ino).open(number, process);
        Ok(Opened { ino, number })
    }

    pub(super) fn close(&mut self, opened: Opened) {
        self.inode_mut(opened.ino).close(opened.number);
        self.release(opened.ino);
    }

    /// Closes what the processes had open that are over.
    pub(super) fn end(&mut self, is_over: impl Fn(u64) -> bool) {
        for ino in (0..self.inodes.len()).map(Ino) {
            if self.inode_mut(ino).end(&is_over) {
                self.release(ino);
            }
        }
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        let entry = self.names.entry(path)?;
        if self.names.get(&entry).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let ino = self.next_ino();
        self.names.make_dir(entry, ino);
        Ok(())
    }

    pub(super) fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let dir = self.dir(dir)?;
        Ok(self.names.list(dir).map(|(name, _)| name.clone()).collect())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.names.entry(from)?, self.names.entry(to)?);
        let ino = self.names.get(&from).ok_or(io::ErrorKind::NotFound)?;
        let over = self.names.get(&to);
        if over == Some(ino) {
            return Ok(());
        }
        if over.is_some_and(|over| self.names.is_dir(over) || self.names.is_dir(ino)) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.names.rename(from, to, ino);
        over.into_iter().for_each(|over| self.release(over));
        Ok(())
    }

    pub(super) fn hard_link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let ino = self.names.find(from)?;
        let to = self.names.entry(to)?;
        if self.names.get(&to).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if self.names.is_dir(ino) {
            return Err(Errno::PERM.into());
        }
        self.names.make(to, ino);
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let entry = self.names.entry(path)?;
        let ino = self.names.get(&entry).ok_or(io::ErrorKind::NotFound)?;
        if self.names.is_dir(ino) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.names.remove(entry);
        self.release(ino);
        Ok(())
    }

    pub(super) fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let entry = self.names.entry(path)?;
        let dir = self.dir(path)?;
        let names: Vec<_> = self.names.list(dir).map(|(name, ino)| (name.clone(), ino)).collect();
        for (name, ino) in names {
            let path = path.join(name);
            if self.names.is_dir(ino) {
                self.remove_dir_all(&path)?;
            } else {
                self.remove_file(&path)?;
            }
        }
        self.names.remove(entry);
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        let dir = self.dir(dir)?;
        self.names.sync(dir);
        Ok(())
    }

    /// What a file or directory is.
    pub(super) fn metadata(&self, ino: Ino) -> Metadata {
        let is_dir = self.names.is_dir(ino);
        Metadata {
            is_dir,
            is_symlink: false,
            len: self.inode(ino).content.live().len() as u64,
            id: (1, ino.0 as u64),
            mode: if is_dir { 0o700 } else { 0o600 },
            uid: USER,
        }
    }

    /// Writes at an offset, or at the end, as much as finds room.
    pub(super) fn write(&mut self, ino: Ino, at: Option<u64>, bytes: &[u8]) -> io::Result<()> {
        let at = at.unwrap_or(self.inode(ino).content.live().len() as u64);
        let room = (self.inode(ino).taken_bytes + self.free_bytes()).saturating_sub(at);
        let fits = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let written = bytes.get(..fits).unwrap_or_default();
        self.take(ino, at + written.len() as u64);
        self.inode_mut(ino).content.write(index(at), written);
        if fits < bytes.len() { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }

    pub(super) fn read(&self, ino: Ino, at: u64, buf: &mut [u8]) -> usize {
        let rest = self.live(ino).get(index(at)..).unwrap_or_default();
        let read = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..read), rest.get(..read)) {
            to.copy_from_slice(from);
        }
        read
    }

    pub(super) fn sync(&mut self, ino: Ino) {
        self.inode_mut(ino).content.sync();
    }

    pub(super) fn fail_sync(&mut self, ino: Ino) {
        let Self { inodes, chance, .. } = self;
        if let Some(file) = inodes.get_mut(ino.0) {
            file.content.fail_sync(chance);
        }
    }

    pub(super) fn set_len(&mut self, ino: Ino, len_bytes: u64) -> io::Result<()> {
        let taken = self.inode(ino).taken_bytes;
        if len_bytes.saturating_sub(taken) > self.free_bytes() {
            return Err(Errno::NOSPC.into());
        }
        self.used_bytes = self.used_bytes - taken + len_bytes;
        let file = self.inode_mut(ino);
        file.taken_bytes = len_bytes;
        file.content.set_len(index(len_bytes));
        Ok(())
    }

    pub(super) fn reserve(&mut self, ino: Ino, at: u64, len_bytes: u64) -> io::Result<()> {
        let end_bytes = at.saturating_add(len_bytes);
        if end_bytes.saturating_sub(self.inode(ino).taken_bytes) > self.free_bytes() {
            return Err(Errno::NOSPC.into());
        }
        self.take(ino, end_bytes);
        Ok(())
    }

    pub(super) fn lock(&mut self, opened: Opened, wanted: Lock) -> bool {
        self.inode_mut(opened.ino).lock(opened.number, wanted)
    }

    /// Changes bits of one byte; tells whether it is there.
    pub(super) fn rot(&mut self, ino: Ino, at: u64, mask: u8) -> bool {
        self.inode_mut(ino).content.rot(index(at), mask)
    }

    pub(super) fn live(&self, ino: Ino) -> &[u8] {
        self.inode(ino).content.live()
    }

    pub(super) fn platter(&self, ino: Ino) -> &[u8] {
        self.inode(ino).content.platter()
    }

    /// The machine after a power cut. Asked again, it may be another one.
    pub(super) fn cut(&mut self) -> Self {
        self.cut_at = self.last;
        self.end(|_process| true);
        let chance = &mut self.chance;
        let cut = match chance.below(8) {
            0 => Cut::Nothing,
            1 => Cut::Everything,
            _ => Cut::Some,
        };
        let names = match cut {
            Cut::Nothing => self.names.lost(),
            Cut::Everything => self.names.kept(),
            Cut::Some => self.names.cut(chance),
        };
        let mut inodes = Vec::new();
        inodes.resize_with(self.inodes.len(), Inode::default);
        let mut used_bytes = 0;
        let found: BTreeSet<_> = names.files().into_iter().map(|(_path, ino)| ino.0).collect();
        for ino in found {
            let (Some(old), Some(new)) = (self.inodes.get(ino), inodes.get_mut(ino)) else {
                continue;
            };
            new.content = match cut {
                Cut::Nothing => old.content.lost(),
                Cut::Everything => old.content.kept(),
                Cut::Some => old.content.cut(chance),
            };
            // Room that was reserved and not released may stay with the file.
            let kept_bytes = if chance.one_in(2) { old.taken_bytes } else { 0 };
            new.taken_bytes = kept_bytes.max(new.content.live().len() as u64);
            used_bytes += new.taken_bytes;
        }
        let (capacity_bytes, chance) = (self.capacity_bytes, Chance::new(chance.next()));
        Self { names, inodes, capacity_bytes, used_bytes, chance, last: 0, cut_at: 0 }
    }

    /// The number of a directory.
    fn dir(&self, path: &Path) -> io::Result<Ino> {
        let dir = self.names.find(path)?;
        if self.names.is_dir(dir) { Ok(dir) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    fn next_ino(&mut self) -> Ino {
        self.inodes.push(Inode::default());
        Ino(self.inodes.len() - 1)
    }

    /// Gives a file room up to an offset.
    fn take(&mut self, ino: Ino, end_bytes: u64) {
        let file = self.inode_mut(ino);
        let more = end_bytes.saturating_sub(file.taken_bytes);
        file.taken_bytes += more;
        self.used_bytes += more;
    }

    /// Gives back the room of a file that has no name and is not open.
    fn release(&mut self, ino: Ino) {
        if !self.inode(ino).is_open() && self.names.count(ino) == 0 {
            self.used_bytes -= std::mem::take(&mut self.inode_mut(ino).taken_bytes);
        }
    }

    #[expect(clippy::indexing_slicing, reason = "a number is given together with its file")]
    fn inode(&self, ino: Ino) -> &Inode {
        &self.inodes[ino.0]
    }

    #[expect(clippy::indexing_slicing, reason = "a number is given together with its file")]
    fn inode_mut(&mut self, ino: Ino) -> &mut Inode {
        &mut self.inodes[ino.0]
    }

    /// The path of every file, and its bytes.
    pub(super) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = self.names.files().into_iter();
        files.map(|(path, ino)| (path, self.live(ino).to_owned())).collect()
    }
}

/// An offset in memory.
fn index(offset_bytes: u64) -> usize {
    usize::try_from(offset_bytes).unwrap_or(usize::MAX)
}
