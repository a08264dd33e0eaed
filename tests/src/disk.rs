//! [`TestDisk`]: the real disk, with other syncs, or without more room.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use apollo::RealDisk;
use apollo::testing::{Course, Hook, HookDisk, Op, Operation};

/// The real disk, with other syncs, or without more room.
#[derive(Debug)]
pub struct TestDisk {
    /// How much longer the sync of a file takes; `None` where no sync does anything.
    sync: Option<Duration>,
    /// How many bytes can still be reserved.
    room_bytes: AtomicU64,
}

impl TestDisk {
    /// Does not sync at all: for tests that no power cut ends.
    pub fn quick() -> Arc<HookDisk> {
        Self::disk(None, u64::MAX)
    }

    /// Takes its time for the sync of a file.
    pub fn slow(sync: Duration) -> Arc<HookDisk> {
        Self::disk(Some(sync), u64::MAX)
    }

    /// Does not sync, and is full when so many bytes were reserved.
    pub fn full_after(room_bytes: u64) -> Arc<HookDisk> {
        Self::disk(None, room_bytes)
    }

    fn disk(sync: Option<Duration>, room_bytes: u64) -> Arc<HookDisk> {
        let hook = Self { sync, room_bytes: room_bytes.into() };
        Arc::new(HookDisk::new(Arc::new(RealDisk), Arc::new(hook)))
    }
}

impl Hook for TestDisk {
    fn course(&self, operation: &Operation<'_>) -> Course {
        match (operation.what, self.sync) {
            (Op::Sync | Op::SyncDir, None) => return Course::Skip,
            (Op::Sync, Some(longer)) => std::thread::sleep(longer),
            (Op::Reserve, _) => {
                let left = |left: u64| left.checked_sub(operation.len_bytes);
                let left = self.room_bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left);
                if left.is_err() {
                    return Course::Fail(io::ErrorKind::StorageFull.into());
                }
            }
            _ => {}
        }
        Course::Through
    }
}
