//! Tiny models with seeded weights, as `data/logits.py` makes them.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tensor_core::{Device, Tensor, safetensors};
use weights::Model;

/// What PyTorch's transformers computed.
#[derive(Deserialize)]
pub(crate) struct Recorded {
    pub(crate) config: serde_json::Value,
    pub(crate) tokens: Vec<u32>,
    /// Name, shape, size and middle of the numbers.
    weights: Vec<(String, Vec<usize>, f64, f64)>,
    /// After each token.
    pub(crate) logits: Vec<Vec<f32>>,
}

pub(crate) const NAMES: [&str; 8] =
    ["llama3", "llama", "mistral", "qwen2", "qwen2_windows", "qwen3", "gemma3", "gemma3_caps"];

/// Numbers in [−1, 1): the high bits of a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 23) - 1.0
    }
}

/// A file of recorded results. A program that was built elsewhere is told where the package is.
pub(crate) fn data(name: &str) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::env::var_os("CARGO_MANIFEST_DIR").map_or(here, PathBuf::from).join("tests/data").join(name)
}

/// The file of a real model, in HIPSTACK_MODELS, or else where ci/fetch-models.sh puts it. Without it this prints a message and
/// returns `None`, unless HIPSTACK_REQUIRE contains the word models: then it panics.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/ci/models");
    let path = std::env::var_os("HIPSTACK_MODELS").map_or(usual, PathBuf::from).join(name);
    if path.is_file() {
        return Some(path);
    }
    let required = std::env::var("HIPSTACK_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|word| word == "models"), "no {}", path.display());
    println!("skipped: no {}; ci/fetch-models.sh fetches it", path.display());
    None
}

impl Recorded {
    pub(crate) fn read(name: &str) -> Recorded {
        let text = std::fs::read_to_string(data(&format!("torch/{name}.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The weights, on the CPU.
    pub(crate) fn weights(&self) -> Vec<(String, Tensor)> {
        let mut numbers = Numbers(2026);
        let drawn = self.weights.iter().map(|(name, shape, size, middle)| {
            let count = shape.iter().product();
            let drawn: Vec<f32> = (0..count).map(|_| (middle + size * numbers.next()) as f32).collect();
            (name.clone(), Tensor::from_vec(drawn, shape.as_slice(), &Device::Cpu).unwrap())
        });
        drawn.collect()
    }

    /// Writes a folder with model.safetensors and config.json.
    pub(crate) fn write(&self, folder: &Path) {
        let weights = self.weights();
        let named = weights.iter().map(|(name, tensor)| (name.as_str(), tensor));
        safetensors::write(folder.join("model.safetensors"), named, &BTreeMap::new()).unwrap();
        std::fs::write(folder.join("config.json"), self.config.to_string()).unwrap();
    }

    /// The model in such a folder, by the crate `weights`.
    pub(crate) fn model(&self, device: &Device) -> Model {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        Model::open(folder.path(), device).unwrap()
    }
}

/// The greatest difference of logits from the recorded ones.
pub(crate) fn apart(found: &Tensor, expected: &[Vec<f32>]) -> f32 {
    let found = found.to_vec2::<f32>().unwrap();
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(expected).flat_map(|(found, expected)| {
        assert_eq!(found.len(), expected.len());
        found.iter().zip(expected)
    });
    pairs
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |most, apart| if apart > most || apart.is_nan() { apart } else { most })
}

/// The devices that `TENSOR_CORE_TEST_DEVICES` names, such as `cpu,host:0`.
pub(crate) fn named_devices() -> Option<Vec<Device>> {
    let names = std::env::var("TENSOR_CORE_TEST_DEVICES").ok()?;
    Some(names.split(',').map(|name| Device::parse(name).unwrap()).collect())
}

/// The named devices, or else the CPU and the host's HIP device.
pub(crate) fn devices() -> Vec<Device> {
    named_devices().unwrap_or_else(|| vec![Device::Cpu, Device::parse("host:0").unwrap()])
}
