//! Real models choose the tokens that llama.cpp chooses. `data/greedy.py` recorded them, and how far apart its two best logits
//! were: at each step we get llama.cpp's own tokens, and may choose another one only where that was a near tie.
//!
//! **These tests fail.** On the CPU on 28 November 2026, of 1280 choices 33 differed for SmolLM2 (2.6 %, two by 0.34 and 0.35) and
//! 35 for Gemma 3 (2.7 %, three by 0.36, 0.39 and 0.53); 38 are allowed, each by less than 0.3. Both programs round activations to
//! 8 bits by the same rule. What is left is the order of sums in `f32`: a number that is off in its last place is sometimes rounded
//! to the other step, that moves the next layer's numbers by more, and after a few layers most of the rounding errors are others.
//! llama.cpp differs from itself as much: without flash attention 39 of its choices were others for SmolLM2 (up to 0.40) and 33 for
//! Gemma 3 (up to 0.61), as `data/greedy.py` prints.
//!
//! TENSOR_CORE_TEST_DEVICES names the devices of the tests with all prompts, such as `host:0` or `nvidia:0`; else they take all of this
//! machine. The program runs without cargo where CARGO_MANIFEST_DIR names a copy of this package's folder.
//!
//! The files are in HIPSTACK_MODELS, or else where ci/fetch-models.sh puts them. Without them the tests print a message and
//! pass, unless HIPSTACK_REQUIRE contains the word models.

mod common;

use std::path::Path;
use std::time::Instant;

use common::{data, file, named_devices};
use models::{LanguageModel, Session, SessionOptions, greedy};
use serde::Deserialize;
use tensor_core::Device;

/// Two logits that are closer than this are a near tie.
const NEAR: f32 = 0.3;

#[derive(Deserialize)]
struct Recorded {
    file: String,
    prompts: Vec<Prompt>,
}

/// The tokens of a prompt, those that llama.cpp continues it with, and how much greater the logit of each is than the second best.
#[derive(Deserialize)]
struct Prompt {
    prompt: Vec<u32>,
    tokens: Vec<u32>,
    margins: Vec<f32>,
}

/// The named devices, or else all of this machine.
fn devices() -> Vec<Device> {
    named_devices().unwrap_or_else(|| Device::all().unwrap())
}

/// How many of the twenty prompts: all, or as many as HIPSTACK_TEST_PROMPTS says, for a slow device.
fn prompts() -> usize {
    std::env::var("HIPSTACK_TEST_PROMPTS").map_or(20, |text| text.parse().unwrap())
}

/// Compares the first `tokens` of the first `prompts` on each device. Every difference has to be a near tie, and few there may be.
fn compare(model: &str, devices: &[Device], prompts: usize, tokens: usize) {
    let text = std::fs::read_to_string(data(&format!("greedy/{model}.json"))).unwrap();
    let recorded: Recorded = serde_json::from_str(&text).unwrap();
    let Some(path) = file(&recorded.file) else { return };
    // A device that fails keeps no other from its turn.
    let all = devices.iter().map(|device| differences(&recorded, &path, device, prompts, tokens));
    for (device, (steps, others)) in devices.iter().zip(all.collect::<Vec<_>>()) {
        assert!(others.iter().all(|margin| *margin < NEAR), "on {device}: {others:?}");
        assert!(others.len() * 100 <= steps * 3, "on {device}: {} of {steps} differ", others.len());
    }
}

/// The number of choices, and llama.cpp's margins where they differ.
fn differences(
    recorded: &Recorded,
    path: &Path,
    device: &Device,
    prompts: usize,
    tokens: usize,
) -> (usize, Vec<f32>) {
    let began = Instant::now();
    let model = LanguageModel::open(path, device).unwrap();
    let options = SessionOptions { context: Some(256), ..SessionOptions::default() };
    let mut session = Session::new(&model, &options).unwrap();
    let (mut steps, mut others) = (0, Vec::new());
    for (number, one) in recorded.prompts.iter().take(prompts).enumerate() {
        session.truncate(0);
        let mut logits = session.feed(&one.prompt).unwrap();
        for (index, (token, margin)) in one.tokens.iter().zip(&one.margins).take(tokens).enumerate() {
            let chosen = greedy(&logits).unwrap();
            steps += 1;
            if chosen != *token {
                println!("prompt {number}, token {index}: {chosen}, not {token}; margin {margin}");
                others.push(*margin);
            }
            logits = session.feed(&[*token]).unwrap();
        }
    }
    let (file, took) = (&recorded.file, began.elapsed().as_secs());
    println!("{file} on {device}: {} of {steps} choices differ ({took} s)", others.len());
    (steps, others)
}

#[test]
#[ignore = "minutes without optimisation, and fails: see above"]
fn smollm2_chooses_what_llama_cpp_chooses() {
    compare("smollm2", &[Device::Cpu], 2, 16);
}

#[test]
#[ignore = "minutes without optimisation, and fails: see above"]
fn gemma3_chooses_what_llama_cpp_chooses() {
    compare("gemma3", &[Device::Cpu], 2, 16);
}

#[test]
#[ignore = "takes minutes, and fails: see above"]
fn all_prompts_of_smollm2() {
    compare("smollm2", &devices(), prompts(), 64);
}

#[test]
#[ignore = "takes minutes, and fails: see above"]
fn all_prompts_of_gemma3() {
    compare("gemma3", &devices(), prompts(), 64);
}
