//! What is an error before any call, and that it changes nothing.

use crate::under_test;
use rocfft_safe::{Complex, Direction, Error, Layout, Plan, Spec};

/// The text of an error that is expected.
#[track_caller]
fn refused(spec: Spec) -> String {
    let device = under_test::device(0);
    match Plan::<f32>::new(&device, &spec) {
        Err(error @ Error::Spec { .. }) => error.to_string(),
        other => panic!("{spec:?}: {other:?}"),
    }
}

fn complex(lengths: &[usize]) -> Spec {
    Spec::complex(Direction::Forward, lengths)
}

#[test]
fn descriptions_without_a_meaning() {
    for lengths in [&[][..], &[0], &[4, 0], &[2, 2, 2, 2]] {
        assert!(refused(complex(lengths)).contains("one to three lengths are needed, each above 0"));
    }
    assert!(refused(complex(&[4]).batch(0)).contains("one at least"));
    assert!(refused(complex(&[4]).scale(f64::NAN)).contains("a factor of NaN"));
    let layout = |strides: &[usize], distance| Layout { strides: strides.to_vec(), distance };
    assert!(refused(complex(&[4]).input(layout(&[1, 2], 8))).contains("as many strides as lengths"));
    assert!(refused(complex(&[4]).input(layout(&[0], 8))).contains("each above 0"));
    assert!(refused(complex(&[4]).batch(2).input(layout(&[1], 0))).contains("distance of a batch"));
    assert!(refused(complex(&[4]).in_place().input(layout(&[1], 4))).contains("layouts in place"));
    let sliding = Spec::real_forward(&[8]).batch(4).input(layout(&[1], 2));
    assert!(refused(sliding).contains("an input with strides [1] and a distance of 2: each element"));
    let overlapping = complex(&[4]).batch(2).output(layout(&[1], 3));
    assert!(refused(overlapping).contains("each element needs an offset of its own"));
}

/// Sizes that no memory has, among them those that come round.
#[test]
fn sizes_beyond_an_address_space() {
    for lengths in [&[usize::MAX][..], &[1 << 40, 1 << 40], &[1 << 62]] {
        assert!(refused(complex(lengths)).contains("has to fit an address space"), "{lengths:?}");
    }
    assert!(refused(complex(&[1 << 20]).batch(1 << 60)).contains("has to fit an address space"));
    let real = Spec::real_forward(&[usize::MAX]).in_place();
    assert!(refused(real).contains("has to fit an address space"));
}

/// More than any device has: an error of the library, and no end of the process. cuFFT makes such a plan, for which no memory is long enough.
#[test]
fn sizes_beyond_memory() {
    let stream = under_test::stream();
    match Plan::<f32>::new(stream.device(), &complex(&[1 << 50])) {
        Ok(plan) if under_test::name() == "nvidia" => {
            let x = stream.alloc_zeros::<Complex<f32>>(8).unwrap();
            let mut y = stream.alloc_zeros::<Complex<f32>>(8).unwrap();
            let refused = plan.complex(&stream, &x, &mut y);
            assert!(matches!(refused, Err(Error::TooShort { .. })), "{refused:?}");
        }
        made => assert!(matches!(made, Err(Error::Status { .. })), "{made:?}"),
    }
}

#[test]
fn memory_that_is_too_short() {
    let stream = under_test::stream();
    let plan = Plan::<f32>::new(stream.device(), &complex(&[8])).unwrap();
    let one = Complex::new(1.0_f32, 0.0);
    let x = stream.upload(&[one; 8]).unwrap();
    let mut y = stream.upload(&[one; 8]).unwrap();
    let short = plan.complex(&stream, &x.slice(..7).unwrap(), &mut y).unwrap_err();
    assert_eq!(short.to_string(), "the input reaches over 8 elements, and the memory has 7");
    let short = plan.complex(&stream, &x, &mut y.slice_mut(1..).unwrap()).unwrap_err();
    assert_eq!(short.to_string(), "the output reaches over 8 elements, and the memory has 7");
    assert_eq!(stream.download(&y).unwrap(), [one; 8]);
}

#[test]
fn plans_of_other_transforms() {
    let stream = under_test::stream();
    let mut x = stream.alloc_zeros::<Complex<f32>>(8).unwrap();
    let mut y = stream.alloc_zeros::<Complex<f32>>(8).unwrap();
    let mut real = stream.alloc_zeros::<f32>(8).unwrap();
    let plan = |spec: Spec| Plan::<f32>::new(stream.device(), &spec).unwrap();
    let in_place = plan(complex(&[8]).in_place());
    let error = in_place.complex(&stream, &x, &mut y).unwrap_err();
    let text = "complex is for another plan than this one, which is of a transform in place: call in_place";
    assert_eq!(error.to_string(), text);
    let forward = plan(Spec::real_forward(&[8]));
    for error in [
        forward.in_place(&stream, &mut x),
        forward.complex(&stream, &y, &mut x),
        forward.real_inverse(&stream, &mut x, &mut real),
        plan(complex(&[8])).real_forward(&stream, &mut real, &mut x),
    ] {
        assert!(matches!(error, Err(Error::OtherPlan { .. })), "{error:?}");
    }
}
