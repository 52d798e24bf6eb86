//! Radix sort of long rows.

use std::ptr;

use kernels_hip::args::RadixMap;
use kernels_hip::launch;

use super::scan;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::{HipDevice, HipStorage};
use crate::layout::Layout;
use crate::plan::scan::ScanOp;

/// Whether [`sort`] is faster than merging.
pub(super) fn fit(device: &HipDevice, rows: u64, length: u64, keep: u64, dtype: DType) -> bool {
    // On the host a shuffle costs as much as a barrier.
    device.device().platform().kind.name() != "host"
        && launch::by_digits(rows, length, keep, dtype.size_in_bytes())
}

/// The output of a pass: keys, except for the last pass; elements, if it is the last pass and they are wanted;
/// positions in the row.
struct Pass {
    keys: Option<HipStorage>,
    values: Option<HipStorage>,
    positions: HipStorage,
}

/// Sorts contiguous rows from element `start` on. Returns the elements, if wanted, and their positions. Rows are not
/// empty.
pub(super) fn sort(
    (storage, start): (&HipStorage, usize),
    (rows, length): (u64, u64),
    descending: bool,
    with_values: bool,
    op: &'static str,
) -> Result<(Option<HipStorage>, HipStorage)> {
    let mut passes = launch::radix_passes(rows, length, descending, storage.dtype().size_in_bytes());
    let mut done =
        Pass { keys: None, values: None, positions: HipStorage::zeros(storage.device(), DType::U32, 0, op)? };
    while let Some(map) = passes.next() {
        let ends = ends((storage, start), &done, &map, op)?;
        done = deal((storage, start), &done, &ends, &map, (passes.len() > 0, with_values), op)?;
    }
    Ok((done.values, done.positions))
}

/// The end positions of each digit's elements, per tile, in their row.
fn ends(
    (storage, start): (&HipStorage, usize),
    before: &Pass,
    map: &RadixMap,
    op: &'static str,
) -> Result<HipStorage> {
    let device = storage.device();
    let function = device.kernels().get(device, kernel("count", storage.dtype()))?;
    let row = launch::radix_counts(map) as usize;
    // SAFETY: S15: the kernel writes a number for each digit of each tile.
    let mut counts = unsafe { HipStorage::uninit(device, DType::U32, map.rows as usize * row, op) }?;
    {
        let (source, mut target) = (storage.tail(start, op)?, counts.tail_mut(0, op)?);
        let keys = before.keys.as_ref().map(|keys| keys.tail(0, op)).transpose()?;
        let mut launch =
            device.stream().launch(function, config(launch::radix(map, device.multiprocessors())));
        launch.arg(&source);
        match &keys {
            Some(keys) => launch.arg(keys),
            None => launch.pointer(ptr::null()),
        };
        launch.arg_mut(&mut target).value(map);
        // SAFETY: S9: the first pass reads the elements of the rows, which the storage has from `start` on. The others
        // read as many keys, which the previous pass wrote. The kernel writes a number for each digit of each tile.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    scan::scan(&counts, &Layout::contiguous([map.rows as usize, row], op)?, ScanOp::Sum, 1)
}

/// Scatters the elements by their digit. `more`: another pass follows.
fn deal(
    (storage, start): (&HipStorage, usize),
    before: &Pass,
    ends: &HipStorage,
    map: &RadixMap,
    (more, with_values): (bool, bool),
    op: &'static str,
) -> Result<Pass> {
    let (device, dtype) = (storage.device(), storage.dtype());
    let function = device.kernels().get(device, kernel("deal", dtype))?;
    let count = (map.rows * map.length) as usize;
    // SAFETY: S15: the kernel writes every element of every row.
    let uninit = |dtype| unsafe { HipStorage::uninit(device, dtype, count, op) };
    // Keys have the size of elements.
    let mut keys = if more { Some(uninit(dtype)?) } else { None };
    let mut values = if !more && with_values { Some(uninit(dtype)?) } else { None };
    let mut positions = uninit(DType::U32)?;
    {
        let (source, ends) = (storage.tail(start, op)?, ends.tail(0, op)?);
        let from_keys = before.keys.as_ref().map(|keys| keys.tail(0, op)).transpose()?;
        let from_positions = before.positions.tail(0, op)?;
        let mut to_keys = keys.as_mut().map(|keys| keys.tail_mut(0, op)).transpose()?;
        let mut to_values = values.as_mut().map(|values| values.tail_mut(0, op)).transpose()?;
        let mut to_positions = positions.tail_mut(0, op)?;
        let mut launch =
            device.stream().launch(function, config(launch::radix(map, device.multiprocessors())));
        launch.arg(&source);
        match &from_keys {
            Some(keys) => launch.arg(keys),
            None => launch.pointer(ptr::null()),
        };
        launch.arg(&from_positions).arg(&ends);
        match &mut to_keys {
            Some(keys) => launch.arg_mut(keys),
            None => launch.pointer(ptr::null()),
        };
        launch.arg_mut(&mut to_positions);
        match &mut to_values {
            Some(values) => launch.arg_mut(values),
            None => launch.pointer(ptr::null()),
        };
        launch.value(map);
        // SAFETY: S9: as above; the kernel reads positions from the second pass on, and uses no null pointer. It writes
        // each element to its own position in its row, because `ends` are cumulative counts of each digit.
        unsafe { launch.submit() }.map_err(wrap(op))?;
    }
    Ok(Pass { keys, values, positions })
}

fn kernel(op: &'static str, dtype: DType) -> Kernel {
    Kernel { family: "radix", op, dtype, to: None }
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::storage::Storage;
    use crate::tensor::Tensor;

    #[test]
    fn rows_of_a_view_are_sorted_with_their_positions() {
        // Multiples of 7 modulo 5003, from element 5 on, in two rows.
        let numbers: Vec<i32> = (0..8010).map(|i| i * 7 % 5003 - 2000).collect();
        for (name, descending) in [("host:0", false), ("host:1", true)] {
            let on = Device::parse(name).unwrap();
            let tensor = Tensor::from_slice(&numbers, numbers.len(), &on).unwrap();
            let Storage::Hip(storage) = tensor.storage() else { panic!("a tensor of {on} lies there") };
            let (values, positions) = sort((storage, 5), (2, 4000), descending, true, "test").unwrap();
            let words = |storage: &HipStorage| -> Vec<i32> {
                let cpu = storage.to_cpu(0, storage.len(), "test").unwrap();
                cpu.as_bytes().chunks(4).map(|word| i32::from_ne_bytes(word.try_into().unwrap())).collect()
            };
            let mut expected: Vec<i32> = Vec::new();
            for row in [0, 1] {
                let mut order: Vec<i32> = (0..4000).collect();
                let value = |index: i32| numbers[5 + row * 4000 + index as usize];
                order.sort_by_key(|index| if descending { -value(*index) } else { value(*index) });
                expected.extend(order);
            }
            assert_eq!(words(&positions), expected, "{on}");
            let of = |i: usize| numbers[5 + i / 4000 * 4000 + expected[i] as usize];
            assert_eq!(words(&values.unwrap()), (0..8000).map(of).collect::<Vec<_>>(), "{on}");
            let (values, again) = sort((storage, 5), (2, 4000), descending, false, "test").unwrap();
            assert_eq!((values.is_none(), words(&again)), (true, expected), "{on}");
        }
    }
}
