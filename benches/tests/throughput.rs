//! The throughput program at a small shape: every row is there, right and joined.

use benches::throughput::check;
use benches::throughput::data::Matrix;
use benches::throughput::host_time;
use benches::throughput::measure::Effort;
use benches::throughput::records::Records;
use benches::throughput::replay::Replay;
use benches::throughput::report::table;
use benches::throughput::rows::{Inputs, Row, Sizes, Work};
use benches::throughput::run::{Request, run};
use std::process::{Command, Output};
use tensor_core::{DType, Device, Tensor};

const SIZES: Sizes = Sizes { rows: 256, columns: 128, matmul: 64 };
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];
const QUICK: Effort = Effort { warm_ups: 1, repeats: 1, calls: 2 };

/// The rows, and the bytes that each moves at 256 × 128, counted by hand: 32768 elements.
const ROWS: [(&str, [usize; 3]); 21] = [
    ("add", [393_216, 196_608, 196_608]),
    ("add_broadcast_row", [262_144, 131_072, 131_072]),
    ("mul_scalar(affine)", [262_144, 131_072, 131_072]),
    ("exp", [262_144, 131_072, 131_072]),
    ("gelu_erf", [262_144, 131_072, 131_072]),
    ("silu", [262_144, 131_072, 131_072]),
    ("neg", [262_144, 131_072, 131_072]),
    ("sqr", [262_144, 131_072, 131_072]),
    ("sum_last", [131_072, 65_536, 65_536]),
    ("sum_first", [131_072, 65_536, 65_536]),
    ("max_last", [131_072, 65_536, 65_536]),
    ("argmax_last", [131_072, 65_536, 65_536]),
    ("sum_all", [131_072, 65_536, 65_536]),
    ("softmax_last", [262_144, 131_072, 131_072]),
    ("layer_norm", [262_144, 131_072, 131_072]),
    ("rms_norm", [262_144, 131_072, 131_072]),
    ("transpose_contig", [262_144, 131_072, 131_072]),
    ("cast", [196_608, 196_608, 196_608]),
    ("clone_copy", [262_144, 131_072, 131_072]),
    ("matmul64", [0; 3]),
    ("launch_small_add", [0; 3]),
];

fn host() -> Device {
    Device::parse("host:0").expect("host:0 is always there")
}

#[test]
fn every_row_counts_its_bytes() {
    for (number, dtype) in DTYPES.into_iter().enumerate() {
        let inputs = Inputs::new(dtype, SIZES, &Device::Cpu).unwrap();
        let rows = inputs.rows("");
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ROWS.map(|row| row.0));
        for (row, (name, bytes)) in rows.iter().zip(ROWS) {
            let expected = match name {
                "matmul64" => Work::Operations(524_288.0),
                "launch_small_add" => Work::Nothing,
                _ => Work::Bytes(bytes[number]),
            };
            assert_eq!(row.work, expected, "{name} {dtype}");
        }
        assert_eq!(inputs.rows("sum").len(), 3);
    }
    assert_eq!(Work::Bytes(3_000_000_000).rate(0.5), Some(6.0));
    assert_eq!(Work::Nothing.rate(0.5), None);
}

#[test]
fn a_run_on_the_host_measures_everything() {
    let request = Request {
        device: host(),
        dtypes: DTYPES.to_vec(),
        sizes: SIZES,
        products: false,
        winograd: false,
        filter: String::new(),
        effort: QUICK,
    };
    let mut progress = 0;
    let findings = run(&request, |_| progress += 1).unwrap();
    assert_eq!(findings.wrong, [""; 0]);
    assert_eq!(progress, ROWS.len() * 3 + 1);
    let records = &findings.records;
    assert_eq!(records.records.len(), ROWS.len() * 3 + host_time::NAMES.len());
    for dtype in ["f32", "f16", "bf16"] {
        for (name, _) in ROWS {
            let record = records.find(name, dtype).unwrap_or_else(|| panic!("no {name} {dtype}"));
            assert!(record.call.us > 0.0 && record.kernel.is_none_or(|kernel| kernel.us > 0.0), "{record:?}");
            let works = name != "launch_small_add";
            assert_eq!((record.call.rate.is_some(), record.kernel.is_some()), (works, works), "{record:?}");
        }
    }
    for name in host_time::NAMES {
        assert!(records.find(name, "f32").is_some_and(|record| record.call.us > 0.0), "{name}");
    }
    assert!(records.notes[0].contains("host:0 (host-w32)"), "{:?}", records.notes);
    // What is written is read back, and every row meets its own.
    let read = Records::from_tsv(&records.to_tsv()).unwrap();
    assert_eq!(read.records.len(), records.records.len());
    let text = table(&read, Some(&read)).text();
    let rows = text.lines().filter(|line| line.split_whitespace().any(|cell| cell == "1.00")).count();
    assert!(rows >= ROWS.len() * 3, "{text}");
}

/// A result that is off in one of the places looked at is told, whatever the row.
#[test]
fn wrong_results_are_refused_in_every_row() {
    let inputs = Inputs::new(DType::F32, SIZES, &Device::Cpu).unwrap();
    for row in inputs.rows("") {
        let good = (row.run)().unwrap();
        assert_eq!((row.check)(&good), Ok(()), "{}", row.name);
        let mut bytes = good.to_bytes().unwrap();
        // The sign or, for positions, 2^31.
        let size = good.dtype().size_in_bytes();
        bytes[size - 1] ^= 0x80;
        let bad = Tensor::from_bytes(&bytes, good.dtype(), good.dims(), &Device::Cpu).unwrap();
        assert!((row.check)(&bad).is_err(), "{}", row.name);
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
        name: "neg".into(),
        work: Work::Nothing,
        run: Box::new(|| matrix.tensor.neg()),
        check: Box::new(|result| {
            let rows = check::rows_of(&matrix, &picks);
            check::judge(result, &picks, reference::unary(reference::UnaryOp::Neg, &rows))
        }),
    };
    drop((row.run)().unwrap());
    let replay = Replay::record(hip, &row).unwrap();
    assert_eq!((row.check)(replay.result()), Ok(()), "recording launches once");
    for _ in 0..3 {
        replay.launch().unwrap();
    }
    assert_eq!((row.check)(replay.result()), Ok(()));
    drop(replay);
    // What reads back cannot be recorded; the device works on.
    let reads = Row {
        name: "reads".into(),
        work: Work::Nothing,
        run: Box::new(|| matrix.tensor.neg().and_then(|t| t.to_bytes()).map(|_| matrix.tensor.clone())),
        check: Box::new(|_| Ok(())),
    };
    let refused = Replay::record(hip, &reads).err();
    let why = refused.expect("a reading operation was recorded");
    assert!(why.contains("captur"), "{why}");
    target.copy_from_(&matrix.tensor).unwrap();
    assert_eq!((row.check)(&target.neg().unwrap()), Ok(()));
}

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throughput")).args(arguments).output().expect("the program starts")
}

#[test]
fn the_program_prints_both_tables() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("ours.tsv");
    let tsv = path.to_str().expect("a plain name");
    let small = ["--device", "host:0", "--rows", "16", "--cols", "8", "--matmul", "8", "--dtype", "f16"];
    let first = program(&[&small[..], &["--filter", "add", "--tsv", tsv]].concat());
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let second = program(&[&small[..], &["--filter", "add", "--vs", tsv]].concat());
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    let shown = String::from_utf8_lossy(&second.stdout).into_owned();
    for name in ["add", "add_broadcast_row", "launch_small_add", "host_add", "host_add_assign"] {
        assert!(shown.lines().any(|line| line.starts_with(&format!("{name} "))), "{name} in\n{shown}");
        assert!(shown.lines().any(|line| line.starts_with(&format!("| {name} |"))), "{name} in\n{shown}");
    }
    assert!(!shown.contains("matmul"), "{shown}");

    let other = program(&["--device", "host:0", "--rows", "8", "--cols", "8", "--vs", tsv]);
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("are not of 8 x 8,"), "{other:?}");

    let unusable = program(&["--device", "nowhere:0"]);
    assert_eq!(unusable.status.code(), Some(2));
    std::fs::write(&path, "damaged").expect("the folder is ours");
    let damaged = program(&[&small[..], &["--vs", tsv]].concat());
    assert_eq!(damaged.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&damaged.stderr).contains("line 1: expected the header"));
}
