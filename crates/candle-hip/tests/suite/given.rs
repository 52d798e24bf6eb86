//! Operands: the same elements for candle's storage and for ours, in every layout.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::{CpuStorage, DType, Layout, Result, Shape};
use candle_hip::{HipDevice, HipStorage};

use crate::compare::{self, Tolerance};
use crate::known;
use crate::theirs::{self, Theirs};

/// A storage and a layout, as the call gets them.
pub struct Operand<'a, S> {
    pub s: &'a S,
    pub l: &'a Layout,
}

/// How the elements of an operand lie in its storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrangement {
    /// Tight, from the beginning.
    Contiguous,
    /// Tight, behind other elements.
    Behind,
    /// The last two axes exchanged.
    Transposed,
    /// A part of a longer last axis.
    Narrowed,
    /// The first axis repeats by a stride of 0.
    Repeated,
}

/// Every arrangement of an operand.
pub const LAYOUTS: [Arrangement; 5] = [
    Arrangement::Contiguous,
    Arrangement::Behind,
    Arrangement::Transposed,
    Arrangement::Narrowed,
    Arrangement::Repeated,
];

/// What an operand is.
#[derive(Clone)]
pub struct Given {
    dims: Vec<usize>,
    /// Of the operand, if not that of the case.
    dtype: Option<DType>,
    element: fn(usize) -> f64,
    /// Whether candle's storage gets the elements contiguous: it takes no others, or takes them wrongly.
    tight_for_candle: bool,
    /// Whether both get them contiguous.
    tight: bool,
    /// Whether the operand is written, so that none of its elements may have the same offset.
    written: bool,
}

/// Multiples of a quarter from −4 to 5, in no order; integers that have no sign get them without.
pub fn values(dims: &[usize]) -> Given {
    given(dims, |i| ((i * 7919 + 5) % 37) as f64 / 4.0 - 4.0)
}

/// As [`values`], from a quarter on.
pub fn positive(dims: &[usize]) -> Given {
    given(dims, |i| ((i * 7919 + 5) % 37) as f64 / 4.0 + 0.25)
}

/// Zeros and other numbers, whose lowest byte is 0 too where the type has more.
pub fn flags(dims: &[usize], dtype: DType) -> Given {
    Given { dtype: Some(dtype), ..given(dims, |i| (i * 5 % 7 % 2) as f64 * 64.0) }
}

/// NaN, the infinities, zeros of both signs, and numbers between.
pub fn special(dims: &[usize]) -> Given {
    given(dims, |i| [f64::NAN, -0.0, f64::INFINITY, 0.5, f64::NEG_INFINITY, 0.0, -2.0][i % 7])
}

/// Numbers below 4, in no order; elements of integers are given in quarters.
pub fn ids(dims: &[usize], dtype: DType) -> Given {
    Given { dtype: Some(dtype), ..given(dims, |i| ((i * 7 + 1) % 5 % 4) as f64 / 4.0) }
}

/// As [`ids`], and the largest number of the type, which stands for no element.
pub fn ids_and_none(dims: &[usize], dtype: DType) -> Given {
    Given {
        dtype: Some(dtype),
        ..given(dims, |i| if i % 3 == 1 { f64::INFINITY } else { (i % 4) as f64 / 4.0 })
    }
}

fn given(dims: &[usize], element: fn(usize) -> f64) -> Given {
    Given { dims: dims.to_vec(), dtype: None, element, tight_for_candle: false, tight: false, written: false }
}

impl Given {
    /// With other elements: `element` of each position.
    pub fn of(self, element: fn(usize) -> f64) -> Given {
        Given { element, ..self }
    }

    /// candle takes no other layout of this operand, or takes it wrongly.
    pub fn tight_for_candle(self) -> Given {
        Given { tight_for_candle: true, ..self }
    }

    /// The call writes the operand: it gets no repeated layout.
    pub fn written(self) -> Given {
        Given { written: true, ..self }
    }

    /// The operand has one layout in all cases.
    pub fn tight(self) -> Given {
        Given { tight: true, ..self }
    }
}

/// An operand in both storages.
pub struct Made {
    candle: Theirs,
    candle_layout: Layout,
    hip: HipStorage,
    hip_layout: Layout,
}

impl Made {
    /// The operand of a dtype, in an arrangement.
    pub fn new(given: &Given, dtype: DType, arrangement: Arrangement, device: &HipDevice) -> Made {
        let dtype = given.dtype.unwrap_or(dtype);
        let fixed = given.tight || given.written && arrangement == Arrangement::Repeated;
        let arrangement = if fixed { Arrangement::Contiguous } else { arrangement };
        let (layout, length) = laid_out(&given.dims, arrangement);
        // Every position of the storage has an element. Along a repeated axis the elements are those of its first index.
        let storage = elements(length, dtype, given.element);
        let hip = device.storage_from_cpu_storage(&storage).expect("an upload");
        if given.tight_for_candle {
            let shape = Shape::from(given.dims.clone());
            let mut tight = elements(shape.elem_count(), dtype, given.element);
            storage.copy_strided_src(&mut tight, 0, &layout).expect("a copy");
            return Made {
                candle: theirs::upload(tight),
                candle_layout: Layout::contiguous(shape),
                hip,
                hip_layout: layout,
            };
        }
        Made { candle: theirs::upload(storage), candle_layout: layout.clone(), hip, hip_layout: layout }
    }

    /// For candle's storage.
    pub fn candles(&self) -> Operand<'_, Theirs> {
        Operand { s: &self.candle, l: &self.candle_layout }
    }

    /// For ours.
    pub fn ours(&self) -> Operand<'_, HipStorage> {
        Operand { s: &self.hip, l: &self.hip_layout }
    }
}

/// The layout of an arrangement, and how many elements its storage has.
fn laid_out(dims: &[usize], arrangement: Arrangement) -> (Layout, usize) {
    let tight = |dims: &[usize]| Layout::contiguous(Shape::from(dims.to_vec()));
    let count: usize = dims.iter().product();
    let rank = dims.len();
    match arrangement {
        Arrangement::Contiguous => (tight(dims), count),
        Arrangement::Behind => (Layout::contiguous_with_offset(Shape::from(dims.to_vec()), 3), count + 5),
        Arrangement::Transposed if rank >= 2 => {
            let mut turned = dims.to_vec();
            turned.swap(rank - 1, rank - 2);
            (tight(&turned).transpose(rank - 1, rank - 2).expect("two axes"), count)
        }
        Arrangement::Narrowed if rank >= 1 => {
            let mut longer = dims.to_vec();
            longer[rank - 1] += 3;
            let length = longer.iter().product();
            (tight(&longer).narrow(rank - 1, 2, dims[rank - 1]).expect("a part"), length)
        }
        Arrangement::Repeated if rank >= 1 => {
            let mut once = dims.to_vec();
            once[0] = 1;
            (tight(&once).broadcast_as(Shape::from(dims.to_vec())).expect("repeats"), count)
        }
        _ => (tight(dims), count),
    }
}

/// Elements of a dtype, each from the position; numbers that the type does not have become the nearest that it has.
pub fn elements(length: usize, dtype: DType, element: fn(usize) -> f64) -> CpuStorage {
    let all = || (0..length).map(element);
    // Unsigned numbers are their magnitude, integers four times the fractions, so that few are equal.
    let unsigned = || all().map(|x| if x.is_finite() { (x * 4.0).abs().round() } else { x });
    match dtype {
        DType::U8 => CpuStorage::U8(unsigned().map(|x| x as u8).collect()),
        DType::U32 => CpuStorage::U32(unsigned().map(|x| x as u32).collect()),
        DType::I16 => CpuStorage::I16(all().map(|x| (x * 4.0).round() as i16).collect()),
        DType::I32 => CpuStorage::I32(all().map(|x| (x * 4.0).round() as i32).collect()),
        DType::I64 => CpuStorage::I64(all().map(|x| (x * 4.0).round() as i64).collect()),
        DType::BF16 => CpuStorage::BF16(all().map(half::bf16::from_f64).collect()),
        DType::F16 => CpuStorage::F16(all().map(half::f16::from_f64).collect()),
        DType::F32 => CpuStorage::F32(all().map(|x| x as f32).collect()),
        DType::F64 => CpuStorage::F64(all().collect()),
        DType::F8E4M3 => CpuStorage::F8E4M3(all().map(float8::F8E4M3::from_f64).collect()),
        other => panic!("no elements of {other:?}"),
    }
}

/// Runs a call on both storages, in every dtype, arrangement and device, and compares the results.
pub fn on_every<const N: usize>(
    test: &str,
    dtypes: &[DType],
    tolerance: Tolerance,
    given: [Given; N],
    candles: impl Fn([Operand<'_, Theirs>; N]) -> Result<Theirs>,
    ours: impl Fn([Operand<'_, HipStorage>; N]) -> Result<HipStorage>,
) {
    for device in crate::devices() {
        for &dtype in dtypes {
            let known = known::why(test, dtype);
            if let Some(why) = known {
                println!("not compared with candle: {dtype:?}: {why}");
            }
            for arrangement in LAYOUTS {
                let what = format!("{dtype:?} {arrangement:?} on {}", device.name());
                let made: Vec<Made> =
                    given.iter().map(|given| Made::new(given, dtype, arrangement, &device)).collect();
                let computed = || {
                    ours(std::array::from_fn(|i| made[i].ours()))
                        .and_then(|storage| storage.to_cpu_storage())
                        .unwrap_or_else(|error| panic!("{what}: {error}"))
                };
                if known.is_some() {
                    computed();
                    continue;
                }
                let expected = candles(std::array::from_fn(|i| made[i].candles()));
                let Some(expected) = theirs::download(expected, &what) else { continue };
                let got = computed();
                compare::assert_near(&got, &expected, tolerance, &what);
            }
        }
        // Where candle has no kernel nothing is read back: without this the thread would end while its copies run.
        device.synchronize().expect("a wait");
    }
    theirs::synchronize();
}
