//! Where a recording has speech: Silero's network of convolutions and an LSTM, on candle's CPU and on a device.
//!
//!     speech silero_vad_16k.safetensors --device host:0
//!
//! The recording is a tone that begins after a second, or 16-bit samples at 16 kHz from a file without a header.

use candle_core::{DType, Device, Result, Tensor};
use candle_hip_models::{largest_difference, read};
use candle_nn::ops::sigmoid;
use candle_nn::{Conv1d, Conv1dConfig, Linear, Module, VarBuilder, conv1d, conv1d_no_bias};
use clap::Parser;
use std::path::PathBuf;

#[derive(Parser)]
struct Args {
    /// Silero's weights for 16 kHz.
    weights: PathBuf,
    /// Samples: 16-bit little-endian integers.
    #[arg(long)]
    samples: Option<PathBuf>,
    /// host:0, amd:0 or nvidia:0.
    #[arg(long, default_value = "host:0")]
    device: String,
}

/// Samples that are looked at in one step, and those before them that the network sees too.
const STEP: usize = 512;
const CONTEXT: usize = 64;
/// Frequencies of the Fourier transform, whose real and imaginary parts are channels.
const FREQUENCIES: usize = 129;

struct Network {
    fourier: Conv1d,
    layers: [Conv1d; 4],
    of_input: Linear,
    of_state: Linear,
    last: Conv1d,
    reflected: Tensor,
}

impl Network {
    fn load(weights: &VarBuilder) -> Result<Self> {
        let config = |stride, padding| Conv1dConfig { stride, padding, ..Conv1dConfig::default() };
        let layer = |name: &str, from, to, stride| conv1d(from, to, 3, config(stride, 1), weights.pp(name));
        let cell = weights.pp("lstm_cell");
        let linear = |of: &str| -> Result<Linear> {
            let weight = cell.get((512, 128), &format!("weight_{of}"))?;
            Ok(Linear::new(weight, Some(cell.get(512, &format!("bias_{of}"))?)))
        };
        let length = (CONTEXT + STEP) as u32;
        // The last samples are mirrored, without the very last.
        let mirror = (0..length).chain((length - 1 - CONTEXT as u32..length - 1).rev());
        Ok(Self {
            fourier: conv1d_no_bias(1, 2 * FREQUENCIES, 256, config(128, 0), weights.pp("stft_conv"))?,
            layers: [
                layer("conv1", FREQUENCIES, 128, 1)?,
                layer("conv2", 128, 64, 2)?,
                layer("conv3", 64, 64, 2)?,
                layer("conv4", 64, 128, 1)?,
            ],
            of_input: linear("ih")?,
            of_state: linear("hh")?,
            last: conv1d(128, 1, 1, config(1, 0), weights.pp("final_conv"))?,
            reflected: Tensor::from_iter(mirror, weights.device())?,
        })
    }

    /// The probability of speech in one step, and the next state.
    fn step(&self, samples: &Tensor, (h, c): &(Tensor, Tensor)) -> Result<(Tensor, (Tensor, Tensor))> {
        let x = self.fourier.forward(&samples.index_select(&self.reflected, 1)?.unsqueeze(1)?)?;
        let parts = x.sqr()?.chunk(2, 1)?;
        let mut x = (&parts[0] + &parts[1])?.sqrt()?;
        for layer in &self.layers {
            x = layer.forward(&x)?.relu()?;
        }
        let gates = (self.of_input.forward(&x.squeeze(2)?)? + self.of_state.forward(h)?)?;
        let gates = gates.chunk(4, 1)?;
        let kept = (sigmoid(&gates[1])? * c)?;
        let c = (kept + (sigmoid(&gates[0])? * gates[2].tanh()?)?)?;
        let h = (sigmoid(&gates[3])? * c.tanh()?)?;
        let speech = sigmoid(&self.last.forward(&h.relu()?.unsqueeze(2)?)?)?.flatten_all()?;
        Ok((speech, (h, c)))
    }

    /// The probability of speech in each step.
    fn of(&self, samples: &[f32], device: &Device) -> Result<Tensor> {
        let zero = Tensor::zeros((1, 128), DType::F32, device)?;
        let mut state = (zero.clone(), zero);
        let mut found = Vec::new();
        let mut heard = vec![0.0; CONTEXT];
        for step in samples.chunks_exact(STEP) {
            heard.extend_from_slice(step);
            let input = Tensor::new(heard.as_slice(), device)?.unsqueeze(0)?;
            let (speech, next) = self.step(&input, &state)?;
            found.push(speech);
            state = next;
            heard.drain(..STEP);
        }
        Tensor::cat(&found, 0)
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let samples = match &args.samples {
        Some(path) => read(path)?
            .chunks_exact(2)
            .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0)
            .collect(),
        None => tone(),
    };
    let weights = read(&args.weights)?;
    let speech = |device: &Device| {
        Network::load(&VarBuilder::from_slice_safetensors(&weights, DType::F32, device)?)?
            .of(&samples, device)
    };
    let on_cpu = speech(&Device::Cpu)?;
    let on_device = speech(&candle_hip_models::device(&args.device)?)?;
    println!("probability of speech in steps of 32 ms, on {}:\n{}", args.device, on_device);
    println!("largest difference to candle's CPU: {:e}", largest_difference(&on_cpu, &on_device)?);
    Ok(())
}

/// A second of silence, then a second of a voice-like tone: 140 Hz with overtones that fall.
fn tone() -> Vec<f32> {
    let sample = |i: usize| {
        let t = i as f32 / 16000.0;
        let overtone = |n: f32| (std::f32::consts::TAU * 140.0 * n * t).sin() / n;
        if t < 1.0 { 0.0 } else { 0.2 * (1..20).map(|n| overtone(n as f32)).sum::<f32>() }
    };
    (0..32000).map(sample).collect()
}
