//! Double-double arithmetic against exact integers, and fused multiply-add against one rounding.

use proptest::prelude::*;
use reference::{Array, DType, Dd, affine};

/// 2^-101, the claimed relative error of the four operations.
const CLAIM: f64 = 3.944304526105059e-31;

/// |got − exact| relative to exact, all in integers.
fn relative_error(got: Dd, exact: i128) -> f64 {
    assert_eq!(got.lo.fract(), 0.0, "all parts of integers are integers");
    let got = got.hi as i128 + got.lo as i128;
    if got == exact { 0.0 } else { (got - exact) as f64 / exact as f64 }.abs()
}

/// Integers of all sizes below 2^bits.
fn integers(bits: u32) -> impl Strategy<Value = i128> {
    (any::<i128>(), 128 - bits..127).prop_map(|(i, shift)| i >> shift)
}

proptest! {
    #[test]
    fn integers_are_exact(i in integers(106)) {
        let dd = Dd::from_int(i);
        prop_assert_eq!(dd.hi as i128 + dd.lo as i128, i);
        prop_assert_eq!(dd.hi, i as f64);
    }

    #[test]
    fn error_free_transforms_are_exact(a in integers(53), b in integers(53), shift in 0u32..60) {
        let wide = a << shift;
        let sum = Dd::sum(wide as f64, b as f64);
        prop_assert_eq!(relative_error(sum, wide + b), 0.0);
        prop_assert_eq!(sum.hi, (wide + b) as f64);
        let product = Dd::product(a as f64, b as f64);
        prop_assert_eq!(relative_error(product, a * b), 0.0);
        prop_assert_eq!(product.hi, (a * b) as f64);
    }

    #[test]
    fn sums_and_products(a in integers(100), b in integers(100), c in integers(62), d in integers(62)) {
        prop_assert!(relative_error(Dd::from_int(a) + Dd::from_int(b), a + b) <= CLAIM);
        prop_assert!(relative_error(Dd::from_int(a) - Dd::from_int(b), a - b) <= CLAIM);
        prop_assert!(relative_error(Dd::from_int(c) * Dd::from_int(d), c * d) <= CLAIM);
    }

    #[test]
    fn quotients(a in integers(62), b in integers(62), c in integers(106)) {
        prop_assume!(b != 0 && c != 0);
        // a·b fits; so does its quotient by b.
        let quotient = Dd::from_int(((a * b) >> 20) << 20) / Dd::from_int(1 << 20);
        prop_assert_eq!(relative_error(quotient, (a * b) >> 20), 0.0);
        // For any quotient: its product with the divisor is the dividend.
        let (x, y) = (Dd::from_int(c), Dd::from_int(b));
        let residue = (x / y) * y - x;
        prop_assert!(residue.abs().hi <= 2.0 * CLAIM * x.abs().hi);
    }

    #[test]
    fn square_roots(a in integers(106)) {
        let x = Dd::from_int(a.abs());
        let root = x.sqrt();
        prop_assert!((root * root - x).abs().hi <= 4.0 * CLAIM * x.hi);
        let exact = Dd::from_int(a >> 54) * Dd::from_int(a >> 54);
        prop_assert_eq!(exact.sqrt().hi, (a >> 54).abs() as f64);
    }

    #[test]
    fn fused_multiply_add_in_f64(x in integers(53), y in integers(53), z in integers(106)) {
        let array = Array::from_f64(DType::F64, &[1], &[x as f64]).unwrap();
        let z = (z as f64) as i128;
        let got = f64::from_bits(affine(&array, y as f64, z as f64).at(0).bits);
        prop_assert_eq!(got, (x * y + z) as f64);
    }

    #[test]
    fn fused_multiply_add_in_f32(x in integers(24), y in integers(24), z in integers(24), shift in 0u32..60) {
        let z = z << shift;
        let array = Array::from_f64(DType::F32, &[1], &[x as f64]).unwrap();
        let got = f32::from_bits(affine(&array, y as f64, z as f64).at(0).bits as u32);
        prop_assert_eq!(got, (x * y + z) as f32);
    }

    #[test]
    fn fused_multiply_add_of_any_bits(x: u32, y: u32, z: u32) {
        let (x, y, z) = (f32::from_bits(x), f32::from_bits(y), f32::from_bits(z));
        let array = Array::from_f64(DType::F32, &[1], &[x.into()]).unwrap();
        let got = f32::from_bits(affine(&array, f64::from(y), f64::from(z)).at(0).bits as u32);
        let theirs = x.mul_add(y, z);
        prop_assert!(got.is_nan() && theirs.is_nan() || got.to_bits() == theirs.to_bits(), "{} {}", got, theirs);
    }
}

#[test]
fn fused_multiply_add_does_not_round_twice() {
    let one_up = 1.0 + 2f64.powi(-23);
    let of = |add: f64| {
        let array = Array::from_f64(DType::F32, &[1], &[one_up]).unwrap();
        f64::from(f32::from_bits(affine(&array, 1.5, add).at(0).bits as u32))
    };
    // 1.5 (1 + 2^-23) = 1.5 + 1.5·2^-23 is a tie in f32. What decides it is too small for f64.
    assert_eq!(of(2f64.powi(-70)), 1.5 + 2.0 * 2f64.powi(-23));
    assert_eq!(of(-2f64.powi(-70)), 1.5 + 2f64.powi(-23));
    assert_eq!(of(0.0), 1.5 + 2.0 * 2f64.powi(-23));
}

#[test]
fn powers_of_two_scale_beyond_the_range() {
    assert_eq!(Dd::ONE.ldexp(-1074).hi, 5e-324);
    assert_eq!(Dd::from(5e-324).ldexp(1074).hi, 1.0);
    assert_eq!(Dd::from(5e-324).ldexp(2097).hi, 2f64.powi(1023));
    assert_eq!(Dd::ONE.ldexp(1024).hi, f64::INFINITY);
    assert_eq!(Dd::from(f64::INFINITY) + Dd::ONE, Dd::from(f64::INFINITY));
    assert!((Dd::from(f64::INFINITY) - Dd::from(f64::INFINITY)).hi.is_nan());
    assert_eq!(Dd::ONE / Dd::from(-0.0), Dd::from(f64::NEG_INFINITY));
    assert_eq!(Dd::ONE / Dd::from(f64::INFINITY), Dd::ZERO);
    assert_eq!(Dd::from(2.0).sqrt().hi, std::f64::consts::SQRT_2);
}
