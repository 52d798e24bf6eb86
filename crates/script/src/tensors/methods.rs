//! The methods of tensors, under their names.

use rhai::Dynamic;
use tensor_core::{DType, Device, Scalar, Tensor};

use crate::argument::{Argument, Axes, Axis, Lengths, Sizes};
use crate::operands::naming_operands;
use crate::registry::{Registry, finish, functions, methods};

pub(crate) fn add(registry: &mut Registry) {
    views(registry);
    numbers(registry);
    statistics(registry);
    indices(registry);
    networks(registry);
    windows(registry);
    in_place(registry);
}

/// Other shapes of the same numbers, and tensors put together and taken apart.
fn views(registry: &mut Registry) {
    methods! { registry, Tensor;
        reshape(shape: Lengths);
        view(shape: Sizes);
        flatten();
        flatten_all();
        flatten_axes(first: Axis, last: Axis);
        flatten_from(first: Axis);
        flatten_to(last: Axis);
        contiguous();
        copy();
        transpose(first: Axis, second: Axis);
        t();
        permute(axes: Axes);
        narrow(axis: Axis, start: usize, length: usize);
        select(axis: Axis, index: usize);
        get(index: usize);
        squeeze(axis: Axis);
        unsqueeze(axis: Axis);
        expand(shape: Sizes);
        broadcast_as(shape: Sizes);
        chunk(count: usize, axis: Axis);
        split(size: usize, axis: Axis);
        split_with_sizes(sizes: Sizes, axis: Axis);
        repeat(repeats: Sizes);
        roll(shift: i64, axis: Axis);
        flip(axes: Axes);
        pad_with_zeros(axis: Axis, left: usize, right: usize);
        pad_with_same(axis: Axis, left: usize, right: usize);
        pad(padding: Sizes, value: Scalar);
        dim(axis: Axis);
        to_dtype(dtype: DType);
        to_device(device: Device);
    }
    functions! { registry;
        "cat"(tensors: Vec<Tensor>, axis: Axis) => Tensor::cat(&tensors, axis);
        "stack"(tensors: Vec<Tensor>, axis: Axis) => Tensor::stack(&tensors, axis);
        "meshgrid"(tensors: Vec<Tensor>, xy_indexing: bool) => Tensor::meshgrid(&tensors, xy_indexing);
    }
}

fn numbers(registry: &mut Registry) {
    methods! { registry, Tensor;
        affine(mul: Scalar, add: Scalar);
        clamp(lo: Scalar, hi: Scalar);
        swiglu();
        mish();
        hard_sigmoid();
        selu(alpha: f64, gamma: f64);
        softcap(cap: f64);
        cumsum(axis: Axis);
        cumprod(axis: Axis);
        where_cond(on_true: Tensor, on_false: Tensor);
        masked_fill(mask: Tensor, value: Scalar);
        tril(diagonal: i64);
        triu(diagonal: i64);
        sort(axis: Axis, descending: bool);
        argsort(axis: Axis, descending: bool);
        topk(k: usize, axis: Axis, largest: bool);
        zeros_like();
        ones_like();
        rand_like(low: Scalar, high: Scalar);
        randn_like(mean: Scalar, deviation: Scalar);
        bernoulli_like(probability: f64);
        dropout(probability: f64);
    }
    registry.named("one_hot").register_fn("one_hot", |this: &mut Tensor, depth: Dynamic| {
        naming_operands(this, &[], |this| {
            finish(this.one_hot(usize::take(&depth, "one_hot", "depth")?, 1f32, 0f32))
        })
    });
}

fn statistics(registry: &mut Registry) {
    macro_rules! statistics {
        ($($plain:ident $keepdim:ident $all:ident;)+) => {
            methods! { registry, Tensor; $($plain(axes: Axes); $keepdim(axes: Axes); $all();)+ }
        };
    }
    statistics! {
        mean mean_keepdim mean_all;
        var var_keepdim var_all;
        std std_keepdim std_all;
        norm norm_keepdim norm_all;
        log_sum_exp log_sum_exp_keepdim log_sum_exp_all;
        any any_keepdim any_all;
        all all_keepdim all_all;
    }
}

fn indices(registry: &mut Registry) {
    methods! { registry, Tensor;
        index_select(ids: Tensor, axis: Axis);
        gather(ids: Tensor, axis: Axis);
        embedding(ids: Tensor);
        scatter(ids: Tensor, source: Tensor, axis: Axis);
        scatter_add(ids: Tensor, source: Tensor, axis: Axis);
        index_add(ids: Tensor, source: Tensor, axis: Axis);
        slice_scatter(source: Tensor, axis: Axis, start: usize);
    }
}

fn networks(registry: &mut Registry) {
    methods! { registry, Tensor;
        matmul(other: Tensor);
        linear(weight: Tensor, bias: Option<Tensor>);
        softmax(axis: Axis);
        log_softmax(axis: Axis);
        layer_norm(weight: Option<Tensor>, bias: Option<Tensor>, eps: f64);
        rms_norm(weight: Option<Tensor>, eps: f64);
        rope_pair(other: Tensor, cos: Tensor, sin: Tensor);
        rope_i_pair(other: Tensor, cos: Tensor, sin: Tensor);
        group_norm(groups: usize, weight: Option<Tensor>, bias: Option<Tensor>, eps: f64);
        batch_norm(running_mean: Tensor, running_var: Tensor, weight: Option<Tensor>, bias: Option<Tensor>, eps: f64);
        rope(cos: Tensor, sin: Tensor);
        rope_i(cos: Tensor, sin: Tensor);
        rope_thd(cos: Tensor, sin: Tensor);
        scaled_dot_product_attention(k: Tensor, v: Tensor, mask: Option<Tensor>, causal: bool, scale: Option<f64>);
    }
    registry.named("linear_each").register_fn("linear_each", |this: &mut Tensor, weights: Dynamic| {
        naming_operands(this, &[&weights], |this| {
            let weights = Vec::<Tensor>::take(&weights, "linear_each", "weights")?;
            finish(this.linear_each(&weights.iter().collect::<Vec<_>>()))
        })
    });
}

/// Convolutions, pools and images.
fn windows(registry: &mut Registry) {
    methods! { registry, Tensor;
        conv1d(kernel: Tensor, padding: usize, stride: usize, dilation: usize, groups: usize);
        conv2d(kernel: Tensor, padding: usize, stride: usize, dilation: usize, groups: usize);
        conv_transpose1d(kernel: Tensor, padding: usize, output_padding: usize, stride: usize, dilation: usize, groups: usize);
        conv_transpose2d(kernel: Tensor, padding: usize, output_padding: usize, stride: usize, dilation: usize);
        max_pool2d(size: usize);
        max_pool2d_with_stride(size: usize, stride: usize);
        avg_pool2d(size: usize);
        avg_pool2d_with_stride(size: usize, stride: usize);
        adaptive_avg_pool2d(size: usize);
        upsample_nearest1d(size: usize);
        upsample_nearest2d(height: usize, width: usize);
        upsample_bilinear2d(height: usize, width: usize, align_corners: bool);
        pixel_shuffle(factor: usize);
        pixel_unshuffle(factor: usize);
    }
}

/// Operations that write the tensor they are called on, and copy it first if another value has the same numbers.
fn in_place(registry: &mut Registry) {
    methods! { registry, Tensor;
        add_assign_(other: Tensor);
        sub_assign_(other: Tensor);
        mul_assign_(other: Tensor);
        div_assign_(other: Tensor);
        add_rms_norm_(other: Tensor, weight: Option<Tensor>, eps: f64);
        affine_(mul: Scalar, add: Scalar);
        clamp_(lo: Scalar, hi: Scalar);
        fill_(value: Scalar);
        copy_from_(source: Tensor);
        scatter_(ids: Tensor, source: Tensor, axis: Axis);
        scatter_add_(ids: Tensor, source: Tensor, axis: Axis);
        index_add_(ids: Tensor, source: Tensor, axis: Axis);
        slice_set_(source: Tensor, axis: Axis, start: usize);
    }
}
