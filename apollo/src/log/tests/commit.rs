use rustix::io::Errno;

use super::*;
use crate::disk::{CrashDisk, Fault};

/// A log with a header, on a disk that fails its `at`-th operation after that.
fn begin(dir: &TempDir, at: u64, fault: Fault) -> (CrashDisk, LogWriter, LogFile) {
    let sound = CrashDisk::new(real(), 0, fault);
    let counted: Arc<dyn Disk> = Arc::new(sound.clone());
    write_log(&counted, &log_in(&TempDir::new()), &[]);
    let at = if at == 0 { 0 } else { sound.operations() + at };
    let crash = CrashDisk::new(real(), at, fault);
    let disk: Arc<dyn Disk> = Arc::new(crash.clone());
    let (mut writer, mut file) = LogFile::create(&disk, &log_in(dir)).unwrap();
    append(&mut writer, header(1), Sync::Now);
    assert!(commit(&mut writer, &mut file).unwrap(), "the first commit is synced");
    (crash, writer, file)
}

/// Commits one record more, which fails, and another one, which is refused.
fn fail(writer: &mut LogWriter, file: &mut LogFile) -> LogError {
    append(writer, event(0), Sync::Now);
    let error = commit(writer, file).unwrap_err();
    append(writer, event(1), Sync::Now);
    assert!(matches!(commit(writer, file), Err(LogError::Poisoned { .. })));
    assert!(matches!(file.sync(), Err(LogError::Poisoned { .. })));
    error
}

#[test]
fn a_log_that_somebody_touches_is_not_written_any_more() {
    type Touch = fn(&Path);
    let touch: [(&str, Touch); 4] = [
        ("was removed or renamed", |path| fs::remove_file(path).unwrap()),
        ("was replaced by another file", |path| {
            fs::rename(path, path.with_extension("old")).unwrap();
            fs::copy(path.with_extension("old"), path).unwrap();
        }),
        ("was shortened by somebody else", |path| {
            let bytes = fs::read(path).unwrap();
            fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1).unwrap();
            assert!(bytes.len() > 1);
        }),
        ("was written by somebody else", |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, [&bytes[..], b"x"].concat()).unwrap();
        }),
    ];
    for (expected, touch) in touch {
        let dir = TempDir::new();
        let (_, mut writer, mut file) = begin(&dir, 0, Fault::Kill);
        touch(&log_in(&dir));
        let before = dir.files();
        let error = fail(&mut writer, &mut file);
        assert!(matches!(error, LogError::Changed { what, .. } if what == expected), "{error}");
        file.close().unwrap();
        assert_eq!(dir.files(), before, "nothing is written to it, and nothing cut");
    }
}

#[test]
fn a_failed_write_or_sync_poisons_for_ever() {
    for (at, errno, synced) in
        [(1, Errno::IO, false), (1, Errno::NOSPC, false), (2, Errno::IO, true)]
    {
        let dir = TempDir::new();
        let (_, mut writer, mut file) = begin(&dir, at, Fault::Fail(errno));
        let error = fail(&mut writer, &mut file);
        assert_eq!(matches!(error, LogError::Sync { .. }), synced, "{error}");
        assert_eq!(matches!(error, LogError::Write { .. }), !synced, "{error}");
        let text = error.to_string();
        assert!(text.contains("task_t_1.jsonl") && text.contains("MiB free"), "{text}");
        file.close().unwrap();
        let (records, ..) = recover(&real(), &log_in(&dir)).unwrap();
        assert_eq!(records, if synced { 2 } else { 1 });
    }
}

#[test]
fn without_room_nothing_is_written_and_what_is_reserved_still_fits() {
    let dir = TempDir::new();
    let (_, mut writer, mut file) = begin(&dir, 1, Fault::Fail(Errno::NOSPC));
    let before = dir.files();
    append(&mut writer, event(0), Sync::Now);
    let batch = writer.take();
    let error = file.commit(&batch, false, 64).unwrap_err();
    assert!(matches!(error, LogError::NoRoom { free_bytes: Some(_), .. }), "{error}");
    assert_eq!(dir.files(), before);
    assert!(file.commit_within_room(&batch, false).unwrap());
    writer.committed(batch, true);
    assert_eq!(scan(&log_in(&dir)).unwrap().0.len(), 2);
}

#[test]
fn a_disk_that_cannot_reserve_is_warned_about_once() {
    let dir = TempDir::new();
    let (_, mut writer, mut file) = begin(&dir, 1, Fault::Fail(Errno::OPNOTSUPP));
    for n in 0..3 {
        append(&mut writer, event(n), Sync::Now);
        let batch = writer.take();
        assert!(file.commit(&batch, false, 64).unwrap());
        writer.committed(batch, true);
    }
    assert_eq!(file.take_warnings().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn room_is_reserved_without_changing_the_length_and_released_by_closing() {
    use std::os::unix::fs::MetadataExt as _;

    let dir = TempDir::new();
    let (_, mut writer, mut file) = begin(&dir, 0, Fault::Kill);
    append(&mut writer, event(0), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    let held = fs::metadata(log_in(&dir)).unwrap();
    if file.take_warnings().is_empty() {
        assert!(held.blocks() * 512 >= 1024 * 1024, "a MiB is reserved");
    }
    file.close().unwrap();
    let closed = fs::metadata(log_in(&dir)).unwrap();
    assert_eq!(closed.len(), held.len());
    assert!(closed.blocks() * 512 < 64 * 1024, "it is released");
}

#[test]
fn a_new_log_is_never_an_old_one_and_is_locked() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let (_, mut writer, mut file) = begin(&dir, 0, Fault::Kill);
    let before = dir.files();
    assert!(matches!(LogFile::create(&real(), &path), Err(LogError::Create { .. })));
    let opened = UnsealedLog::open_locked(&real(), &path, &clock());
    assert!(matches!(opened, Err(ReadError::Locked { .. })));
    assert_eq!(dir.files(), before);
    assert!(UnsealedLog::open(&real(), &path).is_ok(), "reading needs no lock");
    append(&mut writer, event(0), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    drop(file);
    assert!(UnsealedLog::open_locked(&real(), &path, &clock()).is_ok());
}

#[test]
fn a_log_is_not_opened_through_a_symbolic_link() {
    let dir = TempDir::new();
    let (_, _, file) = begin(&dir, 0, Fault::Kill);
    drop(file);
    let link = dir.path().join("link.jsonl");
    std::os::unix::fs::symlink(log_in(&dir), &link).unwrap();
    assert!(matches!(UnsealedLog::open(&real(), &link), Err(ReadError::Io { .. })));
    assert!(matches!(LogFile::create(&real(), &link), Err(LogError::Create { .. })));
}

#[test]
fn batched_records_are_synced_at_the_latest_with_the_64th() {
    let dir = TempDir::new();
    let (crash, mut writer, mut file) = begin(&dir, 0, Fault::Kill);
    let syncs = crash.syncs();
    for n in 0..63 {
        let record = append(&mut writer, event(n), Sync::Batched);
        assert_eq!(record.durable, 1);
        assert!(!commit(&mut writer, &mut file).unwrap());
    }
    assert_eq!((crash.syncs(), writer.unsynced()), (syncs, 63));
    append(&mut writer, event(63), Sync::Batched);
    assert!(commit(&mut writer, &mut file).unwrap());
    assert_eq!((crash.syncs(), writer.unsynced(), writer.durable()), (syncs + 1, 0, 65));
    // A timer's sync: an empty batch.
    append(&mut writer, event(64), Sync::Batched);
    assert!(!commit(&mut writer, &mut file).unwrap());
    assert!(!writer.has_pending());
    let batch = writer.take();
    assert!(file.commit(&batch, true, 0).unwrap());
    writer.committed(batch, true);
    assert_eq!((crash.syncs(), writer.unsynced()), (syncs + 2, 0));
    let (records, found) = scan(&log_in(&dir)).unwrap();
    assert_eq!((records.len(), found.durable), (66, 65));
}

#[test]
fn records_appended_while_a_batch_is_written_go_out_with_the_next() {
    let dir = TempDir::new();
    let (_, mut writer, mut file) = begin(&dir, 0, Fault::Kill);
    append(&mut writer, event(0), Sync::Now);
    let first = writer.take();
    let second = append(&mut writer, event(1), Sync::Now);
    assert_eq!(second.durable, 1, "the first is not synced yet");
    let synced = file.commit(&first, false, 1).unwrap();
    writer.committed(first, synced);
    let third = append(&mut writer, event(2), Sync::Now);
    assert_eq!(third.durable, 2);
    assert!(commit(&mut writer, &mut file).unwrap());
    assert_eq!(scan(&log_in(&dir)).unwrap().0.len(), 4);
}

#[test]
fn a_chain_of_1000_steps_costs_1003_syncs_with_a_header_that_spills() {
    let dir = TempDir::new();
    let crash = CrashDisk::new(real(), 0, Fault::Kill);
    let disk: Arc<dyn Disk> = Arc::new(crash.clone());
    let (mut writer, mut file) = LogFile::create(&disk, &log_in(&dir)).unwrap();
    append(&mut writer, header(1000), Sync::Now);
    append(&mut writer, event(0), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    for n in 1..=1000 {
        append(&mut writer, event(2 * n - 1), Sync::Now);
        append(&mut writer, event(2 * n), Sync::Now);
        commit(&mut writer, &mut file).unwrap();
    }
    file.close().unwrap();
    assert_eq!(crash.syncs(), 1003);
}

#[test]
fn a_record_that_does_not_fit_leaves_no_trace() {
    let dir = TempDir::new();
    let (_, mut writer, mut file) = begin(&dir, 0, Fault::Kill);
    let Event::AttemptEnded { attempt, .. } = event(1) else { panic!() };
    let end = End::Failed { error: "x".repeat(70_000), reason: None };
    let long = Event::AttemptEnded { attempt, duration_ms: None, end };
    assert!(writer.append(Timestamp::from_unix_us(0), 0, long, Sync::Now).is_err());
    assert!(!writer.has_pending());
    append(&mut writer, event(1), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    assert_eq!(scan(&log_in(&dir)).unwrap().0.len(), 2);
}
