//! Writing GGUF files.

use std::path::Path;

use tensor_core::{Error, ErrorKind, Result, Shape, file};

use super::header::{ALIGNMENT, MAGIC, MOST_DIMENSIONS, USUAL_ALIGNMENT, VERSION};
use super::kind::Type;
use super::metadata::Metadata;
use super::value::{Array, Value};
use super::{shown, split};
use crate::format::Format;
use crate::weight::Weight;

const WRITE: &str = "gguf::write";

/// A tensor of a file that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// How its numbers are stored.
    pub format: Format,
    /// The shape, outermost dimension first.
    pub shape: Shape,
}

/// Writes named weights, and `metadata` in its order, to the file at `path`, which is replaced completely or not at all:
/// see [`file::write`]. Weights are read back one at a time. The data are aligned as `general.alignment` says, else to
/// 32 bytes.
///
/// # Errors
/// [`ErrorKind::Argument`] if a name is given twice, GGUF has no such dtype (`u8`, `u32` and `f8e4m3`) or not that many
/// dimensions, or the alignment is no power of two; [`ErrorKind::Io`], or an error of a device.
pub fn write<'a, N: Into<String>>(
    path: impl AsRef<Path>,
    metadata: &Metadata,
    weights: impl IntoIterator<Item = (N, &'a Weight)>,
) -> Result<()> {
    let (mut planned, mut there) = (Vec::new(), Vec::new());
    for (name, weight) in weights {
        planned.push(Planned { name: name.into(), format: weight.format(), shape: weight.shape().clone() });
        there.push(weight);
    }
    write_planned(path, metadata, &planned, |index, put| put(&there[index].to_bytes()?))
}

/// As [`write()`], of tensors whose bytes `content` makes when they are to be written: it gets the index of a tensor in
/// `tensors`, in order, and a function that takes the bytes. So a checkpoint is converted that does not fit the memory.
///
/// # Errors
/// As [`write()`]; those of `content`; [`ErrorKind::Argument`] if it gives more or fewer bytes than the tensor has.
pub fn write_planned(
    path: impl AsRef<Path>,
    metadata: &Metadata,
    tensors: &[Planned],
    mut content: impl FnMut(usize, &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let metadata = split::without(metadata);
    let alignment = alignment(&metadata)?;
    let (mut header, lengths) = header(&metadata, tensors, alignment)?;
    pad(&mut header, alignment);
    file::write(path, WRITE, |put| {
        put(&header)?;
        for (index, &length) in lengths.iter().enumerate() {
            let mut written = 0u64;
            content(index, &mut |bytes| {
                written += bytes.len() as u64;
                put(bytes)
            })?;
            if written != length {
                let name = shown(&tensors[index].name);
                return Err(bad(format!("tensor {name} takes {length} bytes, and {written} were given")));
            }
            put(&vec![0; (length.next_multiple_of(alignment) - length) as usize])?;
        }
        Ok(())
    })
}

fn bad(what: String) -> Error {
    Error::new(WRITE, ErrorKind::Argument { what })
}

fn alignment(metadata: &Metadata) -> Result<u64> {
    let Some(value) = metadata.get(ALIGNMENT) else { return Ok(USUAL_ALIGNMENT) };
    match value {
        // Other types are not read by ggml. More than this would be no alignment.
        Value::U32(alignment) if alignment.is_power_of_two() && *alignment <= 1 << 20 => {
            Ok((*alignment).into())
        }
        other => Err(bad(format!("{ALIGNMENT} is {other}: it must be a u32 and a power of two, up to 2^20"))),
    }
}

/// What comes before the data, without the bytes that align them, and the length of each tensor.
fn header(metadata: &Metadata, tensors: &[Planned], alignment: u64) -> Result<(Vec<u8>, Vec<u64>)> {
    let mut out = Vec::new();
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend((metadata.len() as u64).to_le_bytes());
    for (key, value) in metadata.iter() {
        put_text(&mut out, key);
        put_type(&mut out, value.type_of());
        put_value(&mut out, value);
    }
    let (mut offset, mut lengths) = (0u64, Vec::new());
    let mut names = std::collections::BTreeSet::new();
    for tensor in tensors {
        let Planned { name, format, shape } = tensor;
        if !names.insert(name) {
            return Err(bad(format!("two tensors are named {}", shown(name))));
        }
        let about = |what: String| bad(format!("tensor {}: {what}", shown(name)));
        let number = format.ggml_type();
        let number =
            number.ok_or_else(|| about(format!("GGUF has no {format}; cast it to another dtype first")))?;
        if shape.rank() > MOST_DIMENSIONS as usize {
            return Err(about(format!(
                "{shape} has more than {MOST_DIMENSIONS} dimensions; reshape it first"
            )));
        }
        let length = format.byte_len(shape).map_err(about)? as u64;
        put_text(&mut out, name);
        out.extend((shape.rank() as u32).to_le_bytes());
        shape.dims().iter().rev().for_each(|&length| out.extend((length as u64).to_le_bytes()));
        out.extend(number.to_le_bytes());
        out.extend(offset.to_le_bytes());
        let end = offset.checked_add(length).and_then(|end| end.checked_next_multiple_of(alignment));
        offset = end.ok_or_else(|| about("the file would be too large".to_owned()))?;
        lengths.push(length);
    }
    Ok((out, lengths))
}

fn pad(bytes: &mut Vec<u8>, alignment: u64) {
    bytes.resize(bytes.len().next_multiple_of(alignment as usize), 0);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn put_type(out: &mut Vec<u8>, value: Type) {
    out.extend((value as u32).to_le_bytes());
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::U8(value) => out.extend(value.to_le_bytes()),
        Value::I8(value) => out.extend(value.to_le_bytes()),
        Value::U16(value) => out.extend(value.to_le_bytes()),
        Value::I16(value) => out.extend(value.to_le_bytes()),
        Value::U32(value) => out.extend(value.to_le_bytes()),
        Value::I32(value) => out.extend(value.to_le_bytes()),
        Value::U64(value) => out.extend(value.to_le_bytes()),
        Value::I64(value) => out.extend(value.to_le_bytes()),
        Value::F32(value) => out.extend(value.to_le_bytes()),
        Value::F64(value) => out.extend(value.to_le_bytes()),
        Value::Bool(value) => out.push((*value).into()),
        Value::String(text) => put_text(out, text),
        Value::Array(array) => put_array(out, array),
    }
}

fn put_array(out: &mut Vec<u8>, array: &Array) {
    put_type(out, array.type_of());
    out.extend((array.len() as u64).to_le_bytes());
    match array {
        Array::U8(values) => out.extend(values),
        Array::I8(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::U16(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::I16(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::U32(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::I32(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::U64(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::I64(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::F32(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::F64(values) => values.iter().for_each(|value| out.extend(value.to_le_bytes())),
        Array::Bool(values) => out.extend(values.iter().map(|&value| u8::from(value))),
        Array::String(strings) => strings.iter().for_each(|text| put_text(out, text)),
        Array::Array(arrays) => arrays.iter().for_each(|array| put_array(out, array)),
    }
}
