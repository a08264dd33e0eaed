//! [`Op`]: what a disk is asked to change or to sync.
//!
//! It is not for reading, asking and locking: they leave nothing behind, so nobody counts or fails
//! them.

/// What kind of operation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
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

impl Op {
    /// Its name, as the method of the disk is called.
    #[must_use]
    pub(super) const fn name(self) -> &'static str {
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
    pub(super) const fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::SyncDir)
    }

    /// Whether it can be done by half.
    #[must_use]
    pub(super) const fn is_divisible(self) -> bool {
        matches!(self, Self::Append | Self::WriteAt)
    }
}
