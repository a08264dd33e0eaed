//! [`TestDisk`]: the real disk, with other syncs, or without more room.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use apollo::{Disk, DiskFile, FileSystem, Metadata, Open, RealDisk};

/// The real disk, with other syncs, or without more room.
#[derive(Debug, Clone)]
pub struct TestDisk {
    /// How long the sync of a file takes at least; `None` where it does nothing.
    sync: Option<Duration>,
    /// How many bytes can still be reserved.
    room_bytes: Arc<AtomicU64>,
}

#[derive(Debug)]
struct TestFile(Box<dyn DiskFile>, TestDisk);

impl TestDisk {
    /// Does not sync at all: for tests that no power cut ends.
    pub fn quick() -> Arc<Self> {
        Arc::new(Self { sync: None, room_bytes: Arc::new(u64::MAX.into()) })
    }

    /// Takes its time for the sync of a file.
    pub fn slow(sync: Duration) -> Arc<Self> {
        Arc::new(Self { sync: Some(sync), room_bytes: Arc::new(u64::MAX.into()) })
    }

    /// Does not sync, and is full when so many bytes were reserved.
    pub fn full_after(room_bytes: u64) -> Arc<Self> {
        Arc::new(Self { sync: None, room_bytes: Arc::new(room_bytes.into()) })
    }
}

impl Disk for TestDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(TestFile(RealDisk.open(path, how)?, self.clone())))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_dir_all(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        if self.sync.is_some() { RealDisk.sync_dir(dir) } else { Ok(()) }
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        RealDisk.metadata(path)
    }

    fn target(&self, path: &Path) -> io::Result<Metadata> {
        RealDisk.target(path)
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        RealDisk.file_system(path)
    }

    fn user(&self) -> u32 {
        RealDisk.user()
    }
}

impl DiskFile for TestFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.append(bytes)
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(offset_bytes, bytes)
    }

    fn read_at(&mut self, offset_bytes: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset_bytes, buf)
    }

    fn stat(&self) -> io::Result<(Metadata, u64)> {
        self.0.stat()
    }

    fn sync(&mut self) -> io::Result<()> {
        let Some(sync) = self.1.sync else { return Ok(()) };
        let until = Instant::now() + sync;
        self.0.sync()?;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(left);
        }
        Ok(())
    }

    fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        self.0.set_len(len_bytes)
    }

    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        let left = |left: u64| left.checked_sub(len_bytes);
        let left = self.1.room_bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left);
        left.map_err(|_none| io::ErrorKind::StorageFull)?;
        self.0.reserve(offset_bytes, len_bytes)
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        self.0.try_lock()
    }

    fn try_lock_shared(&mut self) -> io::Result<bool> {
        self.0.try_lock_shared()
    }
}
