//! [`SlowDisk`]: the real disk, whose syncs of files take longer.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use apollo::{Disk, DiskFile, FileSystem, Metadata, Open, RealDisk};

/// The real disk, whose syncs of files take so long at least.
#[derive(Debug)]
pub struct SlowDisk(pub Duration);

#[derive(Debug)]
struct SlowFile(Box<dyn DiskFile>, Duration);

impl Disk for SlowDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(SlowFile(RealDisk.open(path, how)?, self.0)))
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
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_dir_all(path)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        RealDisk.sync_dir(dir)
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

impl DiskFile for SlowFile {
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
        let until = Instant::now() + self.1;
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
        self.0.reserve(offset_bytes, len_bytes)
    }
    fn try_lock(&mut self) -> io::Result<bool> {
        self.0.try_lock()
    }
    fn try_lock_shared(&mut self) -> io::Result<bool> {
        self.0.try_lock_shared()
    }
}
