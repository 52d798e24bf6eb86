//! Each method of candle's two traits on host:0 and host:1, beside candle's own `CpuStorage` with the same elements.
//!
//! A case is a line of [`cases!`]: a name, dtypes, a tolerance, operands, and the call. Operands are given in every layout
//! of [`given::LAYOUTS`]. To add a case, add a line. Differences that the crate's page lists are tests of their own.
//!
//! With the feature `cuda` the other side is candle's CUDA backend, and ours a device on the same card. [`known`] lists where that backend differs
//! from candle's CPU. The variable `CANDLE_HIP_DEVICES` names it, `nvidia:0` if it is not set.

mod compare;
mod given;
mod known;
mod theirs;

mod binary;
mod conv;
mod copy;
mod device;
mod differences;
mod elementwise;
mod index;
mod matmul;
mod nn;
#[cfg(not(feature = "cuda"))]
mod page;
mod params;
mod pool;
mod quant;
mod reduce;
mod select;
mod storage;

use candle_core::DType;
use candle_hip::HipDevice;

/// The devices of the suite.
fn devices() -> Vec<HipDevice> {
    let default = if cfg!(feature = "cuda") { "nvidia:0" } else { "host:0,host:1" };
    let named = std::env::var("CANDLE_HIP_DEVICES");
    let names = named.as_deref().unwrap_or(default).split(',');
    names.map(|name| HipDevice::open(name).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}

/// Two devices: waves of 32 lanes, and of 64.
#[cfg(feature = "host")]
fn pair() -> [HipDevice; 2] {
    ["host:0", "host:1"].map(|name| HipDevice::open(name).expect("a host device"))
}

/// An error without its backtrace, which candle adds where `RUST_BACKTRACE` asks for it.
fn root(error: candle_core::Error) -> candle_core::Error {
    match error {
        candle_core::Error::WithBacktrace { inner, .. } => root(*inner),
        error => error,
    }
}

const FLOATS: [DType; 5] = [DType::F8E4M3, DType::BF16, DType::F16, DType::F32, DType::F64];
const INTEGERS: [DType; 5] = [DType::U8, DType::U32, DType::I16, DType::I32, DType::I64];
const ALL: [DType; 10] = [
    DType::U8,
    DType::U32,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F8E4M3,
    DType::BF16,
    DType::F16,
    DType::F32,
    DType::F64,
];

/// Tests of one call each: `name: dtypes, tolerance, [operands] => |[operands]| call;`. The call is compiled for candle's
/// storage and for ours.
macro_rules! cases {
    ($($(#[$meta:meta])* $name:ident: $dtypes:expr, $tolerance:expr, [$($given:expr),+] => |$operands:pat_param| $call:expr;)+) => {
        $(
            $(#[$meta])*
            #[test]
            fn $name() {
                crate::given::on_every(
                    concat!(module_path!(), "::", stringify!($name)),
                    &$dtypes,
                    $tolerance,
                    [$($given),+],
                    |$operands| $call,
                    |$operands| $call,
                );
            }
        )+
    };
}
pub(crate) use cases;
