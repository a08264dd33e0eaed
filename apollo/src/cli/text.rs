//! How values become text on the screen: escaped, measured, aligned, coloured.
//!
//! It is not the screen: nothing is printed here.
//!
//! **Invariant:** text that comes from a step, a log or a file name goes through [`escaped`], so it
//! can neither move the cursor nor turn the direction of what stands beside it.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use crate::state::Status;
use crate::suggest::near;
use crate::time::Timestamp;

/// What a piece of text is, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Nothing special.
    Plain,
    /// What stands back.
    Dim,
    /// What is well.
    Good,
    /// What somebody should look at.
    Warn,
    /// What is wrong.
    Bad,
    /// What is going on.
    Busy,
}

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Palette {
    /// With the escapes of a terminal.
    pub(crate) colour: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Palette {
    /// No colour.
    pub(crate) const PLAIN: Self = Self { colour: false };

    /// A text in the colour of its style.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => "",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Warn => "33",
            Style::Bad => "31",
            Style::Busy => "36",
        };
        if self.colour && !code.is_empty() && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

impl Cell {
    /// A cell with a style.
    pub(crate) fn new(text: &str, style: Style) -> Self {
        Self { text: text.to_owned(), style }
    }

    /// A cell without one.
    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, Style::Plain)
    }

    /// The word for a state, in its colour.
    pub(crate) fn status(status: Status) -> Self {
        Self::new(status.as_str(), status_style(status))
    }
}

/// The style of a state.
pub(crate) const fn status_style(status: Status) -> Style {
    match status {
        Status::Pending => Style::Dim,
        Status::Running => Style::Busy,
        Status::Success => Style::Good,
        Status::Failed => Style::Bad,
        Status::Skipped => Style::Warn,
    }
}

/// Rows as lines: columns aligned to the left, two spaces between them, nothing behind the last.
pub(crate) fn table(rows: &[Vec<Cell>], palette: Palette) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let line = |row: &Vec<Cell>| {
        let mut line = String::new();
        let mut gap = 0;
        for (cell, width) in row.iter().zip(&widths) {
            if *width == 0 {
                continue;
            }
            if !cell.text.is_empty() {
                line.extend(std::iter::repeat_n(' ', gap));
                line.push_str(&palette.paint(cell.style, &cell.text));
                gap = 0;
            }
            gap += width.saturating_sub(cell.text.chars().count()) + 2;
        }
        line
    };
    rows.iter().map(line).collect()
}

/// A text whose control characters, and those that turn or hide other text, are shown escaped.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let shown = |char: char| -> Box<dyn Iterator<Item = char>> {
        if is_dangerous(char) {
            Box::new(char.escape_default())
        } else {
            Box::new(std::iter::once(char))
        }
    };
    Cow::Owned(text.chars().flat_map(shown).collect())
}

fn is_dangerous(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The first line of a text, escaped.
pub(crate) fn first_line(text: &str) -> String {
    escaped(text.lines().next().unwrap_or_default()).into_owned()
}

/// A duration as people say it.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..60 => format!("{seconds}.{} s", duration.subsec_millis() / 100),
        60..3600 => format!("{minutes} min {} s", seconds % 60),
        3600..86_400 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} d {} h", hours / 24, hours % 24),
    }
}

/// A number of bytes as people say it.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let (mut tenths, mut unit) = (bytes.saturating_mul(10), "B");
    for next in UNITS {
        if tenths < 10_240 {
            break;
        }
        (tenths, unit) = (tenths / 1024, next);
    }
    if unit == "B" {
        format!("{bytes} B")
    } else {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    }
}

/// The time of day of a moment, in UTC.
pub(crate) fn time_of_day(moment: Timestamp) -> String {
    let text = moment.to_string();
    format!("{}Z", text.get(11..19).unwrap_or(&text))
}

/// A moment to the second, in UTC.
pub(crate) fn moment(moment: Timestamp) -> String {
    let text = moment.to_string();
    format!("{} {}", text.get(..10).unwrap_or_default(), time_of_day(moment))
}

/// A number of things.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// Ids between back-ticks, the first few of them.
pub(crate) fn listed<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let mut ids: Vec<_> = ids.into_iter().map(|id| format!("`{id}`")).collect();
    let more = ids.len().saturating_sub(SHOWN);
    ids.truncate(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", ids.join(", "))
}

/// The name that was probably meant.
pub(crate) fn meant<'a>(
    written: &str,
    legal: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let near = legal.into_iter().filter_map(|legal| Some((near(written, legal)?, legal)));
    near.min_by_key(|(distance, _legal)| *distance).map(|(_distance, legal)| legal)
}

/// A path as it is said from the working directory.
pub(crate) fn shown_path(path: &Path) -> String {
    let cwd = std::env::current_dir().ok();
    let short = cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd).ok());
    escaped(&short.unwrap_or(path).to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(escaped(text), expected);
    }

    #[test]
    fn what_could_fool_a_reader_is_escaped() {
        check("plain \u{fc} \u{1f600}", "plain \u{fc} \u{1f600}");
        check("\u{1b}[2J", "\\u{1b}[2J");
        check("a\nb\tc\r", "a\\nb\\tc\\r");
        check("\u{9b}31m", "\\u{9b}31m");
        check("user\u{202e}nimda", "user\\u{202e}nimda");
        check("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}");
        check("\u{200b}\u{feff}\u{7f}", "\\u{200b}\\u{feff}\\u{7f}");
    }

    #[test]
    fn durations_and_sizes_read_as_people_say_them() {
        let texts = [7, 999, 1_250, 61_000, 3_720_000, 180_000_000]
            .map(|millis| duration(Duration::from_millis(millis)));
        assert_eq!(texts.join("|"), "7 ms|999 ms|1.2 s|1 min 1 s|1 h 2 min|2 d 2 h");
        let texts = [0, 1023, 1024, 1_572_864, u64::MAX].map(bytes);
        assert_eq!(texts.join("|"), "0 B|1023 B|1.0 KiB|1.5 MiB|1677721.5 TiB");
    }

    #[test]
    fn a_table_has_no_trailing_space_and_no_empty_column() {
        let row = |cells: [&str; 4]| cells.map(Cell::plain).to_vec();
        let lines =
            table(&[row(["a", "", "long", ""]), row(["bbb", "", "x", "y"])], Palette::PLAIN);
        assert_eq!(lines, ["a    long", "bbb  x     y"]);
    }

    #[test]
    fn only_a_palette_with_colour_paints() {
        assert_eq!(Palette::PLAIN.paint(Style::Bad, "x"), "x");
        assert_eq!(Palette { colour: true }.paint(Style::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
