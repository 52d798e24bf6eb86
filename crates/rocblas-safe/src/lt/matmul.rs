//! A product in preparation: what is multiplied, and what follows.

use super::types::sealed::Typed;
use super::{BiasFor, Float8, LtElement, LtHandle, MatmulTypes};
use crate::{MathMode, MatrixBatch, MatrixBatchMut, Result};
use hip_safe::{DeviceView, DeviceViewMut};
use hip_sys::hipblaslt::hipDataType;

/// `d = scale · activation(alpha · scale_a · scale_b · a b + beta c + bias)`, of which every part but `a b` may be left out. [`LtHandle::matmul`]
/// begins one, [`Matmul::run`](Matmul::run) submits it.
///
/// Matrices may have any layout and be transposed. A batch has its members at equal distances; a single factor is used for every member. Sums of
/// floats are made in `f32`, and a result is rounded once, when it is stored.
#[must_use = "nothing is computed before `run`"]
pub struct Matmul<'h, 'a, A, B, D>
where
    (A, B, D): MatmulTypes,
{
    pub(super) handle: &'h LtHandle,
    pub(super) a: MatrixBatch<'a, A>,
    pub(super) b: MatrixBatch<'a, B>,
    pub(super) d: MatrixBatchMut<'a, D>,
    pub(super) alpha: <(A, B, D) as MatmulTypes>::Scale,
    pub(super) beta: <(A, B, D) as MatmulTypes>::Scale,
    /// What is added; `None` for what `d` has.
    pub(super) c: Option<MatrixBatch<'a, D>>,
    pub(super) activation: Activation,
    pub(super) bias: Option<Bias<'a>>,
    pub(super) aux: Option<MatrixBatchMut<'a, D>>,
    pub(super) scales: [Option<DeviceView<'a, f32>>; 3],
    pub(super) precision: MathMode,
}

/// What is applied to each element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    None,
    Relu,
    Gelu,
}

/// Numbers that are added to the rows or to the columns of the result.
pub(super) struct Bias<'a> {
    pub(super) view: Result<DeviceView<'a, u8>, hip_safe::Error>,
    pub(super) len: usize,
    pub(super) data_type: hipDataType,
    pub(super) per_row: bool,
}

impl LtHandle {
    /// Begins a product of `a` (m x k) and `b` (k x n) into `d` (m x n).
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use rocblas_safe::lt::{F8E4M3, LtHandle};
    /// use rocblas_safe::{Layout::ColMajor, Matrix, MatrixMut};
    /// # let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
    /// # let stream = device.new_stream()?;
    /// let lt = LtHandle::new(&device)?;
    /// // 1 and 2, of which a factor makes 10 and 20.
    /// let a = stream.upload(&[F8E4M3::from_bits(0x38), F8E4M3::from_bits(0x40)])?;
    /// let ten = stream.upload(&[10.0_f32])?;
    /// let mut d = stream.alloc_zeros::<f32>(1)?;
    /// let row = Matrix::new(a.view(), 1, 2, ColMajor)?;
    /// lt.matmul(row, row.t(), MatrixMut::new(d.view_mut(), 1, 1, ColMajor)?).scale_a(ten.view()).run(&stream)?;
    /// assert_eq!(stream.download(&d)?, [50.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "hipblasLtMatmul")]
    pub fn matmul<'h, 'a, A: LtElement, B: LtElement, D: LtElement>(
        &'h self,
        a: impl Into<MatrixBatch<'a, A>>,
        b: impl Into<MatrixBatch<'a, B>>,
        d: impl Into<MatrixBatchMut<'a, D>>,
    ) -> Matmul<'h, 'a, A, B, D>
    where
        (A, B, D): MatmulTypes,
    {
        let (zero, one) = <(A, B, D)>::ZERO_ONE;
        Matmul {
            handle: self,
            a: a.into(),
            b: b.into(),
            d: d.into(),
            alpha: one,
            beta: zero,
            c: None,
            activation: Activation::None,
            bias: None,
            aux: None,
            scales: [None; 3],
            precision: MathMode::Full,
        }
    }
}

impl<'a, A, B, D> Matmul<'_, 'a, A, B, D>
where
    (A, B, D): MatmulTypes,
{
    /// Multiplies the product; 1 without. If it is 0, `a` and `b` have no effect, NaN included.
    pub fn alpha(mut self, alpha: <(A, B, D) as MatmulTypes>::Scale) -> Self {
        self.alpha = alpha;
        self
    }

    /// Adds `beta` times what `d` has before. If `beta` is 0, that is not read.
    pub fn accumulate(mut self, beta: <(A, B, D) as MatmulTypes>::Scale) -> Self {
        (self.beta, self.c) = (beta, None);
        self
    }

    /// Adds `beta` times `c`, of the size of `d` and stored in its layout.
    pub fn add(mut self, beta: <(A, B, D) as MatmulTypes>::Scale, c: impl Into<MatrixBatch<'a, D>>) -> Self {
        (self.beta, self.c) = (beta, Some(c.into()));
        self
    }

    /// Whether factors of `f32` may be rounded to XF32 or TF32, if the device is faster then. Other types have one precision.
    pub fn precision(mut self, precision: MathMode) -> Self {
        self.precision = precision;
        self
    }
}

impl<'a, A, B, D> Matmul<'_, 'a, A, B, D>
where
    (A, B, D): MatmulTypes<Scale = f32>,
{
    /// Replaces what is negative by 0.
    #[doc(alias = "HIPBLASLT_EPILOGUE_RELU")]
    pub fn relu(mut self) -> Self {
        self.activation = Activation::Relu;
        self
    }

    /// Applies `x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`.
    #[doc(alias = "HIPBLASLT_EPILOGUE_GELU")]
    pub fn gelu(mut self) -> Self {
        self.activation = Activation::Gelu;
        self
    }

    /// Adds a number to each row: to all its elements the same, before the activation. All members of a batch have the same bias. C has it for a
    /// column-major `d`.
    #[doc(alias = "HIPBLASLT_EPILOGUE_BIAS")]
    pub fn bias_per_row<E: BiasFor<D>>(self, bias: DeviceView<'a, E>) -> Self {
        self.biased(bias, true)
    }

    /// Adds a number to each column, as layers of networks do whose inputs are rows. C has it for a row-major `d`.
    #[doc(alias = "HIPBLASLT_EPILOGUE_BIAS")]
    pub fn bias_per_column<E: BiasFor<D>>(self, bias: DeviceView<'a, E>) -> Self {
        self.biased(bias, false)
    }

    fn biased<E: BiasFor<D>>(mut self, bias: DeviceView<'a, E>, per_row: bool) -> Self {
        let (len, data_type) = (bias.len(), <E as Typed>::DATA_TYPE);
        self.bias = Some(Bias { view: bias.recast(), len, data_type, per_row });
        self
    }

    /// Writes what goes into the activation, with the bias, to a matrix of the size of `d`, stored in its layout. A backward pass needs it. The
    /// product has to have an activation.
    #[doc(alias = "HIPBLASLT_EPILOGUE_GELU_AUX")]
    pub fn aux(mut self, aux: impl Into<MatrixBatchMut<'a, D>>) -> Self {
        self.aux = Some(aux.into());
        self
    }

    /// Multiplies the elements of `a` by one number of device memory, which is read when the product's turn on the stream comes.
    pub fn scale_a(mut self, factor: DeviceView<'a, f32>) -> Self
    where
        A: Float8,
    {
        self.scales[0] = Some(factor);
        self
    }

    /// As [`Matmul::scale_a`], the elements of `b`.
    pub fn scale_b(mut self, factor: DeviceView<'a, f32>) -> Self
    where
        B: Float8,
    {
        self.scales[1] = Some(factor);
        self
    }

    /// As [`Matmul::scale_a`], the result, before it is rounded to 8 bits.
    pub fn scale_d(mut self, factor: DeviceView<'a, f32>) -> Self
    where
        D: Float8,
    {
        self.scales[2] = Some(factor);
        self
    }
}

/// An output's view, as bytes.
pub(super) fn bytes_mut<T: hip_safe::AnyBits>(view: DeviceViewMut<'_, T>) -> Result<DeviceViewMut<'_, u8>> {
    Ok(view.recast()?)
}
