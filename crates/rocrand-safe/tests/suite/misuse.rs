//! What is an error before any call, and that it changes nothing.

use crate::under_test;
use rocrand_safe::{Error, Kind, Ordering};

/// The text of an error that is expected.
#[track_caller]
fn text<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn arguments_without_a_meaning() {
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, Kind::Xorwow);
    let mut counts = stream.upload(&[7_u32; 4]).unwrap();
    for mean in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
        assert!(
            text(generator.fill_poisson(&mut counts, mean))
                .starts_with("the mean of Poisson's distribution is ")
        );
    }
    assert_eq!(stream.download(&counts).unwrap(), [7; 4]);
    let mut numbers = stream.upload(&[7.0_f32; 4]).unwrap();
    assert_eq!(
        text(generator.fill_normal(&mut numbers, f32::NAN, 1.0)),
        "the mean is NaN, and has to be finite"
    );
    for deviation in [-1.0, f32::NAN, f32::INFINITY] {
        let error = text(generator.fill_log_normal(&mut numbers, 0.0, deviation));
        assert!(error.contains("has to be finite and not negative"), "{error}");
    }
    assert_eq!(stream.download(&numbers).unwrap(), [7.0; 4]);
}

#[test]
fn settings_that_a_kind_has_not() {
    let stream = under_test::stream();
    let mut pseudo = under_test::generator(&stream, Kind::Philox4x32x10);
    assert!(text(pseudo.set_dimensions(2)).contains("Philox4x32x10 has no dimensions"));
    let mut wide = stream.alloc_zeros::<u64>(2).unwrap();
    assert!(text(pseudo.fill_bits(&mut wide)).contains("no numbers of 64 bits"));
    let mut quasi = under_test::generator(&stream, Kind::Sobol32);
    assert!(text(quasi.set_seed(1)).contains("Sobol32 has no seed"));
    assert!(text(quasi.set_ordering(Ordering::Best)).contains("Sobol32 has no ordering"));
    for dimensions in [0, 20_001] {
        assert!(text(quasi.set_dimensions(dimensions)).contains("from 1 to 20000"));
    }
    assert_eq!(quasi.dimensions(), 1);
}

#[test]
fn lengths_that_are_not_whole_points() {
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, Kind::Sobol32);
    generator.set_dimensions(3).unwrap();
    let mut numbers = stream.upload(&[7_u32; 7]).unwrap();
    let error = text(generator.fill_bits(&mut numbers));
    assert_eq!(error, "7 numbers are not points of 3 dimensions: take a multiple of 3");
    assert_eq!(stream.download(&numbers).unwrap(), [7; 7]);
    generator.fill_bits(&mut numbers.slice_mut(..6).unwrap()).unwrap();
    assert_eq!(stream.download(&numbers).unwrap()[6], 7, "what is behind the view stays");
}

/// The library counts points with 32 bits and would go round without a word.
#[test]
fn sequences_end() {
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, Kind::Sobol32);
    let mut numbers = stream.upload(&[7_u32; 4]).unwrap();
    assert!(matches!(generator.set_offset(1 << 32), Err(Error::Exhausted { .. })));
    generator.set_offset((1 << 32) - 3).unwrap();
    assert!(matches!(generator.fill_bits(&mut numbers), Err(Error::Exhausted { wanted: 4, .. })));
    assert_eq!(stream.download(&numbers).unwrap(), [7; 4]);
    generator.fill_bits(&mut numbers.slice_mut(..3).unwrap()).unwrap();
    assert!(matches!(
        generator.fill_bits(&mut numbers.slice_mut(..1).unwrap()),
        Err(Error::Exhausted { .. })
    ));
    generator.set_offset(0).unwrap();
    generator.fill_bits(&mut numbers).unwrap();
}

#[test]
fn nothing_is_filled_without_a_call() {
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, Kind::Xorwow);
    let mut none = stream.alloc_zeros::<u32>(0).unwrap();
    generator.fill_bits(&mut none).unwrap();
    let mut numbers = stream.alloc_zeros::<u32>(4).unwrap();
    generator.fill_bits(&mut numbers.slice_mut(2..2).unwrap()).unwrap();
    assert_eq!(stream.download(&numbers).unwrap(), [0; 4]);
}
