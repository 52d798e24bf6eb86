//! Quantized storage: ggml's blocks on a device.

use std::borrow::Cow;

use candle_core::quantized::GgmlDType;
use candle_core::{CpuStorage, Error, Layout, Result, Shape};
use tensor_core::{QStorage, QTensor, QuantFormat, Tensor};

use super::error::Candles;
use super::ops::Operand;
use super::{layout, HipDevice, HipStorage};

/// Blocks of a format of ggml on a [`HipDevice`]: what candle's `QStorage` needs of a device.
///
/// tensor-core has kernels for all of candle's formats but `Q8_1` and `Q8K`, which are formats of activations. They are
/// an error, and so is what it says.
pub struct QHipStorage {
    device: HipDevice,
    dtype: GgmlDType,
    elements: usize,
    blocks: Blocks,
}

enum Blocks {
    Quantized(QStorage),
    /// `F32`, `F16` and `BF16` are no blocks, but candle's formats too.
    Floats(Tensor),
}

impl QHipStorage {
    /// Zeros.
    ///
    /// # Errors
    /// For a format without kernels; unless the elements are whole blocks; or an error of the device.
    pub fn zeros(device: &HipDevice, elements: usize, dtype: GgmlDType) -> Result<QHipStorage> {
        if !elements.is_multiple_of(dtype.block_size()) {
            candle_core::bail!(
                "{elements} elements are not whole blocks of {dtype:?}, which have {} elements each",
                dtype.block_size()
            )
        }
        let bytes = elements / dtype.block_size() * dtype.type_size();
        QHipStorage::from_data(device, Cow::Owned(vec![0; bytes]), dtype)
    }

    /// Blocks as they are in files.
    ///
    /// # Errors
    /// As [`QHipStorage::zeros`].
    pub fn from_data(device: &HipDevice, data: Cow<'_, [u8]>, dtype: GgmlDType) -> Result<QHipStorage> {
        let elements = data.len() / dtype.type_size() * dtype.block_size();
        let ours = device.device();
        let blocks = match format(dtype) {
            Format::Quantized(format) => {
                Blocks::Quantized(QStorage::from_data(data, ours, format).candles()?)
            }
            Format::Floats(dtype) => {
                Blocks::Floats(Tensor::from_bytes(&data, dtype, elements, ours).candles()?)
            }
        };
        Ok(QHipStorage { device: device.clone(), dtype, elements, blocks })
    }

    /// The format.
    pub fn dtype(&self) -> GgmlDType {
        self.dtype
    }

    /// The device.
    pub fn device(&self) -> &HipDevice {
        &self.device
    }

    /// The size of all blocks.
    pub fn storage_size_in_bytes(&self) -> usize {
        self.elements / self.dtype.block_size() * self.dtype.type_size()
    }

    /// The blocks, as in files. Waits for the device.
    ///
    /// # Errors
    /// An error of the device.
    pub fn data(&self) -> Result<Vec<u8>> {
        match &self.blocks {
            Blocks::Quantized(blocks) => blocks.data().map(Cow::into_owned).candles(),
            Blocks::Floats(values) => values.to_bytes().candles(),
        }
    }

    /// Quantizes values of a device, by candle's code on the CPU, as candle's CUDA backend does.
    ///
    /// # Errors
    /// Unless the values are `f32`; or an error of the device.
    pub fn quantize(&mut self, source: &HipStorage) -> Result<()> {
        self.quantize_onto(&source.download()?)
    }

    /// As [`QHipStorage::quantize`], of values in host memory.
    ///
    /// # Errors
    /// As [`QHipStorage::quantize`].
    pub fn quantize_onto(&mut self, source: &CpuStorage) -> Result<()> {
        self.quantized(source, |blocks, values| blocks.from_float(values))
    }

    /// As [`QHipStorage::quantize`], with the importance of each column.
    ///
    /// # Errors
    /// As [`QHipStorage::quantize`].
    pub fn quantize_imatrix(&mut self, source: &HipStorage, weights: &[f32], width: usize) -> Result<()> {
        self.quantize_imatrix_onto(&source.download()?, weights, width)
    }

    /// As [`QHipStorage::quantize_imatrix`], of values in host memory.
    ///
    /// # Errors
    /// As [`QHipStorage::quantize`].
    pub fn quantize_imatrix_onto(
        &mut self,
        source: &CpuStorage,
        weights: &[f32],
        width: usize,
    ) -> Result<()> {
        self.quantized(source, |blocks, values| blocks.from_float_imatrix(values, weights, width))
    }

    /// All values as `f32`.
    ///
    /// # Errors
    /// Unless `elements` is their number; or an error of the device.
    pub fn dequantize(&self, elements: usize) -> Result<HipStorage> {
        self.dequantized(elements, tensor_core::DType::F32)
    }

    /// All values as `f16`.
    ///
    /// # Errors
    /// As [`QHipStorage::dequantize`].
    pub fn dequantize_f16(&self, elements: usize) -> Result<HipStorage> {
        self.dequantized(elements, tensor_core::DType::F16)
    }

    /// The rows of a table of `rows` times `hidden` values that ids name, as `f32`.
    ///
    /// # Errors
    /// Unless the table has this size; or an error of the device.
    pub fn embedding(&self, rows: usize, hidden: usize, ids: &HipStorage, l: &Layout) -> Result<HipStorage> {
        let ids = ids.tensor(l)?;
        let rows = match self.shaped(&[rows, hidden])? {
            Shaped::Quantized(table) => table.embedding(&ids).candles()?,
            Shaped::Floats(table) => {
                table.embedding(&ids).and_then(|rows| rows.to_dtype(tensor_core::DType::F32)).candles()?
            }
        };
        HipStorage::of(rows, &self.device)
    }

    /// The product of activations `[…, k]` with this matrix `[n, k]` transposed: `[…, n]`, in the activations' dtype.
    ///
    /// # Errors
    /// If the shapes do not match; unless the activations are `f32`, `f16` or `bf16`; or an error of the device.
    pub fn fwd(&self, shape: &Shape, x: &HipStorage, l: &Layout) -> Result<(HipStorage, Shape)> {
        let (n, k) = shape.dims2()?;
        let x = x.tensor(l)?;
        if x.rank() < 2 || x.dims()[x.rank() - 1] != k {
            candle_core::bail!("qmatmul: activations {l:?} do not match a matrix {shape:?}")
        }
        let product = match self.shaped(&[n, k])? {
            Shaped::Quantized(weights) => weights.forward(&x).candles()?,
            Shaped::Floats(weights) => {
                let product = || {
                    let rows = x.reshape([x.elements() / k.max(1), k])?;
                    rows.matmul(&weights.to_dtype(x.dtype())?.t()?)
                };
                let out: Vec<usize> = x.dims()[..x.rank() - 1].iter().copied().chain([n]).collect();
                product().and_then(|product| product.reshape(out)).candles()?
            }
        };
        let shape = layout::shape_of(&product);
        Ok((HipStorage::of(product, &self.device)?, shape))
    }

    /// The products of activations with the matrices `[experts, n, k]` that ids choose.
    ///
    /// # Errors
    /// If the shapes do not match; for formats that are no blocks; or an error of the device.
    pub fn indexed_moe_forward(
        &self,
        shape: &Shape,
        (x, x_l): Operand,
        (ids, ids_l): Operand,
    ) -> Result<(HipStorage, Shape)> {
        let Shaped::Quantized(experts) = self.shaped(shape.dims())? else {
            candle_core::bail!("indexed_moe_forward: {:?} is no format of blocks", self.dtype)
        };
        let product = experts.indexed_moe_forward(&x.tensor(x_l)?, &ids.tensor(ids_l)?).candles()?;
        let shape = layout::shape_of(&product);
        Ok((HipStorage::of(product, &self.device)?, shape))
    }

    fn quantized(
        &mut self,
        source: &CpuStorage,
        quantize: impl FnOnce(&mut dyn candle_core::quantized::QuantizedType, &[f32]),
    ) -> Result<()> {
        let values = source.as_slice::<f32>()?;
        if values.len() != self.elements {
            let got = Shape::from(values.len());
            let expected = Shape::from(self.elements);
            return Err(Error::UnexpectedShape { msg: "quantize".into(), expected, got }.bt());
        }
        let mut blocks = self.dtype.cpu_zeros(self.elements);
        quantize(&mut *blocks, values);
        // SAFETY: S12: candle's trait says where the blocks are and how many bytes they have. Blocks have no padding, and
        // `blocks` lives until the end.
        let bytes = unsafe { std::slice::from_raw_parts(blocks.as_ptr(), blocks.storage_size_in_bytes()) };
        *self = QHipStorage::from_data(&self.device, Cow::Borrowed(bytes), self.dtype)?;
        Ok(())
    }

    fn dequantized(&self, elements: usize, dtype: tensor_core::DType) -> Result<HipStorage> {
        let values = match self.shaped(&[elements])? {
            Shaped::Quantized(blocks) => blocks.dequantize_to(dtype, self.device.device()).candles()?,
            Shaped::Floats(values) => values.to_dtype(dtype).candles()?,
        };
        HipStorage::of(values, &self.device)
    }

    /// The blocks with a shape; nothing is copied.
    fn shaped(&self, dims: &[usize]) -> Result<Shaped> {
        match &self.blocks {
            Blocks::Quantized(blocks) => QTensor::new(blocks.clone(), dims).map(Shaped::Quantized).candles(),
            Blocks::Floats(values) => values.view(dims).map(Shaped::Floats).candles(),
        }
    }
}

enum Shaped {
    Quantized(QTensor),
    Floats(Tensor),
}

enum Format {
    Quantized(QuantFormat),
    Floats(tensor_core::DType),
}

fn format(dtype: GgmlDType) -> Format {
    Format::Quantized(match dtype {
        GgmlDType::F32 => return Format::Floats(tensor_core::DType::F32),
        GgmlDType::F16 => return Format::Floats(tensor_core::DType::F16),
        GgmlDType::BF16 => return Format::Floats(tensor_core::DType::BF16),
        GgmlDType::Q4_0 => QuantFormat::Q4_0,
        GgmlDType::Q4_1 => QuantFormat::Q4_1,
        GgmlDType::Q5_0 => QuantFormat::Q5_0,
        GgmlDType::Q5_1 => QuantFormat::Q5_1,
        GgmlDType::Q8_0 => QuantFormat::Q8_0,
        GgmlDType::Q8_1 => QuantFormat::Q8_1,
        GgmlDType::Q2K => QuantFormat::Q2K,
        GgmlDType::Q3K => QuantFormat::Q3K,
        GgmlDType::Q4K => QuantFormat::Q4K,
        GgmlDType::Q5K => QuantFormat::Q5K,
        GgmlDType::Q6K => QuantFormat::Q6K,
        GgmlDType::Q8K => QuantFormat::Q8K,
    })
}
