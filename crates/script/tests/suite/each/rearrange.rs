//! Properties, shapes, parts, and tensors put together.

use serde_json::json;
use tensor_core::{DType, Device, F8E4M3, IndexOp, Tensor, bf16, f16};

use super::{Calls, rows, some};

pub(super) fn check(calls: &mut Calls) {
    let x = some(5, [2, 3, 4]);
    let line = some(6, [5]);
    calls.given("x", &x);
    calls.given("line", &line);
    rows! { calls;
        "[x.shape, x.rank, x.elements, x.dtype, x.is_contiguous, x.t().is_contiguous]" => json!([[2, 3, 4], 3, 24, "f32", true, false]);
        "let alone = ones([2]); let other = alone; [alone.references, alone.shares_storage(other), alone.shares_storage(x)]" => json!([2, true, false]);
        "x.device == device(\"cpu\") && x.device == device()" => json!(true);
        "x.set_name(\"x\"); x.dim(-1)" => json!(4);
        "[tensor([[1.5, 2.0], [-3.0, 4.0]]).to_array(), tensor([[1], [2]], \"u8\").to_vec(), tensor(7).to_scalar()]"
            => json!([[[1.5, 2.0], [-3.0, 4.0]], [1, 2], 7]);
        "x.i([1, (), 2..4])" => x.i((1, .., 2..4));
        "x.reshape([4, -1])" => x.reshape([4, 6]);
        "x.view([6, 4])" => x.view([6, 4]);
        "x.flatten()" => x.flatten();
        "x.flatten_all()" => x.flatten();
        "x.flatten_axes(0, 1)" => x.flatten_axes(0, 1);
        "x.flatten_from(1)" => x.flatten_from(1);
        "x.flatten_to(1)" => x.flatten_to(1);
        "x.contiguous()" => x.contiguous();
        "let c = x.copy(); c.shares_storage(x)" => json!(false);
        "c" => x.copy();
        "x.transpose(0, 2)" => x.transpose(0, 2);
        "x.t()" => x.t();
        "x.permute([2, 0, 1])" => x.permute([2, 0, 1]);
        "x.narrow(1, 1, 2)" => x.narrow(1, 1, 2);
        "x.select(2, 3)" => x.select(2, 3);
        "x.get(1)" => x.get(1);
        "x.unsqueeze(1)" => x.unsqueeze(1);
        "x.unsqueeze(1).squeeze(1)" => x.copy();
        "line.expand([2, 5])" => line.expand([2, 5]);
        "line.broadcast_as([3, 5])" => line.broadcast_as([3, 5]);
        "x.chunk(2, 2)" => x.chunk(2, 2);
        "line.split(2, 0)" => line.split(2, 0);
        "line.split_with_sizes([1, 4], 0)" => line.split_with_sizes(&[1, 4], 0);
        "x.repeat([2, 1, 1])" => x.repeat([2, 1, 1]);
        "x.roll(1, 2)" => x.roll(1, 2);
        "x.flip([0, 2])" => x.flip([0, 2]);
        "x.pad_with_zeros(2, 1, 2)" => x.pad_with_zeros(2, 1, 2);
        "x.pad_with_same(1, 1, 2)" => x.pad_with_same(1, 1, 2);
        "x.pad([1, 0, 0, 2], 0.5)" => x.pad(&[1, 0, 0, 2], 0.5);
        "x.tril(-1)" => x.tril(-1);
        "x.triu(1)" => x.triu(1);
        "cat([x, x], 1)" => Tensor::cat(&[&x, &x], 1);
        "stack([line, line], 1)" => Tensor::stack(&[&line, &line], 1);
        "meshgrid([line, line[0..2]], true)" => Tensor::meshgrid(&[line.copy().unwrap(), line.narrow(0, 0, 2).unwrap()], true);
        "x.to_device(device(\"cpu\"))" => x.copy();
        "x.zeros_like()" => x.zeros_like();
        "x.ones_like()" => x.ones_like();
        "tensor([2, 0], \"u32\").one_hot(3).to_array()" => json!([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
    }
    for dtype in DType::ALL {
        let name = dtype.name();
        // Casts of negative numbers to integers without a sign are tensor-core's.
        calls.gives(&format!("x.abs().to_dtype(\"{name}\")"), x.abs().and_then(|x| x.to_dtype(dtype)));
    }
    made(calls);
}

fn made(calls: &mut Calls) {
    let cpu = &Device::Cpu;
    rows! { calls;
        "zeros([2, 3])" => Tensor::zeros([2, 3], DType::F32, cpu);
        "ones(3, \"i16\")" => Tensor::ones(3, DType::I16, cpu);
        "full(1.5, [2], \"f64\", device())" => Tensor::full(1.5, 2, DType::F64, cpu);
        "eye(3)" => Tensor::eye(3, DType::F32, cpu);
        "tril2(3, \"u8\")" => Tensor::tril2(3, DType::U8, cpu);
        "triu2(3, \"u8\")" => Tensor::triu2(3, DType::U8, cpu);
        "arange(1, 5)" => Tensor::arange(1f32, 5.0, cpu);
        "arange(1, 5, \"f16\")" => Tensor::arange(f16::from_f32(1.0), f16::from_f32(5.0), cpu);
        "arange(1, 5, \"f8e4m3\")" => Tensor::arange(F8E4M3::from_f32(1.0), F8E4M3::from_f32(5.0), cpu);
        "arange_step(5, 1, -2, \"i32\")" => Tensor::arange_step(5i32, 1, -2, cpu);
        "linspace(-1, 1, 5)" => Tensor::linspace(-1f32, 1.0, 5, cpu);
        "linspace(-1, 1, 5, \"bf16\")" => Tensor::linspace(bf16::from_f32(-1.0), bf16::from_f32(1.0), 5, cpu);
        "tensor([1, 2.5])" => Tensor::new([1f32, 2.5], cpu);
        "tensor([1, 2])" => Tensor::new([1i64, 2], cpu);
    }
}
