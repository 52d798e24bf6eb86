//! Every public method of `Tensor` is in one list: cases of the registry call it, it leaves the host free here, it waits, or it
//! submits nothing.

use std::collections::HashSet;
use std::time::Duration;

use parity::{devices, registry};
use tensor_core::{
    Activation, BinaryOp, CmpOp, Conv1dConfig, Conv2dConfig, DType, Device, IndexOp, Layout, Pool2dConfig,
    ReduceOp, Result, ScalarOp, Tensor, UnaryOp,
};

use crate::held::{Held, LONG, apart};

/// What methods are called on. All numbers are small and whole, so that no result leaves a choice.
struct Given {
    device: Device,
    /// 0 to 11 in three rows.
    x: Tensor,
    /// Threes.
    y: Tensor,
    /// Two ids of `x`'s rows, twice the same.
    ids: Tensor,
    /// Ids along `x`'s rows, as many as there are in `source`.
    at: Tensor,
    source: Tensor,
    /// Two channels of 4 × 4, and of 5.
    image: Tensor,
    line: Tensor,
}

fn given(device: &Device) -> Result<Given> {
    let ramp = |count: f32, shape: &[usize]| Tensor::arange(0f32, count, device)?.reshape(shape);
    Ok(Given {
        device: device.clone(),
        x: ramp(12.0, &[3, 4])?,
        y: Tensor::full(3, [3, 4], DType::F32, device)?,
        ids: Tensor::new([2u32, 2], device)?,
        at: Tensor::new([[0i64, 3], [1, 1], [2, 0]], device)?,
        source: ramp(6.0, &[3, 2])?,
        image: ramp(32.0, &[1, 2, 4, 4])?,
        line: ramp(10.0, &[1, 2, 5])?,
    })
}

/// A copy of `x` after `change`.
fn changed(x: &Tensor, change: impl FnOnce(&mut Tensor) -> Result<()>) -> Result<Tensor> {
    let mut own = x.copy()?;
    change(&mut own)?;
    Ok(own)
}

type Method<T> = (&'static str, fn(&Given) -> Result<T>);

/// Methods that leave the host free, beside those that cases of the registry call.
const FREE: &[Method<Tensor>] = &[
    ("zeros", |g| Tensor::zeros(3, DType::I64, &g.device)),
    ("ones", |g| Tensor::ones(3, DType::F16, &g.device)),
    ("full", |g| Tensor::full(7, 3, DType::U8, &g.device)),
    ("zeros_like", |g| g.x.zeros_like()),
    ("ones_like", |g| g.x.ones_like()),
    ("arange", |g| Tensor::arange(0f32, 5.0, &g.device)),
    ("arange_step", |g| Tensor::arange_step(0i64, 9, 3, &g.device)),
    ("linspace", |g| Tensor::linspace(0f32, 1.0, 5, &g.device)),
    ("unary", |g| g.x.unary(UnaryOp::Sqr)),
    ("unary_scalar", |g| g.x.unary_scalar(ScalarOp::LeakyRelu, 0.5)),
    ("binary", |g| g.x.binary(&g.y, BinaryOp::Rem)),
    ("compare", |g| g.x.compare(&g.y, CmpOp::Lt)),
    ("operators", |g| (&g.x + &g.y)?.neg()),
    ("unary_assign_", |g| changed(&g.x, |x| x.unary_assign_(UnaryOp::Neg))),
    ("binary_assign_", |g| changed(&g.x, |x| x.binary_assign_(&g.y, BinaryOp::Maximum))),
    ("add_assign_", |g| changed(&g.x, |x| x.add_assign_(&g.y))),
    ("sub_assign_", |g| changed(&g.x, |x| x.sub_assign_(&g.y))),
    ("mul_assign_", |g| changed(&g.x, |x| x.mul_assign_(&g.y))),
    ("div_assign_", |g| changed(&g.x, |x| x.div_assign_(&g.y))),
    ("add_rms_norm_", |g| changed(&g.x, |x| x.add_rms_norm_(&g.y, None, 1.0).map(drop))),
    ("affine_", |g| changed(&g.x, |x| x.affine_(2, 1))),
    ("clamp_", |g| changed(&g.x, |x| x.clamp_(2, 9))),
    ("fill_", |g| changed(&g.x, |x| x.fill_(5))),
    ("copy_from_", |g| changed(&g.x, |x| x.copy_from_(&g.y))),
    ("scatter_", |g| changed(&g.x, |x| x.scatter_(&g.at, &g.source, 1))),
    ("scatter_add_", |g| changed(&g.x, |x| x.scatter_add_(&g.at, &g.source, 1))),
    ("index_add_", |g| changed(&g.x, |x| x.index_add_(&g.ids, &g.y.narrow(0, 0, 2)?, 0))),
    ("slice_set_", |g| changed(&g.x, |x| x.slice_set_(&g.source, 1, 2))),
    ("i", |g| g.x.i((&g.ids, 1..3))),
    ("conv1d_with", |g| {
        let config = Conv1dConfig { padding: 1, ..Default::default() };
        g.line.conv1d_with(&g.line.narrow(2, 0, 3)?, None, &config)
    }),
    ("conv2d_with", |g| {
        let config = Conv2dConfig { stride: [2, 1], ..Default::default() };
        g.image.conv2d_with(&g.image.narrow(2, 0, 3)?.narrow(3, 1, 2)?, None, &config)
    }),
    ("conv_transpose1d_with", |g| {
        let config = Conv1dConfig { stride: 2, ..Default::default() };
        g.line.conv_transpose1d_with(&g.line.transpose(0, 1)?, None, &config)
    }),
    ("conv_transpose2d_with", |g| {
        let config = Conv2dConfig { stride: [2, 2], ..Default::default() };
        g.image.conv_transpose2d_with(&g.image.transpose(0, 1)?, None, &config)
    }),
    // Zero, or so large that the functions are their limits.
    ("swiglu", |g| (&g.x * 100.0)?.swiglu()),
    ("mish", |g| (&g.x * 100.0)?.mish()),
    ("softcap", |g| (&g.x * 100.0)?.softcap(2.0)),
    ("hard_sigmoid", |g| g.x.hard_sigmoid()),
    ("selu", |g| g.x.selu(1.5, 0.75)),
    ("scaled_dot_product_attention_capped", |g| {
        let q = g.image.zeros_like()?;
        q.scaled_dot_product_attention_capped(&g.image, &g.image, None, false, None, 2.0)
    }),
    ("one_hot", |g| g.ids.one_hot(3, 1f32, 0.0)),
    ("pixel_shuffle", |g| g.image.reshape((1, (), 2, 2))?.pixel_shuffle(2)),
    ("pixel_unshuffle", |g| g.image.pixel_unshuffle(2)),
    ("activate", |g| g.x.activate(Activation::LeakyRelu(0.5))),
    ("conv1d_with_activation", |g| {
        let config = Conv1dConfig { padding: 1, ..Default::default() };
        g.line.conv1d_with_activation(&g.line.narrow(2, 0, 3)?, None, &config, Activation::Relu)
    }),
    ("conv2d_with_activation", |g| {
        let (config, bias) = (Conv2dConfig::default(), g.y.get(0)?.narrow(0, 0, 1)?);
        g.image.conv2d_with_activation(&g.image.narrow(2, 0, 3)?, Some(&bias), &config, Activation::Relu)
    }),
    ("conv_transpose1d_with_activation", |g| {
        let config = Conv1dConfig { stride: 2, ..Default::default() };
        g.line.conv_transpose1d_with_activation(&g.line.transpose(0, 1)?, None, &config, Activation::Relu)
    }),
    ("conv_transpose2d_with_activation", |g| {
        let config = Conv2dConfig { stride: [2, 2], ..Default::default() };
        g.image.conv_transpose2d_with_activation(&g.image.transpose(0, 1)?, None, &config, Activation::Relu)
    }),
    ("linear", |g| g.x.linear(&g.y, Some(&g.x.narrow(1, 0, 1)?.flatten_all()?))),
    ("linear_each", |g| Ok(g.x.linear_each(&[&g.y, &g.y])?.remove(0))),
    ("linear_with_activation", |g| g.x.linear_with_activation(&g.y, None, Activation::Relu)),
    ("max_pool2d_with_stride", |g| g.image.max_pool2d_with_stride(2, 1)),
    ("max_pool2d_with", |g| g.image.max_pool2d_with(&Pool2dConfig::new(2))),
    ("avg_pool2d_with_stride", |g| g.image.avg_pool2d_with_stride(2, 1)),
    ("avg_pool2d_with", |g| g.image.avg_pool2d_with(&Pool2dConfig::new(2))),
    ("interpolate1d", |g| g.line.interpolate1d(9)),
    ("interpolate2d", |g| g.image.interpolate2d(7, 3)),
    ("sort_last_dim", |g| Ok(g.x.sort_last_dim(false)?.0)),
    ("arg_sort_last_dim", |g| g.y.arg_sort_last_dim(true)),
    ("rand", |g| Tensor::rand(0f32, 1.0, 5, &seeded(g)?.device)),
    ("rand_like", |g| seeded(g)?.x.rand_like(0, 1)),
    ("randn", |g| Tensor::randn(0f32, 1.0, 5, &seeded(g)?.device)),
    ("randn_like", |g| seeded(g)?.x.randn_like(0, 1)),
    ("randperm", |g| Tensor::randperm(5000, DType::I64, &seeded(g)?.device)),
    ("bernoulli_like", |g| seeded(g)?.x.bernoulli_like(0.5)),
    ("to_dtype", |g| g.x.to_dtype(DType::F16)),
    ("reduce", |g| g.x.reduce(ReduceOp::Sum, 0, true)),
    ("reduce_all", |g| g.x.reduce_all(ReduceOp::ArgMax)),
    ("mean_keepdim", |g| g.image.mean_keepdim(3)),
    ("mean_all", |g| g.image.mean_all()),
    ("any_keepdim", |g| g.x.any_keepdim(1)),
    ("any_all", |g| g.x.any_all()),
    ("all_keepdim", |g| g.x.all_keepdim(1)),
    ("all_all", |g| g.x.all_all()),
    ("split_with_sizes", |g| Ok(g.x.split_with_sizes(&[1, 3], 1)?.remove(1))),
    ("flatten_all", |g| g.x.t()?.flatten_all()),
    ("flatten_axes", |g| g.image.transpose(1, 2)?.flatten_axes(1, 2)),
    ("flatten_from", |g| g.image.flatten_from(1)),
    ("flatten_to", |g| g.image.flatten_to(2)),
    ("reshape", |g| g.x.t()?.reshape([2, 6])),
    ("view", |g| g.x.view([2, 6])),
    ("as_strided", |g| g.x.as_strided(Layout::strided([2, 2], &[2, 1], 1, "part")?)),
    ("as_strided_", |g| changed(&g.x, |x| x.as_strided_(Layout::strided([2, 2], &[2, 1], 1, "part")?))),
    ("flatten", |g| g.x.t()?.flatten()),
    ("contiguous", |g| g.x.t()?.contiguous()),
    ("transpose", |g| g.x.transpose(0, 1)),
    ("t", |g| g.x.t()),
    ("permute", |g| g.image.permute([3, 1, 0, 2])),
    ("narrow", |g| g.x.narrow(1, 1, 2)),
    ("select", |g| g.x.select(1, 2)),
    ("get", |g| g.x.get(1)),
    ("squeeze", |g| g.image.squeeze(0)),
    ("unsqueeze", |g| g.x.unsqueeze(1)),
    ("expand", |g| g.x.expand([2, 3, 4])),
    ("broadcast_as", |g| g.x.broadcast_as([2, 3, 4])),
];

/// With the device's generator at its beginning: the same numbers at every call, and on every device.
fn seeded(given: &Given) -> Result<&Given> {
    given.device.set_seed(11)?;
    Ok(given)
}

/// Methods that wait, and why.
const WAITING: &[Method<()>] = &[
    // They read back.
    ("to_vec", |g| g.x.to_vec::<f32>().map(drop)),
    ("to_vec0", |g| g.x.get(0)?.get(0)?.to_vec0::<f32>().map(drop)),
    ("to_scalar", |g| g.x.get(0)?.get(0)?.to_scalar::<f32>().map(drop)),
    ("to_vec1", |g| g.x.get(0)?.to_vec1::<f32>().map(drop)),
    ("to_vec2", |g| g.x.to_vec2::<f32>().map(drop)),
    ("to_vec3", |g| g.line.to_vec3::<f32>().map(drop)),
    ("to_bytes", |g| g.x.to_bytes().map(drop)),
    ("to_cpu_storage", |g| g.x.to_cpu_storage().map(drop)),
    ("to_device", |g| g.x.to_device(&Device::Cpu).map(drop)),
    // They copy a slice of the host's, which is its owner's again when they return: it has been read, behind the work before.
    ("new", |g| Tensor::new([1f32, 2.0], &g.device).map(drop)),
    ("from_vec", |g| Tensor::from_vec(vec![1f32, 2.0], 2, &g.device).map(drop)),
    ("from_slice", |g| Tensor::from_slice(&[1f32, 2.0], 2, &g.device).map(drop)),
    ("from_bytes", |g| Tensor::from_bytes(&[1, 2], DType::U8, 2, &g.device).map(drop)),
    ("i", |g| g.x.i(vec![2u32, 0]).map(drop)),
];

/// Methods that ask for what the host knows.
const QUESTIONS: &str = "shape dims dim dims1 dims2 dims3 dims4 dims5 rank elements elem_count dtype device layout strides is_contiguous storage set_name \
    storage_references shares_storage";
/// Methods that call an operation of the user's own, which waits if its author says so.
const OWN: &str = "apply_op1 apply_op1_no_bwd apply_op2 apply_op2_no_bwd apply_op3 apply_op3_no_bwd inplace_op1 \
    inplace_op2 inplace_op3";
/// What [`FREE`] and [`WAITING`] have besides methods of `Tensor`: traits' functions.
const OF_TRAITS: [&str; 2] = ["i", "operators"];

/// The devices that have a stream, each with one that no other test uses.
fn with_streams() -> impl Iterator<Item = Device> {
    let all = devices::open(&[]).expect("the devices of this machine");
    all.into_iter().map(|named| apart(&named.device)).filter(|device| device.as_hip().is_some())
}

#[test]
fn methods_do_not_block_the_host() -> Result<()> {
    let on_cpu = given(&Device::Cpu)?;
    for device in with_streams() {
        let on_device = given(&device)?;
        // The first call loads code and brings memory to the device's pool.
        for (name, method) in FREE {
            method(&on_device).unwrap_or_else(|error| panic!("{name} on {device}: {error}"));
        }
        let held = Held::new(&device, LONG).expect("it has a stream");
        let call = |(name, method): &Method<Tensor>| {
            let result = method(&on_device);
            assert!(!held.is_over(), "{name} waits for {device}");
            result
        };
        let results = FREE.iter().map(call).collect::<Result<Vec<Tensor>>>()?;
        held.let_go();
        for ((name, method), result) in FREE.iter().zip(results) {
            let expected = method(&on_cpu)?;
            assert_eq!(
                (result.dims(), result.dtype()),
                (expected.dims(), expected.dtype()),
                "{name} on {device}"
            );
            assert_eq!(result.to_bytes()?, expected.to_bytes()?, "{name} on {device}");
        }
    }
    Ok(())
}

#[test]
fn methods_that_wait_are_listed() -> Result<()> {
    for device in with_streams() {
        let given = given(&device)?;
        for (name, method) in WAITING {
            let held = Held::new(&device, Duration::from_millis(30)).expect("it has a stream");
            method(&given)?;
            assert!(
                held.is_over(),
                "{name} no longer waits for {device}: it belongs to the methods that are free"
            );
        }
    }
    Ok(())
}

#[test]
fn every_method_is_in_a_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tensor-core/src/tensor");
    let mut methods = HashSet::new();
    for entry in std::fs::read_dir(folder).expect("the sources of tensor-core") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a source");
        let names = text.lines().filter_map(|line| line.strip_prefix("    pub fn "));
        let names = names.filter_map(|rest| rest.split(['(', '<']).next());
        methods.extend(names.map(str::to_owned));
    }
    let of_registry: HashSet<&str> = registry::all().iter().map(|case| case.op.name()).collect();
    let tables = FREE.iter().map(|(name, _)| *name).chain(WAITING.iter().map(|(name, _)| *name));
    let lists = QUESTIONS.split_whitespace().chain(OWN.split_whitespace());
    let listed: HashSet<&str> = tables.chain(lists).collect();
    for method in &methods {
        let there = listed.contains(&**method) || of_registry.contains(&**method);
        assert!(there, "nobody says whether Tensor::{method} waits for its device");
    }
    for name in listed.iter().filter(|name| !OF_TRAITS.contains(name)) {
        assert!(methods.contains(*name), "there is no Tensor::{name}");
    }
}
