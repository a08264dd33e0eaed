//! How near one name is to another, for "did you mean".
//!
//! It is not the compiler's own suggestion: for paths rustc has one.
//!
//! **Invariant:** a suggestion is within distance 2 and a third of the written name's length, or
//! one-letter names would "match".

/// The nearest legal name, where one is near enough; the first of several.
pub(crate) fn nearest<'a>(
    written: &str,
    legal: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let most = (written.chars().count() / 3).min(2);
    let near = legal.into_iter().map(|name| (distance(written, name), name));
    near.filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|x| x.1)
}

/// Levenshtein's distance, with two swapped neighbours counted as one edit.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let (mut before, mut last) = (Vec::new(), (0..=b.len()).collect::<Vec<_>>());
    let mut previous = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let get = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX - 1);
            let edited = get(&last, j) + usize::from(x != *y);
            let mut least = edited.min(get(&last, j + 1) + 1).min(get(&row, j) + 1);
            let swapped = j > 0 && previous == Some(*y) && b.get(j - 1) == Some(&x);
            if swapped && i > 0 {
                least = least.min(get(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
        previous = Some(x);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Option<&str>) {
        let legal = ["retry", "timeout", "depends_on", "id", "version", "when"];
        assert_eq!(nearest(written, legal), expected, "{written}");
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        check("retyr", Some("retry"));
        check("timout", Some("timeout"));
        check("depend_on", Some("depends_on"));
        check("dependson", Some("depends_on"));
        check("verison", Some("version"));
        check("colour", None);
    }

    #[test]
    fn short_names_match_nothing_by_chance() {
        check("ip", None);
        check("x", None);
        check("", None);
    }
}
