//! [`Names`]: which name stands for which file, live and on the platter.
//!
//! It is not where a file's bytes are: a name may reach the platter before them, or without them.
//!
//! **Invariant:** a change of names happens as a whole or not at all, and after all earlier changes
//! of the same names. In which order others reach the platter is left to chance, until their
//! directory is synced: syncing a file brings no name with it, although some file systems do that.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::chance::Chance;

/// The number of a file or directory; never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ino(pub(super) usize);

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) dir: Ino,
    pub(super) name: String,
}

/// All names.
#[derive(Debug, Clone)]
pub(super) struct Names {
    live: Tree,
    /// What is left when every change that was not synced is lost.
    platter: Tree,
    /// The changes that no sync of their directory has made durable, in their order.
    pending: Vec<Change>,
    /// Which numbers are directories.
    dirs: BTreeSet<Ino>,
}

/// The names in each directory that has any.
type Tree = BTreeMap<Ino, BTreeMap<String, Ino>>;

/// One change: a name is made, taken away, or both.
#[derive(Debug, Clone)]
struct Change {
    gone: Option<Entry>,
    made: Option<(Entry, Ino)>,
}

impl Ino {
    /// The directory `/`.
    pub(super) const ROOT: Self = Self(0);
}

impl Default for Names {
    fn default() -> Self {
        let dirs = BTreeSet::from([Ino::ROOT]);
        Self { live: Tree::new(), platter: Tree::new(), pending: Vec::new(), dirs }
    }
}

impl Names {
    /// What a path stands for.
    pub(super) fn find(&self, path: &Path) -> io::Result<Ino> {
        self.find_in(&self.live, path)
    }

    /// What a path stands for when every change that was not synced is lost.
    pub(super) fn find_durable(&self, path: &Path) -> io::Result<Ino> {
        self.find_in(&self.platter, path)
    }

    /// The last name of a path, in a directory that is there.
    pub(super) fn entry(&self, path: &Path) -> io::Result<Entry> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let name = name.to_str().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
        let dir = self.find(parent)?;
        if !self.is_dir(dir) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Entry { dir, name })
    }

    pub(super) fn get(&self, entry: &Entry) -> Option<Ino> {
        self.live.get(&entry.dir)?.get(&entry.name).copied()
    }

    pub(super) fn is_dir(&self, ino: Ino) -> bool {
        self.dirs.contains(&ino)
    }

    /// What is in a directory, in the order of the names.
    pub(super) fn list(&self, dir: Ino) -> impl Iterator<Item = (&String, Ino)> {
        self.live.get(&dir).into_iter().flatten().map(|(name, ino)| (name, *ino))
    }

    /// How many names a file has.
    pub(super) fn count(&self, ino: Ino) -> u64 {
        self.live.values().flat_map(BTreeMap::values).filter(|found| **found == ino).count() as u64
    }

    /// The path of every file, in the order of the paths.
    pub(super) fn files(&self) -> Vec<(PathBuf, Ino)> {
        let (mut open, mut found) = (vec![(PathBuf::from("/"), Ino::ROOT)], Vec::new());
        while let Some((path, dir)) = open.pop() {
            for (name, ino) in self.list(dir) {
                let to = if self.is_dir(ino) { &mut open } else { &mut found };
                to.push((path.join(name), ino));
            }
        }
        found.sort();
        found
    }

    /// Makes a directory, whose number was used for nothing else.
    pub(super) fn make_dir(&mut self, entry: Entry, ino: Ino) {
        self.dirs.insert(ino);
        self.make(entry, ino);
    }

    /// Gives a file a name.
    pub(super) fn make(&mut self, entry: Entry, ino: Ino) {
        self.change(Change { gone: None, made: Some((entry, ino)) });
    }

    /// Takes a name away.
    pub(super) fn remove(&mut self, entry: Entry) {
        self.change(Change { gone: Some(entry), made: None });
    }

    /// Gives a file or directory another name, in whose place nothing, or a file, may be.
    pub(super) fn rename(&mut self, from: Entry, to: Entry, ino: Ino) {
        self.change(Change { gone: Some(from), made: Some((to, ino)) });
    }

    /// Makes the names in a directory durable, and what has to be durable before them.
    pub(super) fn sync(&mut self, dir: Ino) {
        let (mut synced, mut left) = (Vec::new(), Vec::new());
        for change in std::mem::take(&mut self.pending).into_iter().rev() {
            let before = synced.iter().any(|later: &Change| later.shares_a_name(&change));
            if before || change.dir() == dir { synced.push(change) } else { left.push(change) }
        }
        synced.iter().rev().for_each(|change| change.apply(&mut self.platter));
        left.reverse();
        self.pending = left;
    }

    /// The names after a power cut that lost what was not synced.
    pub(super) fn lost(&self) -> Self {
        self.settled(self.platter.clone())
    }

    /// The names after a power cut that came when everything had been written.
    pub(super) fn kept(&self) -> Self {
        self.settled(self.live.clone())
    }

    /// The names after a power cut: of the changes that were not synced the first ones are there,
    /// as a journal brings them to the platter, or any of them.
    pub(super) fn cut(&self, chance: &mut Chance) -> Self {
        let mut platter = self.platter.clone();
        if chance.one_in(2) {
            let first = chance.below(self.pending.len() + 1);
            self.pending.iter().take(first).for_each(|change| change.apply(&mut platter));
        } else {
            let mut lost: Vec<&Change> = Vec::new();
            for change in &self.pending {
                let after = lost.iter().any(|earlier| earlier.shares_a_name(change));
                if after || chance.one_in(2) {
                    lost.push(change);
                } else {
                    change.apply(&mut platter);
                }
            }
        }
        self.settled(platter)
    }

    /// What can be reached in a tree is all that there is.
    fn settled(&self, mut tree: Tree) -> Self {
        let (mut open, mut live, mut dirs) = (vec![Ino::ROOT], Tree::new(), BTreeSet::new());
        while let Some(dir) = open.pop() {
            dirs.insert(dir);
            let Some(names) = tree.remove(&dir) else { continue };
            open.extend(names.values().filter(|ino| self.is_dir(**ino)));
            live.insert(dir, names);
        }
        Self { platter: live.clone(), live, pending: Vec::new(), dirs }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.pending.push(change);
    }

    fn find_in(&self, tree: &Tree, path: &Path) -> io::Result<Ino> {
        let mut at = Ino::ROOT;
        for part in path.components() {
            let name = match part {
                Component::RootDir | Component::CurDir => continue,
                Component::Normal(name) => name.to_str().ok_or(io::ErrorKind::NotFound)?,
                Component::ParentDir | Component::Prefix(_) => {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
            };
            at = match tree.get(&at).and_then(|names| names.get(name)) {
                Some(found) => *found,
                None if self.is_dir(at) => return Err(io::ErrorKind::NotFound.into()),
                None => return Err(io::ErrorKind::NotADirectory.into()),
            };
        }
        Ok(at)
    }
}

impl Change {
    /// The directory whose sync makes it durable: of a move, the one that it leads to.
    fn dir(&self) -> Ino {
        let made = self.made.as_ref().map(|(entry, _)| entry.dir);
        made.or(self.gone.as_ref().map(|entry| entry.dir)).unwrap_or(Ino::ROOT)
    }

    fn names(&self) -> impl Iterator<Item = &Entry> {
        self.gone.iter().chain(self.made.iter().map(|(entry, _)| entry))
    }

    fn shares_a_name(&self, other: &Self) -> bool {
        self.names().any(|name| other.names().any(|found| found == name))
    }

    fn apply(&self, tree: &mut Tree) {
        if let Some(Entry { dir, name }) = &self.gone
            && let Some(names) = tree.get_mut(dir)
        {
            names.remove(name);
        }
        if let Some((Entry { dir, name }, ino)) = &self.made {
            tree.entry(*dir).or_default().insert(name.clone(), *ino);
        }
    }
}
