//! Channels as pixels and back, against positions worked out by hand.

use crate::common::{bits, layouts, on_devices, same};
use tensor_core::{DType, ErrorKind, Tensor};

#[test]
fn channels_become_squares_of_pixels() {
    on_devices(|device| {
        // Two channels of 2 × 2 squares in a plane of 1 × 2.
        let x = Tensor::arange(0f32, 16.0, device)?.reshape((1, 8, 1, 2))?;
        let expected =
            [[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0], [8.0, 10.0, 9.0, 11.0], [12.0, 14.0, 13.0, 15.0]];
        for (_, x) in layouts(&x)? {
            let y = x.pixel_shuffle(2)?;
            assert_eq!(y.dims(), [1, 2, 2, 4]);
            same(&y, expected.as_flattened())?;
            let back = y.pixel_unshuffle(2)?;
            assert_eq!(back.dims(), [1, 8, 1, 2]);
            same(&back, &(0..16).map(f64::from).collect::<Vec<f64>>())?;
        }
        Ok(())
    });
}

#[test]
fn every_element_by_definition() {
    on_devices(|device| {
        let (b, c, h, w, f) = (2, 3, 4, 5, 3);
        for dtype in DType::ALL {
            let x =
                (Tensor::arange(0i64, 1080, device)? % 97)?.to_dtype(dtype)?.reshape((b, c * f * f, h, w))?;
            let (y, from) = (x.pixel_shuffle(f)?, bits(&x)?);
            assert_eq!((y.dims(), y.dtype()), (&[b, c, h * f, w * f][..], dtype));
            let mut expected = Vec::new();
            for (n, channel) in (0..b).flat_map(|n| (0..c).map(move |channel| (n, channel))) {
                for (row, column) in (0..h * f).flat_map(|row| (0..w * f).map(move |column| (row, column))) {
                    let part = channel * f * f + row % f * f + column % f;
                    expected.push(from[((n * c * f * f + part) * h + row / f) * w + column / f]);
                }
            }
            assert_eq!(bits(&y)?, expected, "{dtype} on {device}");
            assert_eq!(bits(&y.pixel_unshuffle(f)?)?, from, "{dtype} on {device}");
        }
        Ok(())
    });
}

#[test]
fn factors_that_do_not_fit() {
    on_devices(|device| {
        let x = Tensor::zeros([1, 8, 4, 6], DType::U8, device)?;
        let says = |result: tensor_core::Result<Tensor>, expected: &str| {
            assert_eq!(result.unwrap_err().to_string(), format!("{expected} on {device}"));
        };
        says(x.pixel_shuffle(3), "pixel_shuffle: 3 × 3 does not divide the 8 channels of [1, 8, 4, 6]");
        says(x.pixel_unshuffle(4), "pixel_unshuffle: 4 does not divide the height and width of [1, 8, 4, 6]");
        for factor in [0, usize::MAX] {
            assert!(matches!(x.pixel_shuffle(factor).unwrap_err().kind(), ErrorKind::Argument { .. }));
            assert!(matches!(x.pixel_unshuffle(factor).unwrap_err().kind(), ErrorKind::Argument { .. }));
        }
        says(x.get(0)?.pixel_shuffle(2), "pixel_shuffle: [8, 4, 6] has rank 3, expected 4");
        assert_eq!(x.narrow(0, 0, 0)?.pixel_shuffle(2)?.dims(), [0, 2, 8, 12]);
        assert_eq!(x.narrow(2, 0, 0)?.pixel_unshuffle(2)?.dims(), [1, 32, 0, 3]);
        Ok(())
    });
}
