//! Matrix products and convolutions with the sizes of networks.

use super::check::{self, Check, picks};
use super::data::Matrix;
use super::rows::{Row, Work, joined};
use std::rc::Rc;
use tensor_core::{Conv2dConfig, DType, Device, Result, Tensor};

/// A product. Its inputs are created just before it is measured, since those of all products together are too
/// large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Matrix products, `batch` times `[m, k]` by `[k, n]`.
    Gemm {
        /// The number of products.
        batch: usize,
        /// Rows of the result.
        m: usize,
        /// Columns of the result.
        n: usize,
        /// The inner dimension.
        k: usize,
        /// The right matrix is stored as `[n, k]`, like the weights of a linear layer.
        linear: bool,
    },
    /// A convolution of `batch` square images with square filters.
    Conv {
        /// The number of images.
        batch: usize,
        /// Channels of an image.
        channels: usize,
        /// Its height and width.
        side: usize,
        /// The number of filters.
        filters: usize,
        /// Their height and width.
        taps: usize,
        /// Distance between windows.
        stride: usize,
        /// The device may use Winograd's and Fourier's transforms, see [`tensor_core::HipDevice::allow_winograd`].
        transforms: bool,
    },
}

const fn gemm(batch: usize, m: usize, n: usize, k: usize) -> Product {
    Product::Gemm { batch, m, n, k, linear: false }
}

const fn linear(m: usize) -> Product {
    Product::Gemm { batch: 1, m, n: 4096, k: 11008, linear: true }
}

const fn conv(channels: usize, side: usize, filters: usize, taps: usize, stride: usize) -> Product {
    Product::Conv { batch: 32, channels, side, filters, taps, stride, transforms: false }
}

const fn winograd(channels: usize, side: usize, filters: usize, taps: usize, stride: usize) -> Product {
    Product::Conv { batch: 32, channels, side, filters, taps, stride, transforms: true }
}

/// The measured products: large, batched and skinny matrix products, and the convolutions of ResNet-50 for 32
/// images. Those for which PyTorch uses transforms, which round differently from 32-bit sums, occur in that
/// form too.
pub const PRODUCTS: [Product; 21] = [
    gemm(1, 8192, 8192, 8192),
    gemm(1, 4096, 11008, 4096),
    gemm(128, 512, 512, 64),
    linear(1),
    linear(2),
    linear(4),
    linear(8),
    linear(16),
    conv(3, 224, 64, 7, 2),
    conv(64, 56, 64, 1, 1),
    conv(64, 56, 64, 3, 1),
    conv(64, 56, 256, 1, 1),
    conv(256, 56, 512, 1, 2),
    conv(128, 56, 128, 3, 2),
    conv(128, 28, 128, 3, 1),
    conv(512, 28, 128, 1, 1),
    conv(256, 14, 256, 3, 1),
    conv(512, 7, 512, 3, 1),
    conv(512, 7, 2048, 1, 1),
    winograd(3, 224, 64, 7, 2),
    winograd(128, 28, 128, 3, 1),
];

impl Product {
    /// The operation's name. Products with transposed weights, and convolutions with transforms, have names
    /// of their own.
    pub fn op(self) -> &'static str {
        match self {
            Self::Gemm { linear: true, .. } => "linear",
            Self::Gemm { .. } => "gemm",
            Self::Conv { transforms: true, .. } => "conv_winograd",
            Self::Conv { .. } => "conv",
        }
    }

    /// The sizes in the peer's order: batch, m, n, k; or batch, channels, side, filters, taps, stride.
    pub fn dims(self) -> Vec<usize> {
        match self {
            Self::Gemm { batch, m, n, k, .. } => vec![batch, m, n, k],
            Self::Conv { batch, channels, side, filters, taps, stride, .. } => {
                vec![batch, channels, side, filters, taps, stride]
            }
        }
    }

    /// The sizes as text.
    pub fn shape(self) -> String {
        match self {
            Self::Gemm { batch: 1, m, n, k, .. } => joined(&[m, n, k]),
            Self::Gemm { batch, m, n, k, .. } => format!("{batch}x({})", joined(&[m, n, k])),
            Self::Conv { batch, channels, side, filters, taps, stride, .. } => {
                format!("{}_{filters}x{taps}x{taps}_s{stride}", joined(&[batch, channels, side, side]))
            }
        }
    }

    /// The same product with sizes divided by `by`; filters keep their size.
    pub(super) fn shrunk(self, by: usize) -> Self {
        let less = |size: usize| (size / by).max(1);
        match self {
            Self::Gemm { batch, m, n, k, linear } => {
                Self::Gemm { batch: less(batch), m: less(m), n: less(n), k: less(k), linear }
            }
            Self::Conv { batch, channels, side, filters, taps, stride, transforms } => {
                let (batch, channels, filters) = (less(batch), less(channels), less(filters));
                let side = less(side).max(taps).min(side);
                Self::Conv { batch, channels, side, filters, taps, stride, transforms }
            }
        }
    }

    /// Whether the device may use Winograd's transform and low-precision sums for it.
    pub(super) fn takes_transforms(self) -> bool {
        matches!(self, Self::Conv { transforms: true, .. })
    }

    /// Creates the inputs. Images are padded by half a filter.
    ///
    /// # Errors
    /// An error of the device.
    pub fn row(self, dtype: DType, device: &Device) -> Result<Row<'static>> {
        match self {
            Self::Gemm { batch, m, n, k, linear } => {
                let a = Matrix::random(dtype, batch * m, k, 1, device)?;
                let (rows, columns) = if linear { (n, k) } else { (batch * k, n) };
                let b = Rc::new(Matrix::random(dtype, rows, columns, 2, device)?);
                let a = Rc::new(a);
                let right = if linear {
                    b.tensor.t()?
                } else {
                    b.tensor.reshape([batch, k, n])?.squeeze_one(batch)?
                };
                let left = a.tensor.reshape([batch, m, k])?.squeeze_one(batch)?;
                let work =
                    Work::Operations(2.0 * [batch, m, n, k].map(|size| size as f64).iter().product::<f64>());
                let run = Box::new(move || left.matmul(&right));
                let check =
                    Box::new(move |result: &Tensor| check_gemm(result, [&a, &b], [batch, m, n, k], linear));
                Ok(Row { op: self.op(), work, run, check })
            }
            Self::Conv { batch, channels, side, filters, taps, stride, .. } => {
                let x = Rc::new(Matrix::random(dtype, batch, channels * side * side, 1, device)?);
                let f = Rc::new(Matrix::random(dtype, filters, channels * taps * taps, 2, device)?);
                let images = x.tensor.reshape([batch, channels, side, side])?;
                let kernel = f.tensor.reshape([filters, channels, taps, taps])?;
                let padding = taps / 2;
                let pixels = ((side + 2 * padding - taps) / stride + 1).pow(2);
                let terms = [batch, filters, pixels, channels, taps, taps].map(|size| size as f64);
                let work = Work::Operations(2.0 * terms.iter().product::<f64>());
                let config =
                    Conv2dConfig { padding: [padding; 2], stride: [stride; 2], ..Conv2dConfig::default() };
                let run = Box::new(move || images.conv2d_with(&kernel, None, &config));
                let how = reference::Convolution {
                    padding: config.padding,
                    stride: config.stride,
                    ..reference::Convolution::default()
                };
                let check =
                    Box::new(move |result: &Tensor| check_conv(result, &x, &f, [channels, side, taps], how));
                Ok(Row { op: self.op(), work, run, check })
            }
        }
    }
}

/// Checks some elements of the first and last product.
fn check_gemm(result: &Tensor, [a, b]: [&Matrix; 2], [batch, m, n, k]: [usize; 4], linear: bool) -> Check {
    let text = |error: tensor_core::Error| error.to_string();
    let result = result.reshape([batch * m, n]).map_err(text)?;
    let (rows, columns) = (picks(m), picks(n));
    let right = if linear { check::rows_of(b, &columns) } else { check::columns_of(b, &columns) };
    let length = if linear { k } else { batch * k };
    for number in [0, batch - 1] {
        let result_rows: Vec<usize> = rows.iter().map(|row| number * m + row).collect();
        let left = check::rows_of(a, &result_rows);
        let right = right.strided(number * k, &[k, columns.len()], &[1, length as isize]);
        let right = right.map_err(|error| error.to_string())?;
        check::judge_crossings(&result, &result_rows, &columns, reference::matmul(&left, &right))?;
    }
    Ok(())
}

/// Checks the first and last filter on the first and last image.
fn check_conv(
    result: &Tensor,
    x: &Matrix,
    f: &Matrix,
    [channels, side, taps]: [usize; 3],
    how: reference::Convolution,
) -> Check {
    let text = |error: reference::Error| error.to_string();
    for image in [0, x.rows() - 1] {
        let picture = check::rows_of(x, &[image]).reshape(&[1, channels, side, side]).map_err(text)?;
        for filter in [0, f.rows() - 1] {
            let kernel = check::rows_of(f, &[filter]).reshape(&[1, channels, taps, taps]).map_err(text)?;
            let part = result.narrow(0, image, 1).and_then(|part| part.narrow(1, filter, 1));
            let part = part.map_err(|error| error.to_string())?;
            check::judge(&part, &[0], reference::convolution(&picture, &kernel, None, how))?;
        }
    }
    Ok(())
}

/// Removes the axis of a batch of one.
trait SqueezeOne {
    fn squeeze_one(&self, batch: usize) -> Result<Tensor>;
}

impl SqueezeOne for Tensor {
    fn squeeze_one(&self, batch: usize) -> Result<Tensor> {
        if batch == 1 { self.squeeze(0) } else { Ok(self.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: [Product; 5] = [
        gemm(1, 9, 7, 12),
        gemm(3, 5, 6, 4),
        Product::Gemm { batch: 1, m: 1, n: 6, k: 8, linear: true },
        Product::Gemm { batch: 1, m: 4, n: 6, k: 8, linear: true },
        Product::Conv { batch: 2, channels: 3, side: 9, filters: 4, taps: 3, stride: 2, transforms: false },
    ];

    #[test]
    fn small_products_are_right_and_a_wrong_one_is_found() {
        for product in SMALL {
            for dtype in [DType::F32, DType::F16, DType::BF16] {
                let row = product.row(dtype, &Device::Cpu).unwrap();
                let result = (row.run)().unwrap();
                assert_eq!((row.check)(&result), Ok(()), "{} {dtype}", product.shape());
                let wrong = result.affine(1.0, 1.0).unwrap();
                assert!((row.check)(&wrong).is_err(), "{} {dtype}", product.shape());
            }
        }
    }

    #[test]
    fn names_and_work() {
        let names = PRODUCTS.map(|product| format!("{} {}", product.op(), product.shape()));
        assert_eq!(names[2], "gemm 128x(512x512x64)");
        assert_eq!(names[3], "linear 1x4096x11008");
        assert_eq!(names[10], "conv 32x64x56x56_64x3x3_s1");
        assert_eq!(PRODUCTS[10].dims(), [32, 64, 56, 64, 3, 1]);
        assert_eq!(PRODUCTS[10].shrunk(16).shape(), "2x4x3x3_4x3x3_s1");
        assert_eq!(PRODUCTS.map(|product| product.shrunk(1)), PRODUCTS);
        let row = SMALL[4].row(DType::F32, &Device::Cpu).unwrap();
        // 2 images, 4 filters, 5 × 5 positions, 27 terms.
        assert_eq!(row.work, Work::Operations(2.0 * 2.0 * 4.0 * 25.0 * 27.0));
    }
}
