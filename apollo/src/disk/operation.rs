//! [`Operation`]: one thing that a disk is asked to change or to sync.
//!
//! It is not for reading, asking and locking: they leave nothing behind, so nobody counts or fails
//! them.

use std::path::Path;

/// What kind of operation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A file is created; opening one that is there is no operation.
    Create,
    /// A directory is created.
    CreateDir,
    /// A file or directory gets another name.
    Rename,
    /// A file gets a second name.
    HardLink,
    /// A file's name is removed.
    RemoveFile,
    /// A directory is removed with what is in it.
    RemoveDirAll,
    /// The names in a directory are synced.
    SyncDir,
    /// Bytes are written at the end of a file.
    Append,
    /// Bytes are written at an offset.
    WriteAt,
    /// A file is cut or extended, or its reserved room released.
    SetLen,
    /// Room is reserved.
    Reserve,
    /// A file is synced.
    Sync,
}

/// One operation, before it is done.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Operation<'a> {
    /// What kind of operation it is.
    pub what: Op,
    /// The file or directory; of two names, the new one.
    pub path: &'a Path,
    /// What is written; empty where nothing is.
    pub bytes: &'a [u8],
    /// How many bytes are written or reserved, or how long the file becomes; 0 for the others.
    pub len_bytes: u64,
}

impl Op {
    /// Its name, as the method of the disk is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::CreateDir => "create_dir",
            Self::Rename => "rename",
            Self::HardLink => "hard_link",
            Self::RemoveFile => "remove_file",
            Self::RemoveDirAll => "remove_dir_all",
            Self::SyncDir => "sync_dir",
            Self::Append => "append",
            Self::WriteAt => "write_at",
            Self::SetLen => "set_len",
            Self::Reserve => "reserve",
            Self::Sync => "sync",
        }
    }

    /// Whether it makes something durable.
    #[must_use]
    pub const fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::SyncDir)
    }

    /// Whether it can be done by half.
    #[must_use]
    pub const fn is_divisible(self) -> bool {
        matches!(self, Self::Append | Self::WriteAt)
    }
}

impl<'a> Operation<'a> {
    /// An operation that is about a name or a whole file.
    pub(super) const fn on(what: Op, path: &'a Path) -> Self {
        Self { what, path, bytes: &[], len_bytes: 0 }
    }

    /// An operation that gives or promises room.
    pub(super) const fn sizing(what: Op, path: &'a Path, len_bytes: u64) -> Self {
        Self { what, path, bytes: &[], len_bytes }
    }

    /// The part of the bytes that is written where it is done by half.
    pub(super) fn first_half(&self) -> &'a [u8] {
        self.bytes.get(..self.bytes.len() / 2).unwrap_or_default()
    }

    /// An operation that writes.
    pub(super) const fn writing(what: Op, path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { what, path, bytes, len_bytes: bytes.len() as u64 }
    }
}
