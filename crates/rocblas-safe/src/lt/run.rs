//! A product on its way to C: its checks, its description, and its submission.

use super::handle::table;
use super::matmul::{Activation, Bias, bytes_mut};
use super::problem::{Problem, Side, alignment};
use super::raw::{Descriptors, Extras};
use super::types::sealed::{Compute, Typed};
use super::{LtElement, Matmul, MatmulTypes};
use crate::ops::{check, check_matrix};
use crate::storage::Storage;
use crate::stored::Stored;
use crate::{Error, MatrixBatch, MatrixBatchMut, Result};
use hip_safe::{DeviceView, DeviceViewMut, Stream};
use hip_sys::hipblaslt::{hipDataType, hipblasLtEpilogue_t as epilogue};
use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut};
use std::sync::Arc;

const OP: &str = "matmul";

/// Matrices of any type; `V` is a view of their bytes.
struct Operand<V> {
    stored: Stored,
    data_type: hipDataType,
    view: V,
    /// `None` for a single matrix.
    count: Option<usize>,
    stride: usize,
}

type Input<'a> = Operand<DeviceView<'a, u8>>;
type Output<'a> = Operand<DeviceViewMut<'a, u8>>;

impl<'a, A: LtElement, B: LtElement, D: LtElement> Matmul<'_, 'a, A, B, D>
where
    (A, B, D): MatmulTypes,
{
    /// Submits the product to a stream. It is ordered after conflicting uses of its operands on any stream or thread, and may be captured into a
    /// graph.
    ///
    /// # Errors
    /// - [`Error::NoAlgorithm`] if the library has none.
    /// - [`Error::Shape`] and [`Error::BatchCount`] for sizes that do not agree.
    /// - [`Error::NotSupported`] for what the library cannot express: a bias in the other direction than the layout of the result wants, operands
    ///   of the result's size in another layout, batches at arbitrary addresses, sizes beyond 32 bits, an inner size of 0, and an auxiliary output
    ///   without an activation.
    /// - [`Error::ScalarLen`] for a factor that is not one number, [`Error::Hip`] for memory or a stream of another device, and
    ///   [`Error::LtStatus`].
    #[doc(alias = "hipblasLtMatmul")]
    #[doc(alias = "hipblasLtMatmulAlgoGetHeuristic")]
    pub fn run(self, stream: &Stream) -> Result<()> {
        let Self { handle, a, b, d, alpha, beta, c, activation, bias, aux, mut scales, precision } = self;
        let device = handle.device();
        device.check_usable()?;
        device.check_stream(stream)?;
        let table = table(device)?;
        let (m, n, k) = (d.rows(), d.cols(), a.cols());
        check_matrix(OP, "b", b.stored, k, n)?;
        check_matrix(OP, "d", d.stored, a.rows(), n)?;
        let (zero, _) = <(A, B, D)>::ZERO_ONE;
        // What is not added is not read.
        let c = c.filter(|_| beta != zero);
        c.as_ref().map_or(Ok(()), |c| check_matrix(OP, "c", c.stored, m, n))?;
        aux.as_ref().map_or(Ok(()), |aux| check_matrix(OP, "aux", aux.stored, m, n))?;
        if let Some(Bias { len, per_row, .. }) = bias {
            check(OP, "the length of the bias", len, if per_row { m } else { n })?;
        }
        if let Some(scale) = scales.iter().flatten().find(|scale| scale.len() != 1) {
            return Err(Error::ScalarLen { what: "a factor", wanted: 1, got: scale.len() });
        }
        if aux.is_some() && activation == Activation::None {
            return Err(refused("an auxiliary output without an activation", "it is the result: copy that"));
        }
        let (mut a, mut b, mut d) = (input(a)?, input(b)?, output(d)?);
        let (mut c, mut aux) = (c.map(input).transpose()?, aux.map(output).transpose()?);
        let count = members(&d, [Some(&a), Some(&b), c.as_ref()], aux.as_ref())?;
        if m == 0 || n == 0 || count == 0 {
            return Ok(());
        }
        if k == 0 {
            return Err(refused("a product with an inner size of 0", "take Handle::gemm"));
        }

        let others = [c.as_ref().map(|c| c.stored), aux.as_ref().map(|aux| aux.stored)];
        let turned = orient(&mut d.stored, others, bias.as_ref().map(|bias| bias.per_row))?;
        let same = |stored: &mut Stored| *stored = stored.stored_as(turned).unwrap_or(*stored);
        if let Some(c) = &mut c {
            same(&mut c.stored);
        }
        if let Some(aux) = &mut aux {
            same(&mut aux.stored);
        }
        if turned {
            // The stored columns are then the transposed result, which is the product of the transposed b and a.
            (a, b) = (b, a);
            scales.swap(0, 1);
            a.stored = a.stored.t();
            b.stored = b.stored.t();
        }
        let to = (d.view.device_ptr_mut().cast::<c_void>(), d.side(count));
        let aux_to = aux.as_mut().map_or(null_mut(), |aux| aux.view.device_ptr_mut().cast::<c_void>());
        let from = |input: &Input<'a>| input.view.device_ptr().cast::<c_void>();
        let problem = Problem {
            a: a.side(count),
            b: b.side(count),
            c: c.as_ref().map_or(to.1, |c| c.side(count)),
            d: to.1,
            aux: aux.as_mut().map(|aux| aux.side(count)),
            transposed: [a.stored.flag.transposed, b.stored.flag.transposed],
            compute: <(A, B, D) as Compute>::compute(precision),
            scale_type: <(A, B, D) as Compute>::SCALE,
            epilogue: epilogue_of(activation, bias.is_some(), aux.is_some()),
            bias: bias.as_ref().map(|bias| bias.data_type),
            scaled: scales.map(|scale| scale.is_some()),
            work_limit: handle.work_limit(),
        };
        if !problem.is_narrow() {
            let what = "a size, leading dimension, distance or number of matrices above 2147483647";
            return Err(refused(what, "split the call, or take Handle::gemm"));
        }
        let bias = bias.map(|bias| bias.view).transpose()?;
        let extras = Extras {
            bias: bias.map_or(null(), |bias| bias.device_ptr().cast()),
            aux: aux_to,
            scales: scales.map(|scale| scale.map_or(null(), |scale| scale.device_ptr().cast())),
        };
        // SAFETY: S2: the views have these addresses, and live until the call is submitted.
        let descriptors = unsafe { Descriptors::new(table, &problem, extras) }?;
        let choice = handle.algorithm(&problem, &descriptors)?;
        let mut work = match choice.work_bytes {
            0 => None,
            // SAFETY: S15: it is the library's alone, which reads what it has written there.
            bytes => Some(unsafe { stream.alloc_uninit::<u8>(bytes) }?.named("work memory of hipBLASLt")),
        };
        let work_at = work.as_mut().map_or(null_mut(), |work| work.device_ptr_mut().cast());

        let mut submission = stream.submission();
        submission.read(&a.view).read(&b.view);
        for view in c.iter().map(|c| &c.view).chain(&bias) {
            submission.read(view);
        }
        for scale in scales.iter().flatten() {
            submission.read(scale);
        }
        let addresses = (from(&a), from(&b), c.as_ref().map_or(to.0.cast_const(), from), to.0);
        submission.write(&mut d.view);
        if let Some(aux) = &mut aux {
            submission.write(&mut aux.view);
        }
        if let Some(work) = &mut work {
            submission.write(work);
        }
        submission.order_by(&handle.shared.state).keep(Arc::clone(&handle.shared) as _);
        let scalars = (from_ref(&alpha).cast(), from_ref(&beta).cast());
        let space = (work_at, choice.work_bytes);
        let call = |raw| {
            let _one = handle.shared.lock.lock();
            let c_handle = handle.shared.handle.get().0;
            // SAFETY: S1, S2, S3: handle and stream are live and of one device, which is current; the problem was made of these operands, whose
            // views reach as far as their sizes say, and the algorithm of the problem.
            unsafe { descriptors.multiply(c_handle, scalars, addresses, &choice.algorithm, space, raw) }
        };
        // SAFETY: S5, S23: the library submits to this stream alone; its work uses the operands, the work memory, and what belongs to the handle,
        // which `state` orders.
        let answer = unsafe { submission.submit("a product of matrices", call) }?;
        Ok(answer?)
    }
}

impl<V> Operand<V> {
    fn with<T: Typed>(stored: Stored, view: V, count: Option<usize>, stride: usize) -> Self {
        Self { stored, data_type: T::DATA_TYPE, view, count, stride }
    }
}

impl Input<'_> {
    fn side(&self, count: usize) -> Side {
        side(self.stored, self.data_type, self.view.device_ptr().addr(), count, self.stride)
    }
}

impl Output<'_> {
    fn side(&mut self, count: usize) -> Side {
        side(self.stored, self.data_type, self.view.device_ptr_mut().addr(), count, self.stride)
    }
}

/// A single matrix has the same address for every member of a batch.
fn side(stored: Stored, data_type: hipDataType, address: usize, count: usize, stride: usize) -> Side {
    let Stored { rows, cols, ld, .. } = stored;
    let stride = if count == 1 { 0 } else { stride };
    Side { data_type, rows, cols, ld, count, stride, alignment: alignment(address) }
}

fn input<T: LtElement>(batch: MatrixBatch<'_, T>) -> Result<Input<'_>> {
    match batch.storage {
        Storage::One(view) => Ok(Operand::with::<T>(batch.stored, view.recast()?, None, 0)),
        Storage::Strided { view, stride, count } => {
            Ok(Operand::with::<T>(batch.stored, view.recast()?, Some(count), stride))
        }
        Storage::Many(_) => Err(arbitrary()),
    }
}

fn output<T: LtElement>(batch: MatrixBatchMut<'_, T>) -> Result<Output<'_>> {
    match batch.storage {
        Storage::One(view) => Ok(Operand::with::<T>(batch.stored, bytes_mut(view)?, None, 0)),
        Storage::Strided { view, stride, count } => {
            Ok(Operand::with::<T>(batch.stored, bytes_mut(view)?, Some(count), stride))
        }
        Storage::Many(_) => Err(arbitrary()),
    }
}

fn arbitrary() -> Error {
    refused("a batch of members at arbitrary addresses", "take members at equal distances, or Handle::gemm")
}

fn refused(what: &'static str, remedy: &'static str) -> Error {
    Error::NotSupported { op: OP, what, remedy }
}

/// How many products there are: the members of the result.
fn members(d: &Output<'_>, inputs: [Option<&Input<'_>>; 3], aux: Option<&Output<'_>>) -> Result<usize> {
    let expected = d.count.unwrap_or(1);
    let given = inputs.into_iter().flatten().filter_map(|input| input.count);
    let written = aux.map(|aux| aux.count.unwrap_or(1));
    match given.chain(written).find(|&got| got != expected) {
        Some(got) => Err(Error::BatchCount { op: OP, expected, got }),
        None => Ok(expected),
    }
}

/// Whether C gets the transposed product: the result has to be stored that way, and what has its size too. C adds a bias to rows.
fn orient(d: &mut Stored, others: [Option<Stored>; 2], bias_per_row: Option<bool>) -> Result<bool> {
    let own = d.flag.transposed;
    let ways = match bias_per_row {
        Some(per_row) => [!per_row; 2],
        None => [own, !own],
    };
    let mut expressible = false;
    for turned in ways {
        let Some(stored) = d.stored_as(turned) else { continue };
        expressible = true;
        if others.iter().flatten().all(|other| other.stored_as(turned).is_some()) {
            *d = stored;
            return Ok(turned);
        }
    }
    Err(if expressible {
        refused(
            "an operand of the result's size in another layout than the result",
            "store both by rows or both by columns",
        )
    } else {
        refused(
            "a bias for each row of a row-major result, or for each column of a column-major one",
            "store the result in the other layout",
        )
    })
}

fn epilogue_of(activation: Activation, bias: bool, aux: bool) -> epilogue {
    match (activation, bias, aux) {
        (Activation::None, false, _) => epilogue::HIPBLASLT_EPILOGUE_DEFAULT,
        (Activation::None, true, _) => epilogue::HIPBLASLT_EPILOGUE_BIAS,
        (Activation::Relu, false, false) => epilogue::HIPBLASLT_EPILOGUE_RELU,
        (Activation::Relu, true, false) => epilogue::HIPBLASLT_EPILOGUE_RELU_BIAS,
        (Activation::Relu, false, true) => epilogue::HIPBLASLT_EPILOGUE_RELU_AUX,
        (Activation::Relu, true, true) => epilogue::HIPBLASLT_EPILOGUE_RELU_AUX_BIAS,
        (Activation::Gelu, false, false) => epilogue::HIPBLASLT_EPILOGUE_GELU,
        (Activation::Gelu, true, false) => epilogue::HIPBLASLT_EPILOGUE_GELU_BIAS,
        (Activation::Gelu, false, true) => epilogue::HIPBLASLT_EPILOGUE_GELU_AUX,
        (Activation::Gelu, true, true) => epilogue::HIPBLASLT_EPILOGUE_GELU_AUX_BIAS,
    }
}
