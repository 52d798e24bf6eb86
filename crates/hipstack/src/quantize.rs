//! `hipstack quantize`: the files of a model as one GGUF file, with smaller numbers.

use std::path::PathBuf;

use tensor_core::{Error, ErrorKind, Result};
use weights::{Checkpoint, Format, Info, convert, progress_bar};

use crate::shown;

#[derive(clap::Args, Debug)]
pub(crate) struct QuantizeArguments {
    /// A GGUF or safetensors file, an index of safetensors files, or the folder of a model
    file: PathBuf,
    /// The GGUF file to write
    out: PathBuf,
    /// The format of matrices, such as q4_k, q8_0 or bf16
    #[arg(long, value_name = "NAME")]
    format: String,
}

/// Writes the file, and says how much smaller it is.
pub(crate) fn run(arguments: &QuantizeArguments) -> Result<()> {
    let format =
        Format::from_name(&arguments.format).filter(|format| format.can_convert_to()).ok_or_else(|| {
            let what = format!("no file is written with format {:?}, but with {}", arguments.format, names());
            Error::new("quantize", ErrorKind::Argument { what })
        })?;
    let checkpoint = Checkpoint::open(&arguments.file)?;
    convert(&checkpoint, &arguments.out, &|_, info| chosen(info, format), &mut progress_bar())?;
    let written = Checkpoint::open(&arguments.out)?;
    let [before, after] = [&checkpoint, &written].map(|checkpoint| shown::bytes(checkpoint.byte_len()));
    println!("{}: {after} of tensors, {before} before", arguments.out.display());
    let matrices: Vec<&Info> =
        checkpoint.names().filter_map(|name| checkpoint.info(name)).filter(|info| is_matrix(info)).collect();
    let kept = matrices.iter().filter(|info| chosen(info, format) != Some(format)).count();
    if kept > 0 {
        println!(
            "{kept} of {} matrices keep their format: their rows are not whole blocks of {format}, or their format is not converted",
            matrices.len()
        );
    }
    Ok(())
}

/// Matrices have the format that was asked for, if their rows are whole blocks. Vectors, such as the weights of norms, are
/// small and matter more: they stay.
fn chosen(info: &Info, format: Format) -> Option<Format> {
    let can_convert_from = info.format.is_some_and(Format::can_convert_from);
    let fits = is_matrix(info) && format.byte_len(&info.shape).is_ok();
    if can_convert_from && fits { Some(format) } else { info.format }
}

fn is_matrix(info: &Info) -> bool {
    info.shape.rank() >= 2
}

fn names() -> String {
    Format::all().filter(|format| format.can_convert_to()).map(Format::name).collect::<Vec<_>>().join(" ")
}
