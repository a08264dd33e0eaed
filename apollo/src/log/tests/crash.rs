//! Every operation of a small run, and of its recovery, killed or failed in turn.

use rustix::io::Errno;

use super::*;
use crate::disk::{CrashDisk, Fault};

/// What a run was told before it ended: how many records it made, and how many were acknowledged.
#[derive(Debug, Default)]
struct Told {
    made: u64,
    synced: u64,
}

/// Recovers what is there, or begins, and commits five times; ends with the first error.
fn run(disk: &Arc<dyn Disk>, path: &Path, told: &mut Told, steps: usize) -> Result<(), String> {
    let text = |error: LogError| error.to_string();
    let (mut writer, mut file) = match disk.metadata(path) {
        Ok(_) => {
            let (records, writer, file, _) = recover(disk, path)?;
            assert!(records >= told.synced, "a record that was acknowledged is lost");
            *told = Told { made: records, synced: records };
            (writer, file)
        }
        Err(_) => LogFile::create(disk, path).map_err(text)?,
    };
    for n in 0..5 {
        if writer.next_seq() == 0 {
            append(&mut writer, header(steps), Sync::Now);
        }
        append(&mut writer, event(n), if n == 2 { Sync::Batched } else { Sync::Now });
        append(&mut writer, event(n + 1), Sync::Batched);
        told.made = writer.next_seq();
        commit(&mut writer, &mut file).map_err(text)?;
        told.synced = writer.durable();
    }
    file.close().map_err(text)
}

/// Ends a run with a fault at its `at`-th operation and its recovery with another one, and checks
/// what the second recovery finds. Tells whether the first fault was met.
fn check(fault: Fault, at: u64, again: Option<u64>) -> bool {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let mut told = Told::default();
    let crash = CrashDisk::new(real(), at, fault);
    let first: Arc<dyn Disk> = Arc::new(crash.clone());
    // A header that spills has more operations, and takes longer.
    let steps = if again.is_none() { 400 } else { 1 };
    let ended = run(&first, &path, &mut told, steps);
    let met = crash.operations() >= at;
    if let Some(again) = again {
        let second: Arc<dyn Disk> = Arc::new(CrashDisk::new(real(), again, Fault::Dead));
        drop(run(&second, &path, &mut told, steps));
    }
    let Ok(mut log) = UnsealedLog::open_locked(&real(), &path, &clock()) else {
        assert_eq!(told.synced, 0, "{ended:?}");
        return met;
    };
    let found = log.scan(&mut |_record| Ok(())).unwrap();
    let place = format!("{fault:?} at {at}, then {again:?}: {told:?}, {found:?}");
    assert!((told.synced..=told.made).contains(&found.records), "{place}");
    drop(log.seal(found).unwrap());
    let once = dir.files();
    recover(&real(), &path).unwrap();
    assert_eq!(dir.files(), once, "{place}");
    let dead = fault == Fault::Dead || again.is_some();
    assert!(dead || !once.iter().any(|(name, _)| name.ends_with(".tmp")), "{place}");
    run(&real(), &path, &mut told, steps).unwrap();
    met
}

#[test]
fn whatever_fails_no_acknowledged_record_is_lost() {
    let faults = [Fault::Dead, Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Short];
    for fault in faults {
        let mut at = 1;
        while check(fault, at, None) {
            at += 1;
        }
        assert!(at > 15, "a run has more operations than {at}");
    }
}

#[test]
fn a_recovery_that_is_killed_is_recovered() {
    for at in 1.. {
        for again in 1..=8 {
            check(Fault::Dead, at, Some(again));
            check(Fault::Short, at, Some(again));
        }
        if !check(Fault::Short, at, None) {
            break;
        }
    }
}
