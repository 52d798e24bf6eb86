//! Operations on the CPU whose code is unsafe somewhere: new memory that is written piece by piece, matrix products by bare pointers, memory
//! that other libraries have. Small enough for Miri to interpret: `ci/miri.sh` does that. As an ordinary test program it takes no time.
//! Files are not among them: Miri does not know how they are opened here, so that a FIFO is not waited for.

use tensor_core::{DType, Device, Result, Tensor, dlpack};

const CPU: Device = Device::Cpu;

/// 0, 1, 2 … in two rows of three.
fn rows() -> Result<Tensor> {
    Tensor::arange(0f32, 6.0, &CPU)?.reshape([2, 3])
}

#[test]
fn views_are_read_where_they_lie() -> Result<()> {
    let x = rows()?;
    let turned = x.t()?;
    assert_eq!(turned.contiguous()?.to_vec::<f32>()?, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(turned.narrow(0, 1, 2)?.add(&turned.narrow(0, 0, 2)?)?.to_vec::<f32>()?, [1.0, 7.0, 3.0, 9.0]);
    assert_eq!(x.flip(1)?.to_vec::<f32>()?, [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    let column = x.narrow(1, 2, 1)?.broadcast_as([2, 3])?;
    assert_eq!(x.mul(&column)?.to_vec::<f32>()?, [0.0, 2.0, 4.0, 15.0, 20.0, 25.0]);
    let mut own = x.clone();
    own.affine_(2.0, 1.0)?;
    assert_eq!((own.to_vec::<f32>()?[5], x.to_vec::<f32>()?[5]), (11.0, 5.0));
    assert!(Tensor::zeros([0, 3], DType::F32, &CPU)?.exp()?.to_vec::<f32>()?.is_empty());
    Ok(())
}

#[test]
fn results_are_written_once() -> Result<()> {
    let x = rows()?;
    assert_eq!(x.sum(0)?.to_vec::<f32>()?, [3.0, 5.0, 7.0]);
    assert_eq!(x.t()?.max(0)?.to_vec::<f32>()?, [2.0, 5.0]);
    assert_eq!(x.argmin(1)?.to_vec::<u32>()?, [0, 0]);
    assert_eq!(x.cumsum(1)?.to_vec::<f32>()?, [0.0, 1.0, 3.0, 3.0, 7.0, 12.0]);
    assert_eq!(x.gt(&x.flip(1)?)?.to_vec::<u8>()?, [0, 0, 1, 0, 0, 1]);
    assert_eq!(x.clamp(1.0f32, 3.0f32)?.to_vec::<f32>()?, [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
    for dtype in [DType::F8E4M3, DType::BF16, DType::F16, DType::F64, DType::I64, DType::U8] {
        assert_eq!(x.to_dtype(dtype)?.to_dtype(DType::F32)?.to_vec::<f32>()?, x.to_vec::<f32>()?, "{dtype}");
    }
    let (joined, other) = (Tensor::cat(&[&x, &x.flip(0)?], 1)?, Tensor::cat(&[&x.t()?, &x.t()?], 1)?);
    assert_eq!(joined.to_vec::<f32>()?[3..9], [3.0, 4.0, 5.0, 3.0, 4.0, 5.0]);
    assert_eq!(other.to_vec::<f32>()?[..4], [0.0, 3.0, 0.0, 3.0]);
    Ok(())
}

#[test]
fn ids_lead_into_the_source() -> Result<()> {
    let x = rows()?;
    let ids = Tensor::new([2u32, 0, 2], &CPU)?;
    assert_eq!(x.index_select(&ids, 1)?.to_vec::<f32>()?, [2.0, 0.0, 2.0, 5.0, 3.0, 5.0]);
    let indices = Tensor::new([[1u32, 0, 1]], &CPU)?;
    assert_eq!(x.gather(&indices, 0)?.to_vec::<f32>()?, [3.0, 1.0, 5.0]);
    let (sorted, order) = x.flip(1)?.sort(1, false)?;
    assert_eq!((sorted.to_vec::<f32>()?, order.to_vec::<u32>()?[0]), (x.to_vec::<f32>()?, 2));
    assert!(x.index_select(&Tensor::new([3u32], &CPU)?, 1).is_err());
    Ok(())
}

/// gemm and the loops around it go by bare pointers.
#[test]
fn products_stay_inside_their_matrices() -> Result<()> {
    let x = rows()?;
    assert_eq!(x.matmul(&x.t()?)?.to_vec::<f32>()?, [5.0, 14.0, 14.0, 50.0]);
    assert_eq!(x.t()?.matmul(&x)?.to_vec::<f32>()?, [9.0, 12.0, 15.0, 12.0, 17.0, 22.0, 15.0, 22.0, 29.0]);
    let image = Tensor::arange(0f32, 16.0, &CPU)?.reshape([1, 1, 4, 4])?;
    let filter = Tensor::ones([1, 1, 3, 3], DType::F32, &CPU)?;
    assert_eq!(image.conv2d(&filter, 0, 1, 1, 1)?.to_vec::<f32>()?, [45.0, 54.0, 81.0, 90.0]);
    assert_eq!(image.max_pool2d(2)?.to_vec::<f32>()?, [5.0, 7.0, 13.0, 15.0]);
    Ok(())
}

/// What is exported is imported: two libraries that are one.
#[test]
fn memory_goes_to_other_libraries_and_comes_from_them() -> Result<()> {
    let x = rows()?;
    let exported = dlpack::export(x.t()?)?;
    // SAFETY: S11: this one made it, and gives it away.
    let y = unsafe { dlpack::import(exported.into_raw(), &CPU) }?;
    assert_eq!(y.to_vec::<f32>()?, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    drop(dlpack::export(x)?);
    Ok(())
}
