//! Rotary position embeddings.

use crate::common::{FLOATS, bits, layouts, on_devices, same, tensor, values};
use tensor_core::{DType, Result, Tensor};

#[test]
fn pairs_by_hand() {
    on_devices(|device| {
        for dtype in FLOATS {
            // The angles are 90° and 0° at time 0, 180° and 90° at time 1, 0° at time 2, which the tensors do not reach.
            let cos = tensor([[0.0, 1.0], [-1.0, 0.0], [1.0, 1.0]], dtype, device)?;
            let sin = tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], dtype, device)?;
            let x = tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], dtype, device)?;
            let times = x.reshape([1, 1, 2, 4])?;
            same(&times.rope(&cos, &sin)?, &[-3.0, 2.0, 1.0, 4.0, -5.0, -8.0, -7.0, 6.0])?;
            same(&times.rope_i(&cos, &sin)?, &[-2.0, 1.0, 3.0, 4.0, -5.0, -6.0, -8.0, 7.0])?;
            // Two heads at time 0, then one head at two times.
            same(&times.rope_thd(&cos, &sin)?, &[-3.0, 2.0, 1.0, 4.0, -7.0, 6.0, 5.0, 8.0])?;
            let thd = x.reshape([1, 2, 1, 4])?.rope_thd(&cos, &sin)?;
            assert_eq!(thd.dims(), [1, 2, 1, 4]);
            same(&thd, &[-3.0, 2.0, 1.0, 4.0, -5.0, -8.0, -7.0, 6.0])?;
            // Angles of their own for each batch.
            let batches = x.reshape([2, 1, 1, 4])?;
            let (cos, sin) =
                (cos.narrow(0, 0, 2)?.reshape([2, 1, 2])?, sin.narrow(0, 0, 2)?.reshape([2, 1, 2])?);
            same(&batches.rope(&cos, &sin)?, &[-3.0, 2.0, 1.0, 4.0, -5.0, -8.0, -7.0, 6.0])?;
        }
        Ok(())
    });
}

#[test]
fn every_step_rounds_once() {
    on_devices(|device| {
        // (1 + 2^-12)² is 1 + 2^-11 in f32: a fused multiply-add would keep 2^-24 in the difference.
        let near_one = 1.0 + f64::exp2(-12.0);
        let x = tensor([near_one, 1.0], DType::F32, device)?.reshape([1, 1, 1, 2])?;
        let (cos, sin) = (tensor([[near_one]], DType::F32, device)?, tensor([[1.0]], DType::F32, device)?);
        assert_eq!(values(&x.rope(&cos, &sin)?)?[0], f64::exp2(-11.0));
        Ok(())
    });
}

#[test]
fn every_layout_gives_the_same_bits() {
    on_devices(|device| {
        for dtype in FLOATS {
            let numbers = |dims: &[usize], seed: usize| -> Result<Tensor> {
                let count: usize = dims.iter().product();
                let one = |i: usize| ((i * 37 + seed) % 101) as f64 / 50.0 - 1.0;
                tensor((0..count).map(one).collect::<Vec<f64>>(), dtype, device)?.reshape(dims)
            };
            let x = numbers(&[2, 3, 5, 14], 1)?;
            for table in [&[5, 7][..], &[2, 5, 7]] {
                let (cos, sin) = (numbers(table, 2)?, numbers(table, 3)?);
                let expected = bits(&x.rope(&cos, &sin)?)?;
                let neighbours = bits(&x.rope_i(&cos, &sin)?)?;
                for (((name, x), (_, cos)), (_, sin)) in
                    layouts(&x)?.into_iter().zip(layouts(&cos)?).zip(layouts(&sin)?)
                {
                    assert_eq!(bits(&x.rope(&cos, &sin)?)?, expected, "{dtype} {name}");
                    assert_eq!(bits(&x.rope_i(&cos, &sin)?)?, neighbours, "{dtype} {name}");
                    // The same with times and heads exchanged, and back.
                    let thd = x.transpose(1, 2)?.rope_thd(&cos, &sin)?.transpose(1, 2)?;
                    assert_eq!(bits(&thd)?, expected, "{dtype} {name}");
                    // With keys of two heads.
                    let keys = x.narrow(1, 1, 2)?;
                    let (queries, turned) = x.rope_pair(&keys, &cos, &sin)?;
                    assert_eq!((queries.dims(), turned.dims()), (x.dims(), keys.dims()));
                    assert_eq!(bits(&queries)?, expected, "{dtype} {name}");
                    assert_eq!(bits(&turned)?, bits(&keys.rope(&cos, &sin)?)?, "{dtype} {name}");
                    let (turned, queries) = keys.rope_i_pair(&x, &cos, &sin)?;
                    assert_eq!(bits(&queries)?, neighbours, "{dtype} {name}");
                    assert_eq!(bits(&turned)?, bits(&keys.rope_i(&cos, &sin)?)?, "{dtype} {name}");
                }
            }
            let empty = Tensor::zeros([2, 3, 0, 14], dtype, device)?;
            let table = Tensor::zeros([0, 7], dtype, device)?;
            assert_eq!(empty.rope(&table, &table)?.dims(), [2, 3, 0, 14]);
            assert_eq!(empty.rope_pair(&empty, &table, &table)?.1.dims(), [2, 3, 0, 14]);
            let none = Tensor::zeros([2, 0, 5, 14], dtype, device)?;
            let table = Tensor::zeros([5, 7], dtype, device)?;
            assert_eq!(x.rope_i_pair(&none, &table, &table)?.1.dims(), [2, 0, 5, 14]);
        }
        Ok(())
    });
}

#[test]
fn errors_name_shapes() {
    on_devices(|device| {
        let zeros = |dims: &[usize]| Tensor::zeros(dims, DType::F32, device);
        let says = |result: Result<Tensor>, expected: &str| match result {
            Ok(_) => panic!("no error, expected: {expected}"),
            Err(error) => assert_eq!(error.to_string(), expected.replace('@', &device.to_string())),
        };
        let (x, table) = (zeros(&[2, 3, 5, 4])?, zeros(&[5, 2])?);
        let odd = zeros(&[2, 3, 5, 7])?;
        says(
            odd.rope(&table, &table),
            "rope: the last axis of [2, 3, 5, 7] is odd, and pairs are turned on @",
        );
        says(x.get(0)?.rope_i(&table, &table), "rope_i: [3, 5, 4] has rank 3, expected 4 on @");
        says(x.rope(&zeros(&[5])?, &table), "rope: [5] has rank 1, expected 2 or 3 on @");
        says(
            x.rope(&table, &zeros(&[4, 2])?),
            "rope: sin [4, 2] does not fit [2, 3, 5, 4]: expected [5, 2] or [2, 5, 2], or more times on @",
        );
        says(
            x.rope_thd(&zeros(&[3, 3])?, &table),
            "rope_thd: cos [3, 3] does not fit [2, 3, 5, 4]: expected [3, 2] or [2, 3, 2], or more times on @",
        );
        says(
            x.rope_pair(&zeros(&[2, 1, 3, 4])?, &table, &table).map(|both| both.0),
            "rope_pair: [2, 3, 5, 4] and [2, 1, 3, 4] differ in more than heads on @",
        );
        says(
            x.rope(&table.to_dtype(DType::F16)?, &table),
            "rope: dtypes differ: f32 and f16 on @; cast one of them with to_dtype",
        );
        Ok(())
    });
}
