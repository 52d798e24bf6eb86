//! The C functions.

use super::convert::{OUT_OF_RANGE, Outcome, TYPE_ERROR, done, ensure, ordering_of, status_of};
use super::generator::{self, Generator};
use super::library::curand;
use hip_sys::hip::hipStream_t;
use hip_sys::rocrand::{__half, rocrand_generator, rocrand_ordering, rocrand_rng_type, rocrand_status};
use hip_sys::{Optional, RocrandTable, Version};
use std::ffi::{c_int, c_uchar, c_uint, c_ulonglong, c_ushort};

/// All functions.
pub(super) fn functions() -> RocrandTable {
    RocrandTable {
        rocrand_get_version,
        rocrand_create_generator,
        rocrand_destroy_generator,
        rocrand_initialize_generator,
        rocrand_set_seed,
        rocrand_set_offset,
        rocrand_set_stream,
        rocrand_set_quasi_random_generator_dimensions,
        rocrand_generate,
        rocrand_generate_char,
        rocrand_generate_short,
        rocrand_generate_uniform,
        rocrand_generate_uniform_double,
        rocrand_generate_uniform_half,
        rocrand_generate_normal,
        rocrand_generate_normal_double,
        rocrand_generate_log_normal,
        rocrand_generate_log_normal_double,
        rocrand_generate_poisson,
        rocrand_generate_long_long: Optional::present(
            rocrand_generate_long_long,
            "rocrand_generate_long_long",
            "5.4",
        ),
        rocrand_set_ordering: Optional::present(rocrand_set_ordering, "rocrand_set_ordering", "5.5"),
        rocrand_create_generator_host: Optional::absent("rocrand_create_generator_host", "6.2"),
    }
}

fn with(handle: rocrand_generator, act: impl FnOnce(&Generator) -> Outcome) -> rocrand_status {
    status_of(generator::get(handle).and_then(|generator| act(&generator)))
}

unsafe extern "C" fn rocrand_get_version(version: *mut c_int) -> rocrand_status {
    status_of(ensure(!version.is_null(), OUT_OF_RANGE).map(|()| {
        let Version { major, minor, patch } = super::VERSION;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { version.write((major * 100_000 + minor * 100 + patch) as c_int) };
    }))
}

unsafe extern "C" fn rocrand_create_generator(
    generator: *mut rocrand_generator,
    kind: rocrand_rng_type,
) -> rocrand_status {
    status_of(ensure(!generator.is_null(), OUT_OF_RANGE).and_then(|()| {
        let handle = generator::create(kind)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { generator.write(handle) };
        Ok(())
    }))
}

unsafe extern "C" fn rocrand_destroy_generator(generator: rocrand_generator) -> rocrand_status {
    status_of(generator::destroy(generator))
}

unsafe extern "C" fn rocrand_set_stream(generator: rocrand_generator, stream: hipStream_t) -> rocrand_status {
    with(generator, |generator| generator.set_stream(stream))
}

unsafe extern "C" fn rocrand_set_ordering(
    generator: rocrand_generator,
    order: rocrand_ordering,
) -> rocrand_status {
    with(generator, |generator| generator.set_ordering(ordering_of(order)?))
}

unsafe extern "C" fn rocrand_set_seed(generator: rocrand_generator, seed: c_ulonglong) -> rocrand_status {
    with(generator, |generator| generator.set_seed(seed))
}

unsafe extern "C" fn rocrand_set_offset(generator: rocrand_generator, offset: c_ulonglong) -> rocrand_status {
    with(generator, |generator| generator.set_offset(offset))
}

unsafe extern "C" fn rocrand_set_quasi_random_generator_dimensions(
    generator: rocrand_generator,
    dimensions: c_uint,
) -> rocrand_status {
    with(generator, |generator| generator.set_dimensions(dimensions))
}

/// Functions that pass their arguments on to one of cuRAND.
macro_rules! same {
    ($($function:ident($($argument:ident: $Argument:ty),*) $theirs:ident;)*) => {$(
        unsafe extern "C" fn $function(
            generator: rocrand_generator,
            $($argument: $Argument),*
        ) -> rocrand_status {
            // SAFETY: S2, S11: a live generator, and the caller's numbers.
            with(generator, |generator| done(unsafe {
                (curand().$theirs)(generator.raw().raw, $($argument),*)
            }))
        }
    )*};
}

same! {
    rocrand_initialize_generator() curandGenerateSeeds;
    rocrand_generate_long_long(output_data: *mut c_ulonglong, n: usize) curandGenerateLongLong;
    rocrand_generate_uniform(output_data: *mut f32, n: usize) curandGenerateUniform;
    rocrand_generate_uniform_double(output_data: *mut f64, n: usize) curandGenerateUniformDouble;
    rocrand_generate_normal(output_data: *mut f32, n: usize, mean: f32, stddev: f32) curandGenerateNormal;
    rocrand_generate_normal_double(output_data: *mut f64, n: usize, mean: f64, stddev: f64) curandGenerateNormalDouble;
    rocrand_generate_log_normal(output_data: *mut f32, n: usize, mean: f32, stddev: f32) curandGenerateLogNormal;
    rocrand_generate_log_normal_double(output_data: *mut f64, n: usize, mean: f64, stddev: f64)
        curandGenerateLogNormalDouble;
    rocrand_generate_poisson(output_data: *mut c_uint, n: usize, lambda: f64) curandGeneratePoisson;
}

unsafe extern "C" fn rocrand_generate(
    generator: rocrand_generator,
    output_data: *mut c_uint,
    n: usize,
) -> rocrand_status {
    with(generator, |generator| {
        ensure(!generator.is_wide(), TYPE_ERROR)?;
        // SAFETY: S2, S11: a live generator, and the caller's numbers.
        done(unsafe { (curand().curandGenerate)(generator.raw().raw, output_data, n) })
    })
}

unsafe extern "C" fn rocrand_generate_char(
    generator: rocrand_generator,
    output_data: *mut c_uchar,
    n: usize,
) -> rocrand_status {
    // SAFETY: S2, S11: the caller's numbers.
    with(generator, |generator| unsafe { generator.fill_words(output_data, n) })
}

unsafe extern "C" fn rocrand_generate_short(
    generator: rocrand_generator,
    output_data: *mut c_ushort,
    n: usize,
) -> rocrand_status {
    // SAFETY: S2, S11: the caller's numbers.
    with(generator, |generator| unsafe { generator.fill_words(output_data, n) })
}

/// cuRAND has none.
unsafe extern "C" fn rocrand_generate_uniform_half(
    generator: rocrand_generator,
    _output_data: *mut __half,
    _n: usize,
) -> rocrand_status {
    with(generator, |_| Err(TYPE_ERROR))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn a_generator_that_was_never_made_is_refused_first() {
        let table = functions();
        let none = null_mut();
        // SAFETY: S1: none of the calls gets further than the handle.
        let answers = unsafe {
            [
                (table.rocrand_destroy_generator)(none),
                (table.rocrand_set_seed)(none, 1),
                (table.rocrand_set_stream)(none, null_mut()),
                (table.rocrand_generate)(none, null_mut(), 1),
                (table.rocrand_generate_char)(none, null_mut(), 1),
                (table.rocrand_generate_uniform_half)(none, null_mut(), 1),
                (table.rocrand_generate_poisson)(none, null_mut(), 1, 1.0),
            ]
        };
        assert_eq!(answers, [rocrand_status::ROCRAND_STATUS_NOT_CREATED; 7]);
    }
}
