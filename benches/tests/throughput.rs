//! The throughput program at small shapes: every row exists, is correct, and is timed together with a peer.

use benches::throughput::check;
use benches::throughput::data::Matrix;
use benches::throughput::host_time;
use benches::throughput::measure::Effort;
use benches::throughput::memory;
use benches::throughput::replay::Replay;
use benches::throughput::results::{Figures, from_json, read_folder};
use benches::throughput::rows::{Row, Set, Work, groups};
use benches::throughput::run::{Findings, Request, run};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use tensor_core::{DType, Device, Tensor};

const SHRINK: usize = 64;
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];
const QUICK: Effort = Effort { warm_ups: 1, repeats: 1, calls: 2, repeat: Duration::from_millis(1) };

/// The rows of 256 × 128 and the bytes that each moves, counted by hand: 32768 elements.
const BYTES: [(&str, [usize; 3]); 23] = [
    ("add", [393_216, 196_608, 196_608]),
    ("mul_scalar", [262_144, 131_072, 131_072]),
    ("exp", [262_144, 131_072, 131_072]),
    ("gelu_erf", [262_144, 131_072, 131_072]),
    ("silu", [262_144, 131_072, 131_072]),
    // Two matrices, a mask of one byte per element, and the result.
    ("where", [425_984, 229_376, 229_376]),
    ("cast", [196_608, 196_608, 196_608]),
    ("clone_copy", [262_144, 131_072, 131_072]),
    ("cat0", [524_288, 262_144, 262_144]),
    // 256 ids of eight bytes.
    ("index_select_rows", [264_192, 133_120, 133_120]),
    ("add_broadcast_row", [262_144, 131_072, 131_072]),
    ("add_broadcast_column", [262_144, 131_072, 131_072]),
    ("rms_norm", [262_144, 131_072, 131_072]),
    ("layer_norm", [262_144, 131_072, 131_072]),
    ("softmax_last", [262_144, 131_072, 131_072]),
    ("sum_last", [131_072, 65_536, 65_536]),
    ("sum_first", [131_072, 65_536, 65_536]),
    ("max_last", [131_072, 65_536, 65_536]),
    ("max_first", [131_072, 65_536, 65_536]),
    ("argmax_last", [131_072, 65_536, 65_536]),
    ("argmax_first", [131_072, 65_536, 65_536]),
    ("sum_all", [131_072, 65_536, 65_536]),
    ("transpose_contig", [262_144, 131_072, 131_072]),
];

fn host() -> Device {
    Device::parse("host:0").expect("host:0 is always there")
}

fn request(sets: &[Set], filter: &str) -> Request {
    Request {
        device: host(),
        dtypes: DTYPES.to_vec(),
        sets: sets.to_vec(),
        shrink: SHRINK,
        winograd: false,
        matrix_attention: false,
        filter: filter.into(),
        effort: QUICK,
    }
}

fn measured(request: &Request) -> (Findings, Vec<String>) {
    let mut labels = Vec::new();
    let findings = run(request, None, &mut |done, total, label| {
        assert!(done <= total, "{done} of {total}");
        labels.push(label.to_owned());
    });
    (findings.expect("the inputs can be made"), labels)
}

#[test]
fn every_row_counts_its_bytes() {
    for (number, dtype) in DTYPES.into_iter().enumerate() {
        let inputs = memory::Inputs::new(dtype, [256, 128], &Device::Cpu).unwrap();
        for (op, bytes) in BYTES {
            let row = inputs.row(op).unwrap_or_else(|| panic!("no {op}"));
            assert_eq!((row.op, row.work), (op, Work::Bytes(bytes[number])), "{dtype}");
        }
        assert!(inputs.row("sum").is_none());
    }
    assert_eq!(BYTES.map(|(op, _)| op), memory::OPS);
    assert_eq!(Work::Bytes(3_000_000_000).gbps(0.5), Some(6.0));
    assert_eq!(Work::Operations(3e12).tflops(0.5), Some(6.0));
    assert_eq!(Work::Nothing.gbps(0.5), None);
}

#[test]
#[ignore = "takes half a minute; the step slow-tests runs it"]
fn a_run_on_the_host_measures_everything() {
    // The products are tested in their own module: shrunk by this factor they would have one element.
    let sets = [Set::Memory, Set::Select, Set::Attention, Set::Host];
    let (findings, labels) = measured(&request(&sets, ""));
    assert_eq!(findings.wrong, [""; 0]);
    let expected: Vec<String> = groups(&sets, &DTYPES, SHRINK)
        .iter()
        .flat_map(|group| group.ops.iter().map(|op| group.label(op)).collect::<Vec<_>>())
        .collect();
    // The host times are one more step.
    assert_eq!(labels.len(), expected.len() + 1);
    let all: Vec<&Figures> = findings.sets.iter().flat_map(|(_, rows)| rows).collect();
    for label in &expected {
        let found = all.iter().find(|row| format!("{} {} {}", row.op, row.shape, row.dtype) == *label);
        let row = found.unwrap_or_else(|| panic!("no {label}"));
        assert!(row.us > 0.0 && row.torch_us.is_none() && row.ratio.is_none(), "{row:?}");
        let (small, attention) = (row.op == "launch_small_add", row.op == "attention_causal");
        assert_eq!(row.kernel_us.is_some_and(|us| us > 0.0), !small, "{row:?}");
        assert_eq!((row.gbps.is_some(), row.share.is_some()), (!small && !attention, !small && !attention));
        assert_eq!(row.tflops.is_some(), attention, "{row:?}");
    }
    for name in host_time::NAMES {
        // A difference of two times may be negative.
        let right = |us: f64| us > 0.0 || (name.ends_with("above_raw") && us.is_finite());
        assert!(all.iter().any(|row| row.op == name && right(row.us)), "{name}");
    }
    // The copy precedes the rows that are compared with it.
    for (set, rows) in &findings.sets[..2] {
        assert_eq!(
            (rows[0].op.as_str(), rows[0].shape.as_str(), rows[0].share),
            ("copy_d2d", "8388608", Some(1.0)),
            "{set:?}"
        );
    }
    assert!(findings.notes[0].contains("host:0 (host-w32)"), "{:?}", findings.notes);
}

#[test]
fn rows_are_chosen_by_what_they_are_called() {
    let (findings, labels) = measured(&request(&[Set::Memory], "sum_last 256x128 f16"));
    assert_eq!(labels, ["sum_last 256x128 f16"]);
    assert_eq!(findings.sets[0].1.len(), 2, "the copy and the row");
    let (findings, _) = measured(&request(&[Set::Memory], "no such row"));
    assert!(findings.sets.is_empty() && findings.wrong.is_empty());
}

/// An error in one of the checked elements is reported for every row.
#[test]
fn wrong_results_are_refused_in_every_row() {
    for group in groups(&Set::ALL, &[DType::F32, DType::BF16], SHRINK) {
        if group.set == Set::Products {
            continue;
        }
        let inputs = group.inputs(&Device::Cpu).unwrap();
        for op in &group.ops {
            let row = inputs.row(op).unwrap_or_else(|| panic!("no {op}"));
            let good = (row.run)().unwrap();
            assert_eq!((row.check)(&good), Ok(()), "{}", group.label(op));
            let mut bytes = good.to_bytes().unwrap();
            // Flips the sign or, for positions, adds 2^31.
            let size = good.dtype().size_in_bytes();
            bytes[size - 1] ^= 0x80;
            let bad = Tensor::from_bytes(&bytes, good.dtype(), good.dims(), &Device::Cpu).unwrap();
            assert!((row.check)(&bad).is_err(), "{}", group.label(op));
        }
        assert!(inputs.row("no such operation").is_none());
    }
}

#[test]
fn a_replay_runs_the_kernels_again() {
    let device = host();
    let hip = device.as_hip().unwrap();
    let matrix = Matrix::random(DType::F32, 64, 32, 9, &device).unwrap();
    let mut target = matrix.tensor.copy().unwrap();
    let picks = check::picks(64);
    let row = Row {
        op: "neg",
        work: Work::Nothing,
        run: Box::new(|| matrix.tensor.neg()),
        check: Box::new(|result| {
            let rows = check::rows_of(&matrix, &picks);
            check::judge(result, &picks, reference::unary(reference::UnaryOp::Neg, &rows))
        }),
    };
    drop((row.run)().unwrap());
    let replay = Replay::record(hip, &*row.run).unwrap();
    assert_eq!((row.check)(replay.result()), Ok(()), "recording launches once");
    for _ in 0..3 {
        replay.launch().unwrap();
    }
    assert_eq!((row.check)(replay.result()), Ok(()));
    drop(replay);
    // An operation that reads results back cannot be recorded; the device stays usable.
    let reads = Row {
        op: "reads",
        work: Work::Nothing,
        run: Box::new(|| matrix.tensor.neg().and_then(|t| t.to_bytes()).map(|_| matrix.tensor.clone())),
        check: Box::new(|_| Ok(())),
    };
    let refused = Replay::record(hip, &*reads.run).err();
    let why = refused.expect("a reading operation was recorded");
    assert!(why.contains("captur"), "{why}");
    target.copy_from_(&matrix.tensor).unwrap();
    assert_eq!((row.check)(&target.neg().unwrap()), Ok(()));
}

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throughput")).args(arguments).output().expect("the program starts")
}

/// A peer that reports one second for everything, and does not know one of the operations.
const PEER: &str = r#"while read -r line; do case $line in
*versions*) echo '{"versions": "a peer in sh"}' ;;
*'"op":"exp"'*) echo '{"error": "there is no operation exp"}' ;;
*row*) echo '{}' ;;
*time*) echo '{"seconds": 1.0}' ;;
esac; done
"#;

#[test]
fn the_program_prints_and_writes_both_sides() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (script, out) = (folder.path().join("peer.sh"), folder.path().join("figures"));
    std::fs::write(&script, PEER).expect("the folder is ours");
    let path = |path: &Path| path.to_str().expect("a plain name").to_owned();
    let (script, out_name) = (path(&script), path(&out));
    let small =
        ["--device", "host:0", "--set", "memory", "--shrink", "512", "--dtype", "f16", "--repeats", "1"];
    let beside = ["--repeat-ms", "1", "--peer", &script, "--python", "sh", "--out", &out_name];

    let run = program(&[&small[..], &beside, &["--filter", "add "]].concat());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(shown.contains("torch: a peer in sh"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("add ") && line.contains("1000000.0")), "{shown}");
    assert!(shown.ends_with("3 rows; 0 have a target, 0 of them missed it\n"), "{shown}");
    let sets = read_folder(&out).expect("it was written");
    let [(Set::Memory, rows)] = &sets[..] else { panic!("{sets:?}") };
    let names: Vec<&str> = rows.iter().map(|row| row.op.as_str()).collect();
    assert_eq!(names, ["copy_d2d", "add", "add"]);
    for row in rows {
        assert_eq!(row.torch_us, Some(1e6), "{row:?}");
        assert!(row.ratio.is_some_and(|ratio| (ratio * row.us / 1e6 - 1.0).abs() < 1e-3), "{row:?}");
    }
    let notes = std::fs::read_to_string(out.join("notes.txt")).expect("it was written");
    assert!(notes.contains("; sizes divided by 512"), "{notes}");

    // An operation that the peer does not know is reported, and ours is still measured.
    let run = program(&[&small[..], &beside, &["--filter", "exp ", "--markdown"]].concat());
    assert_eq!(run.status.code(), Some(1));
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(told.contains("exp 32x16 f16: the peer: there is no operation exp"), "{told}");
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(shown.lines().any(|line| line.starts_with("| exp | f16 | 32x16 |")), "{shown}");
    let text = std::fs::read_to_string(out.join("memory.json")).expect("it was written");
    assert!(from_json(&text).expect("ours").iter().any(|row| row.op == "exp" && row.torch_us.is_none()));
}

#[test]
fn errors_that_prevent_a_run_are_reported() {
    let told = |arguments: &[&str]| {
        let run = program(arguments);
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        String::from_utf8_lossy(&run.stderr).into_owned()
    };
    assert!(told(&["--device", "nowhere:0"]).contains("nowhere"));
    let error = told(&["--device", "host:0", "--peer", "x.py", "--python", "no-such-program"]);
    assert!(error.contains("the peer cannot be started by no-such-program x.py"), "{error}");
    assert!(told(&["--device", "host:0", "--set", "sorting"]).contains("memory, select, attention"));
}
