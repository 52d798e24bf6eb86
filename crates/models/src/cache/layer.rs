//! The keys and values of a layer, written in place.

use tensor_core::{DType, Device, Result, Tensor, UnaryOp};

use super::format::{CacheFormat, group};
use crate::config::Config;
use crate::step::{Destination, Seen};

/// Least scale: what is divided by it is 0 or tiny.
const LEAST_SCALE: f64 = 1e-8;
/// The integers of 8 bits are from −127 to 127, stored as unsigned ones.
const MOST: f64 = 127.0;
const ZERO: f64 = 128.0;

/// The keys and values of a layer.
#[derive(Debug)]
pub(crate) struct LayerCache {
    keys: Vectors,
    values: Vectors,
}

/// A vector for each head and each row: `[1, kv_heads, rows, head_size]`.
#[derive(Debug)]
enum Vectors {
    Dense(Tensor),
    /// x ≈ scale · (integer − 128).
    Integers {
        /// As `u8`.
        integers: Tensor,
        /// `[1, kv_heads, rows, groups]` in `f16`.
        scales: Tensor,
    },
}

impl LayerCache {
    /// Memory for so many rows.
    pub(super) fn new(
        (config, layer): (&Config, usize),
        rows: usize,
        format: CacheFormat,
        device: &Device,
    ) -> Result<LayerCache> {
        let vectors = |name: &str| -> Result<Vectors> {
            let zeros = |length: usize, dtype: DType, what: &str| -> Result<Tensor> {
                let zeros = Tensor::zeros([1, config.kv_heads, rows, length], dtype, device)?;
                zeros.set_name(format_args!("{what}{name} of layer {layer}"));
                Ok(zeros)
            };
            let length = config.head_size;
            Ok(match format.dense() {
                Some(dtype) => Vectors::Dense(zeros(length, dtype, "")?),
                None => Vectors::Integers {
                    integers: zeros(length, DType::U8, "")?,
                    scales: zeros(length / group(length), DType::F16, "scales of ")?,
                },
            })
        };
        Ok(LayerCache { keys: vectors("keys")?, values: vectors("values")? })
    }

    /// Writes keys and values `[sequences, kv_heads, tokens, head_size]`.
    pub(crate) fn write(&mut self, destination: &Destination, keys: &Tensor, values: &Tensor) -> Result<()> {
        self.keys.write(destination, keys)?;
        self.values.write(destination, values)
    }

    /// All keys and values, if they are kept in this dtype.
    pub(crate) fn dense(&mut self, dtype: DType) -> Option<[&mut Tensor; 2]> {
        match (&mut self.keys, &mut self.values) {
            (Vectors::Dense(keys), Vectors::Dense(values)) if keys.dtype() == dtype => Some([keys, values]),
            _ => None,
        }
    }

    /// All keys and values, unless they are integers with scales.
    pub(crate) fn all(&self) -> Option<[&Tensor; 2]> {
        match (&self.keys, &self.values) {
            (Vectors::Dense(keys), Vectors::Dense(values)) => Some([keys, values]),
            _ => None,
        }
    }

    /// The keys and values that are seen, as `[sequences, kv_heads, count, head_size]`: of `dtype`, if the cache has
    /// integers. They may be views: none may be alive at the next write, which would copy all of the memory.
    pub(crate) fn read(&self, seen: &Seen, dtype: DType) -> Result<(Tensor, Tensor)> {
        Ok((self.keys.read(seen, dtype)?, self.values.read(seen, dtype)?))
    }
}

impl Vectors {
    fn write(&mut self, destination: &Destination, vectors: &Tensor) -> Result<()> {
        match self {
            Vectors::Dense(all) => destination.write(all, &vectors.to_dtype(all.dtype())?),
            Vectors::Integers { integers, scales } => {
                let (new_integers, new_scales) = quantized(vectors)?;
                destination.write(integers, &new_integers)?;
                destination.write(scales, &new_scales)
            }
        }
    }

    fn read(&self, seen: &Seen, dtype: DType) -> Result<Tensor> {
        match self {
            Vectors::Dense(all) => seen.of(all),
            Vectors::Integers { integers, scales } => {
                let mut numbers = seen.of(integers)?.to_dtype(dtype)?;
                numbers.affine_(1.0, -ZERO)?;
                let scales = seen.of(scales)?.to_dtype(dtype)?;
                let shape = numbers.shape().clone();
                let (groups, mut each) = (scales.dims()[3], shape.dims().to_vec());
                each[3] = groups;
                each.push(shape.dims()[3] / groups);
                let mut numbers = numbers.reshape(each.as_slice())?;
                numbers.mul_assign_(&scales.unsqueeze(4)?)?;
                numbers.reshape(shape)
            }
        }
    }
}

/// The integers `[…, length]` and the scales `[…, groups]` of vectors `[…, length]`.
fn quantized(vectors: &Tensor) -> Result<(Tensor, Tensor)> {
    let shape = vectors.shape().clone();
    let [.., length] = *shape.dims() else { unreachable!("vectors have a length") };
    let mut groups = shape.dims().to_vec();
    groups[3] = length / group(length);
    let mut each = groups.clone();
    each.push(group(length));
    let numbers = vectors.to_dtype(DType::F32)?.reshape(each.as_slice())?;
    let most = numbers.unary(UnaryOp::Abs)?.max_keepdim(4)?;
    // The scale is rounded first, so that integers fit the one that is stored.
    let scales = most.affine(1.0 / MOST, 0.0)?.to_dtype(DType::F16)?;
    let mut divisors = scales.to_dtype(DType::F32)?;
    divisors.clamp_(LEAST_SCALE, f64::INFINITY)?;
    let mut integers = numbers.div(&divisors)?;
    integers.unary_assign_(UnaryOp::Round)?;
    integers.clamp_(-MOST, MOST)?;
    integers.affine_(1.0, ZERO)?;
    Ok((integers.to_dtype(DType::U8)?.reshape(shape)?, scales.reshape(groups.as_slice())?))
}
