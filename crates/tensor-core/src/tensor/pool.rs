//! Pooling and upsampling.

use super::{CAST_TO_FLOAT, Tensor};
use crate::error::{ErrorKind, On, Result};
use crate::shape::Shape;
use crate::storage::by_device;
use crate::window::{PoolAxis, PoolOp, Pooling};

/// A length for rows and one for columns: a single number for both, a pair, or an array.
pub trait ToUsize2 {
    /// Rows, then columns.
    fn to_usize2(self) -> (usize, usize);
}

impl ToUsize2 for usize {
    fn to_usize2(self) -> (usize, usize) {
        (self, self)
    }
}

impl ToUsize2 for (usize, usize) {
    fn to_usize2(self) -> (usize, usize) {
        self
    }
}

impl ToUsize2 for [usize; 2] {
    fn to_usize2(self) -> (usize, usize) {
        (self[0], self[1])
    }
}

/// Parameters of pooling windows, for rows and for columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pool2dConfig {
    /// The size of the window.
    pub window: [usize; 2],
    /// Step from one window to the next.
    pub stride: [usize; 2],
    /// Padding on either side; at most half a window.
    pub padding: [usize; 2],
    /// Whether the last window may reach beyond the padded input. It must begin inside the input or the padding before
    /// it.
    pub ceil_mode: bool,
    /// Whether a mean counts the padding as zeros. A maximum ignores padding.
    pub count_include_pad: bool,
}

impl Pool2dConfig {
    /// PyTorch's defaults: adjacent windows, no padding (which would count), complete windows only.
    pub fn new(window: impl ToUsize2) -> Pool2dConfig {
        let (h, w) = window.to_usize2();
        Pool2dConfig {
            window: [h, w],
            stride: [h, w],
            padding: [0; 2],
            ceil_mode: false,
            count_include_pad: true,
        }
    }
}

/// Pooling of `[batch, channels, height, width]`. Floats only. Means are accumulated in `f32` (`f64` for `f64`) and
/// rounded once. Strided tensors are read in place.
///
/// Moves the input and the result once, if caches hold the input that windows share.
///
/// All of them fail with [`ErrorKind::Rank`], [`ErrorKind::UnsupportedDType`] for integers, [`ErrorKind::Argument`] if
/// a window is larger than the padded input, a window or a stride is 0, the padding is more than half a window, or an
/// output has no input; [`ErrorKind::Overflow`], for means also if the size of a window does not fit 64 bits; or an
/// error of the device.
impl Tensor {
    /// The maximum of each window. Windows are adjacent. NaN propagates, −0 is less than +0.
    ///
    /// # Errors
    /// As for all pooling, see above.
    pub fn max_pool2d(&self, size: impl ToUsize2) -> Result<Tensor> {
        self.max_pool2d_with(&Pool2dConfig::new(size))
    }

    /// As [`Tensor::max_pool2d`], with a step of `stride` from one window to the next.
    ///
    /// # Errors
    /// As for all pooling, see above.
    pub fn max_pool2d_with_stride(&self, size: impl ToUsize2, stride: impl ToUsize2) -> Result<Tensor> {
        self.max_pool2d_with(&with_stride(size, stride))
    }

    /// As [`Tensor::max_pool2d`], with all parameters. Padding is ignored.
    ///
    /// ```
    /// use tensor_core::{Device, Pool2dConfig, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[[[-1f32, -2.0, -3.0]]]], &Device::Cpu)?;
    /// let config = Pool2dConfig { stride: [1, 2], padding: [0, 1], ..Pool2dConfig::new((1, 2)) };
    /// assert_eq!(x.max_pool2d_with(&config)?.reshape(2)?.to_vec1::<f32>()?, [-1.0, -2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for all pooling, see above.
    pub fn max_pool2d_with(&self, config: &Pool2dConfig) -> Result<Tensor> {
        self.windows("max_pool2d", PoolOp::Max, config)
    }

    /// The mean of each window. Windows are adjacent.
    ///
    /// # Errors
    /// As for all pooling, see above.
    pub fn avg_pool2d(&self, size: impl ToUsize2) -> Result<Tensor> {
        self.avg_pool2d_with(&Pool2dConfig::new(size))
    }

    /// As [`Tensor::avg_pool2d`], with a step of `stride` from one window to the next.
    ///
    /// # Errors
    /// As for all pooling, see above.
    pub fn avg_pool2d_with_stride(&self, size: impl ToUsize2, stride: impl ToUsize2) -> Result<Tensor> {
        self.avg_pool2d_with(&with_stride(size, stride))
    }

    /// As [`Tensor::avg_pool2d`], with all parameters. Elements beyond the padding, which `ceil_mode` can reach, never
    /// count.
    ///
    /// # Errors
    /// As for all pooling, see above.
    pub fn avg_pool2d_with(&self, config: &Pool2dConfig) -> Result<Tensor> {
        self.windows("avg_pool2d", PoolOp::Mean(config.count_include_pad), config)
    }

    /// Means of `height × width` bins that cover each plane, as in PyTorch. Bin i of n covers ⌊i·length/n⌋ up to ⌈(i +
    /// 1)·length/n⌉, exclusive, so that neighbouring bins may share a row or a column.
    ///
    /// # Errors
    /// As for all pooling, see above.
    pub fn adaptive_avg_pool2d(&self, size: impl ToUsize2) -> Result<Tensor> {
        let (h, w) = size.to_usize2();
        let plan = self.between("adaptive_avg_pool2d", PoolOp::Adaptive, [h, w])?;
        if [h, w] == [1, 1] {
            // A single bin covers the plane. Reductions are faster for this.
            return self.mean_keepdim([2, 3]);
        }
        self.pool(&plan)
    }

    fn windows(&self, operation: &'static str, op: PoolOp, config: &Pool2dConfig) -> Result<Tensor> {
        self.require_planes(operation, 4)?;
        let wrong = |what: String| Err(self.error(operation, ErrorKind::Argument { what }));
        let (x, Pool2dConfig { window, stride, padding, ceil_mode, .. }) = (self.shape(), *config);
        if window.contains(&0) || stride.contains(&0) {
            return wrong(format!("the window {window:?} or the stride {stride:?} has a 0 (input {x})"));
        }
        if (0..2).any(|axis| padding[axis] > window[axis] / 2) {
            return wrong(format!(
                "the padding {padding:?} is more than half of the window {window:?} (input {x})"
            ));
        }
        let axis = |axis: usize| {
            let walk = [window[axis], stride[axis], padding[axis]];
            PoolAxis::windows(x[2 + axis], walk, ceil_mode).filter(|_| x[2 + axis] > 0)
        };
        match (axis(0), axis(1)) {
            (Some(h), Some(w)) => {
                // A mean divides by the size of the window, which must not overflow.
                if matches!(op, PoolOp::Mean(_)) {
                    Shape::from(window).elements(operation).on(self)?;
                }
                self.pool(&Pooling { operation, op, h, w })
            }
            _ => wrong(format!(
                "the window {window:?} with padding {padding:?} does not fit into the input {x}"
            )),
        }
    }
}

/// Upsampling of floats to given lengths. Source indices are computed in integers, so that they are the same on every
/// device.
///
/// Moves the elements that it reads of the input, and the result.
///
/// All of them fail with [`ErrorKind::Rank`], [`ErrorKind::UnsupportedDType`] for integers, [`ErrorKind::Argument`] if
/// there are outputs but no inputs, [`ErrorKind::Overflow`], or an error of the device.
impl Tensor {
    /// `[batch, channels, length]` to `[batch, channels, size]`: output i is element ⌊i·length/size⌋.
    ///
    /// # Errors
    /// As for all upsampling, see above.
    #[doc(alias = "interpolate")]
    pub fn upsample_nearest1d(&self, size: usize) -> Result<Tensor> {
        self.require_planes("upsample_nearest1d", 3)?;
        let rows = Tensor { storage: self.storage.clone(), layout: self.layout.unsqueeze(2) };
        let plan = rows.between("upsample_nearest1d", PoolOp::Nearest, [1, size])?;
        rows.pool(&plan)?.squeeze(2)
    }

    /// `[batch, channels, _, _]` to `[batch, channels, height, width]`: output i of an axis is element ⌊i·length/size⌋.
    ///
    /// # Errors
    /// As for all upsampling, see above.
    #[doc(alias = "interpolate")]
    pub fn upsample_nearest2d(&self, height: usize, width: usize) -> Result<Tensor> {
        let plan = self.between("upsample_nearest2d", PoolOp::Nearest, [height, width])?;
        self.pool(&plan)
    }

    /// [`Tensor::upsample_nearest1d`] under candle's other name.
    ///
    /// # Errors
    /// As for all upsampling, see above.
    pub fn interpolate1d(&self, size: usize) -> Result<Tensor> {
        self.upsample_nearest1d(size)
    }

    /// [`Tensor::upsample_nearest2d`] under candle's other name.
    ///
    /// # Errors
    /// As for all upsampling, see above.
    pub fn interpolate2d(&self, height: usize, width: usize) -> Result<Tensor> {
        self.upsample_nearest2d(height, width)
    }

    /// `[batch, channels, _, _]` to `[batch, channels, height, width]`, interpolating between the four nearest
    /// elements.
    ///
    /// Output i lies at (i + ½)·length/size − ½, clamped to the first element. With `align_corners` it lies at
    /// i·(length − 1)/(size − 1), so that the corners of both grids coincide. This is as in PyTorch.
    ///
    /// # Errors
    /// As for all upsampling, see above.
    pub fn upsample_bilinear2d(&self, height: usize, width: usize, align_corners: bool) -> Result<Tensor> {
        let plan = self.between("upsample_bilinear2d", PoolOp::Bilinear(align_corners), [height, width])?;
        self.pool(&plan)
    }

    /// The plan of an operation that maps each axis from one length to another.
    fn between(&self, operation: &'static str, op: PoolOp, size: [usize; 2]) -> Result<Pooling> {
        self.require_planes(operation, 4)?;
        let x = self.shape();
        let too_large =
            || self.error(operation, ErrorKind::Overflow { shape: [x[0], x[1], size[0], size[1]].into() });
        let axis = |axis: usize| PoolAxis::lengths(x[2 + axis], size[axis]).ok_or_else(too_large);
        let plan = Pooling { operation, op, h: axis(0)?, w: axis(1)? };
        if (x[2] == 0 || x[3] == 0) && !size.contains(&0) {
            let what = format!("the planes of the input {x} are empty, and {size:?} outputs need elements");
            return Err(self.error(operation, ErrorKind::Argument { what }));
        }
        Ok(plan)
    }

    fn require_planes(&self, operation: &'static str, rank: usize) -> Result<()> {
        self.require(operation, self.dtype().is_float(), CAST_TO_FLOAT)?;
        if self.rank() == rank {
            return Ok(());
        }
        let expected = if rank == 3 { "3" } else { "4" };
        Err(self.error(operation, ErrorKind::Rank { shape: self.shape().clone(), expected }))
    }

    fn pool(&self, plan: &Pooling) -> Result<Tensor> {
        let shape = Shape::from([self.dims()[0], self.dims()[1], plan.h.out, plan.w.out]);
        shape.elements(plan.operation).on(self)?;
        let storage = by_device!(pool::pool(x, &self.layout, plan), x = self.storage()).on(self)?;
        Tensor::tight(storage, shape, plan.operation)
    }
}

fn with_stride(size: impl ToUsize2, stride: impl ToUsize2) -> Pool2dConfig {
    let (h, w) = stride.to_usize2();
    Pool2dConfig { stride: [h, w], ..Pool2dConfig::new(size) }
}
