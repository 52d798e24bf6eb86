//! The C functions.

use crate::generator::{self, Generator};
use crate::law::{Law, Normal, Output};
use crate::status::{OUT_OF_RANGE, Outcome, Status, TYPE_ERROR, ensure, status};
use hip_sys::hip::hipStream_t;
use hip_sys::rocrand::{__half, rocrand_generator, rocrand_ordering, rocrand_rng_type};
use hip_sys::{Optional, RocrandTable};
use std::ffi::{c_int, c_uchar, c_uint, c_ulonglong, c_ushort};
use std::sync::Arc;

/// All functions.
pub(crate) fn functions() -> RocrandTable {
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

fn with(handle: rocrand_generator, act: impl FnOnce(&Generator) -> Outcome) -> Status {
    status(generator::get(handle).and_then(|generator| act(&generator)))
}

unsafe extern "C" fn rocrand_get_version(version: *mut c_int) -> Status {
    status(ensure(!version.is_null(), OUT_OF_RANGE).map(|()| {
        let crate::Version { major, minor, patch } = crate::VERSION;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { version.write((major * 100_000 + minor * 100 + patch) as c_int) };
    }))
}

unsafe extern "C" fn rocrand_create_generator(
    generator: *mut rocrand_generator,
    kind: rocrand_rng_type,
) -> Status {
    status(ensure(!generator.is_null(), OUT_OF_RANGE).and_then(|()| {
        let handle = generator::create(kind)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { generator.write(handle) };
        Ok(())
    }))
}

unsafe extern "C" fn rocrand_destroy_generator(generator: rocrand_generator) -> Status {
    status(generator::destroy(generator))
}

unsafe extern "C" fn rocrand_initialize_generator(generator: rocrand_generator) -> Status {
    with(generator, Generator::prepare)
}

unsafe extern "C" fn rocrand_set_seed(generator: rocrand_generator, seed: c_ulonglong) -> Status {
    with(generator, |generator| generator.set_seed(seed))
}

unsafe extern "C" fn rocrand_set_offset(generator: rocrand_generator, offset: c_ulonglong) -> Status {
    with(generator, |generator| {
        generator.set_offset(offset);
        Ok(())
    })
}

unsafe extern "C" fn rocrand_set_ordering(generator: rocrand_generator, order: rocrand_ordering) -> Status {
    with(generator, |generator| generator.set_ordering(order))
}

unsafe extern "C" fn rocrand_set_stream(generator: rocrand_generator, stream: hipStream_t) -> Status {
    with(generator, |generator| generator.set_stream(stream))
}

unsafe extern "C" fn rocrand_set_quasi_random_generator_dimensions(
    generator: rocrand_generator,
    dimensions: c_uint,
) -> Status {
    with(generator, |generator| generator.set_dimensions(dimensions))
}

/// Functions that fill `n` numbers.
macro_rules! generate {
    ($($function:ident($T:ty $(, $argument:ident: $Argument:ty)*) $output:expr;)*) => {$(
        unsafe extern "C" fn $function(
            generator: rocrand_generator,
            output_data: *mut $T,
            n: usize,
            $($argument: $Argument),*
        ) -> Status {
            // SAFETY: S11: the caller's numbers.
            with(generator, |generator| unsafe {
                generator.fill(stringify!($function), output_data, n, $output)
            })
        }
    )*};
}

generate! {
    rocrand_generate(c_uint) |numbers| Output::Bits32(numbers);
    rocrand_generate_char(c_uchar) |numbers| Output::Bits8(numbers);
    rocrand_generate_short(c_ushort) |numbers| Output::Bits16(numbers);
    rocrand_generate_uniform(f32) |numbers| Output::Single(numbers, Law::Uniform);
    rocrand_generate_uniform_double(f64) |numbers| Output::Double(numbers, Law::Uniform);
    rocrand_generate_normal(f32, mean: f32, stddev: f32) move |numbers| {
        Output::Single(numbers, normal(mean, stddev))
    };
    rocrand_generate_normal_double(f64, mean: f64, stddev: f64) move |numbers| {
        Output::Double(numbers, normal(mean, stddev))
    };
    rocrand_generate_log_normal(f32, mean: f32, stddev: f32) move |numbers| {
        Output::Single(numbers, log_normal(mean, stddev))
    };
    rocrand_generate_log_normal_double(f64, mean: f64, stddev: f64) move |numbers| {
        Output::Double(numbers, log_normal(mean, stddev))
    };
}

fn normal<T>(mean: T, deviation: T) -> Law<T> {
    Law::Normal(Normal { mean, deviation, exponential: false })
}

fn log_normal<T>(mean: T, deviation: T) -> Law<T> {
    Law::Normal(Normal { mean, deviation, exponential: true })
}

unsafe extern "C" fn rocrand_generate_uniform_half(
    generator: rocrand_generator,
    output_data: *mut __half,
    n: usize,
) -> Status {
    let numbers = output_data.cast::<u16>();
    // SAFETY: S11: the caller's numbers, each of 16 bits.
    with(generator, |generator| unsafe {
        generator.fill("rocrand_generate_uniform_half", numbers, n, |numbers| Output::Half(numbers))
    })
}

unsafe extern "C" fn rocrand_generate_long_long(
    generator: rocrand_generator,
    output_data: *mut c_ulonglong,
    n: usize,
) -> Status {
    with(generator, |generator| {
        ensure(generator.is_wide(), TYPE_ERROR)?;
        // SAFETY: S11: the caller's numbers.
        unsafe {
            generator.fill("rocrand_generate_long_long", output_data, n, |numbers| Output::Bits64(numbers))
        }
    })
}

unsafe extern "C" fn rocrand_generate_poisson(
    generator: rocrand_generator,
    output_data: *mut c_uint,
    n: usize,
    lambda: f64,
) -> Status {
    with(generator, |generator| {
        let law = generator.poisson(lambda)?;
        // SAFETY: S11: the caller's numbers.
        unsafe {
            generator.fill("rocrand_generate_poisson", output_data, n, move |numbers| {
                Output::Poisson(numbers, Arc::clone(&law))
            })
        }
    })
}
