//! Activations made of other operations, and gates, against their definitions in `f64`.

use crate::common::{FLOATS, layouts, on_devices, same, tensor, values};
use tensor_core::{BinaryOp, DType, Device, ErrorKind, Result, Tensor};

/// Numbers that every float dtype holds.
const NUMBERS: [f64; 12] = [-20.0, -3.0, -1.5, -0.5, -0.0, 0.125, 0.5, 1.0, 2.0, 2.5, 3.5, 20.0];

/// Half a unit of the last place, relative, and the least number; twice as much for f32 and f64, whose steps round each.
fn bound(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F8E4M3 => (1.0 / 16.0 + 1e-5, 0.001),
        DType::BF16 => (1.0 / 256.0 + 1e-5, 1e-38),
        DType::F16 => (1.0 / 2048.0 + 1e-5, 6e-8),
        DType::F32 => (1e-6, 1e-36),
        _ => (2e-15, 1e-300),
    }
}

#[track_caller]
fn near(got: &Tensor, expected: &[f64]) -> Result<()> {
    let (relative, least) = bound(got.dtype());
    let numbers = values(got)?;
    assert_eq!(numbers.len(), expected.len());
    for (y, wanted) in numbers.iter().zip(expected) {
        let close = (y - wanted).abs() <= relative * wanted.abs() + least;
        assert!(close, "{y}, not {wanted} ({} on {})", got.dtype(), got.device());
    }
    Ok(())
}

fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

#[test]
fn of_single_numbers() {
    type Case = (fn(&Tensor) -> Result<Tensor>, fn(f64) -> f64);
    let cases: [Case; 4] = [
        (|x| x.mish(), |x| x * (x.max(0.0) + (-x.abs()).exp().ln_1p()).tanh()),
        (|x| x.hard_sigmoid(), |x| ((x + 3.0) / 6.0).clamp(0.0, 1.0)),
        (|x| x.softcap(2.5), |x| 2.5 * (x / 2.5).tanh()),
        (|x| x.selu(1.5, 0.75), |x| 0.75 * if x > 0.0 { x } else { 1.5 * x.exp_m1() }),
    ];
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([NUMBERS[..6].to_vec(), NUMBERS[6..].to_vec()], dtype, device)?;
            for (method, definition) in cases {
                let expected = NUMBERS.map(definition);
                for (_, x) in layouts(&x)? {
                    near(&method(&x)?, &expected)?;
                }
            }
        }
        let special = tensor([f64::NAN, f64::INFINITY], DType::F32, device)?;
        same(&special.mish()?, &[f64::NAN, f64::INFINITY])?;
        same(&special.hard_sigmoid()?, &[f64::NAN, 1.0])?;
        same(&special.softcap(2.0)?, &[f64::NAN, 2.0])?;
        same(&special.selu(1.5, 2.0)?, &[f64::NAN, f64::INFINITY])
    });
}

fn gelu(x: f64) -> f64 {
    x / (1.0 + (-1.5957691216057308 * (x + 0.044715 * x * x * x)).exp())
}

#[test]
fn gates_are_rounded_once() {
    on_devices(|device| {
        for dtype in FLOATS {
            let gate = tensor([NUMBERS[..6].to_vec(), NUMBERS[6..].to_vec()], dtype, device)?;
            let other = tensor([[3.0, -1.5, 2.0, 1.0, 5.0, 0.5]], dtype, device)?;
            let others = values(&other)?;
            for (_, gate) in layouts(&gate)? {
                let expected = |f: fn(f64) -> f64| {
                    NUMBERS.iter().enumerate().map(|(i, x)| f(*x) * others[i % 6]).collect::<Vec<_>>()
                };
                near(&gate.silu_mul(&other)?, &expected(silu))?;
                // Far below zero the formula above loses digits that f64 shows. Parity has those results.
                if dtype != DType::F64 {
                    near(&gate.gelu_mul(&other)?, &expected(gelu))?;
                }
                let mut written = gate.copy()?;
                written.binary_assign_(&other, BinaryOp::SiluMul)?;
                near(&written, &expected(silu))?;
            }
        }
        // Below −104 the activation is 0 in f32.
        let special = tensor([f64::INFINITY, f64::NEG_INFINITY, 0.0, -110.0, -110.0], DType::F32, device)?;
        let beside = tensor([-2.0, 1.0, f64::INFINITY, f64::INFINITY, 1e38], DType::F32, device)?;
        let expected = [f64::NEG_INFINITY, f64::NAN, f64::NAN, f64::NAN, -0.0];
        same(&special.silu_mul(&beside)?, &expected)?;
        same(&special.gelu_mul(&beside)?, &expected)
    });
}

#[test]
fn swiglu_of_both_halves() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([NUMBERS[..6].to_vec(), NUMBERS[6..].to_vec()], dtype, device)?;
            let expected: Vec<f64> = (0..2)
                .flat_map(|row| (0..3).map(move |i| silu(NUMBERS[row * 6 + i]) * NUMBERS[row * 6 + 3 + i]))
                .collect();
            for (_, x) in layouts(&x)? {
                let y = x.swiglu()?;
                assert_eq!(y.dims(), [2, 3]);
                near(&y, &expected)?;
            }
        }
        assert_eq!(Tensor::zeros([2, 0], DType::F32, device)?.swiglu()?.dims(), [2, 0]);
        Ok(())
    });
}

#[test]
fn arguments_without_meaning() {
    on_devices(|device| {
        let message = |result: Result<Tensor>| result.unwrap_err().to_string();
        let (x, device) = (Tensor::zeros([2, 3], DType::F32, device)?, device.to_string());
        let expected = format!("swiglu: the last axis of [2, 3] has no two halves on {device}");
        assert_eq!(message(x.swiglu()), expected);
        let expected = format!("swiglu: axis -1 is out of range for [] on {device}");
        assert_eq!(message(x.sum_all()?.swiglu()), expected);
        for cap in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e39, 1e-46] {
            assert!(matches!(x.softcap(cap).unwrap_err().kind(), ErrorKind::Argument { .. }));
        }
        let ints = x.to_dtype(DType::I64)?;
        for result in
            [ints.mish(), ints.hard_sigmoid(), ints.selu(1.0, 1.0), ints.softcap(1.0), ints.swiglu()]
        {
            let error = result.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::UnsupportedDType { .. } | ErrorKind::Argument { .. }));
        }
        Ok(())
    });
}

#[test]
fn capped_scores_by_definition() {
    on_devices(|device| {
        for (dtype, tolerance) in
            [(DType::F64, 1e-13), (DType::F32, 1e-5), (DType::F16, 2e-3), (DType::BF16, 2e-2)]
        {
            for [b, hq, hk, tq, tk, d, dv] in
                [[1, 1, 1, 1, 1, 1, 1], [2, 4, 2, 5, 7, 8, 3], [1, 6, 1, 3, 9, 4, 5]]
            {
                let q = (numbers(&[b, hq, tq, d], 1, device)? * 4.0)?.to_dtype(dtype)?;
                let k = numbers(&[b, hk, tk, d], 2, device)?.to_dtype(dtype)?;
                let v = numbers(&[b, hk, tk, dv], 3, device)?.to_dtype(dtype)?;
                // Hides all keys of the queries 2, 7, ….
                let hidden = |i: usize, j: usize| i % 5 == 2 || (i + j).is_multiple_of(3);
                let bytes: Vec<u8> = (0..tq * tk).map(|at| (!hidden(at / tk, at % tk)).into()).collect();
                let mask = Tensor::from_slice(&bytes, [tq, tk], device)?;
                let added = mask.to_dtype(dtype)?.log()?;
                let run = |mask: Option<&Tensor>, causal| {
                    q.scaled_dot_product_attention_capped(&k, &v, mask, causal, Some(0.5), 1.5)
                };
                let all = capped(&q, &k, &v, |_, _| true)?;
                close(&run(None, false)?, &all, tolerance)?;
                close(&run(None, true)?, &capped(&q, &k, &v, |i, j| j <= i)?, tolerance)?;
                let some = capped(&q, &k, &v, |i, j| !hidden(i, j))?;
                close(&run(Some(&mask), false)?, &some, tolerance)?;
                close(&run(Some(&added), false)?, &some, tolerance)?;
                let both = capped(&q, &k, &v, |i, j| j <= i && !hidden(i, j))?;
                close(&run(Some(&mask), true)?, &both, tolerance)?;
                // Operands that lie otherwise.
                let turned = |x: &Tensor| x.transpose(1, 2)?.contiguous()?.transpose(1, 2);
                let turned = turned(&q)?.scaled_dot_product_attention_capped(
                    &turned(&k)?,
                    &turned(&v)?,
                    None,
                    false,
                    Some(0.5),
                    1.5,
                )?;
                close(&turned, &all, tolerance)?;
            }
        }
        Ok(())
    });
}

#[test]
fn a_large_cap_and_no_keys() {
    on_devices(|device| {
        let (q, k) = (numbers(&[1, 2, 3, 4], 1, device)?, numbers(&[1, 1, 5, 4], 2, device)?);
        // tanh of little is little: the plain attention, with its usual scale.
        let plain = values(&q.scaled_dot_product_attention(&k, &k, None, false, None)?)?;
        close(&q.scaled_dot_product_attention_capped(&k, &k, None, false, None, 1e6)?, &plain, 1e-9)?;
        let none = k.narrow(2, 0, 0)?;
        let out = q.scaled_dot_product_attention_capped(&none, &none, None, false, None, 1.0)?;
        assert_eq!(out.dims(), [1, 2, 3, 4]);
        same(&out, &[0.0; 24])?;
        let wrong = q.scaled_dot_product_attention_capped(&k, &k, None, false, None, 0.0).unwrap_err();
        let expected = "scaled_dot_product_attention_capped: the cap is 0, not a finite number above 0 in the type that it is computed in on ";
        assert_eq!(wrong.to_string(), format!("{expected}{device}"));
        let wrong = q.scaled_dot_product_attention_capped(&k.narrow(3, 0, 2)?, &k, None, false, None, 1.0);
        assert!(wrong.unwrap_err().to_string().contains("head sizes of q and k must be equal"));
        Ok(())
    });
}

/// Numbers between −1 and 1 in a fixed, uneven order.
fn numbers(dims: &[usize], seed: usize, device: &Device) -> Result<Tensor> {
    let count: usize = dims.iter().product();
    let one = |i: usize| ((i * 37 + seed * 101 + i / 7 * 13) % 129) as f64 / 64.0 - 1.0;
    Tensor::from_vec((0..count).map(one).collect(), dims, device)
}

/// The formula in `f64` and with loops, for a scale of 0.5 and a cap of 1.5.
fn capped(q: &Tensor, k: &Tensor, v: &Tensor, seen: impl Fn(usize, usize) -> bool) -> Result<Vec<f64>> {
    let (x, y, z) = (values(q)?, values(k)?, values(v)?);
    let (&[b, hq, tq, d], &[_, hk, tk, dv]) = (q.dims(), v.dims()) else { panic!("rank 4") };
    let mut out = Vec::new();
    for head in 0..b * hq {
        let kv = head / hq * hk + head % hq / (hq / hk);
        for i in 0..tq {
            let weight = |j: usize| -> f64 {
                let dot: f64 = (0..d).map(|p| x[(head * tq + i) * d + p] * y[(kv * tk + j) * d + p]).sum();
                if seen(i, j) { (1.5 * (dot * 0.5 / 1.5).tanh()).exp() } else { 0.0 }
            };
            let total: f64 = (0..tk).map(weight).sum();
            for c in 0..dv {
                let sum: f64 = (0..tk).map(|j| weight(j) * z[(kv * tk + j) * dv + c]).sum();
                out.push(if total == 0.0 { 0.0 } else { sum / total });
            }
        }
    }
    Ok(out)
}

#[track_caller]
fn close(got: &Tensor, expected: &[f64], tolerance: f64) -> Result<()> {
    let numbers = values(got)?;
    assert_eq!(numbers.len(), expected.len());
    let equal = numbers.iter().zip(expected).all(|(x, y)| (x - y).abs() <= tolerance);
    assert!(equal, "got {numbers:?}, expected {expected:?} ({} on {})", got.dtype(), got.device());
    Ok(())
}
