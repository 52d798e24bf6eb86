//! Each row of the table on the crate's page in which ours differs from candle, and each error there.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::op::{self, ReduceOp};
use candle_core::{DType, Error, Layout, Result, WithDType};
use candle_hip::{HipDevice, HipStorage};

use crate::compare::{assert_near, numbers, sum};
use crate::given::{flags, ids, positive, values, Arrangement, Made, LAYOUTS};
use crate::{devices, FLOATS, INTEGERS};

const DIMS: [usize; 3] = [2, 3, 5];
const PLANE: [usize; 4] = [2, 3, 6, 5];

fn read(result: Result<HipStorage>) -> Vec<f64> {
    numbers(&result.and_then(|storage| storage.to_cpu_storage()).expect("a result"))
}

/// Storage of these numbers, and its layout.
fn list(device: &HipDevice, elements: &[f64], dtype: DType) -> (HipStorage, Layout) {
    let l = Layout::contiguous(elements.len());
    let wide = device.storage_from_slice(elements).expect("an upload");
    (wide.to_dtype(&l, dtype).expect("a cast"), l)
}

fn assert_unsupported(result: Result<HipStorage>, dtype: DType) {
    let error = crate::root(result.map(|_| ()).unwrap_err());
    assert!(matches!(error, Error::UnsupportedDTypeForOp(d, _) if d == dtype), "{dtype:?}: {error}");
}

#[test]
fn nan_is_kept() {
    for device in devices() {
        for dtype in FLOATS {
            let (x, l) = list(&device, &[1.0, f64::NAN, 2.0], dtype);
            let (y, _) = list(&device, &[f64::NAN, 0.0, 0.0], dtype);
            for op in [ReduceOp::Max, ReduceOp::Min] {
                assert!(read(x.reduce_op(op, &l, &[0]))[0].is_nan(), "{op:?} of {dtype:?}");
            }
            let nans = |result| read(result).iter().map(|x| x.is_nan()).collect::<Vec<bool>>();
            assert_eq!(nans(x.binary_impl::<op::Maximum>(&y, &l, &l)), [true, true, false], "{dtype:?}");
            assert_eq!(nans(x.binary_impl::<op::Minimum>(&y, &l, &l)), [true, true, false], "{dtype:?}");
            assert_eq!(nans(x.unary_impl::<op::Relu>(&l)), [false, true, false], "{dtype:?}");
        }
    }
}

#[test]
fn integers_divided_by_zero_are_zero() {
    for device in devices() {
        for dtype in INTEGERS {
            let ((x, l), (y, _)) =
                (list(&device, &[7.0, 0.0, 9.0], dtype), list(&device, &[0.0, 0.0, 2.0], dtype));
            assert_eq!(read(x.binary_impl::<op::Div>(&y, &l, &l)), [0.0, 0.0, 4.0], "{dtype:?}");
        }
    }
}

#[test]
fn integers_wrap_around() {
    fn check<T: WithDType + std::fmt::Debug>(device: &HipDevice, largest: T, least: T) {
        let l = Layout::contiguous(2);
        let (x, one) =
            (device.storage_from_slice(&[largest, least]), device.storage_from_slice(&[T::one(); 2]));
        let (x, one) = (x.expect("an upload"), one.expect("an upload"));
        let exact = |storage: Result<HipStorage>| storage.and_then(|storage| storage.to_cpu_storage());
        let sum = exact(x.binary_impl::<op::Add>(&one, &l, &l)).expect("a sum");
        assert_eq!(sum.as_slice::<T>().expect("its type")[0], least, "{:?}", T::DTYPE);
        let both = device.storage_from_slice(&[largest, T::one()]).expect("an upload");
        let of_both = exact(both.reduce_op(ReduceOp::Sum, &l, &[0])).expect("a sum");
        assert_eq!(of_both.as_slice::<T>().expect("its type"), [least], "{:?}", T::DTYPE);
        let difference = exact(x.binary_impl::<op::Sub>(&one, &l, &l)).expect("a difference");
        assert_eq!(difference.as_slice::<T>().expect("its type")[1], largest, "{:?}", T::DTYPE);
        // (2ⁿ − 1)² is 1 of n bits, and (2ⁿ⁻¹ − 1)² too.
        let square = exact(x.binary_impl::<op::Mul>(&x, &l, &l)).expect("a product");
        assert_eq!(square.as_slice::<T>().expect("its type"), [T::one(), T::zero()], "{:?}", T::DTYPE);
    }
    for device in devices() {
        check(&device, u8::MAX, u8::MIN);
        check(&device, u32::MAX, u32::MIN);
        check(&device, i16::MAX, i16::MIN);
        check(&device, i32::MAX, i32::MIN);
        check(&device, i64::MAX, i64::MIN);
    }
}

#[test]
fn functions_of_integers_are_errors() {
    for device in devices() {
        for dtype in INTEGERS {
            let (x, l) = list(&device, &[1.0, 2.0], dtype);
            macro_rules! none_of {
                ($($op:ident)+) => { $(assert_unsupported(x.unary_impl::<op::$op>(&l), dtype);)+ };
            }
            none_of!(Exp Log Sin Cos Tanh Recip Sqrt Gelu GeluErf Erf Silu);
            assert_unsupported(x.powf(&l, 2.0), dtype);
            assert_unsupported(x.elu(&l, 1.0), dtype);
        }
    }
}

#[test]
fn mean_pools_of_integers_are_errors() {
    for device in devices() {
        for dtype in INTEGERS {
            let x = Made::new(&values(&PLANE), dtype, Arrangement::Contiguous, &device);
            let x = x.ours();
            assert_unsupported(x.s.avg_pool2d(x.l, (2, 2), (2, 2)), dtype);
        }
    }
}

#[test]
fn ids_of_i16_and_i32_are_taken() {
    for device in devices() {
        for arrangement in LAYOUTS {
            let made = |given, dtype| Made::new(&given, dtype, arrangement, &device);
            let x = made(values(&[2, 4, 5]), DType::F32);
            let [by_i16, by_i32, by_i64] =
                [DType::I16, DType::I32, DType::I64].map(|dtype| made(ids(&[2, 3, 5], dtype), dtype));
            let x = x.ours();
            let gathered =
                [&by_i16, &by_i32, &by_i64].map(|by| read(x.s.gather(x.l, by.ours().s, by.ours().l, 1)));
            assert!(gathered[0] == gathered[2] && gathered[1] == gathered[2], "{arrangement:?}");
            let [by_i16, by_i32, by_i64] =
                [DType::I16, DType::I32, DType::I64].map(|dtype| made(ids(&[6], dtype), dtype));
            let selected = [&by_i16, &by_i32, &by_i64]
                .map(|by| read(x.s.index_select(by.ours().s, x.l, by.ours().l, 1)));
            assert!(selected[0] == selected[2] && selected[1] == selected[2], "{arrangement:?}");
        }
    }
}

#[test]
fn ids_and_conditions_of_floats_are_errors() {
    for device in devices() {
        for dtype in FLOATS {
            let (x, l) = list(&device, &[1.0, 2.0], dtype);
            assert_unsupported(x.index_select(&x, &l, &l, 0), dtype);
            assert_unsupported(x.gather(&l, &x, &l, 0), dtype);
            assert_unsupported(x.index_add(&l, &x, &l, &x, &l, 0), dtype);
            let condition = Made::new(&flags(&[2], dtype), dtype, Arrangement::Contiguous, &device);
            assert!(condition.ours().s.where_cond(&l, &x, &l, &x, &l).is_err(), "{dtype:?}");
        }
    }
}

#[test]
fn bytes_of_floats_become_f64() {
    for device in devices() {
        for arrangement in LAYOUTS {
            let x = Made::new(&values(&DIMS), DType::F8E4M3, arrangement, &device);
            let x = x.ours();
            // f32 has every number of f8e4m3.
            let by_f32 = read(x.s.to_dtype(x.l, DType::F32));
            let wide = x.s.to_dtype(x.l, DType::F64).expect("f64");
            assert_eq!(wide.dtype(), DType::F64);
            assert_eq!(read(Ok(wide)), by_f32, "{arrangement:?}");
        }
    }
}

#[test]
fn bytes_of_floats_are_enlarged_as_f32() {
    for device in devices() {
        for arrangement in LAYOUTS {
            let x = Made::new(&values(&PLANE), DType::F8E4M3, arrangement, &device);
            let x = x.ours();
            let wide = x.s.to_dtype(x.l, DType::F32).expect("f32");
            let l = Layout::contiguous(PLANE.as_slice());
            let out = Layout::contiguous((2, 3, 9, 10));
            let bilinear = |storage: &HipStorage, l| storage.upsample_bilinear2d(l, 9, 10, false, None, None);
            let rounded = bilinear(&wide, &l).and_then(|planes| planes.to_dtype(&out, DType::F8E4M3));
            assert_eq!(read(bilinear(x.s, x.l)), read(rounded), "{arrangement:?}");
        }
    }
}

#[test]
fn bilinear_enlargement_to_the_same_size_is_the_view() {
    for device in devices() {
        for dtype in crate::ALL {
            for arrangement in LAYOUTS {
                let x = Made::new(&values(&PLANE), dtype, arrangement, &device);
                let x = x.ours();
                let same = read(x.s.upsample_bilinear2d(x.l, 6, 5, false, None, None));
                assert_eq!(same, read(x.s.to_dtype(x.l, dtype)), "{dtype:?} {arrangement:?}");
            }
        }
    }
}

#[test]
fn matrices_of_any_strides_and_batches_are_taken() {
    // candle's CPU refuses two batches that no one stride leads through.
    for device in devices() {
        for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
            for (left, right) in LAYOUTS.iter().flat_map(|left| LAYOUTS.map(|right| (*left, right))) {
                let a = Made::new(&positive(&[2, 3, 4, 5]), dtype, left, &device);
                let b = Made::new(&positive(&[2, 3, 5, 4]), dtype, right, &device);
                let (a, b) = (a.ours(), b.ours());
                let tight =
                    |s: &HipStorage, l: &Layout| s.to_dtype(l, dtype).and_then(|s| s.to_cpu_storage());
                let (x, y) = (tight(a.s, a.l).expect("elements"), tight(b.s, b.l).expect("elements"));
                let (x_l, y_l) = (Layout::contiguous((2, 3, 4, 5)), Layout::contiguous((2, 3, 5, 4)));
                let expected = x.matmul(&y, (6, 4, 4, 5), &x_l, &y_l).expect("candle's product");
                let got =
                    a.s.matmul(b.s, (6, 4, 4, 5), a.l, b.l).and_then(|product| product.to_cpu_storage());
                // The largest term is 9.25².
                assert_near(
                    &got.expect("a product"),
                    &expected,
                    sum(5, 90.0),
                    &format!("{dtype:?} {left:?} {right:?}"),
                );
            }
        }
    }
}

#[test]
fn operations_that_candle_does_not_know_are_errors() {
    /// An operation of somebody else.
    struct Other;
    macro_rules! same {
        ($($name:ident: $type:ty),+) => { $(fn $name(x: $type) -> $type { x })+ };
    }
    impl op::UnaryOpT for Other {
        const NAME: &'static str = "other";
        const KERNEL: &'static str = "uother";
        const V: Self = Other;
        same!(bf16: half::bf16, f16: half::f16, f32: f32, f64: f64, u8: u8, u32: u32, i16: i16, i32: i32, i64: i64, f8e4m3: float8::F8E4M3);
    }
    for device in devices() {
        let (x, l) = list(&device, &[1.0], DType::F32);
        let error = x.unary_impl::<Other>(&l).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("other") && error.contains("CustomOp1"), "{error}");
    }
}

#[test]
fn sums_of_halves_are_rounded_once() {
    fn check<T: WithDType>(device: &HipDevice, term: f64) {
        // 4096 terms: in the type itself the sum stops growing.
        let elements = vec![T::from_f64(term); 4096];
        let storage = device.storage_from_slice(&elements).expect("an upload");
        let sum = read(storage.reduce_op(ReduceOp::Sum, &Layout::contiguous(4096), &[0]));
        assert_eq!(sum, [4096.0 * term], "{:?}", T::DTYPE);
    }
    for device in devices() {
        check::<half::f16>(&device, 1.0);
        check::<half::bf16>(&device, 1.0);
        check::<float8::F8E4M3>(&device, 2f64.powi(-6));
    }
}

#[test]
fn the_first_of_equal_elements_is_found() {
    for device in devices() {
        let (x, l) = list(&device, &[1.0, 3.0, 3.0, 1.0], DType::F32);
        assert_eq!(read(x.reduce_op(ReduceOp::ArgMax, &l, &[0])), [1.0]);
        assert_eq!(read(x.reduce_op(ReduceOp::ArgMin, &l, &[0])), [0.0]);
    }
}

#[test]
fn products_and_pools_of_halves_are_rounded_once() {
    fn check<T: WithDType>(device: &HipDevice, term: f64) {
        let elements = vec![T::from_f64(term); 4096];
        let storage = device.storage_from_slice(&elements).expect("an upload");
        let ones = device.storage_from_slice(&[T::one(); 4096]).expect("an upload");
        let (row, column) = (Layout::contiguous((1, 4096)), Layout::contiguous((4096, 1)));
        let product = read(storage.matmul(&ones, (1, 1, 1, 4096), &row, &column));
        assert_eq!(product, [4096.0 * term], "{:?}", T::DTYPE);
        let plane = Layout::contiguous((1, 1, 64, 64));
        assert_eq!(read(storage.avg_pool2d(&plane, (64, 64), (64, 64))), [term], "{:?}", T::DTYPE);
    }
    for device in devices() {
        check::<half::f16>(&device, 1.0);
        check::<half::bf16>(&device, 1.0);
        check::<float8::F8E4M3>(&device, 2f64.powi(-6));
    }
}

#[test]
fn formulas_of_halves_are_rounded_once() {
    for device in devices() {
        for (dtype, bits) in [(DType::F16, 10), (DType::BF16, 7), (DType::F8E4M3, 3)] {
            let x = Made::new(
                &values(&[37]).of(|i| i as f64 / 8.0 - 1.5),
                dtype,
                Arrangement::Contiguous,
                &device,
            );
            let x = x.ours();
            let given = read(x.s.try_clone(x.l));
            let assert_nearest = |name, got: Vec<f64>, exact: &dyn Fn(f64) -> f64| {
                assert_eq!(given.len(), got.len());
                for (x, got) in given.iter().zip(got) {
                    let exact = exact(*x);
                    // Half the distance of neighbours, and the error of a formula of f32, which is below 2^-20 of the value, a thousandth of f16's
                    // distance; 2^-6 is the least normal number of f8e4m3.
                    let unit = 2f64.powi(exact.abs().max(2f64.powi(-6)).log2().floor() as i32 - bits);
                    assert!(
                        (got - exact).abs() <= 0.501 * unit,
                        "{name} of {x} in {dtype:?}: {got}, exactly {exact}"
                    );
                }
            };
            assert_nearest("silu", read(x.s.unary_impl::<op::Silu>(x.l)), &|x| x / (1.0 + (-x).exp()));
            let inner = |x: f64| (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
            assert_nearest("gelu", read(x.s.unary_impl::<op::Gelu>(x.l)), &|x| {
                0.5 * x * (1.0 + inner(x).tanh())
            });
            assert_nearest("elu", read(x.s.elu(x.l, 0.5)), &|x| if x > 0.0 { x } else { 0.5 * x.exp_m1() });
        }
    }
}

#[test]
fn affine_rounds_once() {
    let bits = [(DType::F8E4M3, 3), (DType::BF16, 7), (DType::F16, 10), (DType::F32, 12), (DType::F64, 27)];
    for device in devices() {
        for (dtype, bits) in bits {
            // (1 + e)² − (1 + 2e) is e². The product alone would lose it.
            let e = 2f64.powi(-bits);
            let (x, l) = list(&device, &[1.0 + e], dtype);
            assert_eq!(read(x.affine(&l, 1.0 + e, -(1.0 + 2.0 * e))), [e * e], "{dtype:?}");
        }
    }
}
