//! The command line: what it takes, what it writes, and how it fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use parity::weights::Weights;
use parity::{Error, ParityArgs, cli, devices};
use tensor_core::{DType, Device, Tensor, safetensors};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: ParityArgs,
}

/// Runs the command; its report goes into `folder`.
fn run(folder: &Path, arguments: &[&str]) -> ExitCode {
    let json = folder.join("report.json");
    let json = json.to_str().expect("temporary folders have plain names");
    let arguments = ["parity", "--json", json].into_iter().chain(arguments.iter().copied());
    cli::run(Command::try_parse_from(arguments).expect("the arguments are valid").args)
}

fn checkpoint(folder: &Path) -> PathBuf {
    let path = folder.join("model.safetensors");
    let ramp = Tensor::arange(0f32, 600.0, &Device::Cpu).and_then(|x| x.affine(0.01, -3.0)).unwrap();
    let matrix = ramp.reshape([20, 30]).unwrap();
    let bias = ramp.narrow(0, 5, 31).unwrap();
    let positions = Tensor::arange(0i64, 12, &Device::Cpu).unwrap().reshape([1, 12]).unwrap();
    let half = matrix.to_dtype(DType::F16).unwrap();
    let cube = matrix.reshape([4, 5, 30]).unwrap();
    let scalar = Tensor::new(2.5f32, &Device::Cpu).unwrap();
    let nothing = Tensor::zeros([0, 3], DType::F32, &Device::Cpu).unwrap();
    let all = [
        ("matrix", &matrix),
        ("bias", &bias),
        ("positions", &positions),
        ("half", &half),
        ("cube", &cube),
        ("scalar", &scalar),
        ("nothing", &nothing),
    ];
    safetensors::write(&path, all, &BTreeMap::new()).unwrap();
    path
}

#[test]
fn a_good_run_writes_its_report_and_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &["--device", "cpu", "--filter", "neg/f32/"]), ExitCode::SUCCESS);
    let text = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], "parity-report/1");
    assert_eq!((&report["seed"], &report["totals"]["mismatches"]), (&7.into(), &0.into()));
    let case =
        report["cases"].as_array().unwrap().iter().find(|case| case["layout"] == "transposed").unwrap();
    assert_eq!(case["id"], "neg/f32/transposed/matrix/[37,129]");
    assert_eq!(case["hash"].as_str().unwrap().len(), 32);
    assert_eq!((&case["elements"], &case["rule"]), (&4773.into(), &"equal bits".into()));
    assert_eq!(
        (&case["results"][0]["device"], &case["results"][0]["status"]),
        (&"cpu".into(), &"pass".into())
    );
    assert_eq!(
        (&report["table"][0]["operation"], &report["table"][0]["dtype"]),
        (&"neg".into(), &"f32".into())
    );
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("\"id\":\"neg/f32/transposed/matrix/[37,129]\"") && page.ends_with("</html>\n"));
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn earlier_reports_are_kept_and_are_in_the_trend() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--device", "cpu", "--filter", "exp/f32/contiguous/"];
    let page = |arguments: &[&str]| {
        assert_eq!(run(folder.path(), arguments), ExitCode::SUCCESS);
        std::fs::read_to_string(folder.path().join("report.html")).unwrap()
    };
    assert!(page(&arguments).contains("\"history\":[]"));
    assert!(page(&arguments).contains("\"history\":[{\"name\":\"report-1\","));
    // Of another folder, and older than those kept here.
    let other = folder.path().join("before.json");
    std::fs::copy(folder.path().join("report-1.json"), &other).unwrap();
    let with_history = [&arguments[..], &["--history", other.to_str().unwrap()]].concat();
    let page = page(&with_history);
    let (before, first) = (page.find("\"name\":\"before\""), page.find("\"name\":\"report-1\""));
    assert!(before.is_some() && before < first && first < page.find("\"name\":\"report-2\""));
    std::fs::write(&other, "{}").unwrap();
    assert_eq!(run(folder.path(), &with_history), ExitCode::from(2), "no report");
}

#[test]
fn filters_and_devices_without_a_match_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["--filter", "no such case"][..],
        &["--device", "cpu,abacus:0"],
        &["--device", "host:99"],
        &["--device", "cpu", "--sabotage", "--filter", "exp/f32/transposed"],
    ] {
        assert_eq!(run(folder.path(), arguments), ExitCode::from(2), "{arguments:?}");
    }
    assert!(!folder.path().join("report.json").exists());
    let error = devices::open(&["abacus:0".to_string()]).unwrap_err().to_string();
    assert!(error.contains("abacus:0") && error.contains("devices here: cpu"), "{error}");
}

#[test]
fn a_model_is_computed_by_another_program() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &["--model", "some.gguf", "--device", "cpu"]), ExitCode::from(2));
    assert!(!folder.path().join("report.json").exists());
    assert!(Error::Model.to_string().contains("`hipstack drift MODEL --device A --device B`"));
}

#[test]
fn options_that_exclude_each_other() {
    assert!(Command::try_parse_from(["parity", "--sabotage", "--weights", "x"]).is_err());
    assert!(Command::try_parse_from(["parity", "--seed", "x"]).is_err());
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let json = folder.path().join("file").join("report.json");
    let arguments = ["parity", "--device", "cpu", "--filter", "neg/u8/contiguous/one", "--json"];
    let arguments = arguments.iter().map(|text| text.to_string()).chain([json.display().to_string()]);
    let args = Command::try_parse_from(arguments).unwrap().args;
    assert_eq!(cli::run(args), ExitCode::from(2));
}

#[test]
fn every_tensor_of_a_checkpoint_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = checkpoint(folder.path());
    let weights = Weights::open(&path).unwrap();
    let cases = weights.cases();
    assert!(weights.left_out().is_empty());
    let of = |tensor: &str, operation: &str| {
        cases
            .iter()
            .filter(|case| case.origin.as_deref() == Some(tensor) && case.op.name() == operation)
            .count()
    };
    assert_eq!((of("matrix", "matmul"), of("matrix", "cast"), of("half", "cast")), (1, 6, 4));
    assert_eq!((of("positions", "sum"), of("positions", "exp"), of("nothing", "copy")), (2, 0, 1));
    assert_eq!((of("bias", "sum"), of("cube", "sum"), of("scalar", "sum")), (1, 2, 0));
    let ids: std::collections::HashSet<String> = cases.iter().map(parity::Case::id).collect();
    assert_eq!(ids.len(), cases.len());

    let report = weights.run(&cases, &[devices::cpu()], 7, "", &mut || ()).unwrap();
    assert_eq!(report.totals.failures(), 0, "{}", parity::table::render(&report, ""));
    assert_eq!(report.totals.cases, cases.len());

    let path = path.to_str().unwrap();
    let chosen = ["--device", "cpu", "--weights", path, "--filter", "gelu/*@matrix"];
    assert_eq!(run(folder.path(), &chosen), ExitCode::SUCCESS);
    let text = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["totals"]["cases"], 1);
    assert!(report["table"][0]["rerun"].as_str().unwrap().ends_with(&format!("--seed 7 --weights '{path}'")));
}

/// A file of tensors of two elements each, of these dtypes and sizes.
fn of_dtypes(path: &Path, tensors: &[(&str, &str, usize)]) {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, dtype, bytes) in tensors {
        let start = data.len();
        data.extend(std::iter::repeat_n(1_u8, *bytes));
        let entry = serde_json::json!({ "dtype": dtype, "shape": [2], "data_offsets": [start, data.len()] });
        header.insert((*name).to_owned(), entry);
    }
    let header = serde_json::Value::from(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(path, [&length[..], header.as_bytes(), &data].concat()).unwrap();
}

/// As masks are stored in real checkpoints.
#[test]
fn tensors_without_operations_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    of_dtypes(&path, &[("a", "F32", 8), ("b.mask", "BOOL", 2), ("c.mask", "BOOL", 2), ("d", "I8", 2)]);
    let weights = Weights::open(&path).unwrap();
    let left_out = BTreeMap::from([("BOOL", vec!["b.mask", "c.mask"]), ("I8", vec!["d"])]);
    assert_eq!(weights.left_out(), left_out);
    let cases = weights.cases();
    assert!(!cases.is_empty() && cases.iter().all(|case| case.origin.as_deref() == Some("a")));
    let arguments = ["--device", "cpu", "--weights", path.to_str().unwrap()];
    assert_eq!(run(folder.path(), &arguments), ExitCode::SUCCESS);
    let text = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["totals"]["cases"], cases.len());

    of_dtypes(&path, &[("mask", "BOOL", 2)]);
    assert_eq!(run(folder.path(), &arguments), ExitCode::from(2), "nothing is left");
}

#[test]
fn damaged_and_missing_checkpoints_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = checkpoint(folder.path());
    let whole = std::fs::read(&path).unwrap();
    for length in [0, 5, 100, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = Weights::open(&path).unwrap_err();
        assert!(matches!(error, Error::Weights { .. }));
        assert!(error.to_string().contains("model.safetensors"), "{error}");
        assert_eq!(
            run(folder.path(), &["--device", "cpu", "--weights", path.to_str().unwrap()]),
            ExitCode::from(2)
        );
    }
    let missing = folder.path().join("missing.safetensors");
    assert_eq!(run(folder.path(), &["--weights", missing.to_str().unwrap()]), ExitCode::from(2));
}
