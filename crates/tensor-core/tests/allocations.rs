//! Shapes and strides travel in the arguments of launches: an operation on strided operands allocates its result, and nothing else.
//!
//! A program of its own with one test, for the pool of a device counts what every thread of the process allocates.

use tensor_core::{DType, Device, HipDevice, Result, Tensor};

/// Asserts that `operation` makes one allocation of device memory.
fn allocates_its_result_alone(
    name: &str,
    hip: &HipDevice,
    operation: impl Fn() -> Result<Tensor>,
) -> Result<()> {
    allocates(1, name, hip, operation)
}

/// Asserts that `operation` makes so many of them.
fn allocates(pieces: u64, name: &str, hip: &HipDevice, operation: impl Fn() -> Result<Tensor>) -> Result<()> {
    let allocations = || hip.device().memory_statistics().allocations;
    // The first call loads code, and makes the words that wrong ids are written to.
    operation()?;
    let before = allocations();
    let result = operation()?;
    assert_eq!(allocations() - before, pieces, "{name} on {hip}");
    drop(result);
    Ok(())
}

#[test]
fn operations_allocate_their_result_alone() -> Result<()> {
    for device in Device::all()? {
        let Device::Hip(hip) = &device else { continue };
        strided_operations(&device, hip)?;
        if hip.uses_libraries() {
            products(&device, hip)?;
        }
    }
    Ok(())
}

fn strided_operations(device: &Device, hip: &HipDevice) -> Result<()> {
    let x = Tensor::ones([6, 5], DType::F32, device)?.t()?;
    let mask = Tensor::ones([6, 5], DType::U8, device)?.t()?;
    let ids = Tensor::zeros([3, 2], DType::U32, device)?.narrow(1, 1, 1)?.squeeze(1)?;
    let image = Tensor::ones([1, 2, 6, 5], DType::F32, device)?.transpose(2, 3)?;
    let kernel = Tensor::ones([3, 2, 2, 3], DType::F32, device)?.transpose(2, 3)?;
    assert!([&x, &mask, &ids, &image, &kernel].iter().all(|tensor| !tensor.is_contiguous()));
    allocates_its_result_alone("exp", hip, || x.exp())?;
    allocates_its_result_alone("add", hip, || x.add(&x))?;
    allocates_its_result_alone("sum", hip, || x.sum(0))?;
    allocates_its_result_alone("where_cond", hip, || mask.where_cond(&x, &x))?;
    allocates_its_result_alone("index_select", hip, || x.index_select(&ids, 0))?;
    allocates_its_result_alone("conv2d", hip, || image.conv2d(&kernel, 0, 1, 1, 1))?;
    allocates_its_result_alone("max_pool2d", hip, || image.max_pool2d(2))?;
    Ok(())
}

/// Products by a BLAS read their operands where they lie, with any leading dimension, either way round, and repeated for a batch.
fn products(device: &Device, hip: &HipDevice) -> Result<()> {
    let ones = |dims: &[usize]| Tensor::ones(dims, DType::F32, device);
    let (tight, wide) = (ones(&[20, 24])?, ones(&[24, 40])?);
    allocates_its_result_alone("tight", hip, || tight.matmul(&wide))?;
    let narrowed = ones(&[50, 60])?.narrow(0, 3, 20)?.narrow(1, 7, 24)?;
    let part = wide.narrow(1, 5, 18)?;
    assert!(!narrowed.is_contiguous() && !part.is_contiguous());
    allocates_its_result_alone("narrowed", hip, || narrowed.matmul(&part))?;
    allocates_its_result_alone("transposed", hip, || wide.t()?.matmul(&tight.t()?))?;
    allocates_its_result_alone("transposed and narrowed", hip, || part.t()?.matmul(&narrowed.t()?))?;
    let batch = ones(&[3, 20, 24])?;
    allocates_its_result_alone("batched", hip, || batch.matmul(&batch.transpose(1, 2)?))?;
    allocates_its_result_alone("repeated on the right", hip, || batch.matmul(&wide))?;
    allocates_its_result_alone("repeated on the left", hip, || tight.matmul(&batch.transpose(1, 2)?))?;
    let heads = ones(&[2, 20, 3, 24])?.transpose(1, 2)?;
    allocates_its_result_alone("heads side by side", hip, || heads.matmul(&heads.transpose(2, 3)?))?;
    let (weight, bias) = (ones(&[40, 24])?, ones(&[40])?);
    allocates_its_result_alone("linear", hip, || batch.linear(&weight, Some(&bias)))?;
    // Every second row and column: no leading dimension says that, so it is copied once.
    let spread = ones(&[20, 24, 2])?.narrow(2, 1, 1)?.squeeze(2)?;
    allocates(2, "spread", hip, || spread.matmul(&wide))?;
    Ok(())
}
