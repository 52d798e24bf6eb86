//! What the tests share: the devices to run on, and small constructors.

use std::sync::OnceLock;

use tensor_core::{DType, Device, Element, Nested, Result, Tensor};

/// Every device of this machine, opened once, and a host device without libraries. `TENSOR_CORE_TEST_DEVICES`, such as `cpu,host:0`, chooses others.
pub(crate) fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| match std::env::var("TENSOR_CORE_TEST_DEVICES") {
        Ok(names) => {
            names.split(',').map(|name| Device::parse(name).expect("a device of this machine")).collect()
        }
        Err(_) => {
            let mut all = Device::all().expect("the devices of this machine");
            all.extend(Device::parse("host:0:kernels"));
            all
        }
    })
}

/// Runs a test on every device, naming the device if it fails.
pub(crate) fn on_devices(test: impl Fn(&Device) -> Result<()>) {
    for device in devices() {
        if let Err(error) = test(device) {
            panic!("on {device}: {error}");
        }
    }
}

/// The numbers of `array`, converted to `dtype`.
pub(crate) fn tensor<A: Nested>(array: A, dtype: DType, device: &Device) -> Result<Tensor> {
    Tensor::new(array, device)?.to_dtype(dtype)
}

/// All elements as `f64`, which holds those of every dtype but large `i64` exactly.
pub(crate) fn values(tensor: &Tensor) -> Result<Vec<f64>> {
    tensor.to_device(&Device::Cpu)?.to_dtype(DType::F64)?.to_vec()
}

/// The bit patterns of all elements, with one pattern for every NaN.
pub(crate) fn bits(tensor: &Tensor) -> Result<Vec<u64>> {
    let numbers = values(tensor)?;
    let size = tensor.dtype().size_in_bytes();
    let bytes = tensor.to_bytes()?;
    let pattern = |chunk: &[u8]| chunk.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    Ok(bytes
        .chunks(size)
        .zip(numbers)
        .map(|(chunk, x)| if x.is_nan() { u64::MAX } else { pattern(chunk) })
        .collect())
}

/// A tensor of rank 1.
pub(crate) fn vector<T: Element>(elements: &[T], device: &Device) -> Result<Tensor> {
    Tensor::from_slice(elements, elements.len(), device)
}

/// The float dtypes.
pub(crate) const FLOATS: [DType; 5] = [DType::F8E4M3, DType::BF16, DType::F16, DType::F32, DType::F64];
/// The integer dtypes.
pub(crate) const INTS: [DType; 5] = [DType::U8, DType::U32, DType::I16, DType::I32, DType::I64];

/// The same elements in layouts that are strided, offset, transposed and broadcast; each with a name.
pub(crate) fn layouts(tensor: &Tensor) -> Result<Vec<(&'static str, Tensor)>> {
    let mut layouts = vec![("contiguous", tensor.clone())];
    // Inside a larger tensor: an offset, and a gap after every innermost row.
    let mut padded = tensor.dims().to_vec();
    padded.iter_mut().for_each(|length| *length += 3);
    let mut whole = Tensor::full(77, padded, tensor.dtype(), &tensor.device())?;
    for (axis, &length) in tensor.dims().iter().enumerate() {
        whole = whole.narrow(axis, 2, length)?;
    }
    whole.copy_from_(tensor)?;
    layouts.push(("offset", whole));
    if tensor.rank() >= 2 {
        layouts.push(("transposed", tensor.t()?.contiguous()?.t()?));
        let mut axes: Vec<usize> = (0..tensor.rank()).rev().collect();
        let reversed = tensor.permute(&axes)?.contiguous()?;
        axes.reverse();
        let back: Vec<usize> = (0..tensor.rank()).rev().collect();
        layouts.push(("reversed", reversed.permute(back)?));
    }
    Ok(layouts)
}

/// A file of its own with these bytes, gone when dropped.
pub(crate) fn temporary(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::io::Write::write_all(&mut file, bytes).expect("room for a small file");
    file
}

/// Asserts that a tensor has these elements, −0 apart from +0 and NaN equal to NaN.
#[track_caller]
pub(crate) fn same(got: &Tensor, expected: &[f64]) -> Result<()> {
    let got_values = values(got)?;
    let key = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let equal = got_values.iter().map(key).eq(expected.iter().map(key));
    assert!(equal, "got {got_values:?}, expected {expected:?} ({} on {})", got.dtype(), got.device());
    Ok(())
}
