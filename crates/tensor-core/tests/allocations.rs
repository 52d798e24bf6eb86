//! Shapes and strides travel in the arguments of launches: an operation on strided operands allocates its result, and nothing else.
//!
//! A program of its own, for the pool of a device counts what every thread of the process allocates.

use tensor_core::{DType, Device, HipDevice, Result, Tensor};

/// Asserts that `operation` makes one allocation of device memory.
fn allocates_its_result_alone(
    name: &str,
    hip: &HipDevice,
    operation: impl Fn() -> Result<Tensor>,
) -> Result<()> {
    let allocations = || hip.device().memory_statistics().allocations;
    // The first call loads code, and makes the words that wrong ids are written to.
    operation()?;
    let before = allocations();
    let result = operation()?;
    assert_eq!(allocations() - before, 1, "{name} on {hip}");
    drop(result);
    Ok(())
}

#[test]
fn strided_operations_allocate_their_result_alone() -> Result<()> {
    for device in Device::all()? {
        let Device::Hip(hip) = &device else { continue };
        let x = Tensor::ones([6, 5], DType::F32, &device)?.t()?;
        let mask = Tensor::ones([6, 5], DType::U8, &device)?.t()?;
        let ids = Tensor::zeros([3, 2], DType::U32, &device)?.narrow(1, 1, 1)?.squeeze(1)?;
        let image = Tensor::ones([1, 2, 6, 5], DType::F32, &device)?.transpose(2, 3)?;
        let kernel = Tensor::ones([3, 2, 2, 3], DType::F32, &device)?.transpose(2, 3)?;
        assert!([&x, &mask, &ids, &image, &kernel].iter().all(|tensor| !tensor.is_contiguous()));
        allocates_its_result_alone("exp", hip, || x.exp())?;
        allocates_its_result_alone("add", hip, || x.add(&x))?;
        allocates_its_result_alone("sum", hip, || x.sum(0))?;
        allocates_its_result_alone("where_cond", hip, || mask.where_cond(&x, &x))?;
        allocates_its_result_alone("index_select", hip, || x.index_select(&ids, 0))?;
        allocates_its_result_alone("conv2d", hip, || image.conv2d(&kernel, 0, 1, 1, 1))?;
        allocates_its_result_alone("max_pool2d", hip, || image.max_pool2d(2))?;
    }
    Ok(())
}
