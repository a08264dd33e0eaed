//! [`TaskLock`]: one process works on a task_id at a time.
//!
//! It is not a file whose existence means anything: the kernel holds the lock, and lets go of it
//! when the process ends, however it ends. So it is never stale, and no pid is believed.
//!
//! **Invariant:** what the file says is for people; whether it is held is asked of the kernel.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::directory::Store;
use crate::clock::Clock;
use crate::disk::{Disk, DiskFile, Open, patiently, read_all};
use crate::id::TaskId;
use crate::time::Timestamp;

/// Who works on a task_id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// The machine.
    pub host: String,
    /// When it began.
    pub start: Timestamp,
}

/// Whether anybody works on a task_id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// Somebody does: who, where that can be read.
    Running(Option<Holder>),
    /// Nobody does.
    Free,
}

/// The right to work on a task_id; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct TaskLock {
    /// Open as long as the lock is held.
    _file: Box<dyn DiskFile>,
}

/// Why there is no right to work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process works on it.
    #[error("another process works on `{task_id}`{}", told(holder.as_ref()))]
    Held {
        /// What it works on.
        task_id: TaskId,
        /// Who, where that can be read.
        holder: Option<Holder>,
    },
    /// The lock can't be taken here.
    #[error(
        "can't lock `{}`; if it is on a network file system, name a directory on a local disk with \
         --dir",
        path.display()
    )]
    Failed {
        /// The lock file.
        path: PathBuf,
        /// What the disk said.
        #[source]
        source: io::Error,
    },
}

impl Holder {
    /// The process that works on a disk, which began at `start`.
    #[must_use]
    pub fn of(disk: &dyn Disk, start: Timestamp) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { pid: disk.pid(), host, start }
    }
}

impl Store {
    /// Takes the right to work on a task_id; waits up to a second for it.
    ///
    /// # Errors
    /// [`LockError::Held`] when another process has it, [`LockError::Failed`] when the file system
    /// can't lock, or can't be written. An empty lock file may be left, which means nothing.
    pub(crate) fn lock_task(
        &self,
        task_id: &TaskId,
        holder: &Holder,
        clock: &dyn Clock,
    ) -> Result<TaskLock, LockError> {
        let path = self.lock_path(task_id);
        let failed = |source| LockError::Failed { path: path.clone(), source };
        let locked = patiently(clock, || try_lock(&**self.disk(), &path)).map_err(failed)?;
        let Some(mut file) = locked else {
            let holder = read_holder(&**self.disk(), &path);
            return Err(LockError::Held { task_id: task_id.clone(), holder });
        };
        if tell(&mut *file, holder).is_err() {
            // The lock is held all the same; who asks is then not told by whom.
        }
        Ok(TaskLock { _file: file })
    }

    /// Tells whether somebody works on a task_id now. Creates and writes nothing.
    ///
    /// # Errors
    /// What the disk says when that can't be told.
    pub(crate) fn holder_of(&self, task_id: &TaskId) -> io::Result<Liveness> {
        let path = self.lock_path(task_id);
        let mut file = match self.disk().open(&path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Liveness::Free),
            opened => opened?,
        };
        if file.try_lock_shared()? {
            return Ok(Liveness::Free);
        }
        Ok(Liveness::Running(read_holder(&**self.disk(), &path)))
    }

    fn lock_path(&self, task_id: &TaskId) -> PathBuf {
        self.logs_dir().join(format!("task_{task_id}.lock"))
    }
}

/// Opens and locks the file, unless somebody else has the lock.
fn try_lock(disk: &dyn Disk, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
    let mut file = disk.open(path, Open::Create)?;
    if !file.try_lock()? {
        return Ok(None);
    }
    // A lock on a file that somebody removed meanwhile excludes nobody.
    let (locked, _names) = file.stat()?;
    let named = match disk.metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found?.id),
    };
    Ok((named == Some(locked.id)).then_some(file))
}

fn tell(file: &mut dyn DiskFile, holder: &Holder) -> io::Result<()> {
    let mut line = serde_json::to_vec(holder)?;
    line.push(b'\n');
    file.set_len(0)?;
    file.append(&line)
}

fn read_holder(disk: &dyn Disk, path: &Path) -> Option<Holder> {
    serde_json::from_slice(&read_all(disk, path).ok()?).ok()
}

fn told(holder: Option<&Holder>) -> String {
    holder.map_or_else(String::new, |Holder { pid, host, start }| {
        format!(": process {pid} on {}, since {start}", host.escape_debug())
    })
}
