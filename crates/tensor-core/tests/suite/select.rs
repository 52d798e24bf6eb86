//! Choosing by masks and by index, against values worked out by hand.

use crate::common::{layouts, on_devices, same, tensor, values, vector};
use tensor_core::{DType, Device, Tensor};

const NAN: f64 = f64::NAN;

#[test]
fn where_takes_from_either_side() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype, device)?;
            let y = tensor([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]], dtype, device)?.to_dtype(dtype)?;
            // f8e4m3 has no 50: halfway between 48 and 52, ties to even.
            let fifty = values(&y)?[4];
            for mask in [DType::U8, DType::U32, DType::I64] {
                let mask = tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 255.0]], mask, device)?;
                for ((name, x), (_, mask)) in layouts(&x)?.into_iter().zip(layouts(&mask)?) {
                    let got = mask.where_cond(&x, &y)?;
                    assert_eq!(got.dtype(), dtype, "{name}");
                    same(&got, &[1.0, 20.0, 3.0, 40.0, fifty, 6.0])?;
                }
                let row = tensor([0.0, 1.0, 1.0], mask.dtype(), device)?;
                same(&row.where_cond(&x, &tensor(9.0, dtype, device)?)?, &[9.0, 2.0, 3.0, 9.0, 5.0, 6.0])?;
                let column = tensor([[0.0], [1.0]], mask.dtype(), device)?;
                same(&column.where_cond(&x.get(0)?, &x.get(1)?)?, &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0])?;
                same(&x.masked_fill(&row, 7)?, &[1.0, 7.0, 7.0, 4.0, 7.0, 7.0])?;
            }
        }
        // Bits move: NaN on the side that is not taken does not spread, and −0 stays.
        let mask = vector(&[1u8, 0], device)?;
        same(
            &mask.where_cond(&vector(&[-0f32, 1.0], device)?, &vector(&[f32::NAN; 2], device)?)?,
            &[-0.0, NAN],
        )?;
        // A negative number in a mask is not zero.
        same(
            &vector(&[i64::MIN, 0], device)?
                .where_cond(&vector(&[1u8; 2], device)?, &vector(&[2u8; 2], device)?)?,
            &[1.0, 2.0],
        )?;
        let empty = Tensor::zeros([0, 3], DType::U8, device)?;
        assert_eq!(
            empty
                .where_cond(&Tensor::ones(3, DType::F32, device)?, &Tensor::ones((), DType::F32, device)?)?
                .dims(),
            [0, 3]
        );
        Ok(())
    });
}

#[test]
fn long_masks_take_the_fast_path_and_its_remainder() {
    on_devices(|device| {
        for count in [1usize, 15, 16, 17, 255, 4099] {
            let ids = Tensor::arange(0i64, count as i64, device)?;
            let mask = (&ids % 3.0)?;
            let expected: Vec<f64> =
                (0..count).map(|i| if i % 3 == 0 { -1.0 } else { (i % 100) as f64 }).collect();
            for dtype in [DType::U32, DType::I16, DType::F32, DType::F64] {
                let x = (&ids % 100.0)?.to_dtype(dtype)?;
                let other = Tensor::full(-1, (), dtype, device)?;
                let expected: Vec<f64> = if dtype == DType::U32 {
                    expected.iter().map(|x| if *x < 0.0 { f64::from(u32::MAX) } else { *x }).collect()
                } else {
                    expected.clone()
                };
                assert_eq!(values(&mask.where_cond(&x, &other)?)?, expected, "{dtype} {count}");
                // One element further: not aligned.
                if count > 1 {
                    let part = |x: &Tensor| x.narrow(0, 1, count - 1);
                    assert_eq!(values(&part(&mask)?.where_cond(&part(&x)?, &other)?)?, expected[1..]);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn where_errors() {
    on_devices(|device| {
        let x = Tensor::ones([2, 3], DType::F32, device)?;
        let mask = Tensor::ones([2, 3], DType::U8, device)?;
        let message = |result: tensor_core::Result<Tensor>| result.unwrap_err().to_string();
        assert_eq!(
            message(x.where_cond(&x, &x)),
            format!(
                "where_cond: f32 is not supported (shape [2, 3]) on {device}; a mask is u8, u32 or i64: compare it with zero (ne), \
                 which gives u8"
            )
        );
        assert_eq!(
            message(mask.where_cond(&x, &Tensor::ones([2, 3], DType::F64, device)?)),
            format!("where_cond: dtypes differ: f32 and f64 on {device}; cast one of them with to_dtype")
        );
        assert_eq!(
            message(Tensor::ones(4, DType::U8, device)?.where_cond(&x, &x)),
            format!("where_cond: shapes do not broadcast: [4] and [2, 3] on {device}")
        );
        assert_eq!(
            message(x.masked_fill(&Tensor::ones([2, 2, 3], DType::U8, device)?, 0)),
            format!("masked_fill: [2, 2, 3] does not broadcast to [2, 3] on {device}")
        );
        if !device.is_cpu() {
            let elsewhere = Tensor::ones([2, 3], DType::U8, &Device::Cpu)?;
            assert!(
                message(elsewhere.where_cond(&x, &x))
                    .starts_with("where_cond: operands lie on two devices, cpu and ")
            );
            assert!(
                message(x.masked_fill(&elsewhere, 1)).starts_with("masked_fill: operands lie on two devices")
            );
        }
        Ok(())
    });
}

#[test]
fn flips() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.flip(1)?, &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0])?;
                same(&x.flip(0)?, &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0])?;
                same(&x.flip([0, -1])?, &[6.0, 5.0, 4.0, 3.0, 2.0, 1.0])?;
                same(&x.t()?.flip(0)?, &[3.0, 6.0, 2.0, 5.0, 1.0, 4.0])?;
            }
            let none: [usize; 0] = [];
            same(&x.flip(none)?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
        }
        let row = vector(&[1f32, 2.0], device)?.expand([2, 2])?;
        same(&row.flip([0, 1])?, &[2.0, 1.0, 2.0, 1.0])?;
        assert_eq!(Tensor::zeros([0, 3], DType::F32, device)?.flip(1)?.dims(), [0, 3]);
        same(&Tensor::new(5f32, device)?.flip(none_of())?, &[5.0])?;
        let error = row.flip(2).unwrap_err().to_string();
        assert_eq!(error, format!("flip: axis 2 is out of range for [2, 2] on {device}"));
        // More axes than a kernel's arguments hold, every second one turned round: element i comes from i with those bits turned.
        let many = Tensor::arange(0i32, 1 << 11, device)?.reshape(vec![2; 11])?;
        let expected: Vec<f64> = (0..1 << 11).map(|i| f64::from(i ^ 0b101_0101_0101)).collect();
        assert_eq!(values(&many.flip([0, 2, 4, 6, 8, 10])?)?, expected);
        Ok(())
    });
}

fn none_of() -> [usize; 0] {
    []
}

#[test]
fn triangles() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.tril(0)?, &[1.0, 0.0, 0.0, 4.0, 5.0, 0.0, 7.0, 8.0, 9.0])?;
                same(&x.triu(0)?, &[1.0, 2.0, 3.0, 0.0, 5.0, 6.0, 0.0, 0.0, 9.0])?;
                same(&x.tril(-1)?, &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 7.0, 8.0, 0.0])?;
                same(&x.triu(1)?, &[0.0, 2.0, 3.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0])?;
                same(&x.triu(i64::MIN)?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])?;
                same(&x.tril(i64::MAX)?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])?;
                same(&x.tril(i64::MIN)?, &[0.0; 9])?;
                same(&x.triu(i64::MAX)?, &[0.0; 9])?;
            }
            same(&Tensor::tril2(2, dtype, device)?, &[1.0, 0.0, 1.0, 1.0])?;
            same(&Tensor::triu2(2, dtype, device)?, &[1.0, 1.0, 0.0, 1.0])?;
        }
        // Each matrix of a batch, and no product with zero: NaN and infinities vanish.
        let x = Tensor::full(f64::NAN, [2, 2, 3], DType::F32, device)?;
        same(&x.tril(0)?, &[NAN, 0.0, 0.0, NAN, NAN, 0.0, NAN, 0.0, 0.0, NAN, NAN, 0.0])?;
        assert_eq!(Tensor::zeros([3, 0], DType::F32, device)?.tril(0)?.dims(), [3, 0]);
        assert_eq!(Tensor::tril2(0, DType::F32, device)?.dims(), [0, 0]);
        let error = vector(&[1f32], device)?.triu(0).unwrap_err().to_string();
        assert_eq!(error, format!("triu: [1] has rank 1, expected at least 2 on {device}"));
        Ok(())
    });
}

/// The other lengths of an empty tensor may be such that their product does not fit.
#[test]
fn empty_tensors_with_great_lengths_are_flipped() {
    on_devices(|device| {
        let nothing = Tensor::zeros([0, 1 << 40, 1 << 40], DType::F32, device)?;
        for axes in [vec![1, 2], vec![0], vec![0, 1, 2]] {
            assert_eq!(nothing.flip(axes)?.dims(), [0, 1 << 40, 1 << 40]);
        }
        Ok(())
    });
}
