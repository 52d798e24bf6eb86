//! Sums with many ids in few lines. Terms are sorted into buckets of neighbouring destinations; a block per bucket adds
//! them in order.

use hip_safe::{DeviceView, LaunchConfig};
use kernels_hip::args::{BucketMap, IdType};
use kernels_hip::launch;

use super::copy;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::{HipDevice, HipStorage};
use crate::layout::Layout;
use crate::plan::index::Indexed;

/// Whether [`scatter_add`] supports these operands, and is faster than one thread per line.
pub(super) fn fit(device: &HipDevice, layout: &Layout, axis: &Indexed, at: &Layout, from: &Layout) -> bool {
    let (terms, count) = (at.elements(), at.dims()[axis.axis]);
    let lines = (terms / count.max(1)) as u64;
    let owners = launch::owners(lines, axis.length as u64, device.multiprocessors());
    // On the host a shuffle costs as much as a barrier.
    let alike = layout.dims().iter().zip(at.dims()).enumerate().all(|(d, (a, b))| d == axis.axis || a == b);
    device.device().platform().kind.name() != "host"
        && alike
        && launch::by_buckets(terms as u64, owners)
        && [layout, at, from].iter().all(|layout| layout.is_contiguous())
}

/// Adds each element of `source` at its id along the axis, in the order of the ids. Small floats are accumulated in f32
/// and rounded once. With `old` they are added to its elements instead, and all of `layout` is written.
pub(super) fn scatter_add(
    storage: &mut HipStorage,
    layout: &Layout,
    old: Option<DeviceView<'_, u8>>,
    axis: &Indexed,
    (ids, at, id_type): (&HipStorage, &Layout, IdType),
    (source, from): (&HipStorage, &Layout),
) -> Result<()> {
    let (device, dtype, op) = (storage.device().clone(), storage.dtype(), axis.operation);
    let (total, bytes) = (layout.elements() as u64, dtype.size_in_bytes());
    let part = launch::bucket_part(bytes);
    let all = BucketMap {
        terms: at.elements() as u64,
        count: at.dims()[axis.axis] as u64,
        length: axis.length as u64,
        inner: at.dims()[axis.axis + 1..].iter().product::<usize>() as u64,
        first: 0,
        owned: 0,
        tiles: 0,
        shift: 0,
        buckets: 0,
        id_type: id_type as u32,
        operation: axis.number(),
        axis: axis.axis as u32,
        apart: old.is_some().into(),
    };
    let mut first = 0;
    // At least one part, because the kernel also checks the ids.
    while first == 0 || first < total {
        let map = launch::buckets(&BucketMap { first, owned: part.min(total - first), ..all }, bytes);
        let (words, runs) = deal((ids, at), (source, from), &device, &map, op)?;
        let by_tiles = Layout::contiguous(
            [map.tiles as usize, launch::bucket_runs(&map) as usize / map.tiles as usize],
            op,
        )?;
        let runs = copy::copy(&runs, &by_tiles.transpose(0, 1))?;
        add((storage, layout), old.as_ref(), (&words, &runs), &map, op)?;
        first += part;
    }
    Ok(())
}

/// Sorts each tile's terms by bucket. Returns their words, and the runs of each bucket.
fn deal(
    (ids, at): (&HipStorage, &Layout),
    (source, from): (&HipStorage, &Layout),
    device: &HipDevice,
    map: &BucketMap,
    op: &'static str,
) -> Result<(HipStorage, HipStorage)> {
    let (dtype, bytes) = (source.dtype(), source.dtype().size_in_bytes());
    let function = device.kernels().get(device, kernel("deal", dtype))?;
    let word_bytes = launch::bucket_words(map, bytes) as usize * launch::bucket_word_bytes(bytes);
    // SAFETY: S15: only words and runs that `buckets_deal` wrote are read: the runs say which words exist.
    let uninit = |numbers| unsafe { HipStorage::uninit(device, DType::U32, numbers, op) };
    let (mut words, mut runs) = (uninit(word_bytes / 4)?, uninit(launch::bucket_runs(map) as usize)?);
    {
        let (ids, terms) = (ids.tail(at.offset(), op)?, source.tail(from.offset(), op)?);
        let (mut first, mut second) = (words.tail_mut(0, op)?, runs.tail_mut(0, op)?);
        let shape = config(launch::bucket_tiles(map, device.multiprocessors()));
        device.faults().watch(device.stream(), op, |fault| {
            let mut launch = device.stream().launch(function, shape);
            launch.arg(&ids).arg(&terms).arg_mut(&mut first).arg_mut(&mut second).arg_mut(fault).value(map);
            // SAFETY: S9: the kernel reads `terms` ids and terms, which are contiguous. For each tile it writes at most
            // a tile's words, and a number for each of its runs.
            unsafe { launch.submit() }
        })?;
    }
    Ok((words, runs))
}

/// Adds up each bucket.
fn add(
    (storage, layout): (&mut HipStorage, &Layout),
    old: Option<&DeviceView<'_, u8>>,
    (words, runs): (&HipStorage, &HipStorage),
    map: &BucketMap,
    op: &'static str,
) -> Result<()> {
    let (device, dtype) = (storage.device().clone(), storage.dtype());
    let function = device.kernels().get(&device, kernel("add", dtype))?;
    let mut target = storage.tail_mut(layout.offset(), op)?;
    let (words, runs) = (words.tail(0, op)?, runs.tail(0, op)?);
    let shape = config(launch::bucket_sums(map, device.multiprocessors()));
    let shape = LaunchConfig { shared_bytes: launch::sums_bytes(map, dtype.size_in_bytes()), ..shape };
    if function.shared_bytes() + shape.shared_bytes as usize
        > device.device().properties().shared_memory_per_block
    {
        function.allow_dynamic_shared(shape.shared_bytes).map_err(wrap(op))?;
    }
    let mut launch = device.stream().launch(function, shape);
    // Without an array of its own the kernel reads the destinations.
    launch.arg_mut(&mut target).arg(old.unwrap_or(&words)).arg(&words).arg(&runs).value(map);
    // SAFETY: S9: the kernel reads the words of each bucket's runs. It reads and writes the bucket's destinations,
    // which lie inside the storage: the layout is contiguous, and each bucket has one block. The other array has as
    // many elements, if it is read.
    unsafe { launch.submit() }.map_err(wrap(op))
}

fn kernel(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "buckets", op, dtype, to: None }
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::storage::Storage;
    use crate::tensor::Tensor;

    /// As many terms as ids, 1, 2, 3 and so on, added to zeros of 3 × 50 × 2 along the second axis.
    fn sums(device: &HipDevice, ids: &[i64], dtype: DType) -> Result<Vec<u8>> {
        let on = Device::Hip(device.clone());
        let dims = [3, ids.len() / 6, 2];
        let ids = Tensor::from_slice(ids, dims, &on)?;
        let terms: Vec<f32> = (1..=dims.iter().product::<usize>()).map(|i| i as f32).collect();
        let source = Tensor::from_slice(&terms, dims, &on)?.to_dtype(dtype)?;
        let (Storage::Hip(at), Storage::Hip(terms)) = (ids.storage(), source.storage()) else {
            panic!("tensors of {on} lie there")
        };
        let layout = Layout::contiguous([3, 50, 2], "test")?;
        let mut out = HipStorage::zeros(device, dtype, layout.elements(), "test")?;
        let axis = Indexed::new("scatter_add", &layout, 1);
        let (at, source) = ((at, ids.layout(), IdType::I64), (terms, source.layout()));
        scatter_add(&mut out, &layout, None, &axis, at, source)?;
        let sums = |out: &HipStorage| -> Result<Vec<u8>> {
            Ok(out.to_cpu(0, out.len(), "test")?.as_bytes().to_vec())
        };
        let something = Tensor::ones([300], dtype, &Device::Cpu)?;
        let Storage::Cpu(something) = something.storage() else { panic!("it lies on the CPU") };
        // Added to another array of zeros they are the same, whatever the destination held before.
        let zeros = HipStorage::zeros(device, dtype, layout.elements(), "test")?;
        let mut apart = HipStorage::from_cpu(device, something, "test")?;
        scatter_add(&mut apart, &layout, Some(zeros.tail(0, "test")?), &axis, at, source)?;
        let (sums, apart) = (sums(&out)?, sums(&apart)?);
        assert_eq!(sums, apart);
        Ok(sums)
    }

    fn hosts() -> [HipDevice; 2] {
        ["host:0", "host:1"].map(|name| Device::parse(name).unwrap().as_hip().unwrap().clone())
    }

    #[test]
    fn each_line_is_summed_separately() {
        let ids: Vec<i64> = (0..600).map(|term| term * 7 % 48).collect();
        let mut expected = [0.0f32; 300];
        for (term, id) in ids.iter().enumerate() {
            expected[(term / 200 * 50 + *id as usize) * 2 + term % 2] += (term + 1) as f32;
        }
        for device in hosts() {
            let bytes = sums(&device, &ids, DType::F32).unwrap();
            assert_eq!(bytes, expected.map(f32::to_ne_bytes).concat());
            let bytes = sums(&device, &ids, DType::I64).unwrap();
            assert_eq!(bytes, expected.map(|sum| (sum as i64).to_ne_bytes()).concat());
            // At most 7 terms per element, so that the sums have at most 12 bits, rounded once to 8.
            let bytes = sums(&device, &ids, DType::BF16).unwrap();
            let rounded: Vec<u8> = terms_of_bf16(&ids).concat();
            assert_eq!(bytes, rounded);
        }
    }

    /// The sums, in f32, of terms rounded to bf16; rounded to bf16 in turn.
    fn terms_of_bf16(ids: &[i64]) -> Vec<[u8; 2]> {
        let mut sums = [0.0f32; 300];
        for (term, id) in ids.iter().enumerate() {
            let value = half::bf16::from_f32((term + 1) as f32).to_f32();
            sums[(term / 200 * 50 + *id as usize) * 2 + term % 2] += value;
        }
        sums.map(|sum| half::bf16::from_f32(sum).to_ne_bytes()).to_vec()
    }

    #[test]
    fn a_wrong_id_is_the_next_readings_error() {
        for device in hosts() {
            let error = sums(&device, &[0, 1, 2, 3, 50, 5], DType::F32).unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("scatter_add: index 50 is out of range for axis 1 of length 50"),
                "{text}"
            );
        }
    }
}
