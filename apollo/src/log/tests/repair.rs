//! Every operation of a repair, killed, failed or ended by a power cut in turn.

use rustix::io::Errno;

use super::*;
use crate::disk::{Fault, SimDisk};
use crate::record::Crc;
use crate::state::Status;

const LOG: &str = "/logs/task_t_1.jsonl";
const SNAPSHOT: &str = "/logs/task_t_1.jsonl.snapshot";

/// A log with a damage.
struct Damaged {
    bytes: Vec<u8>,
    /// How many of them are good.
    good: usize,
    /// What else lies beside it.
    snapshot: bool,
}

impl Damaged {
    fn new(snapshot: bool) -> Self {
        let (bytes, good) = damaged();
        Self { bytes, good, snapshot }
    }

    fn on_disk(&self, seed: u64) -> SimDisk {
        let files: [(&str, &[u8]); 2] = [(LOG, &self.bytes), (SNAPSHOT, b"of more records")];
        disk_with(seed, if self.snapshot { &files } else { &files[..1] })
    }
}

/// A log of five lines whose third is damaged, and how many of its bytes are good.
fn damaged() -> (Vec<u8>, usize) {
    let dir = TempDir::new();
    let mut bytes = write_log(&real(), &log_in(&dir), &[1, 2, 1]);
    let good = line_starts(&bytes)[2];
    bytes[good + 40] ^= 1;
    (bytes, good)
}

/// A disk that has these files, all of them durable.
fn disk_with(seed: u64, files: &[(&str, &[u8])]) -> SimDisk {
    let disk = SimDisk::new(seed);
    disk.create_dir(Path::new("/logs")).unwrap();
    for (path, bytes) in files {
        disk.write(path, bytes).unwrap();
        disk.open(Path::new(path), crate::disk::Open::Write).unwrap().sync().unwrap();
    }
    disk.sync_dir(Path::new("/logs")).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    disk.process()
}

/// Repairs the log where it is damaged.
fn mend(disk: &SimDisk) -> Result<Option<PathBuf>, String> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut log = UnsealedLog::open_locked(&disk, Path::new(LOG), &clock())
        .map_err(|error| error.to_string())?;
    match log.examine().map_err(|error| error.to_string())?.finding {
        Finding::Sound(_) => log.settle().map(|()| None).map_err(|error| error.to_string()),
        Finding::Damaged(damage) => {
            log.repair(damage.offset_bytes).map(Some).map_err(|error| error.to_string())
        }
    }
}

/// The names of the files, without what a copy that died left behind.
fn names(disk: &SimDisk) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let names = disk.files().into_iter().map(|(path, _bytes)| name(path));
    names.filter(|name| *name != ".task_t_1.jsonl.corrupt-0.tmp").collect()
}

/// What holds after a repair that ended in any way, on the disk that the next process finds.
fn check(disk: &SimDisk, damaged: &Damaged, repaired: bool, place: &str) {
    let bad = &damaged.bytes[..];
    let good = &bad[..damaged.good];
    let found = disk.read(LOG).unwrap_or_default();
    assert!(found == bad || found == good, "{place}: the log is neither");
    let kept = || disk.read(format!("{LOG}.corrupt-0")).unwrap_or_default();
    assert!(found == bad || kept() == bad, "{place}: the damaged log is lost");
    assert!(!repaired || found == good, "{place}: it said that it was repaired");
    mend(disk).unwrap_or_else(|error| panic!("{place}: {error}"));
    for disk in [disk, &disk.cut_power()] {
        let kept = disk.read(format!("{LOG}.corrupt-0")).unwrap_or_default();
        assert!(disk.read(LOG).unwrap() == good, "{place}: not repaired for good");
        assert!(kept == bad, "{place}: not kept");
        let expected = ["", ".corrupt-0", ".corrupt-0.snapshot"];
        let expected = expected.map(|end| format!("task_t_1.jsonl{end}"));
        let expected = if damaged.snapshot { &expected[..] } else { &expected[..2] };
        assert_eq!(names(disk), expected, "{place}");
    }
}

/// Repairs once for every operation, which meets `fault`; `before` arms what else goes wrong.
/// Tells how many operations there are.
fn at_each_operation(damaged: &Damaged, fault: Fault, before: impl Fn(&SimDisk)) -> u64 {
    // Many ends of one power cut: which names reach the platter first is left to chance.
    let cuts = if fault == Fault::Dead { 40 } else { 6 };
    for at in 1.. {
        for seed in 0..3 {
            let disk = damaged.on_disk(seed);
            before(&disk);
            disk.fault(at, fault);
            let repaired = mend(&disk);
            if disk.operations() < at {
                assert!(matches!(repaired, Ok(Some(_))), "{repaired:?}");
                return at - 1;
            }
            let place = format!("{fault:?} at {at}, {:?}, seed {seed}", disk.met());
            if seed == 0 {
                check(&disk.kill(), damaged, repaired.is_ok(), &place);
            } else {
                for _ in 0..cuts {
                    check(&disk.cut_power(), damaged, repaired.is_ok(), &place);
                }
            }
        }
    }
    0
}

const FAULTS: [Fault; 4] =
    [Fault::Dead, Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Short];

#[test]
fn whatever_fails_the_log_is_the_damaged_one_or_the_repaired_one_and_repairing_again_ends_the_same()
{
    // Create, write, sync; the length and the end of the old one again, sync; link, its name; the snapshot, its name; rename, its
    // name. Moving a snapshot that is not there is an operation, too.
    for (snapshot, operations) in [(true, 12), (false, 11)] {
        let damaged = Damaged::new(snapshot);
        for fault in FAULTS {
            assert_eq!(at_each_operation(&damaged, fault, |_disk| {}), operations, "{fault:?}");
        }
    }
}

#[test]
fn repairs_that_die_one_after_the_other_come_to_the_same_end() {
    let damaged = [false, true].map(Damaged::new);
    for seed in 0..40 {
        let damaged = &damaged[usize::from(seed % 2 == 0)];
        let mut disk = damaged.on_disk(seed);
        for at in 1.. {
            disk.fault(at, Fault::Dead);
            let repaired = mend(&disk);
            let next = if (seed + at) % 3 == 0 { disk.kill() } else { disk.cut_power() };
            if repaired.is_ok() {
                check(&next, damaged, true, &format!("seed {seed}, alive at {at}"));
                break;
            }
            disk = next;
        }
    }
}

#[test]
fn without_second_names_the_damaged_log_is_copied() {
    let damaged = Damaged::new(true);
    for fault in FAULTS {
        let no_link = |disk: &SimDisk| disk.fault(7, Fault::Fail(Errno::NOSYS));
        // Create, write, sync and rename instead of the link.
        assert_eq!(at_each_operation(&damaged, fault, no_link), 16, "{fault:?}");
    }
}

#[test]
fn a_log_that_was_copied_there_a_moment_ago_is_kept_through_a_power_cut() {
    let (bad, good) = damaged();
    for seed in 0..50 {
        let disk = disk_with(seed, &[(LOG, b"")]);
        disk.write(LOG, &bad).unwrap();
        assert!(mend(&disk).unwrap().is_some());
        let disk = disk.cut_power();
        assert_eq!(disk.read(LOG).unwrap(), &bad[..good]);
        assert_eq!(disk.read(format!("{LOG}.corrupt-0")).unwrap(), bad);
    }
}

#[test]
fn a_log_whose_last_sync_failed_is_kept_through_a_power_cut() {
    let (bad, good) = damaged();
    for seed in 0..50 {
        // The page cache has it all, and the disk never had the end.
        let disk = disk_with(seed, &[(LOG, &bad[..bad.len() - 200])]);
        disk.fault(2, Fault::Fail(Errno::IO));
        let mut file = disk.open(Path::new(LOG), crate::disk::Open::Write).unwrap();
        file.append(&bad[bad.len() - 200..]).unwrap();
        assert!(file.sync().is_err());
        assert!(mend(&disk.kill()).unwrap().is_some());
        let disk = disk.cut_power();
        assert_eq!(disk.read(LOG).unwrap(), &bad[..good]);
        assert_eq!(disk.read(format!("{LOG}.corrupt-0")).unwrap(), bad);
    }
}

#[test]
fn on_a_full_disk_nothing_has_changed_and_with_room_it_is_repaired() {
    let damaged = Damaged::new(true);
    let disk = damaged.on_disk(0);
    let before = disk.files();
    disk.room(0);
    let refused = mend(&disk).unwrap_err();
    assert!(refused.contains("0 MiB free") && refused.contains("repair again"), "{refused}");
    assert_eq!(disk.files(), before);
    disk.room(1024 * 1024);
    check(&disk, &damaged, false, "with room");
}

#[test]
fn what_another_repair_kept_stays() {
    let (bad, good) = damaged();
    let other = vec![b'x'; bad.len()];
    let disk = disk_with(0, &[(LOG, &bad), ("/logs/task_t_1.jsonl.corrupt-0", &other)]);
    let kept = mend(&disk).unwrap().unwrap();
    assert_eq!(kept, Path::new("/logs/task_t_1.jsonl.corrupt-1"));
    assert_eq!(disk.read("/logs/task_t_1.jsonl.corrupt-0").unwrap(), other);
    // The same damage again, from a copy: the same bytes are not kept twice.
    disk.write(LOG, &bad).unwrap();
    assert_eq!(mend(&disk).unwrap().unwrap(), kept);
    assert_eq!(disk.read(LOG).unwrap(), &bad[..good]);
    assert_eq!(disk.files().len(), 3);
}

#[test]
fn a_log_that_is_not_damaged_is_left_alone() {
    let dir = TempDir::new();
    let whole = write_log(&real(), &log_in(&dir), &[1]);
    for bytes in [&whole[..], &whole[..whole.len() - 9], b""] {
        let disk = disk_with(0, &[(LOG, bytes)]);
        assert_eq!(mend(&disk), Ok(None));
        assert_eq!((disk.operations(), disk.syncs()), (1, 1));
    }
}

/// Examines a log of these bytes: the damage, and how many records are good.
fn examined(bytes: &[u8]) -> (Damage, u64) {
    let disk = disk_with(0, &[(LOG, bytes)]);
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let examined = UnsealedLog::open(&disk, Path::new(LOG)).unwrap().examine().unwrap();
    let Finding::Damaged(damage) = examined.finding else { panic!("not damaged") };
    (damage, examined.state.records())
}

#[test]
fn what_is_lost_is_told() {
    let (bad, good) = damaged();
    let (damage, records) = examined(&bad);
    assert_eq!((damage.line, damage.offset_bytes, records), (3, good as u64, 2));
    assert_eq!((damage.bytes, damage.records), ((bad.len() - good) as u64, 2));
    let [lost] = &damage.steps[..] else { panic!("{damage:?}") };
    assert_eq!(
        (lost.step.as_str(), lost.status, lost.retry_count),
        ("s0", Status::Failed, Some(1))
    );
    assert_eq!((lost.kept, lost.runs_again()), (Status::Running, true));
    // A copy of a good record is no loss.
    let dir = TempDir::new();
    let whole = write_log(&real(), &log_in(&dir), &[1, 2, 1]);
    let starts = line_starts(&whole);
    let doubled = [&whole[..starts[3]], &whole[starts[2]..]].concat();
    let (damage, records) = examined(&doubled);
    assert_eq!((damage.line, records, damage.records), (4, 3, 2));
    // A flipped newline hides the line behind it, too.
    let mut joined = whole.clone();
    joined[starts[2] - 1] ^= 1;
    let (damage, records) = examined(&joined);
    assert_eq!((damage.line, records, damage.records), (2, 1, 3));
}

#[test]
fn a_log_whose_first_line_is_damaged_keeps_nothing() {
    let (mut bad, good) = damaged();
    bad[good + 40] ^= 1;
    bad[40] ^= 1;
    let disk = disk_with(0, &[(LOG, &bad)]);
    assert!(mend(&disk).unwrap().is_some());
    assert_eq!(disk.read(LOG).unwrap(), b"");
    assert_eq!(mend(&disk), Ok(None), "a log without records is a run that never began");
}

#[test]
fn a_log_that_contradicts_itself_keeps_what_is_before_that() {
    let dir = TempDir::new();
    let whole = write_log(&real(), &log_in(&dir), &[1]);
    let starts = line_starts(&whole);
    // A second header while an attempt is open, with everything about its line right.
    let line = |at: usize| std::str::from_utf8(&whole[starts[at]..starts[at + 1]]).unwrap();
    let (_, prev) = line(1).rsplit_once("\"crc\":\"").unwrap();
    let header = line(0)
        .replace("\"seq\":0,\"epoch\":0,\"durable\":0", "\"seq\":2,\"epoch\":1,\"durable\":2");
    let (body, _) = header.rsplit_once(",\"prev\":").unwrap();
    let body = format!("{body},\"prev\":\"{}\"", prev.get(..8).unwrap());
    let header = format!("{body},\"crc\":\"{}\"}}\n", Crc::of(body.as_bytes()));
    let (damage, records) = examined(&[&whole[..], header.as_bytes()].concat());
    assert_eq!((damage.line, damage.offset_bytes, records), (3, whole.len() as u64, 2));
    assert!(damage.reason.contains("open attempt"), "{}", damage.reason);
}
