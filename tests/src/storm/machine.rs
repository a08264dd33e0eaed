//! [`Machine`]: a file system of its own, in an image in a loop device, whose power can be cut.
//!
//! It needs the rights of root and loop devices; where they are missing it says so.
//!
//! **Invariant:** nothing of it is left when its process has ended, however that ends: it is mounted
//! in a namespace of its own.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::child::said;
use crate::dir::Dir;

/// The arguments that give a program a mount namespace of its own: what it mounts nobody else
/// sees, and it is gone when the program is.
pub const NAMESPACE: [&str; 5] = ["unshare", "--mount", "--propagation", "private", "--"];

/// Shuts the file system of each path down that it is told, without writing anything more to it:
/// FS_IOC_SHUTDOWN with FS_SHUTDOWN_FLAGS_NOLOGFLUSH, for which no crate has a safe name.
const CUTTER: &str = "
import fcntl, os, struct, sys
for line in sys.stdin:
    place = os.open(line.rstrip('\\n'), os.O_RDONLY)
    fcntl.ioctl(place, 0x8004587D, struct.pack('I', 2))
    os.close(place)
    print('cut', flush=True)
";

/// How many bytes an image has; xfs is made no smaller than 300 MiB.
const IMAGE_BYTES: u64 = 512 * 1024 * 1024;

/// A file system that power cuts are played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The usual one.
    Ext4,
    /// The other one.
    Xfs,
}

/// A file system in an image, and somebody who can cut its power.
#[derive(Debug)]
pub struct Machine {
    kind: Kind,
    /// Holds the image and the place where it is mounted.
    dir: Dir,
    cutter: Child,
}

impl Kind {
    /// The kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Ext4, Self::Xfs].into_iter().find(|kind| kind.name() == name)
    }

    /// Its name for `mount`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }

    fn make(self, image: &Path) -> Command {
        let mut make = Command::new(format!("mkfs.{}", self.name()));
        make.arg("-q").arg(image);
        make
    }

    /// Nothing is to reach the disk because time went by.
    const fn options(self) -> &'static str {
        match self {
            Self::Ext4 => "loop,commit=300",
            Self::Xfs => "loop",
        }
    }
}

impl Machine {
    /// Makes the file system and mounts it.
    ///
    /// # Errors
    /// Why this machine can't.
    pub fn start(kind: Kind) -> Result<Self, String> {
        let dir = Dir::new("power");
        let (image, place) = (dir.path().join("image"), dir.path().join("disk"));
        let image_file = File::create(&image).and_then(|file| file.set_len(IMAGE_BYTES));
        image_file.and_then(|()| fs::create_dir(&place)).map_err(|error| error.to_string())?;
        well(&mut kind.make(&image))?;
        let mut cutter = Command::new("python3");
        cutter.args(["-c", CUTTER]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let cutter = cutter.spawn().map_err(|error| format!("python3: {error}"))?;
        let machine = Self { kind, dir, cutter };
        machine.mount()?;
        Ok(machine)
    }

    /// Where its files are.
    pub fn disk(&self) -> PathBuf {
        self.dir.path().join("disk")
    }

    /// A directory on it that survives a power cut.
    ///
    /// # Panics
    /// When it can't be made.
    pub fn dir(&self) -> Dir {
        let dir = Dir::below(&self.disk(), "cut");
        let synced = File::open(self.disk()).and_then(|disk| disk.sync_all());
        synced.expect("a disk");
        dir
    }

    fn mount(&self) -> Result<(), String> {
        let mut mount = Command::new("mount");
        mount.args(["-t", self.kind.name(), "-o", self.kind.options()]);
        well(mount.arg(self.dir.path().join("image")).arg(self.disk()))
    }

    /// Cuts the power and gives it back: what was not synced is gone.
    ///
    /// # Panics
    /// When the file system does not come back.
    pub fn cut_power(&mut self) {
        let disk = self.disk();
        let orders = self.cutter.stdin.as_mut().expect("a pipe");
        writeln!(orders, "{}", disk.display()).expect("somebody who cuts the power");
        let mut done = String::new();
        let answers = self.cutter.stdout.as_mut().expect("a pipe");
        BufReader::new(answers).read_line(&mut done).expect("an answer");
        assert_eq!(done, "cut\n", "the power is cut");
        well(Command::new("umount").arg(disk)).expect("nobody works there any more");
        self.mount().expect("a file system that recovers");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The loop device goes with the mount, and both with the namespace at the latest.
        drop(well(Command::new("umount").arg("--lazy").arg(self.disk())));
        drop(self.cutter.kill());
        drop(self.cutter.wait());
    }
}

/// Runs a tool of the system to its end.
fn well(tool: &mut Command) -> Result<(), String> {
    let name = tool.get_program().to_string_lossy().into_owned();
    let ended: Output = tool.output().map_err(|error| format!("{name}: {error}"))?;
    if ended.status.success() { Ok(()) } else { Err(format!("{name}: {}", said(&ended))) }
}
