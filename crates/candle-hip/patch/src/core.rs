//! What changes in candle-core 0.11.1. The texts to insert are ours; what is like the arms for Metal is copied in the
//! checkout itself.

use crate::file::{Edit, File};
use crate::manifest;
use crate::tree::Tree;

/// Changed words in arms and functions that are copied from Metal's.
const WORDS: [(&str, &str); 9] = [
    ("metal gpu device", "HIP device"),
    ("'_, MetalStorage>", "'_, crate::HipStorage>"),
    ("Error::Metal(", "Error::Msg("),
    ("crate::MetalStorage", "crate::HipStorage"),
    ("&MetalStorage", "&crate::HipStorage"),
    ("mut MetalStorage", "mut crate::HipStorage"),
    ("(MetalStorage", "(crate::HipStorage"),
    ("Metal", "Hip"),
    ("metal", "hip"),
];

/// Edits the files of candle-core. `tensor_core` is the dependency as in a manifest.
pub fn edit(tree: &mut Tree, tensor_core: &str) -> Edit {
    tree.edit("Cargo.toml", |file| manifest::edit(file, tensor_core))?;
    tree.edit("src/lib.rs", library)?;
    tree.edit("src/device.rs", device)?;
    tree.edit("src/storage.rs", |file| {
        file.after_line("Metal(MetalStorage),", "Hip(crate::HipStorage),")?;
        file.copy_arms(34, &[], &WORDS)
    })?;
    tree.edit("src/tensor.rs", tensor)?;
    tree.edit("src/display.rs", |file| {
        let words =
            [("Metal { gpu_id }", "Hip { platform, gpu_id }"), (", metal:{gpu_id}", ", {platform}:{gpu_id}")];
        file.copy_arms(2, &[], &words)
    })?;
    tree.edit("src/custom_op.rs", custom_operations)?;
    tree.edit("src/sort.rs", |file| file.inside_item("impl crate::CustomOp1 for ArgSort", SORT))?;
    tree.edit("src/safetensors.rs", |file| {
        let words = "#[cfg(not(feature = \"metal\"))]\nDevice::Metal(_) => {";
        file.before_each(
            words,
            2,
            "Device::Hip(device) => Storage::Hip(device.storage_from_raw(data, dtype)?),",
        )
    })?;
    tree.edit("src/quantized/mod.rs", quantized)?;
    tree.edit("src/quantized/ggml_file.rs", |file| {
        file.after_line("Device::Metal(metal) => super::metal::load_quantized(metal, data)?,", GGML_FILE)
    })?;
    tree.edit("src/test_utils.rs", |file| file.after_line("$fn_name(&Device::new_metal(0)?)", TESTS))?;
    // The numbers that these tests expect of Metal: some sources come without tests.
    tree.edit_if_there("tests/quantized_tests.rs", |file| file.copy_arms(2, &[], &WORDS))
}

fn library(file: &mut File) -> Edit {
    file.after_line("pub mod error;", "pub mod hip_backend;")?;
    file.after_line(
        "pub use error::{Context, Error, Result};",
        "pub use hip_backend::{HipDevice, HipStorage};",
    )?;
    // The backend's files name this crate as others do.
    file.after_line("mod variable;", "\nextern crate self as candle_core;")
}

fn device(file: &mut File) -> Edit {
    file.after_line("Metal { gpu_id: usize },", "Hip { platform: &'static str, gpu_id: usize },")?;
    file.after_line("Metal(crate::MetalDevice),", "Hip(crate::HipDevice),")?;
    file.copy_arms(14, &["as_metal_device"], &WORDS)?;
    file.after_line(
        "Self::Metal(d) => Ok(d),",
        "Self::Hip(_) => crate::bail!(\"expected a metal device, got Hip\"),",
    )?;
    file.before_each("pub fn new_cuda(ordinal: usize) -> Result<Self> {", 1, DEVICE)
}

const DEVICE: &str = "\
/// The HIP device of a name such as `amd:0`, `nvidia:0` or `host:0`.
pub fn new_hip(name: &str) -> Result<Self> {
    Ok(Self::Hip(crate::HipDevice::open(name)?))
}

/// The HIP device, for its stream and its kernels.
pub fn as_hip_device(&self) -> Result<&crate::HipDevice> {
    match self {
        Self::Hip(d) => Ok(d),
        _ => crate::bail!(\"expected a HIP device, got {:?}\", self.location()),
    }
}

/// Whether this is a HIP device.
pub fn is_hip(&self) -> bool {
    matches!(self, Self::Hip(_))
}
";

fn tensor(file: &mut File) -> Edit {
    file.copy_arms(6, &[], &WORDS)?;
    file.after_line("(Storage::Cpu(storage), Device::Cpu) => Storage::Cpu(storage.clone()),", BETWEEN)
}

const BETWEEN: &str = "\
(Storage::Hip(storage), Device::Hip(device)) => {
    Storage::Hip(device.storage_from_cpu_storage_owned(storage.to_cpu_storage()?)?)
}";

fn custom_operations(file: &mut File) -> Edit {
    file.copy_functions("metal_fwd", 7, &WORDS)?;
    file.copy_functions("metal_fwd_aliased", 1, &WORDS)?;
    for operands in 1..=3 {
        file.copy_lines(
            &format!("forward_op{operands}!(metal_fwd, metal_fwd_aliased,"),
            1,
            &[("MetalStorage", "crate::HipStorage"), ("metal", "hip")],
        )?;
    }
    Ok(())
}

const SORT: &str = "\
fn hip_fwd(
    &self,
    storage: &crate::HipStorage,
    layout: &crate::Layout,
) -> Result<(crate::HipStorage, crate::Shape)> {
    crate::hip_backend::nn::arg_sort_last_dim(storage, layout, self.asc)
}
";

fn quantized(file: &mut File) -> Edit {
    file.after_line("Metal(metal::QMetalStorage),", "Hip(crate::hip_backend::QHipStorage),")?;
    file.copy_functions("metal_fwd", 1, &WORDS)?;
    let words = [
        // The two arms that call what the module `metal` has.
        ("metal::QMetalStorage::zeros", "crate::hip_backend::QHipStorage::zeros"),
        ("Device::Metal(metal)", "Device::Hip(hip)"),
        ("(metal, ", "(hip, "),
        ("Metal", "Hip"),
    ];
    file.copy_arms(16, &["metal_fwd", "from_data"], &words)?;
    file.before_each("Device::Metal(d) => match dtype {", 1, FROM_DATA)?;
    file.before_each("QStorage::Cuda(s) => match (&*x.storage(), &*ids.storage()) {", 1, EXPERTS)
}

const FROM_DATA: &str = "\
Device::Hip(d) => {
    let blocks = crate::hip_backend::QHipStorage::from_data(d, Cow::Borrowed(data), dtype)?;
    Ok(QStorage::Hip(blocks))
}";

const EXPERTS: &str = "\
QStorage::Hip(s) => match (&*x.storage(), &*ids.storage()) {
    (Storage::Hip(x_s), Storage::Hip(ids_s)) => {
        let (storage, shape) =
            s.indexed_moe_forward(self.shape(), (x_s, x.layout()), (ids_s, ids.layout()))?;
        let none = crate::op::BackpropOp::none();
        Ok(crate::tensor::from_storage(Storage::Hip(storage), shape, none, false))
    }
    _ => crate::bail!(\"indexed_moe_forward: the operands are on different devices\"),
},";

const GGML_FILE: &str = "\
Device::Hip(_) => {
    let bytes = std::borrow::Cow::Borrowed(&raw_data[..size_in_bytes]);
    QStorage::from_data(bytes, device, T::DTYPE)?
}";

/// candle's tests of a device then run on one more: the host's, or the one that the variable names.
const TESTS: &str = "\
}

mod $test_cuda {
    use super::*;

    #[test]
    fn hip() -> Result<()> {
        let name = std::env::var(\"CANDLE_HIP_DEVICE\");
        let name = name.as_deref().unwrap_or(\"host:0\");
        super::$fn_name(&Device::new_hip(name)?)
    }";
