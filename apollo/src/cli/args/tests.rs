use super::super::sample::{daily, guarded};
use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

fn parsed(tasks: &[Task], line: &str) -> Result<Invocation, String> {
    let variables = |name: &str| match name {
        "APOLLO_DIR" => Some(OsString::from("/from/env")),
        "APOLLO_PARAM_TOKEN" => Some(OsString::from("s3cret")),
        _ => None,
    };
    parse(tasks, words(line), &variables).map_err(|error| error.to_string())
}

fn one(line: &str) -> Result<RunRequest, String> {
    match parsed(&[daily()], line)?.request {
        Request::Run(request) => Ok(*request),
        other @ (Request::List
        | Request::Inspect { .. }
        | Request::Graph { .. }
        | Request::Check
        | Request::Verify { .. }
        | Request::Repair { .. }) => Err(format!("{other:?}")),
    }
}

#[test]
fn a_program_with_one_task_runs_it_without_a_command() {
    for line in ["/x/daily", "daily --new", "daily --dir d --json", "daily run daily", "daily -q"] {
        assert_eq!(one(line).unwrap().task.name().as_str(), "daily", "{line}");
    }
    assert!(one("daily --new").unwrap().options.fresh);
    assert!(one("daily --dry-run").unwrap().dry_run);
    let request = parsed(&[daily()], "daily --dir d inspect x").unwrap().request;
    assert!(matches!(request, Request::Inspect { id: Some(id) } if id == "x"));
}

#[test]
fn parameters_are_options_by_both_names() {
    for line in
        ["daily --task-day 9", "daily run --param task_day=9", "daily --param=task-day=9 --new"]
    {
        assert_eq!(one(line).unwrap().options.params.text("task_day"), Some("9"), "{line}");
    }
    assert_eq!(one("daily").unwrap().options.params.text("task_day"), None);
}

#[test]
fn mistakes_are_said_with_what_was_meant() {
    let check = |line: &str, parts: &[&str]| {
        let text = one(line).unwrap_err();
        for part in parts {
            assert!(text.contains(part), "{line}: {text}");
        }
    };
    check("daily --task-day x", &["invalid value 'x' for '--task-day <U32>'", "invalid digit"]);
    check("daily --tsak-day 1", &["similar argument exists: '--task-day'", "Usage:"]);
    check("daily inspekt", &["unrecognized subcommand", "'inspect'"]);
    check("daily --skip lfet", &["did you mean `left`?"]);
    check("daily --resume-from nowhere", &["no such step", "`graph` shows them"]);
    check("daily --param task_dya=1", &["did you mean `task_day`?"]);
    check("daily --param other=1", &["there are `task_day`"]);
    check("daily --param sesame", &["wants NAME=VALUE"]);
    check("daily --task-day 1 --param task_day=2", &["`task_day` is given twice"]);
    check("daily --new --resume-from left", &["cannot be used with"]);
    check("daily --max-parallel 0", &["invalid value '0'"]);
    check("daily --task-id ../x", &["no task_id"]);
}

#[test]
fn a_secret_comes_from_the_environment_and_stands_nowhere() {
    let tasks = [daily(), guarded()];
    let Request::Run(request) = parsed(&tasks, "p run guarded").unwrap().request else {
        unreachable!("it is a run");
    };
    assert_eq!(request.options.params.text("token"), Some("s3cret"));
    let help = parsed(&tasks, "p run guarded --help").unwrap_err();
    assert!(help.contains("APOLLO_PARAM_TOKEN") && !help.contains("s3cret"), "{help}");
    let twice = parsed(&tasks, "p run guarded --token abc --param token=abc").unwrap_err();
    assert!(!twice.contains("abc"), "{twice}");
    assert!(!parsed(&tasks, "p run guarded --param abc").unwrap_err().contains("`abc"));
}

#[test]
fn the_directory_is_the_option_or_the_variable() {
    let dir = |line| parsed(&[daily()], line).unwrap().dir;
    assert_eq!(dir("daily list"), Some(PathBuf::from("/from/env")));
    assert_eq!(dir("daily list --dir here"), Some(PathBuf::from("here")));
    assert_eq!(dir("daily --dir=here list"), Some(PathBuf::from("here")));
}

#[test]
fn the_grammar_is_sound() {
    program("p", &[daily()]).debug_assert();
    program("p", &[daily(), guarded()]).debug_assert();
    program("p", &[]).debug_assert();
}

#[test]
fn a_program_with_several_tasks_wants_one_named() {
    let tasks = [daily(), guarded()];
    assert!(parsed(&tasks, "p run").unwrap_err().contains("Tasks:"));
    assert!(parsed(&tasks, "p run dialy").unwrap_err().contains("'daily'"));
    assert!(parsed(&tasks, "p graph").unwrap_err().contains("<TASK>"));
}
