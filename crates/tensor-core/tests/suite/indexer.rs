//! Indexing with `i`, as in candle.

use crate::common::{on_devices, same};
use crate::index::apart;
use tensor_core::{Device, IndexOp, Result, Tensor};

/// `[2, 3, 4]` with the elements 0 to 23.
fn cube(device: &Device) -> Result<Tensor> {
    Tensor::arange(0i32, 24, device)?.reshape([2, 3, 4])
}

#[test]
fn integers_and_ranges_make_views() {
    on_devices(|device| {
        let x = cube(device)?;
        let check = |part: Tensor, dims: &[usize], expected: &[f64]| {
            assert_eq!(part.dims(), dims);
            assert!(part.shares_storage(&x));
            same(&part, expected)
        };
        check(x.i(1)?.i((0, 1..3))?, &[2], &[13.0, 14.0])?;
        check(x.i((1, 2, 3))?, &[], &[23.0])?;
        check(x.i((.., 1, 0))?, &[2], &[4.0, 16.0])?;
        check(x.i((1..2, ..1, 2..))?, &[1, 1, 2], &[14.0, 15.0])?;
        check(x.i((0, 1..=2, ..=1))?, &[2, 2], &[4.0, 5.0, 8.0, 9.0])?;
        check(x.i((0, 3.., 0))?, &[0], &[])?;
        check(x.i((1,))?.i((.., 3))?, &[3], &[15.0, 19.0, 23.0])?;
        check(x.i(..)?.i((0, 0))?, &[4], &[0.0, 1.0, 2.0, 3.0])?;
        let six = x.reshape([1, 2, 1, 3, 2, 2])?;
        check(six.i((0, 1, 0, 2, 1, 0))?, &[], &[22.0])?;
        check(six.i((.., 1, .., 2, .., 1))?, &[1, 1, 2], &[21.0, 23.0])
    });
}

/// As in PyTorch and candle.
#[test]
#[allow(clippy::reversed_empty_ranges)]
fn ranges_that_end_before_they_start_are_empty() {
    on_devices(|device| {
        let x = cube(device)?;
        for (part, dims) in [
            (x.i(1..0)?, [0, 3, 4]),
            (x.i((.., 3..1))?, [2, 0, 4]),
            (x.i((.., 2..=0))?, [2, 0, 4]),
            (x.i((.., .., 4..0))?, [2, 3, 0]),
        ] {
            assert_eq!(part.dims(), dims);
            same(&part, &[])?;
        }
        Ok(())
    });
}

#[test]
fn ids_select_along_their_axis() {
    on_devices(|device| {
        let x = cube(device)?;
        let ids = Tensor::new([2i64, 0], device)?;
        let got = x.i((1, &ids, 1..3))?;
        assert_eq!(got.dims(), [2, 2]);
        same(&got, &[21.0, 22.0, 13.0, 14.0])?;
        same(&x.i((0, 0, vec![3u32, 3]))?, &[3.0, 3.0])?;
        same(&x.i((0, 0, &[1u32, 2][..]))?, &[1.0, 2.0])?;
        same(&x.i((0, 2))?.i(&ids)?, &[10.0, 8.0])
    });
}

#[test]
fn an_index_out_of_range_is_named() {
    on_devices(|device| {
        let device = &apart(device)?;
        let x = cube(device)?;
        let says = |result: Result<Tensor>, expected: &str| {
            let error = result.and_then(|tensor| tensor.to_bytes()).expect_err(expected);
            assert_eq!(error.to_string(), format!("{expected} on {device}"));
        };
        says(x.i((1, 3)), "i: index 3 is out of range for axis 1 of [2, 3, 4]");
        says(x.i((.., .., 2..5)), "i: range of 3 from 2 is out of range for axis 2 of [2, 3, 4]");
        says(x.i((.., 4..)), "i: range of 0 from 4 is out of range for axis 1 of [2, 3, 4]");
        #[allow(clippy::reversed_empty_ranges)]
        let backwards = x.i((.., 4..1));
        says(backwards, "i: range of 0 from 4 is out of range for axis 1 of [2, 3, 4]");
        says(x.i((0, 0, 0, 0)), "i: [2, 3, 4] has rank 3, expected an axis for each index");
        says(x.i((0, vec![0u32, 3])), "index_select: index 3 is out of range for axis 1 of length 3");
        Ok(())
    });
}
