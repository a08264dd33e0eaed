//! How near one name is to another, for "did you mean".
//!
//! It is not the only copy: `apollo-macros` has its own, because a crate of macros exports nothing
//! else. This one is `const`, for mistakes that tokens can't show.
//!
//! **Invariant:** a suggestion is within distance 2 and a third of the name's length, or
//! one-letter names would "match".

/// Names longer than this get no suggestion.
const LONGEST: usize = 64;

/// The edit distance between two names where it is near enough to suggest one for the other.
#[must_use]
pub(crate) const fn near(written: &str, legal: &str) -> Option<usize> {
    let (a, b) = (written.as_bytes(), legal.as_bytes());
    if a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    let distance = distance(a, b);
    if distance <= 2 && distance * 3 <= a.len() { Some(distance) } else { None }
}

/// Levenshtein's distance, with two swapped neighbours counted as one edit.
#[expect(clippy::indexing_slicing, reason = "rows are longer than any name that comes here")]
const fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before = [0; LONGEST + 1];
    let mut last = [0; LONGEST + 1];
    let mut row = [0; LONGEST + 1];
    let mut j = 0;
    while j <= b.len() {
        last[j] = j;
        j += 1;
    }
    let mut i = 0;
    while i < a.len() {
        row[0] = i + 1;
        j = 0;
        while j < b.len() {
            let substituted = last[j] + (a[i] != b[j]) as usize;
            row[j + 1] = min(substituted, min(last[j + 1], row[j]) + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = min(row[j + 1], before[j - 1] + 1);
            }
            j += 1;
        }
        before = last;
        last = row;
        i += 1;
    }
    last[b.len()]
}

const fn min(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, legal: &str, expected: Option<usize>) {
        assert_eq!(near(written, legal), expected, "{written} for {legal}");
    }

    #[test]
    fn only_near_names_are_suggested() {
        check("taks_date", "task_date", Some(1));
        check("task_dat", "task_date", Some(1));
        check("a", "b", None);
        check("day", "date", None);
        check("fetch", "fetches", None);
        check("fetch", "fetch", Some(0));
    }
}
