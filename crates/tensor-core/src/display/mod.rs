//! Tensors as text, laid out as PyTorch does: nested brackets, aligned columns, the middle of large tensors left out.

mod number;

use std::fmt;

use crate::cpu::CpuStorage;
use crate::cpu::dispatch::dispatch;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use number::Format;

/// Tensors with more elements than this are summarised.
const THRESHOLD: usize = 1000;
/// Elements shown at either end of a summarised axis.
const EDGE: usize = 3;
/// The width of a line that rows and suffixes are broken at.
const LINE: usize = 80;
const PREFIX: &str = "tensor(";

impl fmt::Display for Tensor {
    /// Writes the tensor as PyTorch does: `tensor([1., 2., 3.])`, with the dtype if it is neither `f32` nor `i64` and the device
    /// if it is not the CPU. Reads back only the elements that are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match contents(self) {
            Ok(contents) => f.write_str(&with_suffixes(self, contents)),
            // Formatting cannot fail for a reason of ours, so the reason becomes the text.
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
    let shown = shown_elements(tensor, summarise)?;
    let format = Format::of(&shown, tensor.dtype());
    let mut elements = shown.iter().copied();
    let brackets = Brackets { dims: tensor.dims(), summarise, format };
    Ok(brackets.write(0, PREFIX.len(), &mut elements))
}

/// The elements that are shown, in row-major order.
fn shown_elements(tensor: &Tensor, summarise: bool) -> Result<Vec<Scalar>> {
    if !summarise {
        return Ok(scalars(&tensor.to_cpu_storage()?));
    }
    // The first axis that is left out in the middle is read in two parts; the others of each part likewise.
    let long = tensor.dims().iter().position(|&length| length > 2 * EDGE);
    let Some(axis) = long else { return Ok(scalars(&tensor.to_cpu_storage()?)) };
    let outer: usize = tensor.dims()[..axis].iter().product();
    let head = edge(tensor, axis, 0)?;
    let tail = edge(tensor, axis, tensor.dims()[axis] - EDGE)?;
    // What each part holds for one index of the outer axes.
    let run = head.len() / outer;
    Ok((0..outer)
        .flat_map(|i| [&head[i * run..(i + 1) * run], &tail[i * run..(i + 1) * run]].concat())
        .collect())
}

/// The shown elements among `EDGE` indices of `axis` from `start` on.
fn edge(tensor: &Tensor, axis: usize, start: usize) -> Result<Vec<Scalar>> {
    shown_elements(&tensor.narrow(axis, start, EDGE)?, true)
}

fn scalars(storage: &CpuStorage) -> Vec<Scalar> {
    dispatch!(storage, elements: T => elements.iter().map(|x: &T| x.to_scalar()).collect())
}

/// How the elements are arranged.
struct Brackets<'a> {
    dims: &'a [usize],
    summarise: bool,
    format: Format,
}

impl Brackets<'_> {
    /// Writes the part of the tensor below `axis`, whose lines start at column `indent`.
    fn write(&self, axis: usize, indent: usize, elements: &mut dyn Iterator<Item = Scalar>) -> String {
        let Some(&length) = self.dims.get(axis) else { return self.number(elements) };
        let omits = self.summarise && length > 2 * EDGE;
        let shown = if omits { 2 * EDGE } else { length };
        let innermost = axis + 1 == self.dims.len();
        let mut parts: Vec<String> =
            (0..shown)
                .map(|_| {
                    if innermost { self.number(elements) } else { self.write(axis + 1, indent + 1, elements) }
                })
                .collect();
        if omits {
            parts.insert(EDGE, if innermost { " ..." } else { "..." }.to_owned());
        }
        let break_line =
            |newlines: usize| format!(",{}{:width$}", "\n".repeat(newlines), "", width = indent + 1);
        let inside = if innermost {
            let per_line = (LINE.saturating_sub(indent) / (self.format.width + 2)).max(1);
            let lines: Vec<String> = parts.chunks(per_line).map(|line| line.join(", ")).collect();
            lines.join(&break_line(1))
        } else {
            parts.join(&break_line(self.dims.len() - axis - 1))
        };
        format!("[{inside}]")
    }

    /// The next number.
    fn number(&self, elements: &mut dyn Iterator<Item = Scalar>) -> String {
        elements.next().map_or_else(String::new, |x| self.format.write(x))
    }
}

/// The whole text, with what PyTorch appends to the contents.
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
    // Only f32 and, where elements are there to show it, i64 go without saying.
    if tensor.dtype() != DType::F32 && (empty || tensor.dtype() != DType::I64) {
        suffixes.push(format!("dtype={}", tensor.dtype()));
    }
    let mut text = format!("{PREFIX}{contents}");
    // PyTorch counts the last line two columns longer than it is.
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
