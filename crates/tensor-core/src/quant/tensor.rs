//! Quantized tensors, with the method names of candle's.

use std::borrow::Cow;

use super::{QStorage, QuantFormat, host};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};
use crate::hip;
use crate::hip::ops::quant::Activations;
use crate::plan::index::{Indexed, is_id};
use crate::shape::Shape;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// A tensor of quantized numbers, which operations read block by block. It cannot be changed, and a clone shares its
/// memory. Rows are whole blocks.
///
/// ```
/// use tensor_core::{Device, QTensor, QuantFormat, Tensor};
///
/// # fn main() -> tensor_core::Result<()> {
/// let weights = Tensor::arange(0f32, 128.0, &Device::Cpu)?.reshape([4, 32])?;
/// let quantized = QTensor::quantize(&weights, QuantFormat::Q8_0)?;
/// assert_eq!(quantized.storage_size_in_bytes(), 4 * 34);
///
/// let x = Tensor::ones([1, 32], weights.dtype(), &Device::Cpu)?;
/// let y = quantized.forward(&x)?.to_vec2::<f32>()?;
/// assert!((y[0][3] - 3568.0).abs() < 10.0);
///
/// let error = QTensor::quantize(&weights, QuantFormat::Q4K).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "quantize: rows of 32 numbers are no whole number of q4_k blocks, which have 256 numbers ([4, 32]) on cpu"
/// );
/// # Ok(())
/// # }
/// ```
#[doc(alias = "QMatMul")]
#[derive(Debug, Clone)]
pub struct QTensor {
    storage: QStorage,
    shape: Shape,
}

impl QTensor {
    /// The most rows of activations that [`QTensor::forward`] rounds to 8 bits on a HIP device. More rows are multiplied in
    /// their own dtype.
    pub const ROUNDED_ROWS: usize = 8;

    /// A tensor of blocks that are in memory.
    ///
    /// ```
    /// use std::borrow::Cow;
    /// use tensor_core::{Device, QStorage, QTensor, QuantFormat};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// // A block of q8_0: the scale 1 as f16, and 32 integers.
    /// let block: Vec<u8> = [0, 0x3c].into_iter().chain(0..32).collect();
    /// let storage = QStorage::from_data(Cow::Owned(block), &Device::Cpu, QuantFormat::Q8_0)?;
    /// let tensor = QTensor::new(storage, 32)?;
    /// assert_eq!(tensor.dequantize(&Device::Cpu)?.to_vec1::<f32>()?[31], 31.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for a scalar; [`ErrorKind::Argument`] if a row is no whole number of blocks;
    /// [`ErrorKind::DataLength`] if there are more or fewer blocks than the shape needs; [`ErrorKind::Overflow`].
    pub fn new(storage: QStorage, shape: impl Into<Shape>) -> Result<QTensor> {
        let (shape, device, operation) = (shape.into(), storage.device(), "qtensor");
        let expected = bytes_of(&shape, storage.dtype(), operation).on(&device)?;
        let got = storage.size_in_bytes();
        if got != expected {
            let kind = ErrorKind::DataLength { got, expected, unit: "bytes", shape };
            return Err(Error::new(operation, kind).on(&device));
        }
        Ok(QTensor { storage, shape })
    }

    /// The tensor quantized to `format`, on its device. The error is about as small as that of llama.cpp without an
    /// importance matrix. NaN and infinities give blocks of unspecified values.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for a scalar; [`ErrorKind::Argument`] if a row is no whole number of blocks, or if the format
    /// has no quantizer ([`QuantFormat::can_quantize`]) or the device no kernels for it; [`ErrorKind::OutOfMemory`].
    pub fn quantize(src: &Tensor, format: QuantFormat) -> Result<QTensor> {
        QTensor::quantize_onto(src, format, &src.device())
    }

    /// As [`QTensor::quantize`], with the result on `device`. The tensor may be on any device; it is quantized on the CPU.
    ///
    /// # Errors
    /// As [`QTensor::quantize`], and an error of the tensor's device.
    pub fn quantize_onto(src: &Tensor, format: QuantFormat, device: &Device) -> Result<QTensor> {
        bytes_of(src.shape(), format, "quantize").on(src)?;
        let values = host::floats(&src.to_device(&Device::Cpu)?)?;
        let storage = QStorage::quantize(host::slice(&values, "quantize")?, device, format)?;
        Ok(QTensor { storage, shape: src.shape().clone() })
    }

    /// The format of the blocks.
    pub fn dtype(&self) -> QuantFormat {
        self.storage.dtype()
    }

    /// The tensor's device.
    pub fn device(&self) -> Device {
        self.storage.device()
    }

    /// How many dimensions there are.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The lengths of the dimensions in numbers, outermost first.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The memory behind the tensor.
    pub fn storage(&self) -> &QStorage {
        &self.storage
    }

    /// The size of all blocks.
    pub fn storage_size_in_bytes(&self) -> usize {
        self.storage.size_in_bytes()
    }

    /// The blocks, as in files. Waits for the device.
    ///
    /// # Errors
    /// None on the CPU; [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn data(&self) -> Result<Cow<'_, [u8]>> {
        self.storage.data()
    }

    /// The same blocks on `device`; the tensor itself if it is there. Otherwise a copy through host memory.
    ///
    /// # Errors
    /// As [`QStorage::from_data`].
    pub fn to_device(&self, device: &Device) -> Result<QTensor> {
        if self.device().same_device(device) {
            return Ok(self.clone());
        }
        let storage = QStorage::from_data(self.data()?, device, self.dtype())?;
        Ok(QTensor { storage, shape: self.shape.clone() })
    }

    /// Names the memory in lists of live buffers; on the CPU there are none.
    pub fn set_name(&self, name: impl std::fmt::Display) {
        if let QStorage::Hip(storage) = &self.storage {
            storage.set_name(&name);
        }
    }

    /// The values as `f32`, on `device`. They have the bits that ggml computes.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], or an error of the device.
    pub fn dequantize(&self, device: &Device) -> Result<Tensor> {
        self.dequantize_to(DType::F32, device)
    }

    /// The values as `f16`, on `device`; rounded once more.
    ///
    /// # Errors
    /// As [`QTensor::dequantize`].
    pub fn dequantize_f16(&self, device: &Device) -> Result<Tensor> {
        self.dequantize_to(DType::F16, device)
    }

    /// The values as `dtype`, on `device`: `f32`, `f16` or `bf16`.
    ///
    /// # Errors
    /// As [`QTensor::dequantize`], and [`ErrorKind::UnsupportedDType`] for other dtypes.
    pub fn dequantize_to(&self, dtype: DType, device: &Device) -> Result<Tensor> {
        let operation = "dequantize";
        require_float(dtype, &self.shape, operation).on(device)?;
        let values = self.storage.dequantize(dtype).on(&self.device())?;
        Tensor::tight(values, self.shape.clone(), operation)?.to_device(device)
    }

    /// The rows at `ids` of a table `[n, d]`, which is this tensor, as `f32`. `ids` may have any shape: `[…]` gives
    /// `[…, d]`. Only these rows are dequantized.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] unless the tensor is a matrix; [`ErrorKind::UnsupportedDType`] unless the ids are `u8`,
    /// `u32`, `i32` or `i64`; [`ErrorKind::DeviceMismatch`]; [`ErrorKind::IdOutOfRange`]; [`ErrorKind::OutOfMemory`].
    #[doc(alias = "ggml_get_rows")]
    pub fn embedding(&self, ids: &Tensor) -> Result<Tensor> {
        let operation = "embedding";
        let &[_, width] = self.shape.dims() else { return Err(self.wrong_rank(operation, "2")) };
        self.require_ids(ids, operation)?;
        let shape: Shape = ids.dims().iter().copied().chain([width]).collect();
        shape.elements(operation).on(&self.device())?;
        let rows = self.storage.rows(width, &self.first_axis(operation), ids).on(&self.device())?;
        Tensor::tight(rows, shape, operation)
    }

    /// The product `xs · selfᵀ` of activations `[…, k]` with this matrix `[n, k]`: `[…, n]`, in the dtype of `xs`:
    /// `f32`, `f16` or `bf16`.
    ///
    /// Activations are rounded to 8 bits: a result may differ from the exact one by Σ |w| · max |x| / 254, with the maximum of
    /// those that share a scale. The CPU rounds as ggml: every 32 for blocks of 32, with scales in `f16`, and every 256 for
    /// blocks of 256. A HIP device rounds up to eight rows, every 32; it multiplies more rows without that, by the weights
    /// rounded to the dtype of `xs`.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] unless the tensor is a matrix and `xs` has an axis; [`ErrorKind::InnerDimensions`];
    /// [`ErrorKind::UnsupportedDType`], [`ErrorKind::DeviceMismatch`], or [`ErrorKind::OutOfMemory`].
    #[doc(alias = "ggml_mul_mat")]
    pub fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        self.forward_of(xs, &mut None)
    }

    /// The products of the same activations with several matrices, as [`QTensor::forward`] of each: see
    /// [`QActivations`](crate::QActivations).
    ///
    /// # Errors
    /// As [`QTensor::forward`].
    pub fn forward_each(matrices: &[&QTensor], xs: &Tensor) -> Result<Vec<Tensor>> {
        QTensor::products(matrices, xs, &mut None)
    }

    /// As [`QTensor::forward_each`]. `rounded` are these activations in 8 bits, if they were rounded, and then are.
    pub(super) fn products(
        matrices: &[&QTensor],
        xs: &Tensor,
        rounded: &mut Option<Activations>,
    ) -> Result<Vec<Tensor>> {
        if matrices.len() > 1
            && let Some(products) = QTensor::products_of_row(matrices, xs, rounded)?
        {
            return Ok(products);
        }
        matrices.iter().map(|matrix| matrix.forward_of(xs, rounded)).collect()
    }

    /// The products of a single row of activations on a HIP device, in few launches. `None` for anything else.
    fn products_of_row(
        matrices: &[&QTensor],
        xs: &Tensor,
        rounded: &mut Option<Activations>,
    ) -> Result<Option<Vec<Tensor>>> {
        let operation = "qmatmul";
        let mut all = Vec::with_capacity(matrices.len());
        for matrix in matrices {
            let (QStorage::Hip(storage), &[columns, width]) = (&matrix.storage, matrix.shape.dims()) else {
                return Ok(None);
            };
            matrix.require_activations(xs, width, operation)?;
            all.push((storage, columns));
        }
        let width = xs.dims().last().copied().unwrap_or(0);
        if width == 0 || xs.elements() != width || all.iter().any(|(_, columns)| *columns == 0) {
            return Ok(None);
        }
        let line = xs.reshape([1, width])?;
        let Storage::Hip(row) = line.storage() else { return Ok(None) };
        let products =
            hip::ops::quant_row::products(&all, (row, line.layout()), rounded, operation).on(xs)?;
        let shaped = products.into_iter().zip(&all).map(|(product, (_, columns))| {
            let shape: Shape = xs.dims()[..xs.rank() - 1].iter().copied().chain([*columns]).collect();
            Tensor::tight(Storage::Hip(product), shape, operation)
        });
        shaped.collect::<Result<_>>().map(Some)
    }

    fn forward_of(&self, xs: &Tensor, rounded: &mut Option<Activations>) -> Result<Tensor> {
        let operation = "qmatmul";
        let &[columns, width] = self.shape.dims() else { return Err(self.wrong_rank(operation, "2")) };
        self.require_activations(xs, width, operation)?;
        let shape: Shape = xs.dims()[..xs.rank() - 1].iter().copied().chain([columns]).collect();
        if shape.elements(operation).on(xs)? == 0 || width == 0 {
            return Tensor::zeros(shape, xs.dtype(), &xs.device());
        }
        let rows = xs.reshape([xs.elements() / width, width])?;
        Tensor::tight(self.storage.product(&rows, columns, rounded, operation).on(xs)?, shape, operation)
    }

    /// The products of activations with the matrices of their experts, which are this tensor `[experts, n, k]`. `x` is
    /// `[batch, top, k]`, or `[batch, 1, k]` for the same activations for all experts of a row; `ids` `[batch, top]` are
    /// the experts. The result is `[batch, top, n]` in the dtype of `x`. All activations
    /// are rounded to 8 bits, as in [`QTensor::forward`].
    ///
    /// # Errors
    /// [`ErrorKind::Rank`], [`ErrorKind::InnerDimensions`], [`ErrorKind::Argument`] if the shapes do not match;
    /// [`ErrorKind::IdOutOfRange`]; [`ErrorKind::UnsupportedDType`], [`ErrorKind::DeviceMismatch`], or
    /// [`ErrorKind::OutOfMemory`].
    #[doc(alias = "ggml_mul_mat_id")]
    pub fn indexed_moe_forward(&self, x: &Tensor, ids: &Tensor) -> Result<Tensor> {
        let operation = "indexed_moe_forward";
        let &[_, columns, width] = self.shape.dims() else { return Err(self.wrong_rank(operation, "3")) };
        self.require_activations(x, width, operation)?;
        let fits = match (x.dims(), ids.dims()) {
            (&[batch, each, _], &[rows, top]) if batch == rows && (each == top || each == 1) => {
                Some((each, top))
            }
            _ => None,
        };
        let Some((each, top)) = fits else {
            let what = format!(
                "activations of {} and ids of {} do not match: [batch, top, k] or [batch, 1, k], and [batch, top]",
                x.shape(),
                ids.shape()
            );
            return Err(Error::new(operation, ErrorKind::Argument { what }).on(&x.device()));
        };
        self.require_ids(ids, operation)?;
        let shape = Shape::from([x.dims()[0], top, columns]);
        if shape.elements(operation).on(x)? == 0 || width == 0 {
            return Tensor::zeros(shape, x.dtype(), &x.device());
        }
        let (rows, axis) = (x.reshape([x.elements() / width, width])?, self.first_axis(operation));
        let each = if each == 1 { top } else { 1 };
        let products = self.storage.product_of_experts(&rows, (columns, each), &axis, ids).on(x)?;
        Tensor::tight(products, shape, operation)
    }
}

/// Checks.
impl QTensor {
    fn wrong_rank(&self, operation: &'static str, expected: &'static str) -> Error {
        let kind = ErrorKind::Rank { shape: self.shape.clone(), expected };
        Error::new(operation, kind).on(&self.device())
    }

    /// The first axis, for ids.
    fn first_axis(&self, operation: &'static str) -> Indexed {
        let stride = self.shape.dims()[1..].iter().product();
        Indexed { operation, axis: 0, length: self.shape.dims()[0], stride }
    }

    fn require_beside(&self, other: &Tensor, operation: &'static str) -> Result<()> {
        let (here, there) = (self.device(), other.device());
        if here.same_device(&there) {
            return Ok(());
        }
        Err(Error::new(operation, ErrorKind::two_devices(&there, &here)))
    }

    /// An error unless `xs` are rows of `width` floats on this device.
    fn require_activations(&self, xs: &Tensor, width: usize, operation: &'static str) -> Result<()> {
        self.require_beside(xs, operation)?;
        require_float(xs.dtype(), xs.shape(), operation).on(xs)?;
        let kind = match xs.dims().last() {
            Some(last) if *last == width => return Ok(()),
            Some(_) => ErrorKind::InnerDimensions { lhs: xs.shape().clone(), rhs: self.shape.clone() },
            None => ErrorKind::Rank { shape: xs.shape().clone(), expected: "at least 1" },
        };
        Err(Error::new(operation, kind).on(&xs.device()))
    }

    /// An error unless `ids` are ids on this device.
    fn require_ids(&self, ids: &Tensor, operation: &'static str) -> Result<()> {
        self.require_beside(ids, operation)?;
        if is_id(ids.dtype()) {
            return Ok(());
        }
        let remedy = "ids are u8, u32, i32 or i64: cast them with to_dtype";
        Err(unsupported(ids.dtype(), ids.shape(), remedy, operation)).on(ids)
    }
}

/// Bytes of a tensor of blocks.
fn bytes_of(shape: &Shape, format: QuantFormat, operation: &'static str) -> Result<usize> {
    let (length, bytes) = (format.block_size(), format.type_size());
    let Some(width) = shape.dims().last() else {
        return Err(Error::new(operation, ErrorKind::Rank { shape: shape.clone(), expected: "at least 1" }));
    };
    if !width.is_multiple_of(length) {
        let what = format!(
            "rows of {width} numbers are no whole number of {format} blocks, which have {length} numbers ({shape})"
        );
        return Err(Error::new(operation, ErrorKind::Argument { what }));
    }
    let blocks = shape.elements(operation)? / length;
    blocks
        .checked_mul(bytes)
        .ok_or_else(|| Error::new(operation, ErrorKind::Overflow { shape: shape.clone() }))
}

/// An error unless this is one of the dtypes of activations.
fn require_float(dtype: DType, shape: &Shape, operation: &'static str) -> Result<()> {
    if matches!(dtype, DType::F32 | DType::F16 | DType::BF16) {
        return Ok(());
    }
    Err(unsupported(dtype, shape, "use f32, f16 or bf16", operation))
}

fn unsupported(dtype: DType, shape: &Shape, remedy: &'static str, operation: &'static str) -> Error {
    Error::new(operation, ErrorKind::UnsupportedDType { dtype, shape: shape.clone(), remedy })
}
