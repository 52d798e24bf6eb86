//! Attention to keys in pages is attention to these keys in order.

use tensor_core::{DType, Device, ErrorKind, Pages, Result, Tensor};

use crate::common::{on_devices, tensor, values};

/// Numbers between −1 and 1 in a fixed, uneven order.
fn numbers(dims: &[usize], seed: usize, dtype: DType, device: &Device) -> Result<Tensor> {
    let count: usize = dims.iter().product();
    let one = |i: usize| ((i * 37 + seed * 101 + i / 7 * 13) % 129) as f64 / 64.0 - 1.0;
    tensor((0..count).map(one).collect::<Vec<f64>>(), dtype, device)?.reshape(dims)
}

/// The keys and values that a sequence sees, gathered one by one, and attended to by the operation for keys in order.
fn by_rows(
    query: &Tensor,
    vectors: [&Tensor; 2],
    (table, position): (&[u32], usize),
    (rows, window): (usize, Option<usize>),
) -> Result<Tensor> {
    let end = (position + 1).min(table.len() * rows);
    let first = window.map_or(0, |window| (position + 1).saturating_sub(window)).min(end);
    let ids: Vec<u32> =
        (first..end).map(|key| table[key / rows] * rows as u32 + (key % rows) as u32).collect();
    let ids = Tensor::from_slice(&ids, ids.len(), &query.device())?;
    let [keys, values] = [vectors[0].index_select(&ids, 2)?, vectors[1].index_select(&ids, 2)?];
    query.scaled_dot_product_attention(&keys, &values, None, false, Some(0.7))
}

#[test]
fn pages_are_read_in_the_order_of_the_table() {
    on_devices(|device| {
        // Both sides round a sum in f32 (or f64) once, so results below 1 differ by at most one spacing below 1; sums in another order by a
        // few of f32's.
        for (dtype, tolerance) in [
            (DType::F64, 1e-12),
            (DType::F32, 1e-5),
            (DType::F16, 2f64.powi(-11)),
            (DType::BF16, 2f64.powi(-8)),
            (DType::F8E4M3, 2f64.powi(-4)),
        ] {
            // Sequences, heads, heads of keys, pages of a sequence, lengths of keys and values, rows of a page.
            for (sequences, heads, kv_heads, pages, d, dv, rows) in [
                (3, 4, 2, 5, 16, 16, 64),
                (2, 9, 1, 40, 20, 12, 8),
                (1, 2, 2, 700, 3, 5, 1),
                (2, 2, 1, 2, 64, 32, 512),
            ] {
                // A row is left over behind the last page.
                let pool = sequences * pages * rows + 1;
                let vectors =
                    [d, dv].map(|length| numbers(&[1, kv_heads, pool, length], length, dtype, device));
                let [keys, values_of] = vectors;
                let (keys, values_of) = (keys?, values_of?);
                let query = numbers(&[sequences, 1, heads, d], 5, dtype, device)?.transpose(1, 2)?;
                // Pages in the order of a permutation, a column of which belongs to nobody.
                let wide = pages + 1;
                let all = sequences * pages;
                let listed: Vec<u32> = (0..sequences * wide)
                    .map(|at| {
                        if at % wide == pages {
                            u32::MAX
                        } else {
                            ((at / wide * pages + at % wide) * 11 % all) as u32
                        }
                    })
                    .collect();
                let table = Tensor::from_slice(&listed, [sequences, wide], device)?.narrow(1, 0, pages)?;
                let most = pages * rows;
                for (positions, window) in [
                    ([most - 1, 0, most / 2], None),
                    ([most / 3, most - 1, rows - 1], Some(rows + 1)),
                    ([most + 9, 1, rows], Some(1)),
                    ([0, rows, 2], Some(0)),
                ] {
                    let last: Vec<u32> = positions[..sequences].iter().map(|at| *at as u32).collect();
                    let last = Tensor::from_slice(&last, sequences, device)?;
                    let paged = Pages { table: &table, positions: &last, rows, window };
                    let got = paged.attention(&query, [&keys, &values_of], Some(0.7))?;
                    assert_eq!(got.dims(), [sequences, heads, 1, dv]);
                    for sequence in 0..sequences {
                        let own = (&listed[sequence * wide..][..pages], positions[sequence]);
                        let query = query.narrow(0, sequence, 1)?;
                        let expected = values(&by_rows(&query, [&keys, &values_of], own, (rows, window))?)?;
                        let got = values(&got.narrow(0, sequence, 1)?)?;
                        let close = got.iter().zip(&expected).all(|(x, y)| (x - y).abs() <= tolerance);
                        assert!(
                            close,
                            "{dtype}, {rows} rows, {own:?}, {window:?} on {device}: {got:?}, {expected:?}"
                        );
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn wrong_pages_are_errors_where_they_are_seen() {
    on_devices(|device| {
        // Opened anew: another test that reads from the same device would get the error.
        let device = &if device.as_hip().is_some() { Device::parse(&device.name())? } else { device.clone() };
        let keys = numbers(&[1, 1, 9, 2], 1, DType::F32, device)?;
        let query = numbers(&[1, 1, 1, 2], 2, DType::F32, device)?;
        let attend = |keys: &Tensor, pages: [u32; 3], position: u32| -> Result<Vec<f64>> {
            let table = Tensor::new([pages], device)?;
            let positions = Tensor::new([position], device)?;
            let paged = Pages { table: &table, positions: &positions, rows: 4, window: Some(4) };
            values(&paged.attention(&query, [keys, keys], None)?)
        };
        let what = |error: tensor_core::Error| error.to_string();
        for wrong in [2, u32::MAX] {
            let text = what(attend(&keys, [0, wrong, 1], 4).expect_err("the second page is seen"));
            assert!(
                text.contains(&format!(
                    "paged_attention: index {wrong} is out of range for axis 2 of length 2"
                )),
                "{text}"
            );
            // Behind the position, and before the window.
            assert!(attend(&keys, [0, wrong, wrong], 3)?[0].is_finite());
            assert!(attend(&keys, [wrong, 0, 1], 7)?[0].is_finite());
        }
        let text = what(attend(&keys.narrow(2, 0, 3)?, [0, 0, 0], 0).expect_err("there is no page"));
        assert!(text.contains("index 0 is out of range for axis 2 of length 0"), "{text}");
        Ok(())
    });
}

#[test]
fn nothing_to_attend_to_gives_zero_and_wrong_arguments_are_named() {
    on_devices(|device| {
        let zeros = |dims: &[usize]| Tensor::zeros(dims, DType::F32, device);
        let ids = |dims: &[usize]| Tensor::zeros(dims, DType::U32, device);
        let attend = |q: &[usize], k: &[usize], v: &[usize], table: &[usize], rows| -> Result<Vec<usize>> {
            let positions = ids(&[table[0]])?;
            let paged = Pages { table: &ids(table)?, positions: &positions, rows, window: None };
            let got = paged.attention(&zeros(q)?, [&zeros(k)?, &zeros(v)?], None)?;
            assert!(values(&got)?.iter().all(|number| *number == 0.0));
            Ok(got.dims().to_vec())
        };
        let (k, q) = ([1, 2, 8, 4], [3, 4, 1, 4]);
        assert_eq!(attend(&q, &k, &[1, 2, 8, 5], &[3, 0], 4)?, [3, 4, 1, 5]);
        assert_eq!(attend(&[0, 4, 1, 4], &k, &k, &[0, 2], 4)?, [0, 4, 1, 4]);
        assert_eq!(attend(&[3, 4, 1, 0], &[1, 2, 8, 0], &k, &[3, 2], 4)?, [3, 4, 1, 4]);
        assert_eq!(attend(&[3, 0, 1, 4], &[1, 0, 8, 4], &[1, 0, 8, 4], &[3, 2], 4)?, [3, 0, 1, 4]);
        assert_eq!(attend(&q, &k, &[1, 2, 8, 0], &[3, 2], 4)?, [3, 4, 1, 0]);
        let longest = Pages::LONGEST;
        attend(&[1, 1, 1, longest], &[1, 1, 2, longest], &[1, 1, 2, 1], &[1, 1], 2)?;
        let says = |result: Result<Vec<usize>>, rule: &str| {
            let error = result.expect_err(rule);
            assert!(
                matches!(error.kind(), ErrorKind::Argument { .. }) && error.to_string().contains(rule),
                "{error}"
            );
        };
        says(attend(&[3, 4, 2, 4], &k, &k, &[3, 2], 4), "q is [sequences, heads, 1, d]");
        says(attend(&q, &[2, 2, 8, 4], &k, &[3, 2], 4), "k and v are [1, heads, rows, d]");
        says(attend(&q, &[1, 2, 8, 3], &k, &[3, 2], 4), "k has the lengths of q");
        says(attend(&q, &k, &[1, 2, 7, 4], &[3, 2], 4), "v the heads and rows of k");
        says(attend(&[3, 3, 1, 4], &k, &k, &[3, 2], 4), "a multiple of those of k and v");
        says(attend(&q, &k, &k, &[2, 2], 4), "the table is [sequences, pages]");
        says(attend(&q, &k, &k, &[3, 2], 0), "a power of two");
        says(attend(&q, &k, &k, &[3, 2], 6), "a power of two");
        says(attend(&[1, 1, 1, 513], &[1, 1, 2, 513], &[1, 1, 2, 1], &[1, 1], 2), "at most 512 numbers");
        let (whole, signed) =
            (Tensor::zeros(&k[..], DType::U32, device)?, Tensor::zeros([3, 2], DType::I64, device)?);
        let (positions, table) = (ids(&[3])?, ids(&[3, 2])?);
        let paged = Pages { table: &table, positions: &positions, rows: 4, window: None };
        let text = paged.attention(&whole, [&whole; 2], None).expect_err("integers").to_string();
        assert!(text.contains("cast it to a float first"), "{text}");
        let (query, keys) = (zeros(&q)?, zeros(&k)?);
        let text = Pages { table: &signed, ..paged }
            .attention(&query, [&keys; 2], None)
            .expect_err("i64")
            .to_string();
        assert!(text.contains("cast it first: to_dtype(DType::U32)"), "{text}");
        Ok(())
    });
}
