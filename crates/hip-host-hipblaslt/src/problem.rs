//! What a call computes, read from its descriptors and checked.

use crate::elements::Element;
use crate::status::{Outcome, UNSUPPORTED, VALUE, ensure};
use hip_sys::hipblaslt::{hipDataType, hipblasComputeType_t as compute_type, hipblasOperation_t};
use hip_sys::provider::hipblaslt::{Layout, Product};

/// A matrix, or each of a batch: columns of elements, `ld` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) element: Element,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) ld: i64,
    /// Elements from one member to the next.
    pub(crate) stride: i64,
    batch: usize,
}

/// d = scale_d activation(alpha scale_a scale_b op(a) op(b) + beta scale_c c + bias).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem {
    pub(crate) a: Operand,
    pub(crate) b: Operand,
    pub(crate) c: Operand,
    pub(crate) d: Operand,
    pub(crate) transposed: [bool; 2],
    pub(crate) k: usize,
    pub(crate) batch: usize,
    pub(crate) activation: Activation,
    /// The address of a bias: an element for each row of d.
    pub(crate) bias: Option<(usize, Element)>,
    /// The address at which the activation's input is stored.
    pub(crate) aux: Option<(usize, Operand)>,
    /// The factors of a, b, c and d, by their addresses, 0 for none.
    pub(crate) scales: [usize; 4],
}

/// What is applied to each element of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    None,
    Relu,
    Gelu,
}

/// The bits that epilogues are made of; without any they are 1.
const RELU: u32 = 2;
const BIAS: u32 = 4;
const GELU: u32 = 32;
const AUX: u32 = 128;

impl Operand {
    fn of(layout: &Layout) -> Outcome<Self> {
        ensure(layout.order == 0, UNSUPPORTED)?;
        let (ld, stride) = (layout.ld.cast_signed(), layout.stride.cast_signed());
        let size = |value: u64| i64::try_from(value).ok().and_then(|v| usize::try_from(v).ok()).ok_or(VALUE);
        let (rows, cols) = (size(layout.rows)?, size(layout.cols)?);
        let batch = usize::try_from(layout.batch.cast_signed()).map_err(|_| VALUE)?;
        ensure(rows > 0 && cols > 0 && batch > 0 && stride >= 0, VALUE)?;
        ensure(usize::try_from(ld).is_ok_and(|ld| ld >= rows), VALUE)?;
        Ok(Self { element: Element::of(layout.data_type)?, rows, cols, ld, stride, batch })
    }

    /// The elements from the first to the last one of all members; `None` beyond an address space.
    pub(crate) fn reach(&self) -> Option<usize> {
        let columns = (self.cols - 1).checked_mul(usize::try_from(self.ld).ok()?)?;
        let members = (self.batch - 1).checked_mul(usize::try_from(self.stride).ok()?)?;
        columns.checked_add(members)?.checked_add(self.rows)
    }
}

impl Problem {
    pub(crate) fn of(product: &Product, [a, b, c, d]: [&Layout; 4]) -> Outcome<Self> {
        let plain = product.pointer_mode == 0 && product.scale_modes == [0; 2] && product.amax == 0;
        ensure(plain, UNSUPPORTED)?;
        let transposed = product.operations.map(|operation| match hipblasOperation_t(operation) {
            hipblasOperation_t::HIPBLAS_OP_N => Ok(false),
            hipblasOperation_t::HIPBLAS_OP_T | hipblasOperation_t::HIPBLAS_OP_C => Ok(true),
            _ => Err(VALUE),
        });
        let transposed = [transposed[0]?, transposed[1]?];
        let (a, b, c, d) = (Operand::of(a)?, Operand::of(b)?, Operand::of(c)?, Operand::of(d)?);
        check_types(product, [a.element, b.element, c.element, d.element])?;
        let seen = |o: &Operand, turned| if turned { (o.cols, o.rows) } else { (o.rows, o.cols) };
        let ((m, k), (inner, n)) = (seen(&a, transposed[0]), seen(&b, transposed[1]));
        ensure(k == inner && (d.rows, d.cols) == (m, n) && (c.rows, c.cols) == (m, n), VALUE)?;
        ensure([&b, &c, &d].iter().all(|operand| operand.batch == a.batch), VALUE)?;
        let (activation, has_bias, has_aux) = epilogue(product.epilogue)?;
        let integers = d.element == Element::I32;
        ensure(!integers || product.epilogue == 1 && product.scales == [0; 5], UNSUPPORTED)?;
        let element = |data_type: u32| {
            if data_type == Product::UNSET { Ok(d.element) } else { Element::of(data_type) }
        };
        let bias = if has_bias {
            ensure(product.bias != 0, VALUE)?;
            let element = element(product.bias_type)?;
            ensure(!matches!(element, Element::I8 | Element::I32), UNSUPPORTED)?;
            Some((product.bias as usize, element))
        } else {
            None
        };
        let aux = if has_aux {
            ensure(product.aux != 0, VALUE)?;
            ensure(product.scales[4] == 0, UNSUPPORTED)?;
            let (ld, stride) = (product.aux_ld.cast_signed(), product.aux_stride.cast_signed());
            ensure(usize::try_from(ld).is_ok_and(|ld| ld >= m) && stride >= 0, VALUE)?;
            let element = element(product.aux_type)?;
            ensure(!matches!(element, Element::I8 | Element::I32), UNSUPPORTED)?;
            Some((product.aux as usize, Operand { element, ld, stride, ..d }))
        } else {
            None
        };
        let [sa, sb, sc, sd, _] = product.scales.map(|address| address as usize);
        let scales = [sa, sb, sc, sd];
        Ok(Self { a, b, c, d, transposed, k, batch: a.batch, activation, bias, aux, scales })
    }

    /// Whether it multiplies integers: alpha and beta are then of i32.
    pub(crate) fn is_of_integers(&self) -> bool {
        self.d.element == Element::I32
    }
}

fn check_types(product: &Product, [a, b, out_c, out_d]: [Element; 4]) -> Outcome {
    use Element::{Bf16, F16, F32, I8, I32};
    ensure(out_c == out_d, UNSUPPORTED)?;
    let (compute, scale) = (compute_type(product.compute), hipDataType(product.scale_type));
    if a == I8 {
        let whole =
            matches!(compute, compute_type::HIPBLAS_COMPUTE_32I | compute_type::HIPBLAS_COMPUTE_32I_PEDANTIC);
        return ensure(b == I8 && out_d == I32 && whole && scale == hipDataType::HIP_R_32I, UNSUPPORTED);
    }
    // Those that allow a lower precision get the full one.
    let floats = matches!(
        compute,
        compute_type::HIPBLAS_COMPUTE_32F
            | compute_type::HIPBLAS_COMPUTE_32F_PEDANTIC
            | compute_type::HIPBLAS_COMPUTE_32F_FAST_16F
            | compute_type::HIPBLAS_COMPUTE_32F_FAST_16BF
            | compute_type::HIPBLAS_COMPUTE_32F_FAST_TF32
    );
    ensure(floats && scale == hipDataType::HIP_R_32F, UNSUPPORTED)?;
    let fits = match (a, b) {
        (F32, F32) => out_d == F32,
        (F16, F16) => matches!(out_d, F16 | F32),
        (Bf16, Bf16) => matches!(out_d, Bf16 | F32),
        (a, b) if a.is_f8() && b.is_f8() => matches!(out_d, F16 | Bf16 | F32) || out_d.is_f8(),
        _ => false,
    };
    ensure(fits, UNSUPPORTED)
}

/// The activation, whether there is a bias, and whether there is an auxiliary output.
fn epilogue(epilogue: u32) -> Outcome<(Activation, bool, bool)> {
    let (bias, aux) = (epilogue & BIAS != 0, epilogue & AUX != 0);
    let activation = match epilogue & !(BIAS | AUX) {
        1 if epilogue == 1 => Activation::None,
        0 if epilogue == BIAS => Activation::None,
        RELU => Activation::Relu,
        GELU => Activation::Gelu,
        _ => return Err(UNSUPPORTED),
    };
    Ok((activation, bias, aux))
}
