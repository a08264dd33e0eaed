//! [`RealDisk`]: the machine's own file system.
//!
//! It is not where a protocol lives: what has to be synced in which order is said by the callers.
//!
//! **Invariant:** symbolic links are never followed at the end of a path that is opened; new files
//! have mode 0600, new directories 0700; descriptors are not inherited by children.
#![expect(clippy::disallowed_methods, reason = "this file is the door to the file system")]

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Disk, DiskFile, FileSystem, Metadata, Open};

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

/// An open file of [`RealDisk`]; where it is writable, it is opened with O_APPEND, so that bytes
/// that somebody else put at its end are never overwritten.
#[derive(Debug)]
struct RealFile(File);

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).mode(0o600).custom_flags(no_follow());
        match how {
            Open::Read => &mut options,
            Open::Write => options.append(true),
            Open::CreateNew => options.append(true).create_new(true),
            Open::Create => options.append(true).create(true),
        };
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Box::new(RealFile(file)))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            // A name that is not UTF-8 is never one of ours.
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to).map_err(|error| {
            // Of a file that this user owns, EPERM says that the file system has no second names.
            let none = [Errno::PERM, Errno::OPNOTSUPP, Errno::NOSYS, Errno::MLINK];
            let none = none.into_iter().any(|errno| is(&error, errno));
            if none { io::ErrorKind::Unsupported.into() } else { error }
        })
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let synced = File::open(dir)?.sync_all();
        // Some network and FUSE file systems have no such call for a directory, and say EINVAL;
        // the store warns about them.
        synced.or_else(|error| if is(&error, Errno::INVAL) { Ok(()) } else { Err(error) })
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        fs::symlink_metadata(path).map(|metadata| to_metadata(&metadata))
    }

    fn target(&self, path: &Path) -> io::Result<Metadata> {
        fs::metadata(path).map(|metadata| to_metadata(&metadata))
    }

    fn file_system(&self, path: &Path) -> io::Result<FileSystem> {
        let room = rustix::fs::statvfs(path)?;
        let kind = kind_of(path)?;
        Ok(FileSystem { free_bytes: room.f_bavail.saturating_mul(room.f_frsize), ..kind })
    }

    fn user(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }
}

impl DiskFile for RealFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        // With O_APPEND Linux writes at the end, whatever offset it is given.
        let flags = rustix::fs::fcntl_getfl(&self.0)?;
        rustix::fs::fcntl_setfl(&self.0, flags.difference(OFlags::APPEND))?;
        let written = self.0.write_all_at(bytes, offset_bytes);
        rustix::fs::fcntl_setfl(&self.0, flags)?;
        written
    }

    fn read_at(&mut self, offset_bytes: u64, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read_at(buf, offset_bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    fn stat(&self) -> io::Result<(Metadata, u64)> {
        let metadata = self.0.metadata()?;
        Ok((to_metadata(&metadata), metadata.nlink()))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn set_len(&mut self, len_bytes: u64) -> io::Result<()> {
        self.0.set_len(len_bytes)
    }

    #[cfg(target_os = "linux")]
    fn reserve(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        let keep = rustix::fs::FallocateFlags::KEEP_SIZE;
        let reserve = || rustix::fs::fallocate(&self.0, keep, offset_bytes, len_bytes);
        rustix::io::retry_on_intr(reserve).map_err(|errno| match errno {
            Errno::OPNOTSUPP | Errno::NOSYS => io::ErrorKind::Unsupported.into(),
            errno => errno.into(),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(&mut self, _offset_bytes: u64, _len_bytes: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn try_lock(&mut self) -> io::Result<bool> {
        got(self.0.try_lock())
    }

    fn try_lock_shared(&mut self) -> io::Result<bool> {
        got(self.0.try_lock_shared())
    }
}

fn got(locked: Result<(), TryLockError>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

#[expect(clippy::cast_possible_wrap, reason = "std takes the flags as the C int they are")]
const fn no_follow() -> i32 {
    OFlags::NOFOLLOW.bits() as i32
}

fn to_metadata(metadata: &fs::Metadata) -> Metadata {
    Metadata {
        is_dir: metadata.is_dir(),
        is_symlink: metadata.is_symlink(),
        len: metadata.len(),
        id: (metadata.dev(), metadata.ino()),
        mode: metadata.mode() & 0o7777,
        uid: metadata.uid(),
    }
}

/// What kind of file system a path is on, by the numbers of statfs(2); the free room is not told.
#[cfg(target_os = "linux")]
fn kind_of(path: &Path) -> io::Result<FileSystem> {
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    const BTRFS: u64 = 0x9123_683e;
    const NFS: u64 = 0x6969;
    const SMB: u64 = 0x517b;
    const SMB2: u64 = 0xfe53_4d42;
    const CIFS: u64 = 0xff53_4d42;
    const V9FS: u64 = 0x0102_1997;
    const AFS: u64 = 0x5346_414f;
    const CEPH: u64 = 0x00c3_6400;
    // FUSE may be a local file system, but whether its locks and syncs hold nobody can tell.
    const FUSE: u64 = 0x6573_5546;
    // The numbers have 32 bits; some machines sign-extend them.
    let kind = (rustix::fs::statfs(path)?.f_type as u64) & 0xffff_ffff;
    Ok(FileSystem {
        free_bytes: 0,
        in_memory: matches!(kind, TMPFS | RAMFS),
        network: matches!(kind, NFS | SMB | SMB2 | CIFS | V9FS | AFS | CEPH | FUSE),
        copy_on_write: kind == BTRFS,
    })
}

/// What kind of file system a path is on; the free room is not told. APFS writes in new places
/// too, but nothing is reserved there.
#[cfg(target_os = "macos")]
fn kind_of(path: &Path) -> io::Result<FileSystem> {
    const MNT_LOCAL: u32 = 0x1000;
    let network = rustix::fs::statfs(path)?.f_flags & MNT_LOCAL == 0;
    Ok(FileSystem { free_bytes: 0, in_memory: false, network, copy_on_write: false })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::disk::TempDir;

    #[test]
    fn what_is_made_belongs_to_its_owner_alone() {
        let dir = TempDir::new();
        let sub = dir.path().join("sub");
        RealDisk.create_dir(&sub).unwrap();
        for how in [Open::Create, Open::Write, Open::Read] {
            drop(RealDisk.open(&sub.join("x"), how).unwrap());
        }
        assert!(RealDisk.open(&sub.join("x"), Open::CreateNew).is_err());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&sub), mode(&sub.join("x"))), (0o700, 0o600));
        let found = RealDisk.metadata(&sub).unwrap();
        assert_eq!((found.is_dir, found.mode, found.uid), (true, 0o700, RealDisk.user()));
    }

    #[test]
    fn links_directories_and_pipes_are_not_opened() {
        let dir = TempDir::new();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("x"), "x").unwrap();
        symlink(at("x"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        for name in ["link", "dangling", ""] {
            for how in [Open::Read, Open::Write, Open::Create, Open::CreateNew] {
                assert!(RealDisk.open(&at(name), how).is_err(), "{name}, {how:?}");
            }
        }
        assert!(!at("nowhere").exists());
        assert!(RealDisk.metadata(&at("link")).unwrap().is_symlink);
        assert!(!RealDisk.target(&at("link")).unwrap().is_symlink);
    }

    #[test]
    fn writing_in_place_and_appending_take_turns() {
        let dir = TempDir::new();
        let path = dir.path().join("x");
        let mut file = RealDisk.open(&path, Open::CreateNew).unwrap();
        file.append(b"abcdef").unwrap();
        file.write_at(1, b"BC").unwrap();
        // Somebody else writes; what they wrote stays.
        let mut other = RealDisk.open(&path, Open::Write).unwrap();
        other.append(b"other").unwrap();
        file.append(b"ghi").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"aBCdefotherghi");
        file.set_len(3).unwrap();
        file.append(b"x").unwrap();
        file.sync().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"aBCx");
        assert_eq!(file.stat().unwrap().0.len, 4);
    }

    #[test]
    fn a_lock_excludes_and_ends_with_its_file() {
        let dir = TempDir::new();
        let path = dir.path().join("x");
        let mut one = RealDisk.open(&path, Open::Create).unwrap();
        let mut two = RealDisk.open(&path, Open::Read).unwrap();
        assert!(one.try_lock().unwrap());
        assert!(!two.try_lock().unwrap() && !two.try_lock_shared().unwrap());
        drop(one);
        let mut three = RealDisk.open(&path, Open::Read).unwrap();
        assert!(two.try_lock_shared().unwrap() && three.try_lock_shared().unwrap());
    }

    #[test]
    fn a_second_name_is_the_same_file_and_never_takes_anothers_place() {
        let dir = TempDir::new();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("x"), "x").unwrap();
        fs::write(at("y"), "y").unwrap();
        RealDisk.hard_link(&at("x"), &at("z")).unwrap();
        let id = |name: &str| RealDisk.metadata(&at(name)).unwrap().id;
        assert_eq!(id("x"), id("z"));
        let taken = RealDisk.hard_link(&at("x"), &at("y")).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(at("y")).unwrap(), b"y");
        // No system gives a directory a second name: EPERM, as on a file system without them.
        let none = RealDisk.hard_link(dir.path(), &at("d")).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::Unsupported);
        let missing = RealDisk.hard_link(&at("nowhere"), &at("n")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_file_system_is_told_apart() {
        let found = RealDisk.file_system(Path::new("/")).unwrap();
        assert!(found.free_bytes > 0);
        let shm = Path::new("/dev/shm");
        if shm.is_dir() {
            assert!(RealDisk.file_system(shm).unwrap().in_memory);
        }
    }
}
