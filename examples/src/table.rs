//! A day as Parquet: one table of its hours, one of the day.
//!
//! **Invariant:** the bytes depend on the values alone, so that the same day has the same digest
//! whenever it is written.

use std::sync::Arc;

use jiff::civil::Date;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::summary::{DaySummary, celsius};
use crate::validate::ValidatedDay;

/// A table that can't be written.
#[derive(Debug, thiserror::Error)]
#[error("can't write the table")]
pub struct TableError(#[from] ParquetError);

/// The values of one column, all of one length in a table.
enum Column {
    Text(Vec<ByteArray>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Double(Vec<f64>),
}

/// Writes the hours of a day: when, and the temperature in both scales.
///
/// # Errors
/// [`TableError`] when the Parquet writer refuses.
pub fn hours_table(day: &ValidatedDay) -> Result<Vec<u8>, TableError> {
    let schema = "message hours {
        required int64 at (TIMESTAMP(MILLIS, true));
        required binary clock (UTF8);
        required double fahrenheit;
        required double celsius;
    }";
    let hours = &day.hours;
    write(
        schema,
        &[
            Column::Long(hours.iter().map(|hour| hour.at.as_millisecond()).collect()),
            Column::Text(hours.iter().map(|hour| text(hour.stamp)).collect()),
            Column::Double(hours.iter().map(|hour| hour.fahrenheit).collect()),
            Column::Double(hours.iter().map(|hour| celsius(hour.fahrenheit)).collect()),
        ],
    )
}

/// Writes the day in one row: where, when, and its aggregates.
///
/// # Errors
/// [`TableError`] when the Parquet writer refuses.
pub fn day_table(day: &DaySummary) -> Result<Vec<u8>, TableError> {
    let schema = "message day {
        required binary city (UTF8);
        required int32 date (DATE);
        required int64 hours;
        required double min_celsius;
        required double max_celsius;
        required double mean_celsius;
    }";
    write(
        schema,
        &[
            Column::Text(vec![text(day.city)]),
            Column::Int(vec![days_since_1970(day.date)]),
            Column::Long(vec![day.hours.try_into().unwrap_or(i64::MAX)]),
            Column::Double(vec![day.min_celsius]),
            Column::Double(vec![day.max_celsius]),
            Column::Double(vec![day.mean_celsius]),
        ],
    )
}

fn text(value: impl ToString) -> ByteArray {
    ByteArray::from(value.to_string().into_bytes())
}

fn days_since_1970(date: Date) -> i32 {
    let days = date.duration_since(Date::constant(1970, 1, 1)).as_hours().div_euclid(24);
    i32::try_from(days).unwrap_or(i32::MAX)
}

/// Writes one row group; `columns` in the order of the schema.
fn write(schema: &str, columns: &[Column]) -> Result<Vec<u8>, TableError> {
    let schema = Arc::new(parse_message_type(schema)?);
    // Our own name instead of the writer's, whose version would change the bytes.
    let properties = WriterProperties::builder().set_created_by("apollo-examples".to_owned());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    let mut rows = file.next_row_group()?;
    for column in columns {
        write_column(&mut rows, column)?;
    }
    rows.close()?;
    file.close()?;
    Ok(bytes)
}

fn write_column(
    rows: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    column: &Column,
) -> Result<(), ParquetError> {
    let mut writer = rows
        .next_column()?
        .ok_or_else(|| ParquetError::General("more columns than the schema has".to_owned()))?;
    match column {
        Column::Text(values) => writer.typed::<ByteArrayType>().write_batch(values, None, None)?,
        Column::Int(values) => writer.typed::<Int32Type>().write_batch(values, None, None)?,
        Column::Long(values) => writer.typed::<Int64Type>().write_batch(values, None, None)?,
        Column::Double(values) => writer.typed::<DoubleType>().write_batch(values, None, None)?,
    };
    writer.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::city::City;
    use crate::reading::read_day;
    use crate::summary::summarize;
    use crate::validate::validate_day;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    /// Reads a table back, a line a row.
    fn rows(table: Vec<u8>) -> Vec<String> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(table)).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().to_string()).collect()
    }

    fn day(date: Date) -> ValidatedDay {
        validate_day(&read_day(City::Seattle, date).unwrap()).unwrap()
    }

    fn hour(utc: &str, clock: &str, fahrenheit: f64, celsius: f64) -> String {
        format!(
            "{{at: 2010-03-14 {utc}:00:00.000 +00:00, clock: \"2010-03-14T{clock}:00:00\", \
             fahrenheit: {fahrenheit}, celsius: {celsius}}}"
        )
    }

    #[test]
    fn the_hours_are_read_back_with_the_one_that_was_left_out_missing() {
        let rows = rows(hours_table(&day(Date::constant(2010, 3, 14))).unwrap());
        assert_eq!(rows.len(), 22);
        assert_eq!(rows[1], hour("09", "01", 43.5, 6.39));
        assert_eq!(rows[2], hour("11", "04", 42.2, 5.67));
    }

    #[test]
    fn the_day_is_read_back_as_one_row() {
        let summary = summarize(&day(Date::constant(2010, 7, 4)));
        let expected = "{city: \"seattle\", date: 2010-07-04, hours: 24, min_celsius: 13.0, \
                        max_celsius: 21.89, mean_celsius: 17.29}";
        assert_eq!(rows(day_table(&summary).unwrap()), [expected]);
    }

    #[test]
    fn the_same_day_has_the_same_bytes() {
        let day = day(Date::constant(2010, 7, 4));
        assert_eq!(hours_table(&day).unwrap(), hours_table(&day.clone()).unwrap());
    }
}
