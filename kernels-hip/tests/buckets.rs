//! scatter_add by buckets, on both host devices: every dtype and id type, summed in the order of the ids.

mod common;

use bytemuck::{Pod, Zeroable};
use common::Random;
use common::device::{Arg, BOTH, input, output, run_shared, value};
use float8::F8E4M3;
use half::{bf16, f16};
use kernels_hip::args::{BucketMap, IdType, IndexFault};
use kernels_hip::launch::{self, LaunchShape};

/// Few multiprocessors, so that a block processes several tiles and buckets.
const MULTIPROCESSORS: u32 = 2;

/// An element: random generation, and the start, step and end of a sum.
trait Element: Pod + PartialEq + std::fmt::Debug {
    const DTYPE: &'static str;
    type Sum: Copy;
    fn random(bits: u64) -> Self;
    fn begin(self) -> Self::Sum;
    fn plus(sum: Self::Sum, term: Self) -> Self::Sum;
    fn end(sum: Self::Sum) -> Self;
}
macro_rules! integers {
    ($($type:ident)*) => {$(impl Element for $type {
        const DTYPE: &'static str = stringify!($type);
        type Sum = $type;
        fn random(bits: u64) -> Self {
            bits as $type
        }
        fn begin(self) -> $type {
            self
        }
        fn plus(sum: $type, term: Self) -> $type {
            sum.wrapping_add(term)
        }
        fn end(sum: $type) -> Self {
            sum
        }
    })*};
}
integers!(u8 u32 i16 i32 i64);
// Floats of many magnitudes, so that the sum depends on the order.
macro_rules! floats {
    ($($name:literal $type:ty, $sum:ident, $widen:expr, $narrow:expr;)*) => {$(impl Element for $type {
        const DTYPE: &'static str = $name;
        type Sum = $sum;
        fn random(bits: u64) -> Self {
            $narrow((((bits >> 20) as i8) as $sum) * ((bits & 7) as $sum - 4.0).exp2() * 1.000_001)
        }
        fn begin(self) -> $sum {
            $widen(self)
        }
        fn plus(sum: $sum, term: Self) -> $sum {
            sum + $widen(term)
        }
        fn end(sum: $sum) -> Self {
            $narrow(sum)
        }
    })*};
}
floats! {
    "f64" f64, f64, |v| v, |v| v;
    "f32" f32, f32, |v| v, |v| v;
    "f16" f16, f32, f16::to_f32, f16::from_f32;
    "bf16" bf16, f32, bf16::to_f32, bf16::from_f32;
    "f8e4m3" F8, f32, |v: F8| F8E4M3::from_bits(v.0).to_f32(), |v| F8(F8E4M3::from_f32(v).to_bits());
}
/// The bits of an 8-bit float.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
struct F8(u8);

/// Arrays of dims [outer, count or length, inner].
#[derive(Clone, Copy)]
struct Dims {
    outer: usize,
    count: usize,
    length: usize,
    inner: usize,
}

/// Runs both kernels, once for each `part` destinations. Buckets have 2^`shift` destinations, if it is given.
fn scatter_add<T: Element>(
    device: i32,
    dims: Dims,
    (part, shift): (u64, Option<u32>),
    (ids, id_type): (&[i64], IdType),
    mut dst: Vec<T>,
    src: &[T],
) -> (Vec<T>, IndexFault) {
    let bytes: Vec<u8> = match id_type {
        IdType::U8 => ids.iter().map(|id| *id as u8).collect(),
        IdType::U32 | IdType::I32 => ids.iter().flat_map(|id| (*id as u32).to_ne_bytes()).collect(),
        IdType::I64 => ids.iter().flat_map(|id| id.to_ne_bytes()).collect(),
    };
    let run = |op: &str, shape: LaunchShape, shared: u32, args: &mut [Arg<'_>]| {
        let kernel = format!("buckets_{op}_{}", T::DTYPE);
        // SAFETY: S9: `bytes` has an id and `src` an element for each term, and all destinations of the map lie inside `dst`.
        unsafe { run_shared(device, &kernel, (shape.grid, shape.block), shared, args) };
    };
    let mut faults = [IndexFault::zeroed()];
    let total = dst.len() as u64;
    // The same sums with the old values in another array. The old contents of `apart` must not be read.
    let old = dst.clone();
    let mut apart: Vec<T> = (0..total).map(|i| T::random(!i)).collect();
    for first in (0..total).step_by(part as usize) {
        let map = BucketMap {
            terms: ids.len() as u64,
            count: dims.count as u64,
            length: dims.length as u64,
            inner: dims.inner as u64,
            first,
            owned: part.min(total - first),
            tiles: 0,
            shift: 0,
            buckets: 0,
            id_type: id_type as u32,
            operation: 5,
            axis: 1,
            apart: 0,
        };
        let map = launch::buckets(&map, size_of::<T>());
        let map = match shift {
            Some(shift) => BucketMap { shift, buckets: map.owned.div_ceil(1 << shift) as u32, ..map },
            None => map,
        };
        let bytes_of_words =
            launch::bucket_words(&map, size_of::<T>()) as usize * launch::bucket_word_bytes(size_of::<T>());
        // Memory that must not be read has patterns that are no word of any term.
        let mut words = vec![!0u32; bytes_of_words / 4];
        let mut runs = vec![!0u32; launch::bucket_runs(&map) as usize];
        run(
            "deal",
            launch::bucket_tiles(&map, MULTIPROCESSORS),
            0,
            &mut [
                input(&bytes),
                input(src),
                output(&mut words),
                output(&mut runs),
                output(&mut faults),
                value(&map),
            ],
        );
        // Transposed, so that the runs of a bucket are contiguous.
        let tiles = map.tiles as usize;
        let runs: Vec<u32> =
            (0..runs.len()).map(|i| runs[i % tiles * (runs.len() / tiles) + i / tiles]).collect();
        run(
            "add",
            launch::bucket_sums(&map, MULTIPROCESSORS),
            launch::sums_bytes(&map, size_of::<T>()),
            &mut [output(&mut dst), input(&words), input(&words), input(&runs), value(&map)],
        );
        let map = BucketMap { apart: 1, ..map };
        run(
            "add",
            launch::bucket_sums(&map, MULTIPROCESSORS),
            launch::sums_bytes(&map, size_of::<T>()),
            &mut [output(&mut apart), input(&old), input(&words), input(&runs), value(&map)],
        );
    }
    let bits = |list: &[T]| bytemuck::cast_slice::<T, u8>(list).to_vec();
    assert!(bits(&dst) == bits(&apart), "sums in place and apart");
    (dst, faults[0])
}

/// Compares the kernels with a loop that adds one term after the other.
fn check<T: Element>(
    dims: Dims,
    parts: (u64, Option<u32>),
    id_type: IdType,
    id_of: impl Fn(&mut Random) -> i64,
) {
    let mut random = Random(17);
    let terms = dims.outer * dims.count * dims.inner;
    let ids: Vec<i64> = (0..terms).map(|_| id_of(&mut random)).collect();
    let mut numbers = |count: usize| -> Vec<T> { (0..count).map(|_| T::random(random.next())).collect() };
    let (src, dst) = (numbers(terms), numbers(dims.outer * dims.length * dims.inner));
    let mut wanted: Vec<T::Sum> = dst.iter().map(|value| value.begin()).collect();
    let mut wrong = Vec::new();
    for (term, id) in ids.iter().enumerate() {
        let (line, i) = (term / dims.inner, term % dims.inner);
        if !(0..dims.length as i64).contains(id) {
            wrong.push(*id);
            continue;
        }
        let sum = &mut wanted[(line / dims.count * dims.length + *id as usize) * dims.inner + i];
        *sum = T::plus(*sum, src[term]);
    }
    let wanted: Vec<T> = wanted.into_iter().map(T::end).collect();
    for device in BOTH {
        let (got, fault) = scatter_add(device, dims, parts, (&ids, id_type), dst.clone(), &src);
        let differs = got.iter().zip(&wanted).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{} on device {device}, {terms} terms", T::DTYPE);
        if wrong.is_empty() {
            assert_eq!(fault, IndexFault::zeroed());
        } else {
            assert_eq!(
                (fault.taken, fault.operation, fault.axis, fault.length),
                (1, 5, 1, dims.length as u64)
            );
            assert!(wrong.contains(&fault.id), "{}", fault.id);
        }
    }
}

/// Cases for every dtype.
fn sums<T: Element>() {
    // Five tiles and 1250 buckets, most of them empty; a quarter of the terms have the same destination.
    let line = Dims { outer: 1, count: 9000, length: 5000, inner: 1 };
    check::<T>(line, (5000, None), IdType::I64, |random| match random.next() {
        bits if bits % 4 == 0 => 77,
        bits => (bits >> 8) as i64 % 150 * 32 + (bits >> 40) as i64 % 4,
    });
    // Interleaved and consecutive lines, ids beyond the axis, and two parts of the destinations.
    let lines = Dims { outer: 3, count: 300, length: 50, inner: 5 };
    check::<T>(lines, (400, None), IdType::U32, |random| (random.next() % 53) as i64);
}

/// Further cases for one dtype of each width.
fn widths<T: Element>() {
    // Negative ids, and fewer terms than threads.
    let short = Dims { outer: 2, count: 50, length: 7, inner: 1 };
    check::<T>(short, (14, None), IdType::I32, |random| (random.next() % 8) as i64 - 1);
    // One destination for all terms.
    let one = Dims { outer: 1, count: 1500, length: 3, inner: 1 };
    check::<T>(one, (3, None), IdType::U8, |_| 2);
    // Large buckets, where many terms have destinations 2048 apart.
    let large = Dims { outer: 1, count: 1500, length: 9000, inner: 1 };
    check::<T>(large, (9000, Some(12)), IdType::U32, |random| (random.next() % 4) as i64 * 2048 + 3);
}

/// Runs of more tiles than a block reads at once, written by hand: most are empty, none is long.
fn many_tiles<T: Element>() {
    let (buckets, shift, tiles) = (3, 5, 1300);
    let owned = (buckets as u64) << shift;
    let map = BucketMap { owned, tiles, shift, buckets, ..BucketMap::zeroed() };
    let total_words = launch::bucket_words(&map, size_of::<T>()) as usize;
    let tile = total_words / tiles as usize;
    let mut random = Random(23);
    let (mut words, mut runs) = (vec![!0u32; total_words], vec![0u32; buckets as usize * tiles as usize]);
    let dst: Vec<T> = (0..owned).map(T::random).collect();
    let mut sums: Vec<T::Sum> = dst.iter().map(|value| value.begin()).collect();
    let mut first = vec![0; tiles as usize];
    for bucket in 0..buckets as usize {
        for (of_tile, begin) in first.iter_mut().enumerate() {
            let length = [0, 0, 1, 3][random.next() as usize % 4];
            runs[bucket * tiles as usize + of_tile] = (*begin as u32) << 16 | length;
            for _ in 0..length {
                let (destination, term) = (random.next() as usize % (1 << shift), T::random(random.next()));
                let mut bits = [0; 4];
                bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&term));
                words[of_tile * tile + *begin] = (destination as u32) << 16 | u32::from_ne_bytes(bits);
                let sum = &mut sums[(bucket << shift) + destination];
                *sum = T::plus(*sum, term);
                *begin += 1;
            }
        }
    }
    let wanted: Vec<T> = sums.into_iter().map(T::end).collect();
    for device in BOTH {
        let mut got = dst.clone();
        let shape = launch::bucket_sums(&map, MULTIPROCESSORS);
        let args = &mut [output(&mut got), input(&words), input(&words), input(&runs), value(&map)];
        let shared = launch::sums_bytes(&map, size_of::<T>());
        let kernel = format!("buckets_add_{}", T::DTYPE);
        // SAFETY: S9: each run's words lie inside its tile, and their destinations inside their bucket.
        unsafe { run_shared(device, &kernel, (shape.grid, shape.block), shared, args) };
        assert!(got == wanted, "{} on device {device}", T::DTYPE);
    }
}

#[test]
fn runs_of_many_tiles_are_added_in_their_order() {
    many_tiles::<u8>();
    many_tiles::<i16>();
    many_tiles::<f16>();
}

#[test]
fn sums_of_integers_wrap() {
    sums::<u8>();
    sums::<u32>();
    sums::<i16>();
    sums::<i32>();
    sums::<i64>();
    widths::<u8>();
    widths::<i64>();
}

#[test]
fn sums_of_floats_are_taken_in_the_order_of_the_ids() {
    sums::<F8>();
    sums::<bf16>();
    sums::<f16>();
    sums::<f32>();
    sums::<f64>();
    widths::<bf16>();
    widths::<f32>();
}
