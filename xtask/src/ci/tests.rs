//! Tests of running a plan: what runs, what is recorded, and what is printed.

use super::steps::{Run, step};
use super::*;
use inputs::Inputs;

static STEPS: [Step; 4] = [
    step("light", Run::Cargo(&["--version"])),
    heavy("passing", &["--version"]),
    heavy("failing", &["no-such-command"]),
    Step { needs: || Err("no card".into()), ..heavy("lacking", &["no-such-command"]) },
];

const fn heavy(name: &'static str, args: &'static [&'static str]) -> Step {
    Step { heavy: true, ..step(name, Run::Cargo(args)) }
}

fn inputs(value: &str) -> Inputs {
    Inputs([("crate x".to_owned(), value.to_owned())].into())
}

/// The plan with these inputs of today; with 481 seconds each nothing is repeated, with 1 everything.
fn planned(record: &Record, today: &str) -> Vec<Planned> {
    let steps: Vec<&Step> = STEPS.iter().collect();
    let asked = Asked { full: false, named: false, recorded: false, commit: "c0ffee" };
    plan::plan(&steps, record, asked, |_| Some(Ok(inputs(today)))).expect("known inputs")
}

fn passed_before(seconds: u64) -> Record {
    let entry = |name: &str| (name.to_owned(), Entry::new("2026-01-02", seconds, Some(&inputs("1"))));
    Record(["passing", "failing"].map(entry).into())
}

/// Runs the plan in the workspace and keeps the record in a folder of its own.
fn perform(plan: &[Planned], record: &Path, same: bool) -> Vec<Outcome> {
    let root = workspace::root().expect("tests run inside the workspace");
    let required = Required::parse("").expect("nothing");
    let results = perform_all(plan, &required, &root, |planned, seconds, outcome| {
        note(record, planned, seconds, outcome, || Ok(same))
    });
    results.expect("the record can be written").into_iter().map(|(outcome, _)| outcome).collect()
}

#[test]
fn an_unchanged_step_does_not_run_and_is_reported() {
    let dir = tempfile::tempdir().expect("the temporary folder is writable");
    let record = passed_before(481);
    let plan = planned(&record, "1");
    let outcomes = perform(&plan, dir.path(), true);
    let unchanged = || Outcome::Unchanged("2026-01-02".into());
    assert_eq!(
        outcomes[..3],
        [Outcome::Passed, unchanged(), unchanged()],
        "the failing one would have failed"
    );
    let Outcome::Skipped(why) = &outcomes[3] else { panic!("{:?}", outcomes[3]) };
    assert!(why.starts_with("no card"), "{why}");
    let results: Vec<_> = outcomes.into_iter().map(|outcome| (outcome, 0)).collect();
    let said = summary(&plan, &results, &record).to_string();
    for line in ["light    0", "passing  -        481        unchanged since 2026-01-02", "skipped: no card"]
    {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let written = Record::read(dir.path()).expect("just written");
    assert_eq!(written.0.keys().collect::<Vec<_>>(), ["light"], "only what ran");
}

#[test]
fn a_passed_step_is_recorded_with_its_inputs() {
    let dir = tempfile::tempdir().expect("the temporary folder is writable");
    let mut before = passed_before(1);
    before.0.insert("other".into(), Entry::new("2026-01-01", 7, None));
    before.write(dir.path()).expect("writable");
    let outcomes = perform(&planned(&before, "2"), dir.path(), true);
    assert!(outcomes[1] == Outcome::Passed && matches!(outcomes[2], Outcome::Failed(_)), "{outcomes:?}");
    let written = Record::read(dir.path()).expect("just written");
    assert_eq!(written.0["passing"].hash, Some(inputs("2").hash()));
    assert_eq!(written.0["passing"].inputs, inputs("2").0);
    assert_eq!(written.0["failing"], before.0["failing"], "it passed with other inputs, and that stays true");
    assert_eq!(written.0["other"], before.0["other"]);
    assert_eq!(written.0["light"].hash, None);
}

#[test]
fn a_step_whose_inputs_changed_during_the_run_is_not_recorded() {
    let dir = tempfile::tempdir().expect("the temporary folder is writable");
    perform(&planned(&Record::default(), "1"), dir.path(), false);
    let written = Record::read(dir.path()).expect("just written");
    assert_eq!(written.0.keys().collect::<Vec<_>>(), ["light"]);
}

#[test]
fn a_repeated_step_that_fails_loses_its_entry() {
    let dir = tempfile::tempdir().expect("the temporary folder is writable");
    let record = passed_before(1);
    record.write(dir.path()).expect("writable");
    let plan = planned(&record, "1");
    let outcomes = perform(&plan, dir.path(), true);
    let written = Record::read(dir.path()).expect("just written");
    assert_eq!(written.0.keys().collect::<Vec<_>>(), ["light", "passing"]);
    let results: Vec<_> = outcomes.into_iter().map(|outcome| (outcome, 0)).collect();
    let said = summary(&plan, &results, &record).to_string();
    assert!(said.contains("passed (repeated, unchanged since 2026-01-02)"), "{said}");
    assert!(said.contains("nothing it depends on changed since it passed on 2026-01-02"), "{said}");
}

#[test]
fn the_list_shows_last_pass_decision_and_inputs() {
    let said = listing::text(&planned(&passed_before(481), "2"), &passed_before(481));
    for line in [
        "light: cargo --version\n  last passed:  not on record\n  now:          it runs (always)\n",
        "passed:  2026-01-02 in 481 s\n  now:          it runs (since 2026-01-02: crate x changed)\n",
        "  depends on:   crate x\n",
        "  depends on:   everything\n",
        "  now:          it cannot run: no card (not on record as passed)\n",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
}
