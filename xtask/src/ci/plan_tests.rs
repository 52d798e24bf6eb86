//! Tests of which steps run, are repeated or are left out.

use super::super::steps::{Kernels, Run, step};
use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// Steps that these tests only plan and never run.
static STEPS: [Step; 8] = [
    step("light", Run::Cargo(&[])),
    heavy("a"),
    heavy("b"),
    heavy("c"),
    heavy("d"),
    heavy("long"),
    Step { needs: || Err("no card".into()), ..heavy("lacking") },
    Step { only_full: true, ..heavy("minutes") },
];

const fn heavy(name: &'static str) -> Step {
    Step { heavy: true, ..step(name, Run::Cargo(&[])) }
}

fn inputs(of: &[(&str, &str)]) -> Inputs {
    Inputs(of.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
}

fn record(entries: &[(&str, u64)]) -> Record {
    let entry = |&(name, seconds): &(&str, u64)| {
        (name.to_owned(), Entry::new("2026-01-02", seconds, Some(&inputs(&[("crate x", "1")]))))
    };
    Record(entries.iter().map(entry).collect())
}

const ALL: [(&str, u64); 6] = [("a", 200), ("b", 200), ("c", 200), ("d", 80), ("long", 481), ("lacking", 1)];
const USUAL: Asked<'_> = Asked { full: false, named: false, recorded: false, commit: "c0ffee" };

/// The decisions if all inputs equal `today`'s.
fn decisions(record: &Record, asked: Asked<'_>, today: &[(&str, &str)]) -> BTreeMap<&'static str, Decision> {
    let steps: Vec<&Step> = STEPS.iter().collect();
    let planned = plan(&steps, record, asked, |_| Some(Ok(inputs(today)))).expect("known inputs");
    planned.into_iter().map(|planned| (planned.step.name, planned.decision)).collect()
}

const SAME: &[(&str, &str)] = &[("crate x", "1")];

#[test]
fn a_light_step_always_runs_and_a_step_that_cannot_run_says_why() {
    let made = decisions(&record(&ALL), USUAL, SAME);
    assert_eq!(made["light"], Decision::Run("always".into()));
    assert_eq!(made["lacking"], Decision::Lack("no card (last passed on 2026-01-02)".into()));
    let never = decisions(&Record::default(), Asked { full: true, ..USUAL }, SAME);
    assert!(matches!(&never["lacking"], Decision::Lack(why) if why == "no card (not on record as passed)"));
}

#[test]
fn some_steps_run_by_full_or_by_their_name_alone() {
    let run = |asked| decisions(&record(&ALL), asked, SAME).remove("minutes").unwrap();
    assert_eq!(run(USUAL), Decision::OnlyFull);
    assert_eq!(run(Asked { full: true, ..USUAL }), Decision::Run("--full".into()));
    assert_eq!(run(Asked { named: true, ..USUAL }), Decision::Run("it was asked for".into()));
}

#[test]
fn a_step_runs_until_it_has_passed_and_when_an_input_changed() {
    let made = decisions(&record(&[("a", 500)]), USUAL, SAME);
    assert_eq!(made["a"], Decision::Leave("2026-01-02".into()));
    assert_eq!(made["b"], Decision::Run("not on record as passed".into()));
    let made = decisions(&record(&ALL), USUAL, &[("crate x", "2"), ("env CXX", "3")]);
    assert_eq!(made["a"], Decision::Run("since 2026-01-02: crate x changed, env CXX is new".into()));
    let made = decisions(&record(&ALL), USUAL, &[]);
    assert_eq!(made["a"], Decision::Run("since 2026-01-02: crate x is gone".into()));
}

#[test]
fn all_steps_run_where_they_are_asked_for_or_nothing_is_known() {
    for asked in [Asked { full: true, ..USUAL }, Asked { named: true, ..USUAL }] {
        let made = decisions(&record(&ALL), asked, SAME);
        assert!(["a", "b", "c", "d", "long"].iter().all(|name| matches!(made[name], Decision::Run(_))));
    }
    let steps: Vec<&Step> = STEPS.iter().collect();
    let planned = plan(&steps, &record(&ALL), USUAL, |_| None).expect("nothing to find");
    let runs = planned.iter().filter(|planned| matches!(planned.decision, Decision::Run(_))).count();
    assert_eq!(runs, 6, "all but the one that lacks something and the one of minutes");
    let said = "ci: 8 steps: 6 run, 0 are repeated though unchanged, 1 are left out, 1 cannot run here";
    assert_eq!(counted(&planned), said);
}

#[test]
fn the_commit_chooses_repeated_steps_of_eight_minutes_at_most() {
    let mut chosen = BTreeSet::new();
    for number in 0..64 {
        let commit = format!("commit {number}");
        let asked = Asked { commit: &commit, ..USUAL };
        let made = decisions(&record(&ALL), asked, SAME);
        assert_eq!(made, decisions(&record(&ALL), asked, SAME), "the same for the same commit");
        let repeated: Vec<&str> =
            made.iter().filter(|(_, d)| matches!(d, Decision::Repeat(_))).map(|(name, _)| *name).collect();
        // Two of the three long steps and the short one fill 480 seconds. The step of 481 seconds never fits.
        assert_eq!(repeated.len(), 3, "{repeated:?}");
        assert!(repeated.contains(&"d") && !repeated.contains(&"long"), "{repeated:?}");
        chosen.extend(repeated);
    }
    assert_eq!(chosen.into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d"], "each has its turn");
}

#[test]
fn only_the_families_that_changed_are_compiled() {
    static KERNELS: Step =
        Step { kernels: Some(Kernels { platform: "amd", chips: "gfx942" }), ..heavy("kernels") };
    let before = [("hipcc", "1"), ("kernels of norm", "1"), ("kernels of reduce", "1")];
    let entry = Entry::new("2026-01-02", 900, Some(&inputs(&before)));
    let record = Record(BTreeMap::from([("kernels".to_owned(), entry)]));
    let arguments = |asked, today: &[(&str, &str)]| {
        let planned = plan(&[&KERNELS], &record, asked, |_| Some(Ok(inputs(today)))).expect("known inputs");
        let of_first: Vec<_> =
            planned[0].arguments.iter().map(|argument| argument.display().to_string()).collect();
        assert_eq!(planned[0].in_part, of_first.iter().any(|argument| argument == "--family"));
        (matches!(planned[0].decision, Decision::Run(_)), of_first.join(" "))
    };
    let norm = [before[0], ("kernels of norm", "2"), before[2]];
    assert_eq!(arguments(USUAL, &norm), (true, "--family norm".into()));
    let all = [("hipcc", "2"), norm[1], norm[2]];
    assert_eq!(arguments(USUAL, &all), (false, "--sample c0ffee".into()), "all of them are too many");
    assert_eq!(arguments(Asked { recorded: true, ..USUAL }, &all), (true, String::new()));
    assert_eq!(arguments(Asked { full: true, ..USUAL }, &norm), (true, String::new()));
    assert_eq!(arguments(USUAL, &before), (false, String::new()));
    let names: Vec<String> =
        kernels_hip::families().iter().map(|family| format!("kernels of {}", family.name)).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), "2")).chain([before[0]]).collect();
    let (runs, said) = arguments(USUAL, &many);
    assert!(!runs && said.starts_with("--family ") && said.ends_with(" --sample c0ffee"), "{said}");
}

#[test]
fn inputs_that_cannot_be_read_are_an_error() {
    let steps: Vec<&Step> = STEPS.iter().collect();
    let failed = plan(&steps, &record(&ALL), USUAL, |step| Some(Err(format!("{}: unreadable", step.name))));
    assert_eq!(failed.err(), Some("a: unreadable".into()));
}

#[test]
fn many_changes_are_counted() {
    let changes: Vec<String> = (0..6).map(|n| format!("x{n} changed")).collect();
    assert!(shortened(&changes).ends_with("x3 changed and 2 more"));
}
