//! The scripts in examples/scripts, on the CPU and on the host's HIP device.
//!
//! One test: scripts count the memory of their device, which all threads of a process share.

mod common;

use std::fs;

use common::{Run, project};
use script::Options;
use tensor_core::{DType, Device, Tensor};

/// What some of them end with; floats differ between devices in their last bits.
const ENDS: [(&str, &str); 3] = [
    ("01_tensors.rhai", "3.0"),
    ("04_layers.rhai", "[2, 2, 2]"),
    ("08_quantize.rhai", "#{f32: 14, q8_0: 6}"),
];

#[test]
fn examples_run_on_each_device() {
    let mut names: Vec<String> = fs::read_dir(project("examples/scripts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 10);
    let mut printed = Vec::new();
    for device in [Device::Cpu, Device::parse("host:0").unwrap()] {
        warm(&device);
        let folder = tempfile::tempdir().unwrap();
        let mut all = String::new();
        // The fifth writes the model of the sixth to the eighth.
        for name in &names {
            let text = fs::read_to_string(project("examples/scripts").join(name)).unwrap();
            assert!(text.starts_with("// "), "{name} does not say what it shows");
            let mut run =
                Run::inside(folder.path(), Options { device: device.clone(), ..Options::default() });
            let value = run.interpreter.run(name, &text).unwrap_or_else(|error| panic!("{error} ({device})"));
            if let Some((_, end)) = ENDS.iter().find(|(known, _)| known == name) {
                assert_eq!(value.to_string(), *end, "{name} on {device}");
            }
            match name.as_str() {
                // Two equal texts have the same vector: their cosine is 1.
                "09_embed.rhai" => assert!((value.to_string().parse::<f64>().unwrap() - 1.0).abs() < 1e-5),
                // 3 x - 1/2, as the points were made.
                "10_train.rhai" => {
                    assert!(value.to_string().starts_with("[3.0") || value.to_string().starts_with("[2.9"))
                }
                _ => {}
            }
            all += &run.printed();
        }
        printed.push(all);
    }
    // The same lines of the sharing example, but for what was counted.
    for all in printed {
        assert!(
            all.contains("x has 1.0, y has 2.0, copies: 1\ny has 3.0, copies: 1\nall memory went back\n"),
            "{all}"
        );
    }
}

/// A device keeps the workspace of products and a word for wrong ids from the first use on.
fn warm(device: &Device) {
    let ids = Tensor::zeros(64, DType::U32, device).unwrap();
    let square = Tensor::ones([64, 64], DType::F32, device).unwrap();
    square.matmul(&square.embedding(&ids).unwrap()).unwrap().to_bytes().unwrap();
}
