//! Tensors as text, formatted as in PyTorch: nested brackets, aligned columns, and large tensors without their middle.

mod number;

use std::fmt;

use crate::cpu::CpuStorage;
use crate::cpu::dispatch::dispatch;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use number::Format;

/// Larger tensors are summarised.
const THRESHOLD: usize = 1000;
/// Elements shown at each end of a summarised axis.
const EDGE: usize = 3;
/// The maximum number of elements shown. Only tensors with eight or more axes, all short, exceed it.
const MOST: usize = 1 << 20;
/// The line width at which rows and suffixes are broken.
const LINE: usize = 80;
const PREFIX: &str = "tensor(";

impl fmt::Display for Tensor {
    /// Writes the tensor as PyTorch does: `tensor([1., 2., 3.])`, with the dtype if it is neither `f32` nor `i64`, and
    /// the device if it is not the CPU. Reads back only the elements shown. If these are more than 2^20, it shows none
    /// and says so.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match contents(self) {
            Ok(contents) => f.write_str(&with_suffixes(self, contents)),
            // `fmt` can report formatting errors only, so the error becomes the text.
            Err(error) => write!(f, "{PREFIX}<{error}>, shape={}, dtype={})", self.shape(), self.dtype()),
        }
    }
}

impl fmt::Debug for Tensor {
    /// Writes shape, dtype and device; reads nothing back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor[{}; {}, {}]", self.shape(), self.dtype(), self.device())
    }
}

/// The nested brackets.
fn contents(tensor: &Tensor) -> Result<String> {
    if tensor.elements() == 0 {
        return Ok("[]".to_owned());
    }
    let summarise = tensor.elements() > THRESHOLD;
    let length = |length: &usize| if summarise { (*length).min(2 * EDGE) } else { *length };
    let count: usize = tensor.dims().iter().map(length).product();
    if count > MOST {
        let what = format!("{count} elements would be shown, more than {MOST}: print a part of it");
        return Err(Error::new("display", ErrorKind::Argument { what }));
    }
    let shown = shown_elements(tensor, summarise)?;
    let format = Format::of(&shown, tensor.dtype());
    let mut elements = shown.iter().copied();
    let Some((&width, outer)) = tensor.dims().split_last() else {
        return Ok(elements.next().map_or_else(String::new, |x| format.write(x)));
    };
    Ok(Brackets { outer, width, summarise, format }.write(&mut elements))
}

/// The elements shown, in row-major order.
fn shown_elements(tensor: &Tensor, summarise: bool) -> Result<Vec<Scalar>> {
    if !summarise {
        return Ok(scalars(&tensor.to_cpu_storage()?));
    }
    // The first summarised axis is read in two parts, and each part's later axes likewise.
    let long = tensor.dims().iter().position(|&length| length > 2 * EDGE);
    let Some(axis) = long else { return Ok(scalars(&tensor.to_cpu_storage()?)) };
    let outer: usize = tensor.dims()[..axis].iter().product();
    let head = edge(tensor, axis, 0)?;
    let tail = edge(tensor, axis, tensor.dims()[axis] - EDGE)?;
    // Elements of each part per index of the outer axes.
    let run = head.len() / outer;
    Ok((0..outer)
        .flat_map(|i| [&head[i * run..(i + 1) * run], &tail[i * run..(i + 1) * run]].concat())
        .collect())
}

/// The elements shown among the `EDGE` indices of `axis` from `start` on.
fn edge(tensor: &Tensor, axis: usize, start: usize) -> Result<Vec<Scalar>> {
    shown_elements(&tensor.narrow(axis, start, EDGE)?, true)
}

fn scalars(storage: &CpuStorage) -> Vec<Scalar> {
    dispatch!(storage, elements: T => elements.iter().map(|x: &T| x.to_scalar()).collect())
}

/// The arrangement of the elements.
struct Brackets<'a> {
    /// The lengths of all axes but the innermost; each index combination has a row.
    outer: &'a [usize],
    /// The number of elements in a row.
    width: usize,
    summarise: bool,
    format: Format,
}

impl Brackets<'_> {
    /// Writes all elements row by row. It does not recurse, because a tensor may have any number of axes.
    fn write(&self, elements: &mut dyn Iterator<Item = Scalar>) -> String {
        let rank = self.outer.len();
        // Complete parts per axis.
        let mut done = vec![0; rank];
        let mut text = "[".repeat(rank);
        loop {
            self.row(elements, &mut text);
            let Some(axis) = (0..rank).rev().find(|&axis| done[axis] + 1 < self.shown(self.outer[axis]))
            else {
                text.push_str(&"]".repeat(rank));
                return text;
            };
            let inside = rank - 1 - axis;
            text.push_str(&"]".repeat(inside));
            done[axis] += 1;
            done[axis + 1..].fill(0);
            let next = format!(",{}{:width$}", "\n".repeat(inside + 1), "", width = PREFIX.len() + axis + 1);
            text.push_str(&next);
            if self.omits(self.outer[axis]) && done[axis] == EDGE {
                text.push_str("...");
                text.push_str(&next);
            }
            text.push_str(&"[".repeat(inside));
        }
    }

    /// Writes the next elements of the innermost axis.
    fn row(&self, elements: &mut dyn Iterator<Item = Scalar>, text: &mut String) {
        let mut numbers: Vec<String> =
            elements.take(self.shown(self.width)).map(|x| self.format.write(x)).collect();
        if self.omits(self.width) {
            numbers.insert(EDGE, " ...".to_owned());
        }
        let indent = PREFIX.len() + self.outer.len();
        let per_line = (LINE.saturating_sub(indent) / (self.format.width + 2)).max(1);
        let lines: Vec<String> = numbers.chunks(per_line).map(|line| line.join(", ")).collect();
        let next = format!(",\n{:width$}", "", width = indent + 1);
        text.push('[');
        text.push_str(&lines.join(&next));
        text.push(']');
    }

    /// Whether the middle of an axis is left out.
    fn omits(&self, length: usize) -> bool {
        self.summarise && length > 2 * EDGE
    }

    /// The number of indices shown of an axis.
    fn shown(&self, length: usize) -> usize {
        if self.omits(length) { 2 * EDGE } else { length }
    }
}

/// The contents, followed by PyTorch's suffixes.
fn with_suffixes(tensor: &Tensor, contents: String) -> String {
    let mut suffixes = Vec::new();
    if !tensor.device().is_cpu() {
        suffixes.push(format!("device='{}'", tensor.device()));
    }
    let empty = tensor.elements() == 0;
    if empty && tensor.rank() != 1 {
        let lengths: Vec<String> = tensor.dims().iter().map(usize::to_string).collect();
        suffixes.push(format!("size=({})", lengths.join(", ")));
    }
    // The dtype is omitted for f32, and for i64 if there are elements.
    if tensor.dtype() != DType::F32 && (empty || tensor.dtype() != DType::I64) {
        suffixes.push(format!("dtype={}", tensor.dtype()));
    }
    let mut text = format!("{PREFIX}{contents}");
    // PyTorch counts two columns more in the last line than it has.
    let mut column = text.len() - text.rfind('\n').map_or(0, |newline| newline + 1) + 2;
    for suffix in suffixes {
        if column + suffix.len() + 2 > LINE {
            text.push_str(&format!(",\n{:width$}{suffix}", "", width = PREFIX.len()));
            column = PREFIX.len() + suffix.len();
        } else {
            text.push_str(&format!(", {suffix}"));
            column += suffix.len() + 2;
        }
    }
    text.push(')');
    text
}
