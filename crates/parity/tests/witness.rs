//! Exported cases read back, and results of another program: judged, compared, refused.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use parity::comparison::{Comparison, Known};
use parity::html::{self, Page};
use parity::view::Step;
use parity::witness::Results;
use parity::{Case, Error, ParityArgs, cli, execute, export, filter, registry};
use serde_json::Value;
use tensor_core::{DType, Device, Tensor, safetensors};

const SEED: u64 = 7;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: ParityArgs,
}

fn parity(arguments: &[&str]) -> ExitCode {
    // A comparison's page goes where no user looks for one.
    let page = ["--html", concat!(env!("CARGO_TARGET_TMPDIR"), "/results.html")];
    let page = (arguments[0] == "compare").then_some(page).into_iter().flatten();
    let arguments = ["parity"].into_iter().chain(arguments.iter().copied()).chain(page);
    cli::run(Command::try_parse_from(arguments).expect("the arguments are valid").args)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

fn chosen(text: &str) -> Vec<Case> {
    filter::select(registry::all(), text)
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

/// A step as another program reads it.
fn step(value: &Value) -> Step {
    let number = |name: &str| value[name].as_u64().unwrap() as usize;
    match value["step"].as_str().unwrap() {
        "transpose" => Step::Transpose(numbers(&value["axes"])[0], numbers(&value["axes"])[1]),
        "permute" => Step::Permute(numbers(&value["axes"])),
        "narrow" => Step::Narrow { axis: number("axis"), start: number("start"), len: number("length") },
        "broadcast" => Step::Broadcast(numbers(&value["shape"])),
        other => panic!("no step {other}"),
    }
}

#[test]
fn exported_cases_read_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("cases");
    // All dtypes, all kinds of views, one and two operands.
    let wanted = "cop*";
    assert_eq!(parity(&["export", "--out", text(&out), "--filter", wanted]), ExitCode::SUCCESS);
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("cases.json")).unwrap()).unwrap();
    assert_eq!((&manifest["format"], &manifest["seed"]), (&"parity-cases/1".into(), &SEED.into()));
    assert_eq!(manifest["filter"], wanted);
    let entries = manifest["cases"].as_array().unwrap();
    let cases = chosen(wanted);
    assert!(cases.len() > 100);
    assert_eq!(entries.len(), cases.len());
    let mut kinds = HashSet::new();
    for (entry, case) in entries.iter().zip(&cases) {
        let inputs = case.inputs(SEED);
        assert_eq!(entry["id"], case.id());
        assert_eq!(entry["hash"], format!("{:032x}", case.hash(&inputs)));
        assert_eq!(entry["operation"], case.op.name());
        let output = execute::run(case, &inputs, &Device::Cpu).unwrap();
        assert_eq!(entry["result"]["dtype"], output.dtype.name());
        assert_eq!(numbers(&entry["result"]["shape"]), output.shape);
        let operands = entry["operands"].as_array().unwrap();
        assert_eq!(operands.len(), case.operands.len());
        for ((stored, operand), bytes) in operands.iter().zip(&case.operands).zip(&inputs) {
            let file = safetensors::File::open(out.join(stored["file"].as_str().unwrap())).unwrap();
            let tensor = file.load(stored["tensor"].as_str().unwrap(), &Device::Cpu).unwrap();
            assert_eq!(tensor.dtype().name(), operand.dtype.name());
            assert_eq!(stored["dtype"], operand.dtype.name());
            assert_eq!(
                (tensor.dims(), numbers(&stored["stored"])),
                (&operand.stored[..], operand.stored.clone())
            );
            assert!(tensor.to_bytes().unwrap() == *bytes, "{} has other bytes", case.id());
            let steps: Vec<Step> = stored["steps"].as_array().unwrap().iter().map(step).collect();
            assert_eq!(steps, operand.steps);
            kinds.extend(steps.iter().map(std::mem::discriminant));
        }
    }
    assert_eq!(kinds.len(), 4, "a kind of view is not among the cases");
}

#[test]
fn equal_arrays_are_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    // Both operands hold every pattern once, in other shapes; six operations have the same two.
    let cases = chosen("*/u8/broadcast-both/every-pair/*");
    let done = export::export(&cases, "", SEED, folder.path(), &mut || ()).unwrap();
    assert!(cases.len() > 6);
    assert_eq!((done.operands, done.arrays, done.bytes, done.files), (2 * cases.len(), 2, 512, 1));
}

#[test]
fn an_export_mixes_with_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "mine").unwrap();
    let error = export::export(&chosen("neg/f32/"), "", SEED, folder.path(), &mut || ()).unwrap_err();
    assert!(matches!(error, Error::NotEmpty { .. }), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(parity(&["export", "--out", text(folder.path())]), ExitCode::from(2));
    let inside = folder.path().join("mine").join("cases");
    let error = export::export(&chosen("neg/f32/"), "", SEED, &inside, &mut || ()).unwrap_err();
    assert!(error.to_string().contains("cannot be exported to"), "{error}");
}

type Tensors = BTreeMap<String, Tensor>;
type Metadata = BTreeMap<String, String>;

/// A file of results as another program would write it, computed here on the CPU device, with a change.
fn results(folder: &Path, wanted: &str, change: impl FnOnce(&mut Tensors, &mut Metadata)) -> PathBuf {
    let mut tensors = Tensors::new();
    for case in chosen(wanted) {
        let inputs = case.inputs(SEED);
        let output = execute::run(&case, &inputs, &Device::Cpu).unwrap();
        let dtype = *DType::ALL.iter().find(|dtype| dtype.name() == output.dtype.name()).unwrap();
        let tensor = Tensor::from_bytes(&output.bytes, dtype, output.shape.as_slice(), &Device::Cpu).unwrap();
        tensors.insert(format!("{:032x}", case.hash(&inputs)), tensor);
    }
    let facts = [
        ("format", "parity-results/1"),
        ("seed", "7"),
        ("filter", wanted),
        ("not_computed", "{}"),
        ("failed", "{}"),
        ("device", "cuda"),
    ];
    let mut metadata = facts.map(|(name, fact)| (name.to_string(), fact.to_string())).into();
    change(&mut tensors, &mut metadata);
    let path = folder.join("results.safetensors");
    safetensors::write(&path, tensors.iter().map(|(name, tensor)| (name.clone(), tensor)), &metadata)
        .unwrap();
    path
}

/// What is said of the one case among the results whose tensor was changed.
fn only_error(path: &Path) -> String {
    let results = Results::open(path).unwrap();
    let judged = results.judge(&results.cases().unwrap(), &mut || ()).unwrap();
    let errors: Vec<_> = judged.report.failures().map(|(_, result)| result.error.clone().unwrap()).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].clone()
}

fn first(tensors: &mut Tensors) -> &mut Tensor {
    tensors.values_mut().find(|tensor| tensor.elements() > 1).unwrap()
}

#[test]
fn right_results_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = results(folder.path(), "exp/f16/", |_, _| ());
    assert_eq!(parity(&["compare", text(&path)]), ExitCode::SUCCESS);
    let record = folder.path().join("cpu.tsv");
    let made = parity(&["record", "--device", "cpu", "--filter", "exp/f16/", "--out", text(&record)]);
    assert_eq!(made, ExitCode::SUCCESS);
    assert_eq!(parity(&["compare", text(&record), text(&path)]), ExitCode::SUCCESS);
    // A record alone has nothing to be compared with.
    assert_eq!(parity(&["compare", text(&record)]), ExitCode::from(2));
}

#[test]
fn results_of_another_form_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let change =
        |change: fn(&mut Tensors, &mut Metadata)| only_error(&results(folder.path(), "exp/f32/", change));
    let dtype = change(|tensors, _| {
        let tensor = first(tensors);
        *tensor = tensor.to_dtype(DType::F64).unwrap();
    });
    assert!(dtype.contains("the result is f64") && dtype.contains("expected f32"), "{dtype}");
    let shape = change(|tensors, _| {
        let tensor = first(tensors);
        *tensor = tensor.reshape([1, tensor.elements()]).unwrap();
    });
    assert!(shape.contains("the result is f32 [1, ") && shape.contains("expected f32"), "{shape}");
    let missing = change(|tensors, _| {
        let name = tensors.keys().next().unwrap().clone();
        tensors.remove(&name);
    });
    assert!(missing.contains("there is no result in"), "{missing}");
    let failed = change(|tensors, metadata| {
        let name = tensors.keys().next().unwrap().clone();
        tensors.remove(&name);
        metadata.insert("failed".into(), format!("{{\"{name}\": \"out of luck\"}}"));
    });
    assert!(failed.contains("pytorch-cuda failed: out of luck"), "{failed}");
}

#[test]
fn missing_and_stale_results_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = results(folder.path(), "exp/f32/", |tensors, metadata| {
        let name = tensors.keys().next().unwrap().clone();
        let tensor = tensors.remove(&name).unwrap();
        tensors.insert("0123".into(), tensor);
        metadata.insert("not_computed".into(), format!("{{\"{name}\": \"no exp\"}}"));
    });
    let results = Results::open(&path).unwrap();
    let cases = results.cases().unwrap();
    let judged = results.judge(&cases, &mut || ()).unwrap();
    assert_eq!((judged.report.totals.cases, judged.report.totals.failures()), (cases.len() - 1, 0));
    assert_eq!((judged.not_computed["no exp"].len(), judged.stale.len()), (1, 1));
    assert_eq!(parity(&["compare", text(&path)]), ExitCode::SUCCESS);
}

#[test]
fn a_wrong_element_is_found_unless_its_kind_of_difference_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = "relu/f32/contiguous/matrix/[37,129]";
    let spoil = |bits: fn(f32) -> Option<f32>| {
        results(folder.path(), wanted, |tensors, _| {
            let tensor = first(tensors);
            let mut values: Vec<f32> = tensor.flatten().unwrap().to_vec1().unwrap();
            let (index, spoiled) =
                values.iter().enumerate().find_map(|(index, x)| Some((index, bits(*x)?))).unwrap();
            values[index] = spoiled;
            *tensor = Tensor::from_vec(values, tensor.dims(), &Device::Cpu).unwrap();
        })
    };
    let list = folder.path().join("differences.toml");
    let listed = |text: &str| std::fs::write(&list, text).unwrap();
    let run = |path: &Path| parity(&["compare", text(path), "--differences", text(&list)]);
    listed("[[difference]]\ncase = \"relu/f32/*\"\non = \"cuda\"\nonly = \"zeros\"\nreason = \"signs\"\n");
    let zeros = spoil(|x| (x == 0.0).then_some(-0.0));
    assert_eq!((parity(&["compare", text(&zeros)]), run(&zeros)), (ExitCode::from(1), ExitCode::SUCCESS));
    // Held against a record, too: its digest is the reference's, so the manner of the difference is known. Of another digest it is not.
    let record = folder.path().join("cpu.tsv");
    let made = parity(&["record", "--device", "cpu", "--filter", wanted, "--out", text(&record)]);
    assert_eq!(made, ExitCode::SUCCESS);
    let both = |results: &Path| {
        let there = ["compare", text(&record), text(results), "--differences", text(&list)];
        let back = ["compare", text(results), text(&record), "--differences", text(&list)];
        assert_eq!(parity(&there), parity(&back));
        parity(&there)
    };
    assert_eq!(both(&zeros), ExitCode::SUCCESS);
    let spoiled = std::fs::read_to_string(&record).unwrap();
    let digest = spoiled.find("\tdigest ").unwrap() + "\tdigest ".len();
    let spoiled = format!("{}{}\n", &spoiled[..digest], "5".repeat(32));
    std::fs::write(&record, spoiled).unwrap();
    assert_eq!(both(&zeros), ExitCode::from(1));
    // Another number is not in the manner that is listed.
    let number = spoil(|x| (x == 1.0).then_some(1.5));
    assert_eq!(run(&number), ExitCode::from(1));
    // The platform is another.
    listed("[[difference]]\ncase = \"relu/f32/*\"\non = \"cpu\"\nreason = \"signs\"\n");
    assert_eq!(run(&number), ExitCode::from(1));
    // Nothing differs: the entry is stale.
    listed("[[difference]]\ncase = \"relu/f32/*\"\nreason = \"signs\"\n");
    assert_eq!(run(&results(folder.path(), wanted, |_, _| ())), ExitCode::from(1));
}

#[test]
fn a_missing_failed_or_misshapen_result_is_never_a_known_difference() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("differences.toml");
    std::fs::write(&list, "[[difference]]\ncase = \"exp/f32/*\"\nreason = \"tried out\"\n").unwrap();
    let run = |change: fn(&mut Tensors, &mut Metadata)| {
        let path = results(folder.path(), "exp/f32/", change);
        let results = Results::open(&path).unwrap();
        let judged = results.judge(&results.cases().unwrap(), &mut || ()).unwrap();
        let (reference, known) = (judged.reference(), Known::read(&list).unwrap());
        let comparisons = [Comparison::with_reference(&judged, &reference, &known).unwrap()];
        let counts = comparisons[0].counts();
        // The page has the same, and no result that is neither right, wrong nor known.
        let page = html::render(&Page::of_comparisons(&comparisons, &[&judged], &known)).unwrap();
        let count = |text: &str| page.matches(text).count();
        let differ = count("{\"status\":\"mismatch\"") + count("{\"status\":\"error\"");
        assert_eq!((count("{\"status\":\"known\""), differ), (counts.known, counts.differ));
        assert_eq!((count(". Known: tried out\""), count("\"status\":\"absent\"")), (counts.known, 0));
        (counts.known, counts.differ)
    };
    let wrong = run(|tensors, _| {
        let tensor = first(tensors);
        *tensor = tensor.affine(1.0, 1.0).unwrap();
    });
    assert_eq!(wrong, (1, 0));
    assert_eq!(run(|tensors, _| drop(tensors.pop_first())), (0, 1));
    let failed = run(|tensors, metadata| {
        let (name, _) = tensors.pop_first().unwrap();
        metadata.insert("failed".into(), format!("{{\"{name}\": \"out of luck\"}}"));
    });
    assert_eq!(failed, (0, 1));
    let turned = run(|tensors, _| {
        let tensor = first(tensors);
        *tensor = tensor.reshape([1, tensor.elements()]).unwrap();
    });
    assert_eq!(turned, (0, 1));
}

#[test]
fn files_that_are_no_results_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |wanted: &str, change: fn(&mut Tensors, &mut Metadata)| {
        let path = results(folder.path(), "exp/f32/contiguous", change);
        let opened = Results::open(&path).and_then(|results| results.judge(&results.cases()?, &mut || ()));
        let error = opened.unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        assert_eq!(parity(&["compare", text(&path)]), ExitCode::from(2));
    };
    refused("its metadata has no \"seed\"", |_, metadata| drop(metadata.remove("seed")));
    refused("its seed \"x\" is no number", |_, metadata| drop(metadata.insert("seed".into(), "x".into())));
    refused("its format is \"other\"", |_, metadata| drop(metadata.insert("format".into(), "other".into())));
    refused("not a JSON object", |_, metadata| drop(metadata.insert("failed".into(), "[1]".into())));
    refused("no case matches", |_, metadata| drop(metadata.insert("filter".into(), "no-such-case".into())));
    refused("none of its tensors", |_, metadata| drop(metadata.insert("seed".into(), "8".into())));
    let absent = folder.path().join("absent.safetensors");
    assert!(Results::open(&absent).unwrap_err().to_string().contains("absent.safetensors"));
}

fn witness_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/witness").join(name)
}

/// Modules of the script that have tables of operations.
const TABLES: [&str; 6] =
    ["chance.py", "elementwise.py", "moves.py", "networks.py", "ordering.py", "reductions.py"];

/// PyTorch has no blocks of ggml: these are compared with the package `gguf` instead, by the tests of reference and weights.
const NOT_IN_PYTORCH: [&str; 4] = ["dequantize", "quant_embedding", "quant_matmul", "quant_experts"];

#[test]
fn the_script_knows_every_operation() {
    let text = |name: &str| std::fs::read_to_string(witness_file(name)).unwrap();
    let tables = TABLES.map(text).concat();
    let names: HashSet<&str> = registry::all().iter().map(|case| case.op.name()).collect();
    assert!(NOT_IN_PYTORCH.iter().all(|name| names.contains(name)));
    for name in names.into_iter().filter(|name| !NOT_IN_PYTORCH.contains(name)) {
        assert!(tables.contains(&format!("    \"{name}\": (")), "torch_witness.py does not know {name}");
    }
    let script = text("torch_witness.py");
    for format in [export::manifest::FORMAT, parity::witness::FORMAT] {
        assert!(
            script.contains(&format!("\"{format}\"")),
            "torch_witness.py has another format than {format}"
        );
    }
}

#[test]
fn every_known_difference_is_about_some_case() {
    let ids: Vec<String> = registry::all().iter().map(Case::id).collect();
    for known in Known::read(&witness_file("differences.toml")).unwrap() {
        assert!(ids.iter().any(|id| known.covers(id)), "{} matches no case", known.case);
        let on = known.on.as_deref();
        assert!(matches!(on, None | Some("cpu" | "cuda")), "{} is on {on:?}", known.case);
    }
}
