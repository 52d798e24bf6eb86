//! `parity compare-tensors`: files of known differences, what is said of them, and the exit code.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tensor_core::{Device, Tensor, npy};

/// Runs the command; its exit code, what it printed, and its errors.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_parity")).arg("compare-tensors").args(arguments).output();
    let out = out.expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// The exit code and the comparison as JSON.
fn json(left: &Path, right: &Path, options: &[&str]) -> (Option<i32>, Value) {
    let files = [left, right].map(|path| path.to_str().expect("a plain name"));
    let (code, out, error) = run(&[&files[..], options, &["--json", "-"]].concat());
    let parsed = serde_json::from_str(&out);
    (code, parsed.unwrap_or_else(|_| panic!("{out}{error}")))
}

/// A safetensors file, written byte by byte, as other programs write it. Each tensor has a name, dtype, shape and bytes.
fn safetensors(path: &Path, tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> PathBuf {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend_from_slice(bytes);
        let entry =
            serde_json::json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, data.len()] });
        header.insert((*name).to_owned(), entry);
    }
    let header = Value::from(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(path, [&length[..], header.as_bytes(), &data].concat()).unwrap();
    path.to_path_buf()
}

fn f32s(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The number so many steps above.
fn above(x: f32, steps: u32) -> f32 {
    f32::from_bits(x.to_bits() + steps)
}

#[test]
fn differences_are_counted_and_held_against_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, numbers: &[f32]| {
        safetensors(&folder.path().join(name), &[("y", "F32", &[2, 3], f32s(numbers))])
    };
    let ours = write("ours.safetensors", &[1.0, above(2.0, 3), 0.0, f32::NAN, 8.0, -1.0]);
    let cuda = write("cuda.safetensors", &[1.0, 2.0, -0.0, f32::from_bits(0x7fc0_0001), above(8.0, 1), -1.0]);

    let (code, found) = json(&ours, &cuda, &[]);
    let tensor = &found["tensors"][0];
    let differences = &tensor["differences"];
    assert_eq!(
        (code, &tensor["status"], &tensor["form"]),
        (Some(1), &"outside".into(), &"f32 [2, 3]".into())
    );
    assert_eq!((&differences["elements"], &differences["different"]), (&6.into(), &3.into()));
    assert_eq!((&differences["max_ulp"], &differences["nan_mismatches"]), (&3.into(), &0.into()));
    // Three steps above 2 are 3·2^-22, and 3·2^-23 of it.
    // JSON's reader may be off in the last digit.
    let is = |name: &str, x: f64| (differences[name].as_f64().unwrap() / x - 1.0).abs() < 1e-14;
    assert!(is("max_relative", 3.0 * f64::exp2(-23.0)), "{differences}");
    assert!(is("max_absolute", f64::exp2(-20.0)), "one step above 8 is 2^-20: {differences}");
    assert_eq!(differences["first_different"]["index"], serde_json::json!([0, 1]));

    for (options, expected) in [
        (&["--ulp", "3"][..], Some(0)),
        (&["--ulp", "2"], Some(1)),
        (&["--rtol", "4e-7"], Some(0)),
        (&["--rtol", "3e-7"], Some(1)),
        (&["--atol", "1e-6"], Some(0)),
        (&["--op", "exp"], Some(0)),
        (&["--op", "matmul"], Some(2)),
        (&["--ulp", "3", "--rtol", "1"], Some(2)),
        (&["--rtol", "-1"], Some(2)),
    ] {
        let files = [&ours, &cuda].map(|path| path.to_str().unwrap());
        assert_eq!(run(&[&files[..], options].concat()).0, expected, "{options:?}");
    }
    let (_, out, _) = run(&[ours.to_str().unwrap(), cuda.to_str().unwrap(), "--ulp", "2"]);
    assert!(
        out.contains("FAIL y") && out.contains("1 outside of the bound, first [0, 1] (element 1): 2.000000"),
        "{out}"
    );
}

#[test]
fn nan_and_infinity_in_only_one_are_outside_of_any_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, numbers: &[f32]| {
        safetensors(&folder.path().join(name), &[("y", "F32", &[5], f32s(numbers))])
    };
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    let ours = write("ours.safetensors", &[nan, 1.0, infinity, infinity, 5.0]);
    let cuda = write("cuda.safetensors", &[1.0, nan, -infinity, f32::MAX, 5.0]);
    let (code, found) = json(&ours, &cuda, &["--rtol", "1", "--atol", "1e30"]);
    let differences = &found["tensors"][0]["differences"];
    assert_eq!((code, &differences["outside"]), (Some(1), &4.into()));
    assert_eq!((&differences["nan_mismatches"], &differences["infinity_mismatches"]), (&2.into(), &2.into()));
    // In steps, infinity comes after the largest number.
    let (_, found) = json(&ours, &cuda, &["--ulp", "1"]);
    assert_eq!(found["tensors"][0]["differences"]["outside"], 3);
}

#[test]
fn names_shapes_and_dtypes_that_differ_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (one, four) = (f32s(&[1.0, 2.0]), vec![0; 4]);
    let ours = safetensors(
        &folder.path().join("ours.safetensors"),
        &[
            ("a", "F32", &[2], one.clone()),
            ("shape", "F32", &[2], one.clone()),
            ("dtype", "F16", &[2], four.clone()),
            ("mask", "BOOL", &[4], vec![0, 1, 1, 0]),
            ("mine", "F32", &[2], one.clone()),
        ],
    );
    let cuda = safetensors(
        &folder.path().join("cuda.safetensors"),
        &[
            ("a", "F32", &[2], one.clone()),
            ("shape", "F32", &[2, 1], one.clone()),
            ("dtype", "BF16", &[2], four),
            ("mask", "BOOL", &[4], vec![0, 1, 0, 0]),
            ("theirs", "F32", &[2], one),
        ],
    );
    let (code, out, _) = run(&[ours.to_str().unwrap(), cuda.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    for expected in [
        "shapes differ: f32 [2] and f32 [2, 1]",
        "dtypes differ: f16 [2] and bf16 [2]",
        "1 outside of the bound, first [2] (element 2): [01] and [00]",
        "FAIL mine: only in ",
        "FAIL theirs: only in ",
        "4 tensors compared, bound: equal bits. 1 equal, 0 within, 1 outside, 2 of other dtype or shape, 0 not read, 1 only in",
    ] {
        assert!(out.contains(expected), "{expected:?} in {out}");
    }
    // Only the tensors that are asked for.
    assert_eq!(json(&ours, &cuda, &["--filter", "a*"]).0, Some(0));
    assert_eq!(json(&ours, &cuda, &["--filter", "no such"]).0, Some(1), "comparing nothing shows nothing");
}

/// The archive is NumPy's own; see `crates/tensor-core/tests/vectors/npz.py`.
#[test]
fn numpys_archives_against_safetensors_and_folders() {
    let npz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tensor-core/tests/vectors/npz/stored.npz");
    let folder = tempfile::tempdir().unwrap();
    let weight = f32s(&[0.0, 0.25, 0.5, 0.75, 1.0, above(1.25, 1)]);
    let ids: Vec<u8> = [1i64, -2, 3, 1 << 40].iter().flat_map(|id| id.to_le_bytes()).collect();
    let file = safetensors(
        &folder.path().join("all.safetensors"),
        &[
            ("weight", "F32", &[2, 3], weight),
            ("layer.0/ids", "I64", &[2, 2], ids),
            ("scale", "F16", &[], vec![0x00, 0x38]),
        ],
    );
    let chosen = ["--filter", "*e*", "--ulp"];
    let (code, found) = json(&npz, &file, &[&chosen[..], &["1"]].concat());
    let statuses: Vec<(&str, &str)> = found["tensors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tensor| (tensor["name"].as_str().unwrap(), tensor["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        (code, &statuses[..]),
        (Some(0), &[("layer.0/ids", "equal"), ("scale", "equal"), ("weight", "within")][..])
    );
    assert_eq!(json(&npz, &file, &[&chosen[..], &["0"]].concat()).0, Some(1));

    // A folder of .npy files: the names are the paths.
    let arrays = folder.path().join("arrays");
    std::fs::create_dir_all(arrays.join("layer.0")).unwrap();
    let ids = Tensor::new([[1i64, -2], [3, 1 << 40]], &Device::Cpu).unwrap();
    npy::write(arrays.join("layer.0/ids.npy"), &ids).unwrap();
    npy::write(
        arrays.join("scale.npy"),
        &Tensor::new(tensor_core::f16::from_f32(0.5), &Device::Cpu).unwrap(),
    )
    .unwrap();
    std::fs::write(arrays.join("notes.txt"), "not a tensor").unwrap();
    assert_eq!(json(&npz, &arrays, &["--filter", "*s*e*"]).0, Some(0));
    assert_eq!(json(&npz, &arrays, &["--filter", "*ids"]).0, Some(0));

    // Two arrays, whatever their names; one is stored transposed.
    let turned = folder.path().join("turned.npy");
    npy::write(&turned, &ids.t().unwrap().t().unwrap()).unwrap();
    assert_eq!(json(&arrays.join("layer.0/ids.npy"), &turned, &[]).0, Some(0));
}

#[test]
fn archives_of_a_folder_with_the_same_names() {
    let folder = tempfile::tempdir().unwrap();
    let run_of = |run: &str, second: f32| {
        let steps = folder.path().join(run);
        std::fs::create_dir(&steps).unwrap();
        safetensors(&steps.join("step1.safetensors"), &[("logits", "F32", &[1], f32s(&[1.0]))]);
        safetensors(&steps.join("step2.safetensors"), &[("logits", "F32", &[1], f32s(&[second]))]);
        steps
    };
    let (code, found) = json(&run_of("ours", 2.0), &run_of("cuda", 2.5), &[]);
    let tensors = found["tensors"].as_array().unwrap();
    assert_eq!(
        (code, &tensors[0]["name"], &tensors[1]["name"]),
        (Some(1), &"step1/logits".into(), &"step2/logits".into())
    );
    assert_eq!((&tensors[0]["status"], &tensors[1]["status"]), (&"equal".into(), &"outside".into()));
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = safetensors(&folder.path().join("good.safetensors"), &[("y", "F32", &[1], f32s(&[1.0]))]);
    let good = good.to_str().unwrap();
    let cut = folder.path().join("cut.safetensors");
    std::fs::write(&cut, &std::fs::read(good).unwrap()[..20]).unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (path, expected) in [
        (cut, "cut.safetensors"),
        (empty, "no files that end in npy, npz, safetensors"),
        (folder.path().join("none.npz"), "none.npz"),
        (PathBuf::from("y.pt"), "does not end in npy"),
    ] {
        let (code, _, error) = run(&[good, path.to_str().unwrap()]);
        assert!(
            code == Some(2) && error.starts_with("parity: ") && error.contains(expected),
            "{code:?} {error}"
        );
    }
    let out = folder.path().join("out.json");
    let (code, text, _) = run(&[good, good, "--json", out.to_str().unwrap()]);
    assert!(code == Some(0) && text.contains("1 equal"), "{text}");
    let written: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    assert_eq!((&written["schema"], &written["good"]), (&"parity-tensors/1".into(), &true.into()));
}

#[test]
fn help_says_how_pytorch_writes_such_a_file() {
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(help.contains("import torch, safetensors.torch") && help.contains("save_file"), "{help}");
}
