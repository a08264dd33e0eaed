use std::collections::{BTreeMap, BTreeSet};

use rustix::io::Errno;

use super::chance::Chance;
use super::*;
use crate::disk::{CrashDisk, create_dirs, read_all, write_atomic};

const PATH: &str = "/dir/x";

fn dir() -> &'static Path {
    Path::new("/dir")
}

fn path() -> &'static Path {
    Path::new(PATH)
}

/// A disk with an empty file whose name is durable, and the file, open.
fn begin(seed: u64) -> (SimDisk, Box<dyn DiskFile>) {
    let disk = SimDisk::new(seed);
    create_dirs(&disk, dir()).unwrap();
    let file = disk.open(path(), Open::CreateNew).unwrap();
    disk.sync_dir(dir()).unwrap();
    (disk, file)
}

/// What power cuts leave of the file, over many seeds.
fn cuts(act: impl Fn(&SimDisk, &mut dyn DiskFile)) -> BTreeSet<Option<Vec<u8>>> {
    let cut = |seed| {
        let (disk, mut file) = begin(seed);
        act(&disk, &mut *file);
        disk.cut_power().read(path())
    };
    (0..500).map(cut).collect()
}

fn text(bytes: &str) -> Option<Vec<u8>> {
    Some(bytes.as_bytes().to_owned())
}

#[test]
fn what_was_synced_survives_a_cut() {
    let found = cuts(|_, file| {
        file.append(b"abc").unwrap();
        file.sync().unwrap();
    });
    assert_eq!(found, BTreeSet::from([text("abc")]));
}

#[test]
fn what_was_appended_and_not_synced_is_lost_kept_torn_or_nul() {
    let found = cuts(|_, file| {
        file.append(b"abc").unwrap();
        file.sync().unwrap();
        file.append(b"defg").unwrap();
    });
    for expected in ["abc", "abcd", "abcde", "abcdefg", "abc\0\0\0\0", "abcde\0\0", "abc\0"] {
        assert!(found.contains(&text(expected)), "{expected:?} in {found:?}");
    }
    for bytes in found.iter().flatten() {
        assert!(bytes.starts_with(b"abc") && bytes.len() <= 7, "{bytes:?}");
        let of_the_file = |(byte, whole): (&u8, &u8)| *byte == 0 || byte == whole;
        assert!(bytes.iter().zip(b"abcdefg").all(of_the_file), "{bytes:?}");
    }
}

#[test]
fn a_later_page_may_arrive_before_an_earlier_one() {
    let found = cuts(|_, file| {
        for byte in [b"a", b"b", b"c"] {
            file.append(&byte.repeat(4096)).unwrap();
        }
    });
    let hole = |bytes: &Vec<u8>| bytes.get(4096) == Some(&0) && bytes.ends_with(b"c");
    assert!(found.iter().flatten().any(hole));
}

#[test]
fn an_overwritten_byte_is_the_old_one_or_the_new_one() {
    let found = cuts(|_, file| {
        file.append(b"abcdef").unwrap();
        file.sync().unwrap();
        file.write_at(2, b"CD").unwrap();
    });
    let expected = ["abcdef", "abCDef", "abCdef"].map(text);
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn a_length_that_was_not_synced_is_the_old_one_or_the_new_one_or_between() {
    let found = cuts(|_, file| {
        file.append(b"abcdef").unwrap();
        file.sync().unwrap();
        file.set_len(2).unwrap();
    });
    assert!(found.contains(&text("ab")) && found.contains(&text("abcdef")), "{found:?}");
    assert!(found.iter().flatten().all(|bytes| b"abcdef".starts_with(bytes)), "{found:?}");
}

#[test]
fn a_sync_that_failed_poisons_what_was_written() {
    let found = cuts(|disk, file| {
        file.append(b"abc").unwrap();
        file.sync().unwrap();
        file.append(b"def").unwrap();
        disk.fault(disk.operations() + 1, Fault::Fail(Errno::IO));
        assert!(file.sync().is_err());
        file.append(b"ghi").unwrap();
        file.sync().unwrap();
        assert_eq!(
            disk.read(path()),
            text("abcdefghi"),
            "the page cache shows what the disk lacks"
        );
        assert_eq!(disk.durable(path()), disk.cut_power().read(path()));
    });
    assert!(found.contains(&text("abc\0\0\0ghi")) && found.contains(&text("abcdefghi")));
    // What was poisoned, and is written again, is synced again.
    let found = cuts(|disk, file| {
        file.append(b"abc").unwrap();
        disk.fault(disk.operations() + 1, Fault::Fail(Errno::IO));
        assert!(file.sync().is_err());
        file.write_at(0, b"abc").unwrap();
        file.sync().unwrap();
    });
    assert_eq!(found, BTreeSet::from([text("abc")]));
}

#[test]
fn a_name_that_was_not_synced_may_be_lost_although_its_file_was() {
    let cut = |seed| {
        let disk = SimDisk::new(seed);
        create_dirs(&disk, dir()).unwrap();
        let mut file = disk.open(path(), Open::CreateNew).unwrap();
        file.append(b"abc").unwrap();
        file.sync().unwrap();
        assert_eq!(disk.durable(path()), None);
        disk.cut_power().read(path())
    };
    let found: BTreeSet<_> = (0..100).map(cut).collect();
    assert_eq!(found, BTreeSet::from([None, text("abc")]));
}

#[test]
fn a_directory_that_was_not_synced_may_be_lost_with_what_is_in_it() {
    let cut = |seed| {
        let disk = SimDisk::new(seed);
        disk.create_dir(dir()).unwrap();
        write_atomic(&disk, path(), b"abc").unwrap();
        let left = disk.cut_power();
        (left.metadata(dir()).is_ok(), left.read(path()))
    };
    let found: BTreeSet<_> = (0..100).map(cut).collect();
    assert_eq!(found, BTreeSet::from([(false, None), (true, text("abc"))]));
}

#[test]
fn a_rename_before_the_sync_leaves_a_name_for_nothing() {
    let rename = |synced: bool| {
        cuts(move |disk, file| {
            file.append(b"old").unwrap();
            file.sync().unwrap();
            let temp = Path::new("/dir/temp");
            let mut file = disk.open(temp, Open::CreateNew).unwrap();
            file.append(b"new").unwrap();
            if synced {
                file.sync().unwrap();
            }
            disk.rename(temp, path()).unwrap();
        })
    };
    assert_eq!(rename(true), BTreeSet::from([text("old"), text("new")]));
    let found = rename(false);
    for expected in ["old", "new", "", "n", "\0\0\0"] {
        assert!(found.contains(&text(expected)), "{expected:?} in {found:?}");
    }
}

#[test]
fn a_file_that_was_replaced_is_never_missing() {
    let found = cuts(|disk, _| {
        for bytes in [b"abc", b"def", b"ghi"] {
            write_atomic(disk, path(), bytes).unwrap();
        }
        drop(disk.remove_file(Path::new("/dir/none")));
        disk.rename(path(), Path::new("/dir/y")).unwrap();
        disk.rename(Path::new("/dir/y"), path()).unwrap();
    });
    assert_eq!(found, BTreeSet::from([text("ghi"), None]), "`None` while it was called y");
}

#[test]
fn changes_of_one_name_happen_in_their_order_and_of_others_in_any() {
    let cut = |seed| {
        let disk = SimDisk::new(seed);
        for name in ["/a", "/b"] {
            disk.write(name, b"").unwrap();
        }
        disk.sync_dir(Path::new("/")).unwrap();
        disk.remove_file(Path::new("/a")).unwrap();
        disk.remove_file(Path::new("/b")).unwrap();
        disk.write("/a", b"").unwrap();
        let left = disk.cut_power();
        let id = |name: &str| left.metadata(Path::new(name)).map(|found| found.id.1).ok();
        (id("/a"), id("/b"))
    };
    let found: BTreeSet<_> = (0..200).map(cut).collect();
    let expected = [
        (Some(1), Some(2)),
        (None, Some(2)),
        (None, None),
        (Some(1), None),
        (Some(3), Some(2)),
        (Some(3), None),
    ];
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn a_kill_keeps_what_was_written_and_ends_what_was_open() {
    let (disk, mut file) = begin(0);
    file.append(b"abc").unwrap();
    assert!(file.try_lock().unwrap());
    let next = disk.kill();
    assert!(file.append(b"def").is_err() && file.read_at(0, &mut [0; 3]).is_err());
    assert!(file.sync().is_err() && disk.list(dir()).is_err() && disk.metadata(dir()).is_err());
    assert_eq!(next.read(path()), text("abc"));
    assert!(next.open(path(), Open::Read).unwrap().try_lock().unwrap(), "the lock is free");
    assert_eq!((next.operations(), next.met()), (0, None));
    next.sync_dir(dir()).unwrap();
}

#[test]
fn a_power_cut_ends_every_process_and_a_kill_one() {
    let (disk, mut file) = begin(0);
    let other = disk.process();
    let next = disk.kill();
    assert!(file.sync().is_err() && other.sync_dir(dir()).is_ok());
    let left = next.cut_power();
    assert!(other.sync_dir(dir()).is_err() && next.sync_dir(dir()).is_err());
    left.sync_dir(dir()).unwrap();
    // The same moment without a cut.
    next.kill().sync_dir(dir()).unwrap();
}

#[test]
fn a_sync_of_a_directory_that_failed_can_be_done_later() {
    let (disk, _file) = begin(0);
    disk.rename(path(), Path::new("/dir/y")).unwrap();
    disk.fault(disk.operations() + 1, Fault::Fail(Errno::IO));
    assert!(disk.sync_dir(dir()).is_err());
    assert_eq!((disk.durable("/dir/x"), disk.durable("/dir/y")), (text(""), None));
    disk.sync_dir(dir()).unwrap();
    assert_eq!((disk.durable("/dir/x"), disk.durable("/dir/y")), (None, text("")));
}

#[test]
fn a_move_is_durable_with_the_directory_that_it_leads_to() {
    let (disk, _file) = begin(0);
    create_dirs(&disk, Path::new("/other")).unwrap();
    disk.rename(path(), Path::new("/other/x")).unwrap();
    disk.sync_dir(dir()).unwrap();
    assert_eq!((disk.durable("/dir/x"), disk.durable("/other/x")), (text(""), None));
    disk.sync_dir(Path::new("/other")).unwrap();
    assert_eq!((disk.durable("/dir/x"), disk.durable("/other/x")), (None, text("")));
}

#[test]
fn a_lock_excludes_other_openings_and_another_file_of_the_name_has_its_own() {
    let (disk, mut file) = begin(0);
    let other = disk.process();
    let mut two = other.open(path(), Open::Write).unwrap();
    assert!(file.try_lock().unwrap());
    assert!(!two.try_lock().unwrap() && !two.try_lock_shared().unwrap());
    drop(file);
    let mut three = disk.open(path(), Open::Read).unwrap();
    assert!(two.try_lock_shared().unwrap() && three.try_lock_shared().unwrap());
    assert!(!two.try_lock().unwrap());
    drop(three);
    assert!(two.try_lock().unwrap());
    disk.remove_file(path()).unwrap();
    let mut four = disk.open(path(), Open::CreateNew).unwrap();
    assert!(four.try_lock().unwrap(), "it is another file");
    two.append(b"nobody finds this").unwrap();
    assert_eq!((two.stat().unwrap().1, four.stat().unwrap().1), (0, 1));
    assert_ne!(two.stat().unwrap().0.id, disk.metadata(path()).unwrap().id);
    assert_eq!(read_all(&disk, path()).unwrap(), b"");
}

#[test]
fn a_full_disk_takes_what_fits_and_what_was_reserved() {
    let (disk, mut file) = begin(0);
    let free = || disk.file_system(dir()).unwrap().free_bytes;
    let full = |error: io::Error| assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    disk.room(10);
    full(file.append(b"more than ten").unwrap_err());
    assert_eq!((disk.read(path()), free()), (text("more than "), 0));
    file.set_len(2).unwrap();
    full(file.reserve(2, 9).unwrap_err());
    file.reserve(2, 8).unwrap();
    assert_eq!((file.stat().unwrap().0.len, free()), (2, 0));
    let mut other = disk.open(Path::new("/dir/y"), Open::CreateNew).unwrap();
    full(other.append(b"y").unwrap_err());
    file.append(b"reserved").unwrap();
    full(file.append(b"!").unwrap_err());
    file.set_len(5).unwrap();
    file.reserve(5, 5).unwrap();
    file.set_len(5).unwrap();
    assert_eq!(free(), 5, "the same length releases what was reserved");
    disk.remove_file(path()).unwrap();
    assert_eq!(free(), 5, "it is still open");
    drop(file);
    assert_eq!(free(), 10);
}

#[test]
fn it_counts_what_a_crash_disk_counts() {
    let disk = SimDisk::new(0);
    let crash = CrashDisk::new(Arc::new(disk.clone()), 0, Fault::Kill);
    let at = Path::new;
    create_dirs(&crash, at("/a/b")).unwrap();
    for how in [Open::Create, Open::Create, Open::Write, Open::Read] {
        drop(crash.open(at("/a/b/x"), how).unwrap());
    }
    assert!(crash.open(at("/a/b/x"), Open::CreateNew).is_err());
    assert!(crash.open(at("/a/b/none"), Open::Write).is_err());
    write_atomic(&crash, at("/a/b/x"), b"abc").unwrap();
    crash.hard_link(at("/a/b/x"), at("/a/b/y")).unwrap();
    crash.remove_file(at("/a/b/x")).unwrap();
    assert!(crash.remove_file(at("/a/b/x")).is_err());
    let mut file = crash.open(at("/a/b/y"), Open::Write).unwrap();
    file.write_at(1, b"B").unwrap();
    file.reserve(3, 10).unwrap();
    file.set_len(3).unwrap();
    assert_eq!(file.read_at(0, &mut [0; 9]).unwrap(), 3);
    assert!(file.try_lock().unwrap() && file.stat().is_ok());
    crash.remove_dir_all(at("/a")).unwrap();
    assert!(crash.list(at("/a")).is_err() && crash.metadata(at("/")).is_ok());
    assert_eq!((crash.operations(), crash.syncs()), (disk.operations(), disk.syncs()));
    assert_eq!((disk.operations(), disk.syncs()), (19, 5));
}

#[test]
fn faults_are_counted_and_met_as_on_a_crash_disk() {
    let (disk, mut file) = begin(0);
    let now = disk.operations();
    assert_eq!((now, disk.syncs()), (5, 3), "`/` is synced, since it is empty");
    disk.fault(now + 1, Fault::Short);
    disk.fault(now + 3, Fault::Fail(Errno::NOSPC));
    disk.fault(now + 4, Fault::KillTorn);
    assert_eq!(file.append(b"abcdef").unwrap_err().kind(), io::ErrorKind::WriteZero);
    file.append(b"ghi").unwrap();
    assert_eq!(disk.read(path()), text("abcghi"));
    let refused = disk.create_dir(Path::new("/dir/y")).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
    assert!(file.write_at(0, b"ABCD").is_err());
    assert_eq!(disk.met(), Some(("append", path().to_owned())));
    assert_eq!(disk.read(path()), text("ABcghi"));
    assert!(disk.metadata(path()).is_err() && file.sync().is_err(), "the process is dead");
    assert_eq!(disk.operations(), now + 4, "the dead do nothing");
}

#[test]
fn a_disk_that_can_only_be_read_stays_so() {
    let (disk, mut file) = begin(0);
    disk.fault(disk.operations() + 2, Fault::FailFrom(Errno::ROFS));
    file.append(b"abc").unwrap();
    for _ in 0..2 {
        assert_eq!(file.append(b"def").unwrap_err().kind(), io::ErrorKind::ReadOnlyFilesystem);
        assert!(disk.sync_dir(dir()).is_err());
    }
    assert_eq!(read_all(&disk, path()).unwrap(), b"abc");
}

#[test]
fn rot_changes_a_byte_that_is_there() {
    let (disk, mut file) = begin(0);
    file.append(b"abc").unwrap();
    file.sync().unwrap();
    assert!(disk.rot(PATH, 1, 0b11) && !disk.rot(PATH, 3, 1) && !disk.rot("/none", 0, 1));
    assert_eq!((disk.read(PATH), disk.durable(PATH)), (text("aac"), text("aac")));
}

#[test]
fn one_seed_is_one_end() {
    let run = |seed| {
        let (disk, mut file) = begin(seed);
        for n in 0..20_u8 {
            file.append(&[n; 100]).unwrap();
            let name = format!("/dir/{n}");
            disk.open(Path::new(&name), Open::CreateNew).unwrap().append(&[n]).unwrap();
        }
        let left = disk.cut_power();
        let again = disk.cut_power();
        left.open(path(), Open::Write).unwrap().append(b"after").unwrap();
        (left.cut_power().files(), again.files())
    };
    assert_eq!(run(7), run(7));
    let all: BTreeSet<_> = (0..50).map(run).collect();
    assert!(all.len() > 40, "other seeds are other ends: {}", all.len());
    assert!(all.iter().any(|(left, again)| left.len() != again.len()), "a cut can be asked again");
}

/// Does something to one of a few files, whatever comes of it.
fn act(disk: &SimDisk, chance: &mut Chance) -> io::Result<()> {
    let mut path = || PathBuf::from(format!("/{}/{}", chance.below(2), chance.below(3)));
    let (path, other) = (path(), path());
    let bytes = b"abc".repeat(chance.below(10));
    let at = chance.below(40) as u64;
    let mut file = disk.open(&path, Open::Create)?;
    match chance.below(8) {
        0 => file.append(&bytes),
        1 => file.write_at(at, &bytes),
        2 => file.set_len(at),
        3 => file.reserve(at, 30),
        4 => file.sync(),
        5 => disk.rename(&path, &other),
        6 => disk.hard_link(&path, &other),
        _ => disk.remove_file(&path),
    }
}

/// Begins two directories on a small disk, and does something there.
fn acted(seed: u64) -> SimDisk {
    let (disk, mut chance) = (SimDisk::new(seed), Chance::new(seed));
    disk.room(10_000);
    for dir in ["/0", "/1"] {
        create_dirs(&disk, Path::new(dir)).unwrap();
    }
    for _ in 0..chance.below(60) {
        drop(act(&disk, &mut chance));
    }
    disk
}

#[test]
fn what_a_cut_leaves_is_settled() {
    for seed in 0..300 {
        let disk = acted(seed).cut_power();
        let files = disk.files();
        for (path, bytes) in &files {
            assert_eq!(disk.durable(path).as_ref(), Some(bytes), "seed {seed}");
        }
        assert_eq!(disk.cut_power().files(), files, "seed {seed}");
    }
}

#[test]
fn whatever_was_done_before_what_was_synced_is_there_and_room_is_accounted_for() {
    for seed in 0..300 {
        for disk in [acted(seed), acted(seed).kill(), acted(seed).cut_power()] {
            for (path, bytes) in disk.files() {
                let mut file = disk.open(&path, Open::Write).unwrap();
                file.set_len(bytes.len() as u64).unwrap();
                file.sync().unwrap();
            }
            for dir in ["/", "/0", "/1"] {
                disk.sync_dir(Path::new(dir)).unwrap();
            }
            let files = disk.files();
            let id = |path: &PathBuf| disk.metadata(path).unwrap().id;
            let len = |(path, bytes): &(PathBuf, Vec<u8>)| (id(path), bytes.len() as u64);
            let used = files.iter().map(len).collect::<BTreeMap<_, _>>().into_values();
            let free = disk.file_system(Path::new("/")).unwrap().free_bytes;
            assert_eq!(free + used.sum::<u64>(), 10_000, "seed {seed}");
            assert_eq!(disk.cut_power().files(), files, "seed {seed}");
        }
    }
}
