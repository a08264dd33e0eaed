//! What program image this is: its build id, read from the running executable.
//!
//! It is not a version: the same source built twice may have two.

use crate::disk::{Disk, DiskFile, Open};

/// The longest note that is looked at, in bytes.
const NOTES_BYTES_MAX: u64 = 64 * 1024;

/// The type of a note that holds a build id.
const NT_GNU_BUILD_ID: u32 = 3;

/// The type of a program header that holds notes.
const PT_NOTE: u32 = 4;

/// The build id of the running executable, `build-id:<hex>`; `None` where it has none.
#[must_use]
pub(crate) fn build_id(disk: &dyn Disk) -> Option<String> {
    let exe = std::env::current_exe().ok()?;
    let mut file = disk.open(&exe, Open::Read).ok()?;
    let id =
        elf_build_id(&mut |offset_bytes, len_bytes| read(&mut *file, offset_bytes, len_bytes))?;
    Some(id.iter().fold("build-id:".to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

fn read(file: &mut dyn DiskFile, offset_bytes: u64, len_bytes: u64) -> Option<Vec<u8>> {
    let mut buf = vec![0; usize::try_from(len_bytes).ok()?];
    let mut filled = 0;
    while filled < buf.len() {
        let at = offset_bytes + filled as u64;
        match file.read_at(at, buf.get_mut(filled..)?).ok()? {
            0 => return None,
            read => filled += read,
        }
    }
    Some(buf)
}

/// Finds the build id in a 64-bit little-endian ELF image that `read(offset, length)` gives.
fn elf_build_id(read: &mut dyn FnMut(u64, u64) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let header = read(0, 64)?;
    if header.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (u64_at(&header, 32)?, u16_at(&header, 54)?, u16_at(&header, 56)?);
    for index in 0..u64::from(count) {
        let entry = read(table + index * u64::from(size), 56)?;
        if u32_at(&entry, 0)? != PT_NOTE {
            continue;
        }
        let notes = read(u64_at(&entry, 8)?, u64_at(&entry, 32)?.min(NOTES_BYTES_MAX))?;
        if let Some(id) = build_id_note(&notes) {
            return Some(id);
        }
    }
    None
}

fn build_id_note(mut notes: &[u8]) -> Option<Vec<u8>> {
    loop {
        let name_len = u32_at(notes, 0)? as usize;
        let desc_len = u32_at(notes, 4)? as usize;
        let kind = u32_at(notes, 8)?;
        let name_end = 12 + name_len;
        let desc_at = name_end.next_multiple_of(4);
        let desc = notes.get(desc_at..desc_at.checked_add(desc_len)?)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..name_end)? == b"GNU\0" {
            return Some(desc.to_vec());
        }
        notes = notes.get((desc_at + desc_len).next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_has_no_build_id() {
        for len in 0..200_usize {
            let mut image = b"\x7fELF\x02\x01".to_vec();
            image.resize(len.max(6), 0xff);
            let mut read = |at: u64, len: u64| {
                let at = usize::try_from(at).ok()?;
                Some(image.get(at..at.checked_add(usize::try_from(len).ok()?)?)?.to_vec())
            };
            assert_eq!(elf_build_id(&mut read), None);
        }
        assert_eq!(build_id_note(&[0xff; 64]), None);
    }

    #[test]
    fn a_note_gives_its_id() {
        let mut notes = Vec::new();
        for (name, kind, desc) in [(b"GNU\0", 1_u32, &[9_u8; 5][..]), (b"GNU\0", 3, &[1, 2, 3, 4])]
        {
            notes.extend(4_u32.to_le_bytes());
            notes.extend(u32::try_from(desc.len()).unwrap().to_le_bytes());
            notes.extend(kind.to_le_bytes());
            notes.extend(name);
            notes.extend(desc);
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        assert_eq!(build_id_note(&notes), Some(vec![1, 2, 3, 4]));
    }
}
