//! A product without its memory: what decides about the algorithm.

use hip_sys::hipblaslt::{hipDataType, hipblasComputeType_t, hipblasLtEpilogue_t};
use std::fmt;

/// A product as C sees it, column-major. Two with equal fields have the same best algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Problem {
    pub(crate) a: Side,
    pub(crate) b: Side,
    pub(crate) c: Side,
    pub(crate) d: Side,
    pub(crate) aux: Option<Side>,
    pub(crate) transposed: [bool; 2],
    pub(crate) compute: hipblasComputeType_t,
    pub(crate) scale_type: hipDataType,
    pub(crate) epilogue: hipblasLtEpilogue_t,
    /// The type of the bias.
    pub(crate) bias: Option<hipDataType>,
    /// Whether a, b and d have factors on the device.
    pub(crate) scaled: [bool; 3],
    /// The most bytes of work memory.
    pub(crate) work_limit: usize,
}

/// A matrix, or each of a batch, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Side {
    pub(crate) data_type: hipDataType,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) ld: usize,
    pub(crate) count: usize,
    /// Elements from one member to the next.
    pub(crate) stride: usize,
    /// The power of two that its address is a multiple of, up to 256 bytes.
    pub(crate) alignment: u32,
}

/// The power of two that an address is a multiple of, as far as kernels care.
pub(crate) fn alignment(address: usize) -> u32 {
    address.trailing_zeros().min(8)
}

impl Problem {
    /// a, b, c and d.
    pub(crate) fn sides(&self) -> [&Side; 4] {
        [&self.a, &self.b, &self.c, &self.d]
    }

    /// Whether every size fits 32 bits with a sign. The kernels have such strides, and what does not fit would lead them elsewhere.
    pub(crate) fn is_narrow(&self) -> bool {
        let fits = |side: &Side| {
            let sizes = [side.rows, side.cols, side.ld, side.count, side.stride];
            sizes.iter().all(|&size| i32::try_from(size).is_ok())
        };
        self.sides().into_iter().chain(&self.aux).all(fits)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ta, tb] = self.transposed.map(|transposed| if transposed { "ᵀ" } else { "" });
        write!(f, "d [{}] = a{ta} [{}] b{tb} [{}]", self.d, self.a, self.b)?;
        if self.c != self.d {
            write!(f, " + c [{}]", self.c)?;
        }
        write!(f, " with {}", epilogue_name(self.epilogue))?;
        if let Some(data_type) = self.bias {
            write!(f, " (bias of {})", type_name(data_type))?;
        }
        if self.d.count > 1 {
            write!(f, ", {} times", self.d.count)?;
        }
        write!(f, ", within {} bytes of work memory; column-major", self.work_limit)
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, cols, ld, .. } = self;
        write!(f, "{} {rows} x {cols}", type_name(self.data_type))?;
        if ld != rows { write!(f, ", leading dimension {ld}") } else { Ok(()) }
    }
}

fn type_name(data_type: hipDataType) -> &'static str {
    match data_type {
        hipDataType::HIP_R_32F => "f32",
        hipDataType::HIP_R_16F => "f16",
        hipDataType::HIP_R_16BF => "bf16",
        hipDataType::HIP_R_8I => "i8",
        hipDataType::HIP_R_32I => "i32",
        hipDataType::HIP_R_8F_E4M3 => "f8e4m3",
        hipDataType::HIP_R_8F_E5M2 => "f8e5m2",
        hipDataType::HIP_R_8F_E4M3_FNUZ => "f8e4m3fnuz",
        hipDataType::HIP_R_8F_E5M2_FNUZ => "f8e5m2fnuz",
        _ => "another type",
    }
}

fn epilogue_name(epilogue: hipblasLtEpilogue_t) -> &'static str {
    match epilogue {
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_DEFAULT => "no epilogue",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_RELU => "relu",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_GELU => "gelu",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_BIAS => "bias",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_RELU_BIAS => "bias, relu",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_GELU_BIAS => "bias, gelu",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_RELU_AUX => "relu and its input",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_GELU_AUX => "gelu and its input",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_RELU_AUX_BIAS => "bias, relu and its input",
        hipblasLtEpilogue_t::HIPBLASLT_EPILOGUE_GELU_AUX_BIAS => "bias, gelu and its input",
        _ => "another epilogue",
    }
}
