//! What a run's log says in the end: each step's last status, for a comparison.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::log::Log;

/// Each step's last status and output, by its id.
pub fn folded(log: &Log) -> BTreeMap<String, (String, Value)> {
    let mut folded = BTreeMap::new();
    for record in &log.records {
        if let Some(step) = record["step_id"].as_str() {
            let status = record["status"].as_str().unwrap_or_default().to_owned();
            folded.insert(step.to_owned(), (status, record["output_digest"].clone()));
        }
    }
    folded
}
