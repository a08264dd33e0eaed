use super::*;
use crate::record::Crc;

/// Where a log of these bytes is refused: line and byte offset.
fn refused(bytes: &[u8]) -> Option<(u64, u64)> {
    let dir = TempDir::new();
    let path = log_in(&dir);
    fs::write(&path, bytes).unwrap();
    let place = match scan(&path) {
        Ok(_) => None,
        Err(ReadError::Corrupt { line, offset_bytes, .. }) => Some((line, offset_bytes)),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(fs::read(&path).unwrap(), bytes, "reading never writes");
    if place.is_some() {
        assert!(recover(&real(), &path).is_err());
        assert_eq!(dir.files().len(), 1, "what is refused is left alone");
    }
    place
}

#[track_caller]
fn check(bytes: &[u8], line: usize, starts: &[usize]) {
    assert_eq!(refused(bytes), Some((line as u64, starts[line - 1] as u64)));
}

/// A line of the same content whose crc is right.
fn with_crc(line: &str) -> String {
    let (body, _) = line.rsplit_once(",\"crc\":\"").unwrap();
    format!("{body},\"crc\":\"{}\"}}\n", Crc::of(body.as_bytes()))
}

#[test]
fn any_byte_of_a_synced_line_that_changed_is_refused_with_its_place() {
    let dir = TempDir::new();
    let bytes = write_log(&real(), &log_in(&dir), &[1, 2, 1]);
    let starts = line_starts(&bytes);
    // The last commit, which is line 5, vouches for the four lines before.
    for at in 0..starts[4] {
        for mask in [0x01, 0x20, 0x80] {
            let mut bad = bytes.clone();
            bad[at] ^= mask;
            let line = starts.iter().rposition(|start| *start <= at).unwrap() + 1;
            check(&bad, line, &starts);
        }
        let mut bad = bytes.clone();
        bad[at] = b'\n';
        if bad != bytes {
            let line = starts.iter().rposition(|start| *start <= at).unwrap() + 1;
            check(&bad, line, &starts);
        }
    }
}

#[test]
fn lines_that_were_moved_doubled_or_dropped_are_refused() {
    let dir = TempDir::new();
    let bytes = write_log(&real(), &log_in(&dir), &[1, 1, 1, 1]);
    let starts = line_starts(&bytes);
    let line = |n: usize| &bytes[starts[n - 1]..starts[n]];
    check(&[line(1), line(3), line(2), line(4), line(5)].concat(), 2, &starts);
    check(&[line(1), line(2), line(2), line(3), line(4), line(5)].concat(), 3, &starts);
    check(&[line(1), line(3), line(4), line(5)].concat(), 2, &starts);
    check(&[line(2), line(3)].concat(), 1, &starts);
    let upper = String::from_utf8(line(2).to_vec()).unwrap();
    let (body, crc) = upper.rsplit_once(",\"crc\":").unwrap();
    let upper = format!("{body},\"crc\":{}", crc.to_uppercase());
    if upper.as_bytes() != line(2) {
        check(&[line(1), upper.as_bytes(), line(3), line(4)].concat(), 2, &starts);
    }
}

#[test]
fn lines_of_another_run_do_not_chain() {
    let dir = TempDir::new();
    let bytes = write_log(&real(), &log_in(&dir), &[1, 1, 1]);
    let starts = line_starts(&bytes);
    let other_path = dir.path().join("task_u_1.jsonl");
    let (mut writer, mut file) = LogFile::create(&real(), &other_path).unwrap();
    append(&mut writer, header(2), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    for n in 0..3 {
        append(&mut writer, event(n), Sync::Now);
        commit(&mut writer, &mut file).unwrap();
    }
    let other = fs::read(&other_path).unwrap();
    let other_starts = line_starts(&other);
    let spliced = [&bytes[..starts[2]], &other[other_starts[2]..]].concat();
    check(&spliced, 3, &starts);
    // One line of it, for which nothing vouches, is a tail.
    let spliced = [&bytes[..starts[3]], &other[other_starts[3]..]].concat();
    assert_eq!(refused(&spliced), None);
}

#[test]
fn a_line_whose_crc_is_right_is_never_cut() {
    let dir = TempDir::new();
    let bytes = write_log(&real(), &log_in(&dir), &[1, 1]);
    let starts = line_starts(&bytes);
    let last = std::str::from_utf8(&bytes[starts[2]..]).unwrap();
    for (from, to) in [
        ("\"STEP_END\"", "\"STEP_PAUSE\""),
        ("\"durable\":2", "\"durable\":1"),
        ("\"durable\":2", "\"durable\":3"),
        ("\"epoch\":0", "\"epoch\":0,\"era\":1"),
    ] {
        assert!(last.contains(from), "{last}");
        let bad = [&bytes[..starts[2]], with_crc(&last.replace(from, to)).as_bytes()].concat();
        let expected = if to == "\"durable\":1" { None } else { Some((3, starts[2] as u64)) };
        assert_eq!(refused(&bad), expected, "{to}");
    }
}

#[test]
fn an_unknown_schema_is_refused_by_name() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let bytes = write_log(&real(), &path, &[]);
    let line = std::str::from_utf8(&bytes).unwrap().replace("\"schema\":1", "\"schema\":2");
    let extended = line.replace("\"epoch\":0", "\"era\":0");
    for bad in [line.clone(), with_crc(&line), with_crc(&extended)] {
        fs::write(&path, &bad).unwrap();
        assert!(matches!(scan(&path), Err(ReadError::Schema { schema: 2, .. })), "{bad}");
        assert_eq!(fs::read(&path).unwrap(), bad.as_bytes());
    }
}

#[test]
fn a_record_that_contradicts_the_fold_is_refused_with_its_place() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let bytes = write_log(&real(), &path, &[2]);
    let starts = line_starts(&bytes);
    let found = UnsealedLog::open(&real(), &path).unwrap().scan(&mut |record| {
        if record.seq == 1 { Err("no".to_owned()) } else { Ok(()) }
    });
    let Err(ReadError::Contradiction { line, offset_bytes, message, .. }) = found else {
        panic!("not refused");
    };
    assert_eq!((line, offset_bytes, message.as_str()), (2, starts[1] as u64, "no"));
}

#[test]
fn a_spilled_header_comes_back_and_its_file_is_vouched_for() {
    let dir = TempDir::new();
    let path = log_in(&dir);
    let (mut writer, mut file) = LogFile::create(&real(), &path).unwrap();
    let record = append(&mut writer, header(1000), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    assert_eq!(scan(&path).unwrap().0, [record]);
    let spill = dir.path().join("task_t_1.jsonl.0.steps.json");
    let content = fs::read(&spill).unwrap();
    // Nothing vouches for the first commit: its directory may not have been synced.
    fs::remove_file(&spill).unwrap();
    let (_, found) = scan(&path).unwrap();
    assert!(matches!(found.tail, Tail::Torn { offset_bytes: 0, .. }));
    fs::write(&spill, &content).unwrap();
    append(&mut writer, event(0), Sync::Now);
    commit(&mut writer, &mut file).unwrap();
    assert_eq!(scan(&path).unwrap().0.len(), 2);
    fs::write(&spill, "[]").unwrap();
    assert!(matches!(scan(&path), Err(ReadError::Corrupt { line: 1, .. })));
    fs::remove_file(&spill).unwrap();
    assert!(matches!(scan(&path), Err(ReadError::Corrupt { line: 1, .. })));
    // A file that is there but can't be read says nothing about the log.
    fs::create_dir(&spill).unwrap();
    assert!(matches!(scan(&path), Err(ReadError::Io { .. })));
}
