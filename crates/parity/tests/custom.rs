//! Operations of one's own: the example's fused kernel, errors in it, other implementations, inputs from files.

#[allow(dead_code, reason = "its main function is the example's")]
#[path = "../examples/fused_kernel.rs"]
mod fused_kernel;

use std::process::ExitCode;

use fused_kernel::{SOURCE, cases, operation, operation_of};
use parity::case::{Case, Layout, Op, Operand};
use parity::custom::{CustomOperation, Kernel, LaunchConfig};
use parity::inputs::Contents;
use parity::record::Form;
use parity::{NamedDevice, devices, record, run_cases, sabotage, table};
use reference::{Array, DType, Judge, Value};
use tensor_core::{Device, Tensor, npy, safetensors};

/// The CPU and both wave sizes of the host platform.
fn three() -> Vec<NamedDevice> {
    devices::open(&["cpu", "host:0", "host:1"].map(String::from)).expect("they are on every machine")
}

#[test]
fn the_fused_kernel_is_right_on_every_device() {
    let cases = cases(operation());
    assert!(cases.len() > 10, "{} layouts", cases.len());
    let report = run_cases(&cases, &three(), 7, &mut || ());
    assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
    assert_eq!(report.totals.results, 3 * cases.len());
    let errors = report.cases.iter().flat_map(|case| &case.results).map(|result| result.worst);
    assert!(errors.fold(0.0, f64::max) > 0.01, "the bound is far from what is rounded");
}

#[test]
fn errors_planted_in_its_results_are_noticed() {
    let benches = sabotage::benches(&cases(operation()));
    let found = sabotage::run(&benches, &three(), 7, &mut || ());
    assert!(found.is_complete(), "{found:?}");
    let kinds: Vec<&str> = found.kinds().into_iter().map(|kind| kind.0).collect();
    for fault in ["twice the tolerance", "NaN dropped", "element not written", "read one element too far"] {
        assert!(kinds.contains(&fault), "{kinds:?} without {fault}");
    }
}

/// Mistakes in the text of the kernel, each of which some case shows on both wave sizes.
#[test]
fn errors_in_the_kernel_are_noticed() {
    let wrong = [
        ("a digit of a constant", SOURCE.replace("0.044715f", "0.044751f")),
        ("an element too few", SOURCE.replace("i < count", "i + 1 < count")),
        ("the bias of the next column", SOURCE.replace("bias[i % columns]", "bias[(i + 1) % columns]")),
        ("a fast and wrong residual", SOURCE.replace("residual[i] +", "0.9999999f * residual[i] +")),
    ];
    let devices = devices::open(&["host:0", "host:1"].map(String::from)).unwrap();
    for (what, source) in wrong {
        assert_ne!(source, SOURCE, "{what}");
        // SAFETY: S9: every change above keeps its indexes inside of the arrays.
        let cases = cases(unsafe { operation_of(source.leak()) });
        let matrix: Vec<Case> = cases.into_iter().filter(|case| case.shape == "matrix").take(1).collect();
        let report = run_cases(&matrix, &devices, 7, &mut || ());
        assert_eq!((report.totals.mismatches, report.totals.errors), (2, 0), "{what}");
    }
}

/// Runs the example's command.
fn command(arguments: &[&str]) -> ExitCode {
    let arguments = ["fused_kernel"].iter().chain(arguments);
    parity::custom::run("fused_kernel", arguments, cases(operation()))
}

#[test]
fn it_has_the_command_line_of_the_built_in_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, tsv, other) = (path("report.json"), path("host-0.tsv"), path("host-1.tsv"));
    // Elsewhere than in a folder `target` beside the tests.
    let page = path("compare.html");
    let chosen = ["--filter", "/contiguous/"];
    let run = |arguments: &[&str]| command(&[arguments, &chosen[..]].concat());
    assert_eq!(run(&["record", "--device", "host:0", "--out", &tsv]), ExitCode::SUCCESS);
    assert_eq!(run(&["record", "--device", "host:1", "--out", &other]), ExitCode::SUCCESS);
    assert_eq!(command(&["compare", &tsv, &other, "--html", &page]), ExitCode::SUCCESS);
    let against = ["--device", "host:1", "--against", &tsv, "--json", &json];
    assert_eq!(run(&against), ExitCode::SUCCESS);
    assert_eq!(run(&["--device", "host:0", "--sabotage"]), ExitCode::SUCCESS);

    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let records = report["records"].as_array().unwrap();
    assert_eq!(records.len(), 1, "the records that ship have none of these cases");
    assert_eq!(records[0]["covered"], report["totals"]["cases"]);
    let rerun = report["table"][0]["rerun"].as_str().unwrap();
    assert!(rerun.starts_with("fused_kernel --device host:1 --filter 'bias_gelu_residual/"), "{rerun}");

    assert_eq!(command(&["--filter", "exp/f32"]), ExitCode::from(2), "the registry's cases are not there");
    assert_eq!(command(&["--weights", "x.safetensors"]), ExitCode::from(2));
    let twice = [cases(operation()), cases(operation())].concat();
    assert_eq!(parity::custom::run("fused_kernel", ["fused_kernel"], twice), ExitCode::from(2));
}

fn exactly(_: DType) -> Judge {
    Judge::Exact
}

fn number(array: &Array, index: usize) -> f64 {
    match array.get(index) {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    }
}

/// How many elements of each row are above zero: another dtype, another shape, and a parameter.
#[test]
fn results_of_another_form() {
    let above = |limit: f64| {
        CustomOperation::whole("above", exactly, move |operands: &[&Array], form: &Form| {
            let columns = operands[0].shape()[1];
            let count =
                |row: usize| (0..columns).filter(|i| number(operands[0], row * columns + i) > limit).count();
            (0..form.shape[0]).map(|row| count(row) as f64).collect()
        })
        .form(|operands| Form { dtype: DType::U32, shape: vec![operands[0].shape[0]] })
        .parameters(format!("{limit:?}"))
        .run(move |operands: &[Tensor]| {
            let x = &operands[0];
            let limit = Tensor::full(limit, [], x.dtype(), &x.device())?;
            x.gt(&limit)?.to_dtype(tensor_core::DType::U32)?.sum(1)
        })
    };
    let case = |limit, shape: &[usize]| {
        let x = Operand::dense(DType::F32, shape, Contents::Mixed);
        Case::new(Op::named(above(limit)), vec![x], Layout::Contiguous, "row")
    };
    let cases = [case(0.0, &[37, 129]), case(2.5, &[37, 129]), case(0.0, &[5, 0])];
    assert_eq!(cases[1].id(), "above/f32/contiguous/row/[37,129]/2.5");
    let report = run_cases(&cases, &three(), 7, &mut || ());
    assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
    assert_eq!(report.cases[0].elements, 37);
}

/// What is missing or wrong fails the case, and says what to do.
#[test]
fn mistakes_are_errors_of_their_case() {
    let halve = || CustomOperation::elementwise("halve", exactly, |x: &[f64]| 0.5 * x[0]);
    let source = r#"extern "C" __global__ void halve(const float* x, float* y, unsigned n) {
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = 0.5f * x[i];
    }"#;
    let kernel = |source: &'static str| Kernel::new(source, "halve", |_| LaunchConfig::linear(3, 64));
    // SAFETY: S9: the arguments of all kernels but one are refused. That one has a thread for each of the 3 elements of its operand
    // and its result.
    let halved = |kernel: Kernel| unsafe { halve().kernel(kernel) };
    let message = |operation: CustomOperation| {
        let x = Operand::given(DType::F32, &[3], vec![0; 12]).unwrap();
        let case = Case::new(Op::named(operation), vec![x], Layout::Contiguous, "vector");
        let host = devices::open(&["host:0".into()]).unwrap();
        run_cases(&[case], &host, 7, &mut || ()).cases[0].results[0].error.clone().unwrap_or_default()
    };
    for (operation, expected) in [
        (halve().run_on("cpu", |x| x[0].copy()), "add CustomOperation::run_on"),
        (halved(kernel("int x = ;").input(0).output().value(3u32)), "error"),
        (halved(kernel(source).input(0).value(3u32)), "0 times output()"),
        (halved(kernel(source).input(1).output().value(3u32)), "input(1), but 1 operands"),
        (halved(kernel(source).input(0).output()), "3"),
        (halved(kernel(source).requires("two operands", |x, _| x.len() == 2)), "halve needs two operands"),
        (halved(kernel(source).input(0).output().value(3u32)), ""),
        (halve().run(|_| panic!("a bug of the user")), "a bug of the user"),
        (halve().run(|x| x[0].reshape([1, 3])), "the result is f32 [1, 3], expected f32 [3]"),
    ] {
        let got = message(operation);
        assert!(got.contains(expected) && got.is_empty() == expected.is_empty(), "{expected:?} in {got:?}");
    }
}

/// The elements come from files, and the id says which.
#[test]
fn inputs_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let x = Tensor::new([[1f32, -2.0, 3.0], [0.5, 0.25, -0.125]], &Device::Cpu).unwrap();
    let (array, archive) = (folder.path().join("x.npy"), folder.path().join("all.safetensors"));
    npy::write(&array, &x).unwrap();
    let ids = Tensor::new([7i64, 9], &Device::Cpu).unwrap();
    safetensors::write(&archive, [("x", &x), ("ids", &ids)], &Default::default()).unwrap();

    let double = CustomOperation::elementwise("double", exactly, |x: &[f64]| 2.0 * x[0])
        .run(|operands: &[Tensor]| operands[0].affine(2.0, 0.0));
    let case = |operand: Operand, origin: &str| {
        Case::new(Op::named(double.clone()), vec![operand], Layout::Contiguous, "matrix").with_origin(origin)
    };
    let from_array = case(Operand::from_file(&array, None).unwrap(), "x.npy");
    let from_archive = case(Operand::from_file(&archive, Some("x")).unwrap(), "all.safetensors/x");
    assert_eq!(from_array.id(), "double/f32/contiguous/matrix/[2,3]@x.npy");
    assert_eq!(from_array.inputs(7), [x.to_bytes().unwrap()]);
    assert_eq!(from_array.inputs(7), from_archive.inputs(8), "the seed does not matter");
    let cases = [from_array, from_archive];
    let made = record::record_cases(&cases, &devices::cpu(), 7, &mut || ());
    assert_eq!(made.report.totals.failures(), 0, "{}", table::render(&made.report, ""));
    assert_eq!(made.record.entries()[0].hash, made.record.entries()[1].hash);

    for (path, name, expected) in [
        (&archive, None, "2 tensors: name one"),
        (&archive, Some("y"), "no tensor \"y\""),
        (&folder.path().join("none.npy"), None, "none.npy"),
        (&folder.path().join("x.txt"), None, "does not end in"),
    ] {
        let error = Operand::from_file(path, name).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(Operand::given(DType::F32, &[3], vec![0; 8]).is_err());
}
