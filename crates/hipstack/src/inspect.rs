//! `hipstack inspect`: metadata, tensors, formats and sizes.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tensor_core::{Error, ErrorKind, Result};
use weights::gguf::{Array, Value};
use weights::{Checkpoint, Info};

use crate::shown;

#[derive(clap::Args, Debug)]
pub(crate) struct InspectArguments {
    /// A GGUF or safetensors file, an index of safetensors files, or the folder of a model
    file: PathBuf,
    /// Print all of it as JSON, with every value in full
    #[arg(long)]
    json: bool,
}

/// What the tensors of one format have together.
#[derive(Default)]
struct Sum {
    tensors: u64,
    elements: u64,
    bytes: u64,
}

/// Prints what the files say.
pub(crate) fn run(arguments: &InspectArguments) -> Result<()> {
    let checkpoint = Checkpoint::open(&arguments.file)?;
    let text = if arguments.json {
        format!("{:#}\n", as_json(&arguments.file, &checkpoint))
    } else {
        as_text(&arguments.file, &checkpoint)
    };
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        // A pager that was closed has seen what it wanted.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new("inspect", ErrorKind::Io { path: "standard output".into(), source: error }))
        }
        _ => Ok(()),
    }
}

fn as_text(path: &Path, checkpoint: &Checkpoint) -> String {
    let kind = match checkpoint.as_gguf() {
        Some(file) => format!("GGUF version {}, aligned to {}", file.version(), file.alignment()),
        None => "safetensors".to_owned(),
    };
    let files = match checkpoint.file_count() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let size = shown::bytes(checkpoint.byte_len());
    let mut text = format!("{}: {kind}, {files}, {size} of tensors\n", path.display());

    text += &format!("\nmetadata ({})\n", checkpoint.metadata().len());
    let values = checkpoint.metadata().iter();
    let rows: Vec<Vec<String>> =
        values.map(|(key, value)| vec![shown::name(key), value.type_name(), shown::value(value)]).collect();
    text += &shown::table(&["name", "type", "value"], &rows);

    text += &format!("\ntensors ({})\n", checkpoint.len());
    let rows: Vec<Vec<String>> = tensors(checkpoint)
        .map(|(name, info)| {
            vec![
                shown::name(name),
                info.shape.to_string(),
                info.format_name.clone(),
                shown::bytes(info.bytes),
            ]
        })
        .collect();
    text += &shown::table(&["name", "shape", "format", " size"], &rows);

    let sums = sums(checkpoint);
    text += &format!("\nformats ({})\n", sums.len());
    let row = |name: &str, sum: &Sum| {
        let bits = 8.0 * sum.bytes as f64 / sum.elements.max(1) as f64;
        let counts = [
            sum.tensors.to_string(),
            sum.elements.to_string(),
            shown::bytes(sum.bytes),
            format!("{bits:.2}"),
        ];
        [vec![name.to_owned()], counts.to_vec()].concat()
    };
    let mut rows: Vec<Vec<String>> = sums.iter().map(|(name, sum)| row(name, sum)).collect();
    let all = sums.values().fold(Sum::default(), |all, sum| Sum {
        tensors: all.tensors + sum.tensors,
        elements: all.elements.saturating_add(sum.elements),
        bytes: all.bytes + sum.bytes,
    });
    rows.push(row("all", &all));
    text + shown::table(&["format", " tensors", " elements", " size", " bits each"], &rows).as_str()
}

/// The tensors, in the order of the files.
fn tensors(checkpoint: &Checkpoint) -> impl Iterator<Item = (&str, &Info)> {
    checkpoint.names_in_order().into_iter().filter_map(|name| Some((name, checkpoint.info(name)?)))
}

fn sums(checkpoint: &Checkpoint) -> BTreeMap<&str, Sum> {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for (_, info) in tensors(checkpoint) {
        let sum = sums.entry(&info.format_name).or_default();
        sum.tensors += 1;
        sum.elements = sum.elements.saturating_add(elements(info));
        sum.bytes += info.bytes;
    }
    sums
}

/// The elements of a tensor, whose shape was checked when the file was opened.
fn elements(info: &Info) -> u64 {
    info.shape.dims().iter().map(|&length| length as u64).product()
}

fn as_json(path: &Path, checkpoint: &Checkpoint) -> Json {
    let metadata: serde_json::Map<String, Json> =
        checkpoint.metadata().iter().map(|(key, value)| (key.to_owned(), value_json(value))).collect();
    let tensor = |(name, info): (&str, &Info)| json!({"name": name, "shape": info.shape.dims(), "format": info.format_name, "bytes": info.bytes});
    let sum = |(name, sum): (&str, Sum)| {
        (name.to_owned(), json!({"tensors": sum.tensors, "elements": sum.elements, "bytes": sum.bytes}))
    };
    json!({
        "path": path.display().to_string(),
        "kind": if checkpoint.as_gguf().is_some() { "gguf" } else { "safetensors" },
        "version": checkpoint.as_gguf().map(|file| file.version()),
        "alignment": checkpoint.as_gguf().map(|file| file.alignment()),
        "files": checkpoint.file_count(),
        "bytes": checkpoint.byte_len(),
        "metadata": metadata,
        "tensors": tensors(checkpoint).map(tensor).collect::<Vec<_>>(),
        "formats": sums(checkpoint).into_iter().map(sum).collect::<serde_json::Map<_, _>>(),
    })
}

/// A value as JSON. What JSON has no number for, such as NaN, is null.
fn value_json(value: &Value) -> Json {
    match value {
        Value::U8(value) => json!(value),
        Value::I8(value) => json!(value),
        Value::U16(value) => json!(value),
        Value::I16(value) => json!(value),
        Value::U32(value) => json!(value),
        Value::I32(value) => json!(value),
        Value::U64(value) => json!(value),
        Value::I64(value) => json!(value),
        Value::F32(value) => json!(value),
        Value::F64(value) => json!(value),
        Value::Bool(value) => json!(value),
        Value::String(text) => json!(text),
        Value::Array(array) => array_json(array),
    }
}

fn array_json(array: &Array) -> Json {
    (0..array.len()).filter_map(|index| array.get(index)).map(|value| value_json(&value)).collect()
}
