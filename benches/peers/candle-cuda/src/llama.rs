//! How many tokens a second candle's Llama reads and writes.

use std::time::Instant;

use candle_core::{Device, Result, Tensor};
use candle_transformers::models::quantized_llama::{MAX_SEQ_LEN, ModelWeights};

use crate::dense::Dense;
use crate::shape::Shape;
use crate::{Arguments, device, packed, shape, text};

/// Measures one shape in one format, with each precision of cuBLAS's products.
///
/// # Errors
/// Of the arguments or of the device.
pub fn run(shape_name: &str, format: &str, arguments: &Arguments) -> std::result::Result<(), String> {
    let shape = shape::named(shape_name)?;
    let (prompt, tokens) = (arguments.number("prompt", "2048")?, arguments.number("tokens", "64")?);
    let repeats = arguments.number("repeats", "2")?;
    let packed = packed::format(format);
    if packed.is_none() && format != "bf16" {
        return Err(format!("{format}: the formats are bf16, q4_0, q4_k, q6_k, q8_0"));
    }
    if packed.is_some() && prompt + tokens > MAX_SEQ_LEN {
        return Err(format!("candle's packed Llama has {MAX_SEQ_LEN} positions"));
    }
    let device = device::open(arguments)?;
    let start = Instant::now();
    let mut model = match packed {
        Some(format) => Model::Packed(packed::llama(shape, format, &device).map_err(text)?.into()),
        None => Model::Dense(Dense::new(shape, &device).map_err(text)?.into()),
    };
    device.synchronize().map_err(text)?;
    let load = start.elapsed().as_secs_f64();
    // Attention multiplies f32 in both models; the packed one multiplies no bf16.
    let precisions = [("full", false, false), ("tf32", true, false), ("tf32+bf16", true, true)];
    let count = if packed.is_some() { 2 } else { 3 };
    for (name, f32, bf16) in &precisions[..count] {
        candle_core::cuda::set_gemm_reduced_precision_f32(*f32);
        candle_core::cuda::set_gemm_reduced_precision_bf16(*bf16);
        let measured = measure(&mut model, shape, [prompt, tokens, repeats], &device);
        let found = match measured {
            Ok([read, written]) => format!(
                "\"prompt_tokens\":{prompt},\"prompt_tokens_per_second\":{:.1},\
                 \"tokens\":{tokens},\"tokens_per_second\":{:.2}",
                prompt as f64 / read,
                tokens as f64 / written
            ),
            Err(error) => format!("\"error\":{:?}", error.to_string().lines().next().unwrap_or_default()),
        };
        println!(
            "{{\"shape\":\"{}\",\"format\":\"{format}\",\"products\":\"{name}\",\"event_tracking\":{},{found},\
             \"load_seconds\":{load:.1}}}",
            shape.name, arguments.track_events
        );
    }
    Ok(())
}

enum Model {
    Dense(Box<Dense>),
    Packed(Box<ModelWeights>),
}

impl Model {
    /// Logits of the token behind `tokens`, of shape `[1, n]`.
    fn forward(&mut self, tokens: &Tensor, position: usize) -> Result<Tensor> {
        match self {
            Self::Dense(model) => model.forward(tokens, position),
            Self::Packed(model) => model.forward(tokens, position),
        }
    }
}

/// Seconds of the prompt and of the tokens behind it: the fastest of `repeats` rounds after the first.
fn measure(
    model: &mut Model,
    shape: &Shape,
    [length, tokens, repeats]: [usize; 3],
    device: &Device,
) -> Result<[f64; 2]> {
    let prompt: Vec<u32> = (0..length as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % shape.vocabulary as u64)
        .map(|token| token as u32)
        .collect();
    let mut best = [f64::INFINITY; 2];
    for repeat in 0..=repeats {
        let start = Instant::now();
        let mut token = likeliest(model, &prompt, 0, device)?;
        let read = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for position in length..length + tokens {
            token = likeliest(model, &[token], position, device)?;
        }
        let written = start.elapsed().as_secs_f64();
        // The first round loads kernels.
        if repeat > 0 {
            best = [best[0].min(read), best[1].min(written)];
        }
    }
    Ok(best)
}

/// Feeds tokens; the likeliest next one, brought to the host.
fn likeliest(model: &mut Model, tokens: &[u32], position: usize, device: &Device) -> Result<u32> {
    let tokens = Tensor::new(tokens, device)?.unsqueeze(0)?;
    Ok(model.forward(&tokens, position)?.argmax(1)?.to_vec1::<u32>()?[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The logits behind a prompt and one more token do not depend on whether they are fed at once: positions and caches are right.
    fn check(mut model: Model) {
        let device = Device::Cpu;
        let tokens = [7u32, 3, 500, 42, 9, 11];
        let mut feed = |tokens: &[u32], position| {
            let tokens = Tensor::new(tokens, &device).and_then(|tokens| tokens.unsqueeze(0)).expect("tokens");
            let logits = model.forward(&tokens, position).expect("logits");
            logits.squeeze(0).and_then(|logits| logits.to_vec1::<f32>()).expect("one row")
        };
        let at_once = feed(&tokens, 0);
        feed(&tokens[..5], 0);
        let in_steps = feed(&tokens[5..], 5);
        let largest = at_once.iter().fold(0f32, |most, x| most.max(x.abs()));
        assert!(largest > 0.0 && largest.is_finite());
        for (a, b) in at_once.iter().zip(&in_steps) {
            assert!((a - b).abs() <= 0.02 * largest, "{a} {b}, the largest is {largest}");
        }
    }

    #[test]
    fn packed_model_keeps_its_keys() {
        let shape = shape::named("tiny").expect("a shape");
        for format in ["q4_0", "q4_k", "q6_k", "q8_0"] {
            let format = packed::format(format).expect("a format");
            check(Model::Packed(packed::llama(shape, format, &Device::Cpu).expect("a model").into()));
        }
    }

    #[test]
    fn dense_model_keeps_its_keys() {
        let shape = shape::named("tiny").expect("a shape");
        check(Model::Dense(Dense::new(shape, &Device::Cpu).expect("a model").into()));
    }
}
