//! `parity compare-tensors`: compares two files or folders of tensors.

use std::path::PathBuf;

use clap::Args;

use super::{check_writable, say};
use crate::tensors::{Bound, TensorFiles, compare, render};
use crate::{Error, filter, report};

const EXAMPLES: &str = r#"Examples:
  cargo xtask parity compare-tensors ours.safetensors cuda.safetensors             equal bits
  cargo xtask parity compare-tensors ours.npz cuda.safetensors --ulp 4             at most 4 numbers apart
  cargo xtask parity compare-tensors ours/ cuda/ --rtol 1e-5 --atol 1e-8           as torch.allclose(ours, cuda)
  cargo xtask parity compare-tensors ours.npy cuda.npy --op gelu                   within the bound of gelu, on either side
  cargo xtask parity compare-tensors ours/ cuda/ --ulp 4 --json - --filter layers  for programs, some of the tensors

In PyTorch, on the machine with CUDA, without this project:
  import torch, safetensors.torch
  tensors = {"logits": model(x)}   # and whatever else is to be compared
  safetensors.torch.save_file({n: t.detach().cpu().contiguous() for n, t in tensors.items()}, "cuda.safetensors")

Tensors are matched by name, two .npy files whatever their names. In a folder a .npy file's name is its path without the ending, and a
name that several archives have is preceded by the archive's. Two NaN are equal. The sign of zero counts only without a bound. An ulp is
a step to the next number of the dtype.

Exit code: 0 if all are within the bound, 1 if one is not, or is in only one of the two or of another dtype or shape, 2 if a file cannot
be used."#;

/// Options of `cargo xtask parity compare-tensors`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareTensorsArgs {
    /// A .npy, .npz or .safetensors file, or a folder of them: the results to judge
    #[arg(value_name = "LEFT")]
    pub left: PathBuf,
    /// Another one: the results to compare with, which relative errors refer to
    #[arg(value_name = "RIGHT")]
    pub right: PathBuf,
    /// How many numbers of the dtype two elements may be apart
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["rtol", "atol", "op"])]
    pub ulp: Option<u64>,
    /// How far an element may be off as a fraction of RIGHT's, as in torch.allclose  [default: 0, if --atol is given]
    #[arg(long, value_name = "FRACTION", conflicts_with = "op", value_parser = tolerance)]
    pub rtol: Option<f64>,
    /// How far an element may be off in addition, as in torch.allclose  [default: 0, if --rtol is given]
    #[arg(long, value_name = "DISTANCE", conflicts_with = "op", value_parser = tolerance)]
    pub atol: Option<f64>,
    /// The operation that made the tensors, whose bound each side has to keep
    #[arg(long, value_name = "NAME")]
    pub op: Option<String>,
    /// Only tensors whose name contains this text, or matches it if it has * or ?
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Also write the comparison as JSON to this file; -: to the standard output, and no text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("a number from 0 on, such as 1e-5".into()),
    }
}

impl CompareTensorsArgs {
    fn bound(&self) -> Result<Bound, Error> {
        if let Some(name) = &self.op {
            return Bound::of_operation(name);
        }
        Ok(match (self.ulp, self.rtol, self.atol) {
            (Some(most), ..) => Bound::Ulp(most),
            (None, None, None) => Bound::Equal,
            (None, rtol, atol) => {
                Bound::Close { rtol: rtol.unwrap_or_default(), atol: atol.unwrap_or_default() }
            }
        })
    }
}

/// Returns whether all tensors are in both and within the bound.
pub(super) fn run(args: &CompareTensorsArgs) -> Result<bool, Error> {
    let bound = args.bound()?;
    let file = args.json.as_ref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = file {
        check_writable(path)?;
    }
    let (mut left, mut right) = (TensorFiles::open(&args.left)?, TensorFiles::open(&args.right)?);
    let chosen = |name: &str| args.filter.as_deref().is_none_or(|text| filter::chooses(text, name));
    let comparison = compare(&mut left, &mut right, bound, chosen);
    if let Some(path) = file {
        report::write(path, |file| Ok(serde_json::to_writer_pretty(file, &comparison)?))
            .map_err(|source| Error::Write { path: path.clone(), source })?;
    }
    if args.json.is_some() && file.is_none() {
        let json = serde_json::to_string_pretty(&comparison).expect("its keys are texts");
        say(&(json + "\n"));
    } else {
        say(&render(&comparison));
    }
    Ok(comparison.is_good())
}
