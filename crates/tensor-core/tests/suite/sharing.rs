//! Clones are free, and writing to one never shows in another.

use std::time::Instant;

use crate::common::{on_devices, vector};
use tensor_core::{BinaryOp, DType, Device, Layout, Result, Tensor, UnaryOp, copies_on_write};

/// How many copies `work` made on this thread.
fn copies(work: impl FnOnce() -> Result<()>) -> Result<u64> {
    let before = copies_on_write();
    work()?;
    Ok(copies_on_write() - before)
}

#[test]
fn clones_and_views_share_the_storage() {
    on_devices(|device| {
        let x = Tensor::zeros([1 << 10, 1 << 10], DType::F32, device)?;
        assert_eq!(x.storage_references(), 1);
        let made = copies(|| {
            let y = x.clone();
            assert!(x.shares_storage(&y));
            assert_eq!(x.storage_references(), 2);
            let views = [
                x.t()?,
                x.narrow(0, 5, 7)?,
                x.reshape([1 << 20])?,
                x.unsqueeze(0)?.expand([9, 1 << 10, 1 << 10])?,
            ];
            assert!(views.iter().all(|view| view.shares_storage(&x)));
            assert_eq!(x.storage_references(), 6);
            Ok(())
        })?;
        assert_eq!((made, x.storage_references()), (0, 1));
        assert!(!x.copy()?.shares_storage(&x));
        Ok(())
    });
}

#[test]
fn cloning_a_gigabyte_takes_no_longer_than_cloning_a_byte() {
    let device = Device::Cpu;
    // Zeroed memory that nobody touches costs nothing but address space.
    let large = Tensor::zeros(1 << 28, DType::F32, &device).unwrap();
    let time = |tensor: &Tensor| {
        let clones: Vec<Tensor> = (0..100_000).map(|_| tensor.clone()).collect();
        assert_eq!(tensor.storage_references(), clones.len() + 1);
        drop(clones);
        let start = Instant::now();
        for _ in 0..100_000 {
            std::hint::black_box(tensor.clone());
        }
        start.elapsed() / 100_000
    };
    let each = time(&large);
    // Copying would take some hundred milliseconds; the bound leaves room for a busy machine and unoptimised builds.
    assert!(each.as_micros() < 5, "{each:?}");
}

#[test]
fn an_unshared_tensor_is_written_in_place() {
    on_devices(|device| {
        let mut x = Tensor::arange(0f32, 6.0, device)?.reshape([2, 3])?;
        let row = vector(&[10f32, 20.0, 30.0], device)?;
        let made = copies(|| {
            x.add_assign_(&row)?;
            x.sub_assign_(&Tensor::full(1.0, (), DType::F32, device)?)?;
            x.mul_assign_(&row)?;
            x.div_assign_(&row)?;
            x.affine_(2.0, 1.0)?;
            x.clamp_(0.0, 60.0)?;
            x.unary_assign_(UnaryOp::Neg)?;
            x.binary_assign_(&row, BinaryOp::Maximum)
        })?;
        assert_eq!(made, 0);
        // (((i + row − 1)·row/row)·2 + 1) clamped, negated, and then the greater of that and row.
        assert_eq!(x.to_vec::<f32>()?, [10.0, 20.0, 30.0, 10.0, 20.0, 30.0]);
        let mut y = Tensor::arange(0f32, 3.0, device)?;
        assert_eq!(copies(|| y.fill_(7.5))?, 0);
        assert_eq!(copies(|| y.copy_from_(&row))?, 0);
        assert_eq!(y.to_vec::<f32>()?, [10.0, 20.0, 30.0]);
        Ok(())
    });
}

#[test]
fn a_shared_tensor_is_copied_before_it_is_written() {
    on_devices(|device| {
        let x = Tensor::arange(0f32, 6.0, device)?;
        let mut y = x.clone();
        assert_eq!(copies(|| y.affine_(1.0, 1.0))?, 1);
        assert!(!y.shares_storage(&x));
        assert_eq!(x.storage_references(), 1);
        // From now on it is alone.
        assert_eq!(copies(|| y.affine_(1.0, 1.0))?, 0);
        assert_eq!(x.to_vec::<f32>()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(y.to_vec::<f32>()?, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        // Filling needs no copy: there is nothing to keep.
        let mut z = x.clone();
        assert_eq!(copies(|| z.fill_(1))?, 0);
        assert_eq!((x.to_vec::<f32>()?[1], z.to_vec::<f32>()?), (1.0, vec![1.0; 6]));
        assert_eq!(x.to_vec::<f32>()?[5], 5.0);
        Ok(())
    });
}

#[test]
fn writing_to_a_view_copies_the_view_only() {
    on_devices(|device| {
        let x = Tensor::arange(0i32, 12, device)?.reshape([3, 4])?;
        let mut column = x.narrow(1, 1, 1)?;
        assert_eq!(copies(|| column.add_assign_(&Tensor::full(100, (), DType::I32, device)?))?, 1);
        assert_eq!(column.to_vec::<i32>()?, [101, 105, 109]);
        assert_eq!(column.storage().len(), 3);
        assert_eq!(x.to_vec::<i32>()?, (0..12).collect::<Vec<_>>());
        // A view that is the only one left is written where it lies, and what it does not show stays.
        let mut right = { x }.narrow(1, 2, 2)?;
        assert_eq!(copies(|| right.affine_(0, -1))?, 0);
        assert_eq!((right.storage().len(), right.to_vec::<i32>()?), (12, vec![-1; 6]));
        Ok(())
    });
}

#[test]
fn strided_tensors_are_written_in_place() {
    on_devices(|device| {
        let mut x = Tensor::arange(0f32, 6.0, device)?.reshape([2, 3])?.permute([1, 0])?;
        let columns = vector(&[10f32, 20.0], device)?;
        assert_eq!(copies(|| x.add_assign_(&columns))?, 0);
        assert_eq!(x.to_vec2::<f32>()?, [[10.0, 23.0], [11.0, 24.0], [12.0, 25.0]]);
        assert_eq!(copies(|| x.copy_from_(&columns))?, 0);
        assert_eq!(x.to_vec2::<f32>()?, [[10.0, 20.0]; 3]);
        assert!(!x.is_contiguous());
        Ok(())
    });
}

#[test]
fn tensors_that_repeat_their_elements_are_copied_first() {
    on_devices(|device| {
        let mut x = vector(&[1f32, 2.0], device)?.unsqueeze(0)?.expand([3, 2])?;
        assert_eq!(x.storage_references(), 1);
        let steps = Tensor::arange(0f32, 3.0, device)?.unsqueeze(1)?;
        assert_eq!(copies(|| x.add_assign_(&steps))?, 1);
        assert_eq!(x.to_vec2::<f32>()?, [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]);
        Ok(())
    });
}

#[test]
fn a_tensor_may_meet_itself() {
    on_devices(|device| {
        let mut x = Tensor::arange(0f32, 9.0, device)?.reshape([3, 3])?;
        let transposed = x.t()?;
        x.add_assign_(&transposed)?;
        assert_eq!(x.to_vec2::<f32>()?, [[0.0, 4.0, 8.0], [4.0, 8.0, 12.0], [8.0, 12.0, 16.0]]);
        assert_eq!(transposed.to_vec2::<f32>()?[0], [0.0, 3.0, 6.0]);
        Ok(())
    });
}

#[test]
fn a_failed_write_changes_nothing() {
    on_devices(|device| {
        let mut x = Tensor::arange(0f32, 6.0, device)?.reshape([2, 3])?;
        let kept = x.clone();
        let error = x.add_assign_(&Tensor::ones([2, 2, 3], DType::F32, device)?).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("add_assign_: [2, 2, 3] does not broadcast to [2, 3] on {device}")
        );
        let error = x.mul_assign_(&Tensor::ones(3, DType::F16, device)?).unwrap_err();
        let expected =
            format!("mul_assign_: dtypes differ: f32 and f16 on {device}; cast one of them with to_dtype");
        assert_eq!(error.to_string(), expected);
        assert!(x.shares_storage(&kept));
        Ok(())
    });
}

#[test]
fn tensors_go_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Tensor>();
    check::<Device>();
    check::<tensor_core::Error>();
}

#[test]
fn a_tensor_is_written_through_several_layouts() {
    on_devices(|device| {
        let part = |lengths: [usize; 2], strides: [usize; 2], offset| {
            Layout::strided(lengths, &strides, offset, "part")
        };
        let mut x = vector(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], device)?;
        let windows = x.as_strided(part([2, 3], [1, 2], 1)?);
        assert!(
            windows
                .map(drop)
                .unwrap_err()
                .to_string()
                .contains("reaches past the end of its storage of 6 elements")
        );
        assert_eq!(x.as_strided(part([2, 2], [2, 1], 1)?)?.to_vec::<f32>()?, [2.0, 3.0, 4.0, 5.0]);

        let made = copies(|| {
            x.as_strided_(part([3, 1], [2, 1], 0)?)?;
            x.affine_(10, 0)?;
            assert!(x.as_strided_(part([3, 2], [2, 1], 1)?).is_err());
            assert_eq!(x.to_vec::<f32>()?, [10.0, 30.0, 50.0]);
            x.as_strided_(part([2, 3], [3, 1], 0)?)
        })?;
        assert_eq!((made, x.to_vec::<f32>()?), (0, vec![10.0, 2.0, 30.0, 4.0, 50.0, 6.0]));
        Ok(())
    });
}
