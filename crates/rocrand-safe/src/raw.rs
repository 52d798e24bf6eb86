//! One unsafe function for each C function: statuses become results. Nothing else here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: a live generator that no other thread uses at the same time, outputs inside
//! live memory of the generator's device, and that device current (docs/SAFETY.md S1 to S3).

use hip_sys::hip::hipStream_t;
use hip_sys::rocrand::{__half, rocrand_generator, rocrand_ordering, rocrand_rng_type, rocrand_status};
use hip_sys::{RocrandTable, Unsupported};

/// A C call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    Status { function: &'static str, status: rocrand_status },
    Absent(Unsupported),
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

fn status(function: &'static str, status: rocrand_status) -> Result {
    match status {
        rocrand_status::ROCRAND_STATUS_SUCCESS => Ok(()),
        status => Err(Failure::Status { function, status }),
    }
}

pub(crate) unsafe fn create_generator(
    table: &RocrandTable,
    kind: rocrand_rng_type,
) -> Result<rocrand_generator> {
    let mut generator = std::ptr::null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    status("rocrand_create_generator", unsafe { (table.rocrand_create_generator)(&mut generator, kind) })?;
    Ok(generator)
}

pub(crate) unsafe fn set_ordering(
    table: &RocrandTable,
    generator: rocrand_generator,
    ordering: rocrand_ordering,
) -> Result {
    let function = table.rocrand_set_ordering.get().map_err(Failure::Absent)?;
    // SAFETY: S1: the generator is live.
    status("rocrand_set_ordering", unsafe { function(generator, ordering) })
}

/// Functions of a generator, under their names without `rocrand_`.
macro_rules! calls {
    ($($name:ident = $function:ident($($argument:ident: $Argument:ty),*);)*) => {$(
        pub(crate) unsafe fn $name(
            table: &RocrandTable,
            generator: rocrand_generator,
            $($argument: $Argument),*
        ) -> Result {
            // SAFETY: S1, S2, S3: the caller vouches for the arguments.
            status(stringify!($function), unsafe { (table.$function)(generator, $($argument),*) })
        }
    )*};
}

calls! {
    destroy_generator = rocrand_destroy_generator();
    initialize_generator = rocrand_initialize_generator();
    set_seed = rocrand_set_seed(seed: u64);
    set_offset = rocrand_set_offset(offset: u64);
    set_stream = rocrand_set_stream(stream: hipStream_t);
    set_quasi_random_generator_dimensions = rocrand_set_quasi_random_generator_dimensions(dimensions: u32);
    generate_char = rocrand_generate_char(output: *mut u8, n: usize);
    generate_short = rocrand_generate_short(output: *mut u16, n: usize);
    generate = rocrand_generate(output: *mut u32, n: usize);
    generate_uniform = rocrand_generate_uniform(output: *mut f32, n: usize);
    generate_uniform_double = rocrand_generate_uniform_double(output: *mut f64, n: usize);
    generate_uniform_half = rocrand_generate_uniform_half(output: *mut __half, n: usize);
    generate_normal = rocrand_generate_normal(output: *mut f32, n: usize, mean: f32, deviation: f32);
    generate_normal_double = rocrand_generate_normal_double(output: *mut f64, n: usize, mean: f64, deviation: f64);
    generate_log_normal = rocrand_generate_log_normal(output: *mut f32, n: usize, mean: f32, deviation: f32);
    generate_log_normal_double = rocrand_generate_log_normal_double(output: *mut f64, n: usize, mean: f64, deviation: f64);
    generate_poisson = rocrand_generate_poisson(output: *mut u32, n: usize, mean: f64);
}

pub(crate) unsafe fn generate_long_long(
    table: &RocrandTable,
    generator: rocrand_generator,
    output: *mut u64,
    n: usize,
) -> Result {
    let function = table.rocrand_generate_long_long.get().map_err(Failure::Absent)?;
    // SAFETY: S1, S2, S3: the caller vouches for the arguments.
    status("rocrand_generate_long_long", unsafe { function(generator, output, n) })
}
