//! Empty tensors whose other lengths are huge: products of these do not fit, and nothing may depend on them.

use crate::common::{on_devices, tensor, vector};
use tensor_core::{
    Activation, BinaryOp, CmpOp, Conv2dConfig, DType, Device, ErrorKind, IndexOp, ReduceOp, Result, ScalarOp,
    Tensor, UnaryOp,
};

/// Four of these do not fit 64 bits, and bytes of one are more than there are addresses.
const H: usize = 1 << 62;

/// A tensor of no elements.
fn nothing(dims: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
    Tensor::zeros(dims, dtype, device)
}

/// Asserts that there is a result of these lengths without elements, and reads it.
#[track_caller]
fn empty(result: Result<Tensor>, dims: &[usize]) -> Result<()> {
    let result = result?;
    assert_eq!(result.dims(), dims);
    assert_eq!((result.elements(), result.to_bytes()?.len(), result.contiguous()?.elements()), (0, 0, 0));
    Ok(())
}

/// Asserts that the result would be too large.
#[track_caller]
fn too_large(result: Result<Tensor>) {
    let error = result.expect_err("it has more elements than can be counted");
    let kind = error.kind();
    assert!(matches!(kind, ErrorKind::Overflow { .. } | ErrorKind::OutOfMemory { .. }), "{error}");
}

/// Every order of one length of 0 and others of which two do not fit together.
fn shapes() -> [[usize; 3]; 6] {
    [[0, H, H], [H, 0, H], [H, H, 0], [0, 0, H], [0, H, 3], [3, H, 0]]
}

#[test]
fn elements_and_views() {
    on_devices(|device| {
        for dims in shapes() {
            for dtype in [DType::F32, DType::BF16, DType::I64, DType::U8] {
                let x = &nothing(&dims, dtype, device)?;
                for op in UnaryOp::ALL.into_iter().filter(|op| op.supports(dtype)) {
                    empty(x.unary(op), &dims)?;
                }
                for op in ScalarOp::ALL.into_iter().filter(|op| op.supports(dtype)) {
                    empty(x.unary_scalar(op, 2), &dims)?;
                }
                for op in BinaryOp::ALL.into_iter().filter(|op| op.supports(dtype)) {
                    empty(x.binary(x, op), &dims)?;
                    empty(x.binary(&Tensor::ones((), dtype, device)?, op), &dims)?;
                }
                for op in CmpOp::ALL {
                    empty(x.compare(x, op), &dims)?;
                }
                empty(x.affine(2, 1), &dims)?;
                empty(x.clamp(0, 1), &dims)?;
                empty(x.to_dtype(DType::F16), &dims)?;
                empty(x.to_device(&Device::Cpu), &dims)?;
                empty(x.copy(), &dims)?;
                empty(x.eq(x)?.where_cond(x, x), &dims)?;
                empty(x.flip([0, 1, 2]), &dims)?;
                empty(x.tril(1), &dims)?;
                let [a, b, c] = dims;
                empty(x.permute([2, 0, 1])?.contiguous(), &[c, a, b])?;
                empty(x.t()?.contiguous(), &[a, c, b])?;
                empty(x.reshape([0, 7, H, H]), &[0, 7, H, H])?;
                empty(x.unsqueeze(1), &[a, 1, b, c])?;
                empty(x.expand([H, a, b, c]), &[H, a, b, c])?;
                let mut changed = x.clone();
                changed.fill_(1)?;
                changed.add_assign_(x)?;
                changed.copy_from_(x)?;
                changed.affine_(2, 1)?;
                empty(Ok(changed), &dims)?;
            }
        }
        Ok(())
    });
}

#[test]
fn joins_cuts_and_borders() {
    on_devices(|device| {
        for dims in shapes() {
            let x = &nothing(&dims, DType::F32, device)?;
            for axis in 0..3 {
                let mut joined = dims;
                joined[axis] *= 2;
                empty(Tensor::cat(&[x, x], axis), &joined)?;
                empty(Tensor::cat(&[&x.t()?, &x.t()?], axis)?.t(), &{
                    let mut turned = [dims[0], dims[2], dims[1]];
                    turned[axis] *= 2;
                    [turned[0], turned[2], turned[1]]
                })?;
                let mut stacked = dims.to_vec();
                stacked.insert(axis, 3);
                empty(Tensor::stack(&[x, x, x], axis), &stacked)?;
                empty(x.roll(1, axis), &dims)?;
                let parts = x.chunk(2, axis)?;
                assert_eq!(parts.iter().map(|part| part.dims()[axis]).sum::<usize>(), dims[axis]);
                empty(x.narrow(axis, 0, dims[axis] / 2), &{
                    let mut half = dims;
                    half[axis] /= 2;
                    half
                })?;
            }
        }
        let x = &nothing(&[0, H, H], DType::F32, device)?;
        too_large(Tensor::cat(&[x, x, x, x], 1));
        too_large(x.pad_with_zeros(0, 1, 0));
        empty(x.pad(&[1, 1, 2, 0], 7), &[0, H + 2, H + 2])?;
        empty(x.pad_with_same(2, 1, 1), &[0, H, H + 2])?;
        empty(nothing(&[0, H], DType::U8, device)?.repeat([H, 1]), &[0, H])?;
        empty(x.i((.., 5..H, 7)), &[0, H - 5])?;
        Ok(())
    });
}

#[test]
fn reductions_and_lines() {
    on_devices(|device| {
        for dtype in [DType::F32, DType::F16] {
            let x = &nothing(&[0, H, H], dtype, device)?;
            let y = &nothing(&[H, 0, 3], dtype, device)?;
            for op in [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max] {
                empty(x.reduce(op, 1, false), &[0, H])?;
                empty(x.reduce(op, [1, 2], true), &[0, 1, 1])?;
                empty(y.reduce(op, 0, false), &[0, 3])?;
            }
            too_large(x.sum(0));
            too_large(y.sum(1));
            assert_eq!(x.sum_all()?.to_dtype(DType::F32)?.to_vec0::<f32>()?, 0.0);
            assert_eq!(y.prod([0, 1])?.to_dtype(DType::F32)?.to_vec::<f32>()?, [1.0; 3]);
            empty(y.argmax(2), &[H, 0])?;
            for statistic in [x.mean(1), x.var(1), x.std(2), x.norm(1), x.log_sum_exp(2)] {
                empty(statistic, &[0, H])?;
            }
            for dims in shapes() {
                let x = &nothing(&dims, dtype, device)?;
                for axis in 0..3 {
                    empty(x.cumsum(axis), &dims)?;
                    empty(x.cumprod(axis), &dims)?;
                    empty(x.softmax(axis), &dims)?;
                    // Positions are u32: an axis that is longer cannot be sorted.
                    if dims[axis] < H {
                        let (values, indices) = x.sort(axis, false)?;
                        empty(Ok(values), &dims)?;
                        empty(Ok(indices), &dims)?;
                        empty(x.argsort(axis, true), &dims)?;
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn ids() {
    on_devices(|device| {
        let x = &nothing(&[0, H, H], DType::F32, device)?;
        let list = &vector(&[5u32, 0], device)?;
        empty(x.index_select(list, 1), &[0, 2, H])?;
        empty(x.index_select(&nothing(&[0], DType::U32, device)?, 0), &[0, H, H])?;
        let grid = &nothing(&[0, H, 2], DType::U32, device)?;
        empty(x.gather(grid, 1), &[0, H, 2])?;
        let values = &nothing(&[0, H, 2], DType::F32, device)?;
        empty(x.scatter(grid, values, 1), &[0, H, H])?;
        empty(x.scatter_add(grid, values, 1), &[0, H, H])?;
        empty(x.index_add(list, &nothing(&[0, 2, H], DType::F32, device)?, 1), &[0, H, H])?;
        empty(x.slice_scatter(&nothing(&[0, 3, H], DType::F32, device)?, 1, 9), &[0, H, H])?;
        let rows = Tensor::ones([5, 3], DType::F32, device)?;
        empty(rows.embedding(&nothing(&[0, H, H], DType::U32, device)?), &[0, H, H, 3])?;
        Ok(())
    });
}

#[test]
fn products() {
    on_devices(|device| {
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            let of = |dims: &[usize]| nothing(dims, dtype, device);
            empty(of(&[0, H, 3])?.matmul(&of(&[0, 3, H])?), &[0, H, H])?;
            empty(of(&[0, H, H])?.matmul(&of(&[0, H, 3])?), &[0, H, 3])?;
            empty(of(&[H, H, 0, 3])?.matmul(&Tensor::ones([3, 2], dtype, device)?), &[H, H, 0, 2])?;
            empty(of(&[H, 0, H])?.matmul(&of(&[H, H, 0])?), &[H, 0, 0])?;
            empty(of(&[0, H])?.matmul(&of(&[H, 0])?), &[0, 0])?;
            empty(of(&[H, 0])?.t()?.matmul(&of(&[0, H])?.t()?), &[0, 0])?;
            too_large(of(&[H, 0])?.matmul(&of(&[0, H])?));
            let weight = Tensor::ones([5, 3], dtype, device)?;
            let bias = Tensor::ones(5, dtype, device)?;
            empty(of(&[0, H, H, 3])?.linear(&weight, Some(&bias)), &[0, H, H, 5])?;
            empty(of(&[0, H, 3])?.linear_with_activation(&weight, None, Activation::Relu), &[0, H, 5])?;
        }
        Ok(())
    });
}

#[test]
fn networks() {
    on_devices(|device| {
        for dtype in [DType::F32, DType::F16] {
            let of = |dims: &[usize]| nothing(dims, dtype, device);
            for dims in [[0, H, H], [H, 0, H]] {
                let x = &of(&dims)?;
                empty(x.rms_norm(None, 1e-5), &dims)?;
                empty(x.layer_norm(None, None, 1e-5), &dims)?;
                empty(x.group_norm(1, None, None, 1e-5), &dims)?;
                empty(x.dropout(0.5), &dims)?;
            }
            let channels = of(&[0])?;
            empty(of(&[H, 0, H])?.batch_norm(&channels, &channels, None, None, 1e-5), &[H, 0, H])?;

            let kernel = |dims: &[usize]| tensor(1.0, dtype, device)?.expand(dims);
            empty(of(&[0, 1, H])?.conv1d(&kernel(&[4, 1, 3])?, 0, 1, 1, 1), &[0, 4, H - 2])?;
            let config = Conv2dConfig::default();
            let planes = of(&[0, 2, H / 8, H / 8])?;
            let out = [0, 4, H / 8 - 2, H / 8 - 2];
            empty(planes.conv2d_with(&kernel(&[4, 2, 3, 3])?, None, &config), &out)?;
            let turned = [0, 4, H / 8 + 2, H / 8 + 2];
            empty(planes.conv_transpose2d_with(&kernel(&[2, 4, 3, 3])?, None, &config), &turned)?;

            let x = &of(&[0, H, H / 8, H / 8])?;
            let halves = [0, H, H / 16, H / 16];
            empty(x.max_pool2d(2), &halves)?;
            empty(x.avg_pool2d(2), &halves)?;
            let small = &of(&[0, H, 8, 8])?;
            empty(small.adaptive_avg_pool2d((3, 5)), &[0, H, 3, 5])?;
            empty(small.adaptive_avg_pool2d(1), &[0, H, 1, 1])?;
            empty(small.upsample_nearest2d(16, 16), &[0, H, 16, 16])?;
            empty(small.upsample_bilinear2d(16, 16, false), &[0, H, 16, 16])?;

            let heads = &of(&[0, H, 4, 8])?;
            empty(heads.scaled_dot_product_attention(heads, heads, None, true, None), &[0, H, 4, 8])?;
            let long = &of(&[0, 2, H, 8])?;
            empty(
                heads.narrow(1, 0, 2)?.scaled_dot_product_attention(long, long, None, false, None),
                &[0, 2, 4, 8],
            )?;
            let angles = Tensor::ones([4, 4], dtype, device)?;
            for heads in [heads, &of(&[H, 0, 4, 8])?] {
                empty(heads.rope(&angles, &angles), heads.dims())?;
                empty(heads.rope_i(&angles, &angles), heads.dims())?;
            }
        }
        empty(Tensor::rand(0f32, 1.0, [0, H, H], device), &[0, H, H])?;
        empty(Tensor::randn(0f32, 1.0, [H, 0, H], device), &[H, 0, H])?;
        Ok(())
    });
}
