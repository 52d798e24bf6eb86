//! Products, normalisations, attention, convolutions and images, and products with quantized tensors.

use serde_json::json;
use tensor_core::{DType, Device, QTensor, QuantFormat, Tensor};

use super::{Calls, rows, some};

pub(super) fn check(calls: &mut Calls) {
    let x = some(7, [2, 4]);
    let (weight, bias, scale) = (some(8, [3, 4]), some(9, [3]), some(10, [4]));
    for (name, tensor) in [("x", &x), ("w", &weight), ("b", &bias), ("s", &scale)] {
        calls.given(name, tensor);
    }
    rows! { calls;
        "x.matmul(w.t())" => weight.t().and_then(|w| x.matmul(&w));
        "x.linear(w, b)" => x.linear(&weight, Some(&bias));
        "x.linear(w, ())" => x.linear(&weight, None);
        "x.linear_each([w, w])" => x.linear_each(&[&weight, &weight]);
        "x.softmax(1)" => x.softmax(1);
        "x.log_softmax(0)" => x.log_softmax(0);
        "x.layer_norm(s, (), 1e-5)" => x.layer_norm(&scale, None, 1e-5);
        "x.layer_norm((), s, 0.5)" => x.layer_norm(None, &scale, 0.5);
        "x.rms_norm(s, 1e-6)" => x.rms_norm(&scale, 1e-6);
        "x.group_norm(2, s, (), 1e-5)" => x.group_norm(2, &scale, None, 1e-5);
        "x.batch_norm(s, s.abs(), (), s, 1e-5)" => scale.abs().and_then(|var| x.batch_norm(&scale, &var, None, &scale, 1e-5));
        "x.swiglu()" => x.swiglu();
    }
    attention(calls);
    images(calls);
    quantized(calls);
}

fn attention(calls: &mut Calls) {
    // Batch, heads, positions and width; of the third form batch, positions, heads and width.
    let (q, k, v) = (some(11, [1, 2, 3, 4]), some(12, [1, 2, 3, 4]), some(13, [1, 2, 3, 4]));
    let (cos, sin, mask) = (some(14, [3, 2]), some(15, [3, 2]), some(16, [3, 3]));
    let turned = q.transpose(1, 2).unwrap().contiguous().unwrap();
    for (name, tensor) in
        [("q", &q), ("k", &k), ("v", &v), ("cos", &cos), ("sin", &sin), ("mask", &mask), ("turned", &turned)]
    {
        calls.given(name, tensor);
    }
    rows! { calls;
        "q.rope(cos, sin)" => q.rope(&cos, &sin);
        "q.rope_i(cos, sin)" => q.rope_i(&cos, &sin);
        "q.rope_pair(k, cos, sin)" => q.rope_pair(&k, &cos, &sin);
        "q.rope_i_pair(k, cos, sin)" => q.rope_i_pair(&k, &cos, &sin);
        "turned.rope_thd(cos, sin)" => turned.rope_thd(&cos, &sin);
        "q.scaled_dot_product_attention(k, v, mask, false, 0.25)" => q.scaled_dot_product_attention(&k, &v, Some(&mask), false, Some(0.25));
        "q.scaled_dot_product_attention(k, v, (), true, ())" => q.scaled_dot_product_attention(&k, &v, None, true, None);
    }
}

fn images(calls: &mut Calls) {
    let (line, kernel) = (some(17, [1, 2, 6]), some(18, [2, 2, 3]));
    let (image, square) = (some(19, [1, 4, 4, 6]), some(20, [4, 2, 3, 3]));
    for (name, tensor) in [("line", &line), ("kernel", &kernel), ("image", &image), ("square", &square)] {
        calls.given(name, tensor);
    }
    // Padding, stride, dilation and groups have different values, so that none can stand for another.
    rows! { calls;
        "line.conv1d(kernel, 4, 2, 3, 1)" => line.conv1d(&kernel, 4, 2, 3, 1);
        "image.conv2d(square, 4, 3, 1, 2)" => image.conv2d(&square, 4, 3, 1, 2);
        "line.conv_transpose1d(kernel, 2, 1, 3, 4, 1)" => line.conv_transpose1d(&kernel, 2, 1, 3, 4, 1);
        "image.conv_transpose2d(square, 2, 1, 3, 4)" => image.conv_transpose2d(&square, 2, 1, 3, 4);
        "image.max_pool2d(2)" => image.max_pool2d(2);
        "image.max_pool2d_with_stride(3, 1)" => image.max_pool2d_with_stride(3, 1);
        "image.avg_pool2d(2)" => image.avg_pool2d(2);
        "image.avg_pool2d_with_stride(3, 1)" => image.avg_pool2d_with_stride(3, 1);
        "image.adaptive_avg_pool2d(2)" => image.adaptive_avg_pool2d(2);
        "line.upsample_nearest1d(9)" => line.upsample_nearest1d(9);
        "image.upsample_nearest2d(5, 9)" => image.upsample_nearest2d(5, 9);
        "image.upsample_bilinear2d(5, 9, true)" => image.upsample_bilinear2d(5, 9, true);
        "image.pixel_shuffle(2)" => image.pixel_shuffle(2);
        "image.pixel_unshuffle(2)" => image.pixel_unshuffle(2);
    }
}

fn quantized(calls: &mut Calls) {
    let cpu = Device::Cpu;
    let (matrix, x) = (some(21, [4, 32]), some(22, [2, 32]));
    let ids = Tensor::new([3u32, 0, 3], &cpu).unwrap();
    let made = QTensor::quantize(&matrix, QuantFormat::Q8_0).unwrap();
    for (name, tensor) in [("matrix", &matrix), ("x", &x), ("ids", &ids)] {
        calls.given(name, tensor);
    }
    calls.does("let q = matrix.quantize(\"q8_0\");");
    rows! { calls;
        // 4 blocks of 34 bytes.
        "[q.shape, q.rank, q.dtype, q.bytes, q.device == device(\"cpu\")]" => json!([[4, 32], 2, "q8_0", 136, true]);
        "q.dequantize()" => made.dequantize(&cpu);
        "q.dequantize_to(\"f16\", device())" => made.dequantize_to(DType::F16, &cpu);
        "q.to_device(device()).dequantize()" => made.dequantize(&cpu);
        "q.forward(x)" => made.forward(&x);
        "q.embedding(ids)" => made.embedding(&ids);
        // A block's numbers are off by half of a step of its greatest one over 127 at most.
        "((q.dequantize() - matrix).abs().max(1) <= matrix.abs().max(1) / 250).all_all().to_scalar()" => json!(1);
        // The rows of a lookup are those of the whole.
        "(q.embedding(ids) == q.dequantize().embedding(ids)).all_all().to_scalar()" => json!(1);
    }
}
