//! Where candle's CUDA backend gives other results than candle's CPU. Ours follows the CPU there, so these cases are not compared
//! with CUDA. The reasons are from the sources of candle-core and candle-kernels 0.11.1.

use candle_core::DType;

/// Cases of one test that are not compared.
struct Known {
    /// Module and name.
    test: &'static str,
    /// All dtypes if there are none.
    dtypes: &'static [DType],
    why: &'static str,
}

const NO_BLOCKS: &str = "a kernel for no elements has no blocks: the driver refuses its launch";
const CONTRACTED: &str =
    "products and sums become fused multiply-adds, so that a number near a whole one may be truncated to another";

const CONTRACTED_IN_F64: &str =
    "products and sums become fused multiply-adds: 3.5e-15 off on an H200 with numbers up to 5";

const OF_CUDA: [Known; 9] = [
    Known { test: "binary::nothing", dtypes: &[], why: NO_BLOCKS },
    Known { test: "copy::const_set_of_nothing", dtypes: &[], why: NO_BLOCKS },
    Known {
        test: "copy::copy2d_over_its_own_rows",
        dtypes: &[],
        why: "all rows are written at once: which one stays where they overlap is not determined",
    },
    Known {
        test: "elementwise::casts_of_floats_to_unsigned_numbers_saturate",
        dtypes: &[],
        why: "a cast to 8 bits keeps the lowest 8 of 32 bits",
    },
    Known { test: "pool::avg", dtypes: &[DType::F64], why: "the factor of the mean is a number of f32" },
    Known { test: "pool::bilinear_of_integers", dtypes: &[], why: CONTRACTED },
    Known { test: "pool::bilinear_by_factors", dtypes: &[DType::F64], why: CONTRACTED_IN_F64 },
    Known { test: "pool::bilinear_of_corners_of_integers", dtypes: &[], why: CONTRACTED },
    Known { test: "pool::bilinear_by_factors_of_integers", dtypes: &[], why: CONTRACTED },
];

/// Why a case is not compared with the backend that judges, if it is not.
pub fn why(test: &str, dtype: DType) -> Option<&'static str> {
    if !cfg!(feature = "cuda") {
        return None;
    }
    // The name of the program comes first.
    let test = test.split_once("::").map_or(test, |(_, name)| name);
    let is_it =
        |known: &&Known| known.test == test && (known.dtypes.is_empty() || known.dtypes.contains(&dtype));
    OF_CUDA.iter().find(is_it).map(|known| known.why)
}
