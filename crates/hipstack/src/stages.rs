//! `hipstack memory`: what a model takes of a device's memory at each stage of its use.

use models::{LanguageModel, Session, greedy};
use serde_json::{Value as Json, json};
use tensor_core::HipDevice;

use crate::load::LanguageArguments;
use crate::{Failure, shown};

#[derive(clap::Args, Debug)]
pub(crate) struct StagesArguments {
    #[command(flatten)]
    language: LanguageArguments,
    /// Tokens of the prompt
    #[arg(long, default_value_t = 64)]
    prompt: usize,
    /// Tokens of the answer
    #[arg(long, default_value_t = 200)]
    tokens: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Memory of a device at one moment, in bytes.
struct Stage {
    name: String,
    in_use: usize,
    reserved: usize,
    peak: usize,
    buffers: usize,
}

/// Loads a model, lets it answer, drops it, and prints the memory after each.
///
/// # Errors
/// Of the model, of the device, or that memory was not given back.
pub(crate) fn run(arguments: &StagesArguments) -> Result<(), Failure> {
    let model = &arguments.language.model;
    let (device, memory) = model.device()?;
    let hip =
        device.as_hip().ok_or("memory is counted on HIP devices: take --device host:0, amd:0 or nvidia:0")?;
    hip_safe::MemoryCheck::Names.start();
    let mut stages = vec![Stage::now("before", hip)];
    let language = arguments.language.language_model(&device)?;
    stages.push(Stage::now("loaded", hip));
    let weights = language.weight_bytes();
    let mut session = Session::new(&language, &arguments.language.options())?;
    stages.push(Stage::now("a session", hip));
    answer(&language, &mut session, arguments, &mut stages, hip)?;
    drop(session);
    stages.push(Stage::now("session dropped", hip));
    drop(language);
    stages.push(Stage::now("model dropped", hip));
    device.synchronize()?;
    hip.device().trim_memory(0)?;
    stages.push(Stage::now("trimmed", hip));
    if arguments.json {
        let all: Vec<Json> = stages.iter().map(Stage::json).collect();
        println!("{}", json!({ "weight_bytes": weights, "stages": all }));
    } else {
        println!("weights {}", shown::bytes(weights));
        println!("{:<24} {:>10} {:>10} {:>10} {:>8}", "", "in use", "reserved", "peak", "buffers");
        stages.iter().for_each(|stage| println!("{}", stage.line()));
    }
    memory.check()
}

fn answer(
    language: &LanguageModel,
    session: &mut Session,
    arguments: &StagesArguments,
    stages: &mut Vec<Stage>,
    hip: &HipDevice,
) -> Result<(), Failure> {
    let vocabulary = language.vocabulary().max(1);
    let prompt: Vec<u32> = (0..arguments.prompt.max(1)).map(|i| (i * 31 % vocabulary) as u32).collect();
    let mut token = greedy(&session.feed(&prompt)?)?;
    stages.push(Stage::now("after the prompt", hip));
    for number in 1..=arguments.tokens {
        token = greedy(&session.feed(&[token])?)?;
        if number == 1 || number == arguments.tokens {
            stages.push(Stage::now(&format!("after {number} tokens"), hip));
        }
    }
    Ok(())
}

impl Stage {
    fn now(name: &str, hip: &HipDevice) -> Stage {
        let (statistics, buffers) = (hip.device().memory_statistics(), hip.device().live_buffers().len());
        Stage {
            name: name.to_owned(),
            in_use: statistics.allocated,
            reserved: statistics.reserved,
            peak: statistics.peak_allocated,
            buffers,
        }
    }

    fn line(&self) -> String {
        let [in_use, reserved, peak] =
            [self.in_use, self.reserved, self.peak].map(|bytes| shown::bytes(bytes as u64));
        format!("{:<24} {in_use:>10} {reserved:>10} {peak:>10} {:>8}", self.name, self.buffers)
    }

    fn json(&self) -> Json {
        json!({ "stage": self.name, "in_use_bytes": self.in_use, "reserved_bytes": self.reserved,
            "peak_bytes": self.peak, "live_buffers": self.buffers })
    }
}
