//! `parity record`, `parity compare` and `--against` through the command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use parity::comparison::{Comparison, Counts, Known, render};
use parity::record::{Form, Found, NamedRecord, Record};
use parity::{ParityArgs, cli};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: ParityArgs,
}

const GOOD: ExitCode = ExitCode::SUCCESS;

/// The exit code of `cargo xtask parity <arguments>`, which are separated by spaces.
fn parity(arguments: &str) -> ExitCode {
    // A comparison's page goes where no user looks for one.
    let page = concat!(env!("CARGO_TARGET_TMPDIR"), "/compare.html");
    let page = arguments.starts_with("compare ").then_some(["--html", page]);
    let arguments = std::iter::once("parity").chain(arguments.split(' ')).chain(page.into_iter().flatten());
    cli::run(Command::try_parse_from(arguments).expect("the arguments are valid").args)
}

/// Records the cases of a filter.
fn record(folder: &Path, device: &str, filter: &str, more: &str) -> PathBuf {
    let out = folder.join(format!("{}{}.tsv", device.replace(':', "-"), more.replace(' ', "")));
    let command = format!("record --device {device} --filter {filter} --out {}{more}", out.display());
    assert_eq!(parity(&command), GOOD, "{command}");
    out
}

/// A copy of a record whose digest of this case has other bits.
fn spoiled(path: &Path, id: &str) -> PathBuf {
    let text = std::fs::read_to_string(path).unwrap();
    let mut hit = 0;
    let lines = text.lines().map(|line| match line.split_once("\tdigest ") {
        Some((case, digest)) if case.contains(&format!("\t{id}\t")) => {
            hit += 1;
            let other: String = digest.chars().rev().collect();
            format!("{case}\tdigest {other}\n")
        }
        _ => format!("{line}\n"),
    });
    let (text, copy) = (lines.collect::<String>(), path.with_file_name("spoiled.tsv"));
    assert_eq!(hit, 1, "{id} is an exact case of the record");
    std::fs::write(&copy, text).unwrap();
    copy
}

const CASE: &str = "neg/f32/transposed/matrix/[37,129]";

/// Cases of every operation of `f32`.
const WANTED: &str = "*/f32/contiguous/*";

#[test]
fn two_devices_are_recorded_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (cpu, host) = (record(folder.path(), "cpu", WANTED, ""), record(folder.path(), "host:1", WANTED, ""));
    let header = Record::read(&host).unwrap().header().clone();
    assert_eq!(
        (header.device.as_str(), header.description.as_str(), header.seed),
        ("host:1", "host:1 (host-w64)", 7)
    );
    for fact in [
        "platform",
        "name",
        "arch",
        "wave size",
        "hip version",
        "driver version",
        "hash of the kernels",
        "kernels' compiler",
    ] {
        assert!(header.facts.get(fact).is_some_and(|value| !value.is_empty()), "{fact}: {:?}", header.facts);
    }
    assert_eq!(parity(&format!("compare {} {}", cpu.display(), host.display())), GOOD);

    let (cpu, host) = (NamedRecord::read(&cpu).unwrap(), NamedRecord::read(&host).unwrap());
    let comparison = Comparison::new(&cpu, &host, &[]).unwrap();
    let counts = comparison.counts();
    assert_eq!((counts.differ, counts.compared()), (0, cpu.record.entries().len()));
    assert!(counts.equal > 100 && counts.within > 10, "{counts:?}");
    let text = render(&comparison);
    let neg = text.lines().find(|line| line.starts_with("neg ")).unwrap();
    assert_eq!(neg.split_whitespace().take(2).collect::<Vec<_>>(), ["neg", "="]);
    assert!(text.contains("host-1: host:1 (host-w64) on 2"), "{text}");
    assert!(text.contains(&format!("{} cases compared: ", counts.compared())), "{text}");
    assert!(
        text.ends_with("0 only in cpu, 0 only in host-1, 0 with other inputs, 0 not comparable.\n"),
        "{text}"
    );
}

#[test]
fn a_difference_is_listed_and_can_be_known() {
    let folder = tempfile::tempdir().unwrap();
    let good = record(folder.path(), "cpu", "neg/f32/*", "");
    let bad = spoiled(&good, CASE);
    let compare = format!("compare {} {}", good.display(), bad.display());
    assert_eq!(parity(&compare), ExitCode::from(1));
    assert_eq!(parity(&format!("compare {}", good.display())), ExitCode::from(2), "a record alone");
    let (left, right) = (NamedRecord::read(&good).unwrap(), NamedRecord::read(&bad).unwrap());
    let text = render(&Comparison::new(&left, &right, &[]).unwrap());
    assert!(
        text.contains(&format!("DIFFERS {CASE}\n     digest: cpu has ")) && text.contains("   FAIL"),
        "{text}"
    );

    let list = folder.path().join("known.toml");
    let with_list = |text: &str| {
        std::fs::write(&list, text).unwrap();
        parity(&format!("{compare} --differences {}", list.display()))
    };
    let entry = |case: &str| format!("[[difference]]\ncase = \"{case}\"\nreason = \"tried out\"\n");
    assert_eq!(with_list(&entry("neg/*/transposed/*")), GOOD);
    assert_eq!(with_list(&entry("exp/*")), ExitCode::from(1), "an entry about another case");
    let both = entry("neg/*/transposed/*") + &entry("exp/*");
    assert_eq!(with_list(&both), ExitCode::from(1), "an entry that no case needs");
    let known = Known::read(&list).unwrap();
    let comparison = Comparison::new(&left, &right, &known).unwrap();
    assert_eq!(comparison.unneeded().map(|known| known.case.as_str()).collect::<Vec<_>>(), ["exp/*"]);
    let text = render(&comparison);
    assert!(
        text.contains("STALE exp/*: ") && text.contains("KNOWN neg/*/transposed/*: 1 cases: tried out"),
        "{text}"
    );
    assert_eq!(with_list("[[difference]]\ncase = \"neg/*\"\n"), ExitCode::from(2));
    assert_eq!(
        parity(&format!("{compare} --differences {}/none", folder.path().display())),
        ExitCode::from(2)
    );
}

#[test]
fn a_list_excuses_no_more_than_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let good = record(folder.path(), "cpu", "neg/f32/*", "");
    let list = folder.path().join("known.toml");
    let with_list = |bad: &Path, more: &str| {
        let text = format!("[[difference]]\ncase = \"neg/*\"\n{more}reason = \"tried out\"\n");
        std::fs::write(&list, text).unwrap();
        parity(&format!("compare {} {} --differences {}", good.display(), bad.display(), list.display()))
    };
    // Two digests do not say in what manner the elements differ.
    let bad = spoiled(&good, CASE);
    assert_eq!((with_list(&bad, ""), with_list(&bad, "only = \"zeros\"\n")), (GOOD, ExitCode::from(1)));
    // No result, and one of another form.
    let others = |found: &dyn Fn(&Found) -> Found| {
        let record = Record::read(&good).unwrap();
        let mut entries = record.entries().to_vec();
        let entry = entries.iter_mut().find(|entry| entry.id == CASE).unwrap();
        entry.found = found(&entry.found);
        let path = folder.path().join("other.tsv");
        Record::new(record.header().clone(), entries).unwrap().write(&path).unwrap();
        path
    };
    let failed = others(&|_| Found::Error("out of memory".into()));
    assert_eq!(with_list(&failed, ""), ExitCode::from(1));
    let turned = others(&|found| match found {
        Found::Exact { form, digest } => {
            let shape = form.shape.iter().rev().copied().collect();
            Found::Exact { form: Form { shape, ..form.clone() }, digest: *digest }
        }
        other => panic!("neg is exact: {other:?}"),
    });
    assert_eq!(with_list(&turned, ""), ExitCode::from(1));
}

#[test]
fn records_under_different_rules_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let good = record(folder.path(), "cpu", "neg/f32/*", "");
    let text = std::fs::read_to_string(&good).unwrap();
    let other = folder.path().join("other.tsv");
    std::fs::write(&other, text.replacen("\tequal bits\t", "\twithin 1 ulp\t", 1)).unwrap();
    let (left, right) = (NamedRecord::read(&good).unwrap(), NamedRecord::read(&other).unwrap());
    let counts = Comparison::new(&left, &right, &[]).unwrap().counts();
    let all = left.record.entries().len();
    assert_eq!(counts, Counts { equal: all - 1, incomparable: 1, ..Counts::default() });
}

#[test]
fn records_of_different_cases_are_counted_and_never_pass_as_equal() {
    let folder = tempfile::tempdir().unwrap();
    let (neg, both) = (
        record(folder.path(), "cpu", "neg/f32/*", ""),
        record(folder.path(), "host:0", "*/f32/transposed/*", ""),
    );
    let (left, right) = (NamedRecord::read(&neg).unwrap(), NamedRecord::read(&both).unwrap());
    let comparison = Comparison::new(&left, &right, &[]).unwrap();
    let (of_left, of_right) = (left.record.entries().len(), right.record.entries().len());
    let expected = Counts { equal: 1, only_left: of_left - 1, only_right: of_right - 1, ..Counts::default() };
    assert_eq!(comparison.counts(), expected);
    let text = render(&comparison);
    assert!(
        text.contains(&format!("{} cases only in host-0:\n     abs/f32/transposed", of_right - 1)),
        "{text}"
    );

    // Other inputs are not compared, and if that is all there is, it is an error.
    let other = record(folder.path(), "cpu", "neg/f32/transposed", " --seed 8");
    assert_eq!(parity(&format!("compare {} {}", neg.display(), other.display())), ExitCode::from(2));
    let seeds = NamedRecord::read(&other).unwrap();
    let error = Comparison::new(&left, &seeds, &[]).unwrap_err().to_string();
    assert!(error.contains("seeds 7 and 8"), "{error}");
}

#[test]
fn a_run_is_compared_with_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let good = record(folder.path(), "host:0", "neg/f32/*", "");
    let bad = spoiled(&good, CASE);
    let json = folder.path().join("report.json");
    let run = |against: &Path| {
        let (against, json) = (against.display(), json.display());
        let code =
            parity(&format!("--device cpu,host:1 --filter neg/f32/ --against {against} --json {json}"));
        let text = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
        (code, serde_json::from_str::<serde_json::Value>(&text).unwrap())
    };
    let (code, report) = run(&good);
    let last = |report: &serde_json::Value| report["records"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (code, &report["totals"]["mismatches"], &last(&report)["differ"]),
        (GOOD, &0.into(), &0.into())
    );
    assert_eq!(last(&report)["covered"], report["totals"]["cases"]);
    assert_eq!((&last(&report)["name"], &last(&report)["device"]), (&"host-0".into(), &"host:0".into()));

    let (code, report) = run(&bad);
    assert_eq!((code, &report["totals"]["mismatches"]), (ExitCode::from(1), &2.into()));
    assert_eq!(last(&report)["differ"], 2);
    let case = report["cases"].as_array().unwrap().iter().find(|case| case["id"] == CASE).unwrap();
    for result in case["results"].as_array().unwrap() {
        assert_eq!((&result["status"], &result["wrong"]), (&"mismatch".into(), &0.into()));
        assert!(result["error"].as_str().unwrap().starts_with("differs from record spoiled: digest: "));
    }
    let rerun = report["table"][0]["rerun"].as_str().unwrap();
    assert!(rerun.contains(" --against '"), "{rerun}");
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("\"record spoiled: ") && page.contains("differs from record spoiled"));
}

#[test]
fn records_that_cannot_be_written_or_read_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    std::fs::write(folder.path().join("file"), "no record\n").unwrap();
    for arguments in [
        format!("record --device abacus:0 --out {at}/x.tsv"),
        format!("record --device cpu --filter nothing-is-called-so --out {at}/x.tsv"),
        format!("record --device cpu --filter neg/f32 --out {at}/file/x.tsv"),
        format!("record --device cpu --filter neg/f32 --out {at}"),
        format!("compare {at}/file {at}/file"),
        format!("compare {at}/none {at}/none"),
        format!("--device cpu --filter neg/f32 --against {at}/file --json {at}/report.json"),
    ] {
        assert_eq!(parity(&arguments), ExitCode::from(2), "{arguments}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn options_belong_to_their_command() {
    for arguments in [
        "--filter exp record --device cpu",
        "record",
        "record --device cpu --list",
        "record --device cpu --threads 0",
        "compare",
        "--against a.tsv --weights b",
        "--against a.tsv --sabotage",
    ] {
        let arguments = std::iter::once("parity").chain(arguments.split(' '));
        assert!(Command::try_parse_from(arguments.clone()).is_err(), "{:?}", arguments.collect::<Vec<_>>());
    }
    let args = Command::try_parse_from(["parity", "--filter", "record"]).unwrap().args;
    assert_eq!((args.cases.filter.as_deref(), args.cases.seed), (Some("record"), 7));
}

#[test]
fn every_sub_command_shows_examples() {
    let command = Command::command();
    command.clone().debug_assert();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    assert!(names.contains(&"record") && names.contains(&"compare"), "{names:?}");
    for command in command.get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(
            help.contains(&format!("cargo xtask parity {} ", command.get_name())),
            "{}",
            command.get_name()
        );
        assert!(help.contains("Exit code: 0"), "{}", command.get_name());
    }
}
