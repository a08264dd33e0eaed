use super::*;

/// Recovers a log twice, and checks what is left: `kept` bytes of it, and the rest beside it.
fn check(bytes: &[u8], kept: usize) {
    let dir = TempDir::new();
    let path = log_in(&dir);
    fs::write(&path, bytes).unwrap();
    let (records, writer, file, sealed) = recover(&real(), &path).unwrap();
    drop(file);
    let lines = bytes[..kept].iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!((records, writer.next_seq(), writer.unsynced()), (lines, lines, 0));
    assert_eq!(fs::read(&path).unwrap(), &bytes[..kept]);
    let cut = &bytes[kept..];
    assert_eq!(sealed.is_some(), !cut.is_empty());
    let beside = path.with_file_name(format!("task_t_1.jsonl.torn-{kept}"));
    if let Some(sealed) = sealed {
        assert_eq!((sealed.offset_bytes, sealed.bytes), (kept as u64, cut.len() as u64));
        assert_eq!(sealed.kept, beside);
        assert_eq!(fs::read(beside).unwrap(), cut);
    }
    let once = dir.files();
    let (_, _, _, again) = recover(&real(), &path).unwrap();
    assert_eq!((again, dir.files()), (None, once), "a second recovery changes nothing");
}

#[test]
fn a_log_cut_at_any_byte_keeps_its_whole_lines() {
    let dir = TempDir::new();
    let bytes = write_log(&real(), &log_in(&dir), &[1, 2]);
    let starts = line_starts(&bytes);
    for cut in 0..=bytes.len() {
        let kept = starts.iter().rfind(|start| **start <= cut).unwrap();
        check(&bytes[..cut], *kept);
    }
}

#[test]
fn rot_in_the_last_commit_is_a_torn_tail() {
    let dir = TempDir::new();
    let bytes = write_log(&real(), &log_in(&dir), &[1, 2]);
    let starts = line_starts(&bytes);
    for at in (starts[2]..bytes.len()).step_by(7).chain([starts[3] - 1, bytes.len() - 1]) {
        let mut bad = bytes.clone();
        bad[at] ^= 0x20;
        check(&bad, *starts.iter().rfind(|start| **start <= at).unwrap());
    }
}

#[test]
fn nuls_holes_and_foreign_bytes_behind_the_end_are_cut() {
    let dir = TempDir::new();
    let bytes = write_log(&real(), &log_in(&dir), &[1, 2]);
    let starts = line_starts(&bytes);
    check(&[&bytes[..], &[0; 5000]].concat(), bytes.len());
    check(&[&bytes[..], b"\n"].concat(), bytes.len());
    check(&[&bytes[..], &vec![b'x'; 3 * 1024 * 1024]].concat(), bytes.len());
    // A hole of NULs before a line that was not synced either.
    let hole = [&bytes[..starts[2]], &vec![0; starts[3] - starts[2]], &bytes[starts[3]..]].concat();
    check(&hole, starts[2]);
    // The last line twice.
    check(&[&bytes[..], &bytes[starts[3]..]].concat(), bytes.len());
}

#[test]
fn another_tail_at_the_same_place_is_kept_beside_the_first() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let bytes = write_log(&real(), &path, &[1]);
    for (tail, name) in [("one", ""), ("two", ".1"), ("one", "")] {
        fs::write(&path, [&bytes, tail.as_bytes()].concat()).unwrap();
        let (_, _, _, sealed) = recover(&real(), &path).unwrap();
        let kept = sealed.unwrap().kept;
        assert!(kept.to_str().unwrap().ends_with(&format!(".torn-{}{name}", bytes.len())));
        assert_eq!(fs::read(kept).unwrap(), tail.as_bytes());
    }
}

#[test]
fn a_log_without_records_goes_on_from_its_first() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    fs::write(&path, "").unwrap();
    let (_, found) = scan(&path).unwrap();
    assert_eq!((found.records, found.end_bytes, &found.tail), (0, 0, &Tail::Clean));
    let (_, mut writer, mut file, _) = recover(&real(), &path).unwrap();
    append(&mut writer, header(1), Sync::Now);
    assert!(commit(&mut writer, &mut file).unwrap());
    assert_eq!(scan(&path).unwrap().0.len(), 1);
}

#[test]
fn the_chain_goes_on_behind_a_cut() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let bytes = write_log(&real(), &path, &[2]);
    fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let (_, mut writer, mut file, _) = recover(&real(), &path).unwrap();
    let record = append(&mut writer, event(7), Sync::Now);
    assert_eq!((record.seq, record.durable), (2, 2));
    assert!(commit(&mut writer, &mut file).unwrap());
    file.close().unwrap();
    let (records, found) = scan(&path).unwrap();
    assert_eq!((records.len(), found.tail, found.durable), (3, Tail::Clean, 2));
    assert_eq!(records[2], record);
    let starts = line_starts(&fs::read(&path).unwrap());
    assert_eq!(found.durable_end_bytes, starts[2] as u64);
}

#[test]
fn a_reader_does_not_look_beyond_the_length_at_its_start() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let bytes = write_log(&real(), &path, &[1, 1, 1]);
    let starts = line_starts(&bytes);
    // The file is seen while its second line is being written, and is whole afterwards.
    fs::write(&path, &bytes[..starts[1] + 9]).unwrap();
    let mut log = UnsealedLog::open(&real(), &path).unwrap();
    let found =
        log.scan(&mut |_record| fs::write(&path, &bytes).map_err(|error| error.to_string()));
    let found = found.unwrap();
    assert_eq!(found.records, 1);
    assert!(matches!(found.tail, Tail::Torn { bytes: 9, .. }));
}
