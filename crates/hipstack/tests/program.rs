//! `hipstack` on small files, and on real ones where HIPSTACK_MODELS names their folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use tensor_core::{Device, Tensor, safetensors};

/// What the program prints, or its error.
fn inspect(path: &Path, more: &[&str]) -> Result<String, String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_hipstack")).arg("inspect").arg(path).args(more).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn as_json(path: &Path) -> Json {
    serde_json::from_str(&inspect(path, &["--json"]).unwrap()).unwrap()
}

/// The file in HIPSTACK_MODELS; `None`, and a word, without that variable.
fn model(name: &str) -> Option<PathBuf> {
    match std::env::var_os("HIPSTACK_MODELS") {
        Some(folder) => Some(Path::new(&folder).join(name)),
        None => {
            eprintln!("skipped: HIPSTACK_MODELS names no folder; ci/fetch-models.sh fills target/ci/models");
            None
        }
    }
}

#[test]
fn a_safetensors_file_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let weight = Tensor::new([[1f32, 2.0, 3.0]], &Device::Cpu).unwrap();
    let metadata = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::write(&path, [("a.weight", &weight)], &metadata).unwrap();
    let expected = format!(
        "{}: safetensors, 1 file, 12 B of tensors

metadata (1)
  name    type  value
  format  str   \"pt\"

tensors (1)
  name      shape   format  size
  a.weight  [1, 3]  f32     12 B

formats (1)
  format  tensors  elements  size  bits each
  f32           1         3  12 B      32.00
  all           1         3  12 B      32.00
",
        path.display()
    );
    assert_eq!(inspect(&path, &[]), Ok(expected));
    // A folder has the same model.
    assert_eq!(as_json(folder.path())["tensors"], as_json(&path)["tensors"]);
}

#[test]
fn matrices_are_made_smaller() {
    let folder = tempfile::tempdir().unwrap();
    let [path, out] = ["model.safetensors", "model.gguf"].map(|name| folder.path().join(name));
    let matrix = Tensor::new([[1f32, 2.0], [3.0, -0.5]], &Device::Cpu).unwrap();
    let norm = Tensor::new([1f32, 2.0], &Device::Cpu).unwrap();
    let metadata = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::write(&path, [("a.weight", &matrix), ("norm.weight", &norm)], &metadata).unwrap();
    let quantize = |format: &str| {
        let program = Command::new(env!("CARGO_BIN_EXE_hipstack"))
            .arg("quantize")
            .args([&path, &out])
            .args(["--format", format])
            .output()
            .unwrap();
        (program.status.success(), String::from_utf8([program.stdout, program.stderr].concat()).unwrap())
    };
    let expected = format!("{}: 16 B of tensors, 24 B before\n", out.display());
    assert_eq!(quantize("bf16"), (true, expected));
    let found = as_json(&out);
    assert_eq!((&found["kind"], &found["metadata"]["format"]), (&"gguf".into(), &"pt".into()));
    let named = |name: &str| {
        let tensors = found["tensors"].as_array().unwrap();
        tensors.iter().find(|tensor| tensor["name"] == name).unwrap()["format"].clone()
    };
    assert_eq!((named("a.weight"), named("norm.weight")), ("bf16".into(), "f32".into()));
    // Rows of two numbers are no whole blocks, so that everything stays; rows of 32 are.
    assert!(quantize("q8_0").0);
    assert_eq!(as_json(&out)["formats"]["f32"]["tensors"], 2);
    let wide = Tensor::arange(0f32, 64.0, &Device::Cpu).unwrap().reshape([2, 32]).unwrap();
    safetensors::write(&path, [("a.weight", &wide)], &metadata).unwrap();
    let expected = format!("{}: 68 B of tensors, 256 B before\n", out.display());
    assert_eq!(quantize("q8_0"), (true, expected));
    let (done, error) = quantize("q5");
    assert!(
        !done && error.contains("no file is written with format \"q5\", but with f32 f16 q4_0"),
        "{error}"
    );
}

#[test]
fn errors_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gguf");
    std::fs::write(&path, b"GGUF\x03\0\0\0").unwrap();
    let error = inspect(&path, &[]).unwrap_err();
    assert!(error.contains("x.gguf: the header: the file ends here, at 8 bytes"), "{error}");
    let error = inspect(&folder.path().join("none"), &[]).unwrap_err();
    assert!(error.contains("No such file"), "{error}");
}

/// The tensors, elements and bytes of each format; the numbers of the tests are those that the package `gguf` prints.
fn formats(found: &Json) -> BTreeMap<&str, [u64; 3]> {
    let formats = found["formats"].as_object().unwrap().iter();
    let sum = |sum: &Json| ["tensors", "elements", "bytes"].map(|key| sum[key].as_u64().unwrap());
    formats.map(|(name, found)| (name.as_str(), sum(found))).collect()
}

#[test]
fn smollm_is_listed() {
    let Some(path) = model("SmolLM2-135M-Instruct.Q4_1.gguf") else { return };
    let found = as_json(&path);
    let expected = [
        ("f32", [61, 35_136, 140_544]),
        ("q4_1", [210, 106_168_320, 66_355_200]),
        ("q8_0", [1, 28_311_552, 30_081_024]),
    ];
    assert_eq!(formats(&found), BTreeMap::from(expected));
    let metadata = &found["metadata"];
    assert_eq!(metadata.as_object().unwrap().len(), 33);
    assert_eq!(
        (&metadata["general.architecture"], &metadata["llama.block_count"]),
        (&"llama".into(), &30.into())
    );
    assert_eq!(metadata["tokenizer.ggml.tokens"].as_array().unwrap().len(), 49_152);
    assert_eq!(metadata["tokenizer.ggml.tokens"][1], "<|im_start|>");
    let gate =
        json!({"name": "blk.0.ffn_gate.weight", "shape": [1536, 576], "format": "q4_1", "bytes": 552_960});
    assert_eq!(found["tensors"][3], gate);
    let text = inspect(&path, &[]).unwrap();
    println!("{text}");
    assert!(text.contains("  general.architecture "), "{text}");
}

#[test]
fn gemma_is_listed() {
    let Some(path) = model("gemma-3-270m-q4_k_m.gguf") else { return };
    let found = as_json(&path);
    let expected = [
        ("f32", [109, 55_936, 223_744]),
        ("q4_k", [27, 23_592_960, 13_271_040]),
        ("q5_0", [81, 63_406_080, 43_591_680]),
        ("q6_k", [9, 11_796_480, 9_676_800]),
        ("q8_0", [10, 169_246_720, 179_824_640]),
    ];
    assert_eq!(formats(&found), BTreeMap::from(expected));
    let metadata = &found["metadata"];
    assert_eq!(
        (&metadata["general.architecture"], &metadata["gemma3.block_count"]),
        (&"gemma3".into(), &18.into())
    );
    assert_eq!(metadata["tokenizer.ggml.tokens"].as_array().unwrap().len(), 262_144);
}

#[test]
fn a_text_is_continued_by_its_likeliest_token() {
    let Some(path) = model("SmolLM2-135M-Instruct.Q4_1.gguf") else { return };
    let path = path.to_str().unwrap();
    let prompt = ["--prompt", "The capital of France is", "-n", "1", "--temperature", "0", "--json"];
    // The second time four of the thirty layers fit beside the embedding.
    for more in [["--context", "64"], ["--budget", "40MB"]] {
        let found = json_of(&[&["generate", path], &prompt[..], &more[..]].concat());
        assert_eq!((&found["text"], &found["prompt_tokens"]), (&" Paris".into(), &5.into()), "{more:?}");
    }
    // A model that is none for this, and a context that is too short.
    let refused = |arguments: &[&str]| {
        let program =
            Command::new(env!("CARGO_BIN_EXE_hipstack")).args(arguments).arg(path).output().unwrap();
        assert!(!program.status.success());
        String::from_utf8(program.stderr).unwrap()
    };
    let error = refused(&["generate", "--prompt", "one two three four five", "--context", "3"]);
    assert!(error.contains('3') && error.contains("context"), "{error}");
    let error = refused(&["generate", "--prompt", "x", "--memory-check"]);
    assert!(error.contains("cpu counts no memory; host:0 does"), "{error}");
    let error = refused(&["generate", "--prompt", "x", "--budget", "1MB"]);
    assert!(error.contains("a budget of 1000000 bytes is too small: the largest layer"), "{error}");
    // Keys and values of so many tokens take 23 TB.
    let error = refused(&["generate", "--prompt", "x", "--device", "host:0", "--context", "1000000000"]);
    let parts = [
        "host:0 (",
        " free, and the model takes 96.6 MB and its 1000000000 tokens of context 23.0 TB: ",
        "take a smaller --context, --cache q8_0, a file with a smaller format, or a --budget of bytes",
    ];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

/// Runs the program, and gives the object that it prints.
fn json_of(arguments: &[&str]) -> Json {
    let output = Command::new(env!("CARGO_BIN_EXE_hipstack")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn memory_goes_back_stage_by_stage() {
    for format in ["bf16", "q8_0"] {
        let model = format!("random:tiny:{format}");
        let found =
            json_of(&["memory", &model, "--device", "host:0", "--prompt", "9", "--tokens", "20", "--json"]);
        let stages = found["stages"].as_array().unwrap();
        let at = |name: &str, what: &str| {
            let stage = stages.iter().find(|stage| stage["stage"] == name);
            stage.unwrap_or_else(|| panic!("no {name} in {found}"))[what].as_u64().unwrap()
        };
        let in_use = |name: &str| at(name, "in_use_bytes");
        let weights = found["weight_bytes"].as_u64().unwrap();
        // The pool counts what it rounds up.
        assert!(in_use("loaded") >= in_use("before") + weights);
        assert!(in_use("a session") > in_use("loaded"));
        assert_eq!(in_use("after 1 tokens"), in_use("after 20 tokens"));
        assert_eq!(at("after 1 tokens", "reserved_bytes"), at("after 20 tokens", "reserved_bytes"));
        assert_eq!(in_use("session dropped"), in_use("loaded"));
        for stage in ["model dropped", "trimmed"] {
            assert_eq!(in_use(stage), in_use("before"), "{stage}");
            assert_eq!(at(stage, "live_buffers"), 0, "{stage}");
        }
        assert_eq!(at("trimmed", "reserved_bytes"), at("before", "reserved_bytes"));
    }
}

#[test]
fn models_are_made_up_to_be_measured() {
    let found = json_of(&[
        "bench",
        "random:tiny:q4_k",
        "--device",
        "host:0",
        "--prompt",
        "9",
        "--tokens",
        "4",
        "--batch",
        "2",
        "--repeats",
        "1",
        "--profile",
        "--json",
    ]);
    let operations = found["prompt_operations"].as_array().unwrap();
    let products = operations.iter().find(|one| one["operation"] == "linear").unwrap();
    assert_eq!(products["count"], 2 * 7 + 1);
    assert!(products["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!((found["sequences"].as_u64(), found["tokens"].as_u64()), (Some(2), Some(4)));
    for rate in ["prompt_tokens_per_second", "tokens_per_second", "copy_bytes_per_second"] {
        assert!(found[rate].as_f64().unwrap() > 0.0, "{rate}");
    }
    for (arguments, error) in [
        (&["random:2b:q4_k"][..], "random:2b: the shapes are tiny, 1b, 2gb, 8b"),
        (
            &["random:tiny:q8_0", "--budget", "1GB"],
            "--budget: random weights have no file that they could be loaded from again",
        ),
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_hipstack")).arg("bench").args(arguments).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("hipstack: {error}\n"));
    }
}
