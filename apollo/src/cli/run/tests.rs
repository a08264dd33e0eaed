use super::*;
use crate::id::{RunId, StepId, TaskId};

#[test]
fn the_last_lines_say_what_is_done_and_where() {
    let task_id = TaskId::parse("x").unwrap();
    let step = |id: &str, status| (StepId::parse(id).unwrap(), status);
    let mut summary = Summary {
        run_id: RunId::new(&task_id, 1),
        task_id,
        log: "/d/logs/task_x_1.jsonl".into(),
        status: Status::Success,
        steps: vec![step("a", Status::Success), step("b", Status::Failed)],
        degraded: vec![StepId::parse("b").unwrap()],
        epoch: 0,
        attempts: 2,
        duration: std::time::Duration::from_millis(1500),
        already_done: false,
        graph_differs: true,
        ended: Some(crate::time::Timestamp::from_unix_us(0)),
        warnings: Vec::new(),
    };
    assert_eq!(
        last_lines(&summary, Palette::PLAIN),
        [
            "00:00:00Z x SUCCESS in 1.5 s: 1 of 2 steps done, 1 failed",
            "  log: /d/logs/task_x_1.jsonl"
        ]
    );
    summary.already_done = true;
    assert_eq!(
        last_lines(&summary, Palette::PLAIN),
        [
            "x is done since 1970-01-01 00:00:00Z: SUCCESS",
            "  log: /d/logs/task_x_1.jsonl",
            "  nothing was run; `--new` starts a fresh run",
            "  this program's graph differs from the one that did it"
        ]
    );
}
