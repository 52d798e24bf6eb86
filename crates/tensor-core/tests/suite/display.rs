//! Tensors as text. The expected texts follow PyTorch's printing rules by hand: one format for all elements, four digits,
//! exponents when the largest is more than 1000 times the least, or above 1e8, or the least is below 1e-4, whole floats as
//! `1.`, the middle left out beyond 1000 elements, lines of 80 columns.

use crate::common::{on_devices, tensor};
use tensor_core::{DType, Device, Result, Tensor};

/// Asserts the text of a tensor on the CPU, and the same with the device added elsewhere.
#[track_caller]
fn prints(tensor: &Tensor, expected: &str) {
    if tensor.device().is_cpu() {
        assert_eq!(tensor.to_string(), expected);
    } else {
        // The device comes before what else is appended.
        let end = [", size=", ", dtype="].iter().filter_map(|suffix| expected.find(suffix)).min();
        let contents = end.map_or(expected.trim_end_matches(')'), |end| &expected[..end]);
        let text = tensor.to_string();
        assert!(
            text.starts_with(contents) && text.contains(&format!("device='{}'", tensor.device())),
            "{text}"
        );
    }
}

#[test]
fn floats() {
    on_devices(|device| {
        let f32s = |x: &[f32]| Tensor::from_slice(x, x.len(), device);
        prints(&f32s(&[1.0, 2.0, 3.0])?, "tensor([1., 2., 3.])");
        prints(&f32s(&[1.0, 2.5, -3.0])?, "tensor([ 1.0000,  2.5000, -3.0000])");
        prints(&f32s(&[0.0, 0.0])?, "tensor([0., 0.])");
        prints(&f32s(&[-0.0, 1.0])?, "tensor([-0., 1.])");
        prints(&f32s(&[0.1, 0.25])?, "tensor([0.1000, 0.2500])");
        prints(&f32s(&[10.0, 200.0, 3.0])?, "tensor([ 10., 200.,   3.])");
        prints(&f32s(&[1e-5, 1.0])?, "tensor([1.0000e-05, 1.0000e+00])");
        prints(&f32s(&[0.5, 1000.0])?, "tensor([5.0000e-01, 1.0000e+03])");
        prints(&f32s(&[1.0, 1000.0])?, "tensor([   1., 1000.])");
        prints(&f32s(&[1.0, 1001.0])?, "tensor([1.0000e+00, 1.0010e+03])");
        prints(&f32s(&[2e8])?, "tensor([2.0000e+08])");
        prints(&f32s(&[1e8])?, "tensor([100000000.])");
        prints(&f32s(&[-1e30, 1e-30])?, "tensor([-1.0000e+30,  1.0000e-30])");
        prints(&tensor([1e-200, 1.0], DType::F64, device)?, "tensor([1.0000e-200,  1.0000e+00], dtype=f64)");
        Ok(())
    });
}

#[test]
fn nan_and_infinities() {
    on_devices(|device| {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let f32s = |x: &[f32]| Tensor::from_slice(x, x.len(), device);
        prints(&f32s(&[1.0, nan])?, "tensor([1., nan])");
        prints(&f32s(&[nan, inf, -inf])?, "tensor([nan, inf, -inf])");
        prints(&f32s(&[1.5, nan, -inf])?, "tensor([1.5000,    nan,   -inf])");
        prints(&f32s(&[10.0, inf])?, "tensor([10., inf])");
        prints(&f32s(&[1e-6, inf])?, "tensor([1.0000e-06,        inf])");
        Ok(())
    });
}

#[test]
fn integers_and_dtypes() {
    on_devices(|device| {
        prints(&Tensor::new([1i64, -20, 300], device)?, "tensor([  1, -20, 300])");
        prints(&Tensor::new([1i32, 2], device)?, "tensor([1, 2], dtype=i32)");
        prints(&Tensor::new([255u8], device)?, "tensor([255], dtype=u8)");
        prints(&Tensor::new([u32::MAX, 0], device)?, "tensor([4294967295,          0], dtype=u32)");
        prints(&tensor([0.1], DType::F16, device)?, "tensor([0.1000], dtype=f16)");
        prints(&tensor([0.1], DType::BF16, device)?, "tensor([0.1001], dtype=bf16)");
        prints(&tensor([448.0, 0.5], DType::F8E4M3, device)?, "tensor([448.0000,   0.5000], dtype=f8e4m3)");
        Ok(())
    });
}

#[test]
fn shapes() {
    on_devices(|device| {
        prints(&Tensor::new(3.5f32, device)?, "tensor(3.5000)");
        prints(&Tensor::new(7i64, device)?, "tensor(7)");
        prints(&Tensor::new(f32::NAN, device)?, "tensor(nan)");
        prints(&Tensor::new([[1f32, 2.0], [3.0, 4.0]], device)?, "tensor([[1., 2.],\n        [3., 4.]])");
        let cube = Tensor::arange(0i64, 8, device)?.reshape([2, 2, 2])?;
        prints(&cube, "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])");
        let four = Tensor::arange(0i64, 4, device)?.reshape([2, 1, 2, 1])?;
        prints(&four, "tensor([[[[0],\n          [1]]],\n\n\n        [[[2],\n          [3]]]])");
        prints(&cube.get(0)?.t()?, "tensor([[0, 2],\n        [1, 3]])");
        Ok(())
    });
}

#[test]
fn empty_tensors() {
    on_devices(|device| {
        prints(&Tensor::zeros(0, DType::F32, device)?, "tensor([])");
        prints(&Tensor::zeros(0, DType::I64, device)?, "tensor([], dtype=i64)");
        prints(&Tensor::zeros([2, 0], DType::F32, device)?, "tensor([], size=(2, 0))");
        prints(&Tensor::zeros([0, 3], DType::F16, device)?, "tensor([], size=(0, 3), dtype=f16)");
        Ok(())
    });
}

#[test]
fn long_rows_are_broken_at_eighty_columns() {
    on_devices(|device| {
        let x = Tensor::arange(0i64, 30, device)?;
        // 73 columns remain, each number takes 4: 18 a line.
        prints(
            &x,
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
        );
        let halves = Tensor::full(0.5, 10, DType::F32, device)?;
        prints(
            &halves,
            "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000,\n        0.5000])",
        );
        Ok(())
    });
}

#[test]
fn a_suffix_moves_to_a_new_line_if_the_last_is_full() {
    let x = Tensor::arange(0i32, 18, &Device::Cpu).unwrap();
    prints(
        &x,
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17],\n       dtype=i32)",
    );
}

#[test]
fn large_tensors_are_summarised() {
    on_devices(|device| {
        prints(&Tensor::arange(0i64, 1001, device)?, "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
        prints(&Tensor::ones(2000, DType::F32, device)?, "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
        let matrix = Tensor::arange(0f32, 10_000.0, device)?.reshape([100, 100])?;
        prints(
            &matrix,
            "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.7000e+01, 9.8000e+01,\n         9.9000e+01],\n        \
             [1.0000e+02, 1.0100e+02, 1.0200e+02,  ..., 1.9700e+02, 1.9800e+02,\n         1.9900e+02],\n        \
             [2.0000e+02, 2.0100e+02, 2.0200e+02,  ..., 2.9700e+02, 2.9800e+02,\n         2.9900e+02],\n        \
             ...,\n        \
             [9.7000e+03, 9.7010e+03, 9.7020e+03,  ..., 9.7970e+03, 9.7980e+03,\n         9.7990e+03],\n        \
             [9.8000e+03, 9.8010e+03, 9.8020e+03,  ..., 9.8970e+03, 9.8980e+03,\n         9.8990e+03],\n        \
             [9.9000e+03, 9.9010e+03, 9.9020e+03,  ..., 9.9970e+03, 9.9980e+03,\n         9.9990e+03]])",
        );
        // Only the shown elements decide on the format: the 7.5 in the middle does not show.
        let mut middle = vec![1f32; 1200];
        middle[600] = 7.5;
        prints(&Tensor::from_vec(middle, 1200, device)?, "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
        // Short axes are shown whole, long ones are not, wherever they are.
        let tall = Tensor::arange(0i64, 2000, device)?.reshape([1000, 2])?;
        prints(
            &tall,
            "tensor([[   0,    1],\n        [   2,    3],\n        [   4,    5],\n        ...,\n        [1994, 1995],\n        [1996, 1997],\n        [1998, 1999]])",
        );
        let planes = Tensor::arange(0i64, 2 * 7 * 100, device)?.reshape([2, 7, 100])?;
        let text = planes.to_string();
        assert!(
            text.starts_with("tensor([[[   0,    1,    2,  ...,   97,   98,   99],\n         [ 100,"),
            "{text}"
        );
        assert!(
            text.contains("\n         ...,\n         [ 400,  401,  402,  ...,  497,  498,  499],"),
            "{text}"
        );
        assert!(text.contains("[ 600,  601,  602,  ...,  697,  698,  699]],\n\n        [[ 700,"), "{text}");
        Ok(())
    });
}

/// More axes than a stack has room for.
#[test]
fn any_rank_prints() {
    on_devices(|device| {
        let brackets =
            |rank: usize, inside: &str| format!("tensor({}{inside}{}", "[".repeat(rank), "]".repeat(rank));
        for rank in [40, 10_000] {
            let one = Tensor::full(7, vec![1; rank], DType::I64, device)?;
            assert!(one.to_string().starts_with(&brackets(rank, "7")));
        }
        // Two rows on the first axis: all the inner brackets close, and open again below where they were.
        let mut shape = vec![1; 300];
        shape[0] = 2;
        let two = Tensor::arange(0i64, 2, device)?.reshape(shape)?.to_string();
        let (open, close) = ("[".repeat(299), "]".repeat(299));
        let between = format!(",{}{}", "\n".repeat(299), " ".repeat(8));
        assert!(two.starts_with(&format!("tensor([{open}0{close}{between}{open}1{close}]")), "{two}");
        // A thousand axes of which the last two have elements, summarised.
        let mut shape = vec![1; 1000];
        shape.extend([7, 200]);
        let text = Tensor::arange(0i64, 1400, device)?.reshape(shape)?.to_string();
        // So far to the right, a line has one number.
        let start = format!("tensor({}[[   0,\n{}   1,\n", "[".repeat(1000), " ".repeat(7 + 1002));
        assert!(text.starts_with(&start));
        assert!(text.contains(&format!("],\n{}...,\n", " ".repeat(7 + 1001))));
        Ok(())
    });
}

/// Many short axes are not summarised, as in PyTorch; what would take all memory is left out.
#[test]
fn too_many_short_axes_are_not_shown() {
    on_devices(|device| {
        let one = Tensor::full(1, [1; 40], DType::U8, device)?;
        let text = one.expand([2; 40])?.to_string();
        let reason = "tensor(<display: 1099511627776 elements would be shown, more than 1048576: print a part of it>, shape=[2, 2, ";
        assert!(text.starts_with(reason) && text.ends_with("2], dtype=u8)"), "{text}");
        // 2 · 6⁶ elements are shown of 2 · 7⁶.
        let large = one.reshape([1; 7])?.expand([2, 7, 7, 7, 7, 7, 7])?.to_string();
        let numbers = large.split("device=").next().unwrap();
        assert_eq!(numbers.matches('1').count(), 2 * 46656);
        Ok(())
    });
}

#[test]
fn huge_views_print_at_once() -> Result<()> {
    let x = Tensor::new([1f32, 2.0], &Device::Cpu)?.unsqueeze(0)?.expand([1 << 40, 2])?;
    assert!(
        x.to_string().starts_with("tensor([[1., 2.],\n        [1., 2.],\n        [1., 2.],\n        ...,")
    );
    assert_eq!(format!("{x:?}"), "Tensor[[1099511627776, 2]; f32, cpu]");
    Ok(())
}
