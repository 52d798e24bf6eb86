//! Files, and the sandbox.

use std::fs;
use std::path::Path;

use script::Options;
use tempfile::TempDir;
use tensor_core::{Device, Tensor, npy};

use crate::common::Run;

#[test]
fn tensors_come_back_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::inside(folder.path(), Options::default());
    run.value("let x = tensor([[1.5, -2.0], [0.25, 4.0]]);");
    run.value("save(x, \"x.npy\"); save(#{ a: x, b: x.to_dtype(\"bf16\") }, \"x.safetensors\", #{ made: \"here\" });");
    assert_eq!(run.value("(load(\"x.npy\") == x).all_all().to_scalar()"), "1");
    let model = "let m = load(\"x.safetensors\"); [m.names, m[\"b\"].dtype, m.metadata(\"made\"), m.metadata(\"none\")]";
    assert_eq!(run.value(model), "[[\"a\", \"b\"], \"bf16\", \"here\", ]");
    // By another reader: what was written is what numpy writes.
    let read = npy::read(folder.path().join("x.npy"), &Device::Cpu).unwrap();
    assert_eq!(read.to_vec2::<f32>().unwrap(), [[1.5, -2.0], [0.25, 4.0]]);
    let text = "let w = arange(0, 64).reshape([2, 32]);
                save(#{ \"blk.0.ffn_up.weight\": w.quantize(\"q8_0\"), norm: w }, \"x.gguf\", #{ \"general.architecture\": \"llama\", n: 3, f: 0.5, l: [1, 2] });
                let g = load(\"x.gguf\");
                [g.layer(0).names, g.layer(0)[\"ffn_up.weight\"].dtype, g.metadata(\"n\"), g.metadata(\"f\"), g.metadata(\"l\"), g.bytes]";
    // 2 blocks of 34 bytes, and 64 numbers of 4.
    assert_eq!(run.value(text), "[[\"ffn_up.weight\"], \"q8_0\", 3, 0.5, [1, 2], 324]");
    // A layer and a model are written as well.
    assert_eq!(
        run.value("save(g.layer(0), \"layer.gguf\"); save(g, \"again.gguf\"); load(\"again.gguf\").bytes"),
        "324"
    );
    assert!(run.error("save(x, \"x.safetensors\")").contains("put tensors into a map"));
    assert!(run.error("save(#{ a: 1 }, \"x.safetensors\")").contains("a is 1; expected a tensor"));
    assert!(run.error("g[\"none\"]").contains("the model has no weight \"none\" among its 2"));
}

/// A sandbox `in` beside a folder `out` with a file.
fn folders() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["in", "out"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        let tensor = Tensor::new([7f32], &Device::Cpu).unwrap();
        npy::write(folder.path().join(name).join("x.npy"), &tensor).unwrap();
    }
    folder
}

fn run_inside(folder: &TempDir) -> Run {
    Run::inside(&folder.path().join("in"), Options::default())
}

fn link(from: &Path, to: &Path) {
    std::os::unix::fs::symlink(to, from).unwrap();
}

#[test]
fn nothing_outside_is_read() {
    let folder = folders();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    link(&inside.join("file.npy"), &outside.join("x.npy"));
    link(&inside.join("folder"), &outside);
    link(&inside.join("own.npy"), &inside.join("x.npy"));
    let mut run = run_inside(&folder);
    for path in ["x.npy", "./x.npy", "own.npy", &inside.join("x.npy").display().to_string()] {
        assert_eq!(run.value(&format!("load({path:?}).to_array()")), "[7.0]", "{path}");
    }
    let absolute = outside.join("x.npy").display().to_string();
    for path in
        ["../out/x.npy", "file.npy", "folder/x.npy", "folder/../out/x.npy", "../none.npy", absolute.as_str()]
    {
        let found = run.error(&format!("load({path:?})"));
        assert!(found.contains("is not in the sandbox"), "{path}: {found}");
    }
    for call in ["load", "language_model", "tokenizer", "encoder"] {
        let found = run.error(&format!("{call}(\"../out\")"));
        assert!(found.contains("is not in the sandbox"), "{call}: {found}");
    }
}

#[test]
fn a_model_has_no_files_outside() {
    let folder = folders();
    let inside = folder.path().join("in");
    let mut run = run_inside(&folder);
    run.value("save(#{ a: ones([2]) }, \"model.safetensors\")");
    assert_eq!(run.value("load(\".\").len()"), "1");
    // A tokenizer that leads out would be read beside the weights.
    link(&inside.join("tokenizer.json"), &folder.path().join("out/x.npy"));
    for path in [".", "model.safetensors"] {
        let found = run.error(&format!("load({path:?})"));
        assert!(found.contains("tokenizer.json leads out of the sandbox"), "{found}");
    }
}

#[test]
fn nothing_outside_is_written() {
    let folder = folders();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    link(&inside.join("file.npy"), &outside.join("x.npy"));
    link(&inside.join("new.npy"), &outside.join("new.npy"));
    link(&inside.join("folder"), &outside);
    let before = fs::read(outside.join("x.npy")).unwrap();
    let mut run = run_inside(&folder);
    let absolute = outside.join("y.npy").display().to_string();
    for path in ["../out/y.npy", "folder/y.npy", "file.npy", "new.npy", "none/y.npy", "..", absolute.as_str()]
    {
        let found = run.error(&format!("save(ones([2]), {path:?})"));
        assert!(found.contains("sandbox"), "{path}: {found}");
    }
    assert_eq!(fs::read(outside.join("x.npy")).unwrap(), before);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    run.value("save(ones([2]), \"x.npy\"); save(ones([2]), \"y.npy\")");
    assert_eq!(run.value("load(\"x.npy\").elements + load(\"y.npy\").elements"), "4");
    let error = script::Interpreter::new(
        Options { sandbox: Some(folder.path().join("none")), ..Options::default() },
        |_| (),
    );
    assert!(error.unwrap_err().to_string().contains("the sandbox"));
}
