//! Dropout. Philox decides which elements are dropped, from the seed, the element's index and the round's number. Results are
//! reproducible, but differ from those of AMD's generator.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, Outcome, UNKNOWN, answer, check, give};
use super::handle::stream;
use super::job::Job;
use super::registry::Registry;
use super::tensor::{BLOCK, Kind, View, blocks, tensor};
use hip_sys::miopen::{
    miopenDropoutDescriptor_t, miopenHandle_t, miopenRNGType_t, miopenStatus_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_ulonglong, c_void};

/// The settings of a descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dropout {
    rate: f32,
    states: usize,
    size: usize,
    seed: u64,
    use_mask: bool,
    evolves: bool,
    generator: miopenRNGType_t,
}

impl Default for Dropout {
    fn default() -> Self {
        Self {
            rate: 0.0,
            states: 0,
            size: 0,
            seed: 0,
            use_mask: false,
            evolves: false,
            generator: miopenRNGType_t::MIOPEN_RNG_PSEUDO_XORWOW,
        }
    }
}

impl Dropout {
    /// Whether elements are dropped.
    pub(super) fn drops(&self) -> bool {
        self.rate > 0.0
    }

    /// The generator of a call.
    ///
    /// # Errors
    /// If there are no states.
    pub(super) fn drawer(&self, job: &mut Job) -> Outcome<Drawer> {
        check((0.0..=1.0).contains(&self.rate) && self.size >= STATES, UNKNOWN)?;
        let states = job.write_view(self.states as *mut c_void, Kind::Int8, STATES)?;
        Ok(Drawer { states, rate: self.rate, evolves: self.evolves })
    }
}

/// Reads the states when the call runs.
pub(super) struct Drawer {
    states: View,
    rate: f32,
    evolves: bool,
}

impl Drawer {
    /// A factor for each element. If the states advance, the next round draws other factors.
    pub(super) fn factors(&self, count: usize) -> Vec<f32> {
        let (seed, round, by) = (self.states.number(0, 8), self.states.number(8, 8), share(self.rate));
        let factor = |index| if keeps(seed, round, index, self.rate) { by } else { 0.0 };
        let factors = (0..count).map(factor).collect();
        if self.evolves {
            self.states.set_number(8, 8, round.wrapping_add(1));
        }
        factors
    }
}

/// The factor of kept elements.
pub(super) fn share(rate: f32) -> f32 {
    if rate == 1.0 { 0.0 } else { 1.0 / (1.0 - rate) }
}

pub(super) static DROPOUTS: Registry<Dropout> = Registry::new(0x77);

/// Bytes of the states: the seed and the round's number.
const STATES: usize = 16;

/// Ten rounds of Philox: four words from a counter and a key.
fn philox(counter: [u64; 2], key: u64) -> [u32; 4] {
    let mut x = [counter[0] as u32, (counter[0] >> 32) as u32, counter[1] as u32, (counter[1] >> 32) as u32];
    let mut key = [key as u32, (key >> 32) as u32];
    for _ in 0..10 {
        let products = [0xd251_1f53_u64 * u64::from(x[0]), 0xcd9e_8d57_u64 * u64::from(x[2])];
        let [low, high] = [products.map(|it| it as u32), products.map(|it| (it >> 32) as u32)];
        x = [high[1] ^ x[1] ^ key[0], low[1], high[0] ^ x[3] ^ key[1], low[0]];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    x
}

/// Whether an element is kept.
pub(super) fn keeps(seed: u64, round: u64, index: usize, rate: f32) -> bool {
    let drawn = philox([index as u64 / 4, round], seed)[index % 4];
    // A uniform number in [1 / 2^24, 1].
    let uniform = ((drawn >> 8) + 1) as f32 * (1.0 / 16_777_216.0);
    uniform > rate
}

pub(super) unsafe extern "C" fn miopenCreateDropoutDescriptor(
    out: *mut miopenDropoutDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { DROPOUTS.create(out, Dropout::default()) })
}

pub(super) unsafe extern "C" fn miopenDestroyDropoutDescriptor(
    descriptor: miopenDropoutDescriptor_t,
) -> miopenStatus_t {
    answer(|| DROPOUTS.destroy(descriptor))
}

pub(super) unsafe extern "C" fn miopenDropoutGetReserveSpaceSize(
    x_desc: miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the size.
    answer(|| unsafe { give(size, tensor(x_desc)?.count()) })
}

pub(super) unsafe extern "C" fn miopenDropoutGetStatesSize(
    handle: miopenHandle_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, STATES) }
    })
}

/// Sets the descriptor, and the states on the handle's stream.
pub(super) unsafe extern "C" fn miopenSetDropoutDescriptor(
    descriptor: miopenDropoutDescriptor_t,
    handle: miopenHandle_t,
    rate: f32,
    states: *mut c_void,
    size: usize,
    seed: c_ulonglong,
    use_mask: bool,
    evolves: bool,
    generator: miopenRNGType_t,
) -> miopenStatus_t {
    answer(|| {
        DROPOUTS.with(descriptor, |_| ())?;
        let mut job = Job::new(handle)?;
        if !states.is_null() {
            check(size >= STATES, BAD)?;
            let view = job.write_view(states, Kind::Int8, STATES)?;
            job.submit("miopenSetDropoutDescriptor", move || {
                view.set_number(0, 8, seed);
                view.set_number(8, 8, 0);
            })?;
        }
        let states = states as usize;
        DROPOUTS.set(descriptor, || Ok(Dropout { rate, states, size, seed, use_mask, evolves, generator }))
    })
}

/// Sets the descriptor; the states are unchanged.
pub(super) unsafe extern "C" fn miopenRestoreDropoutDescriptor(
    descriptor: miopenDropoutDescriptor_t,
    handle: miopenHandle_t,
    rate: f32,
    states: *mut c_void,
    size: usize,
    seed: c_ulonglong,
    use_mask: bool,
    evolves: bool,
    generator: miopenRNGType_t,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let states = states as usize;
        DROPOUTS.set(descriptor, || Ok(Dropout { rate, states, size, seed, use_mask, evolves, generator }))
    })
}

pub(super) unsafe extern "C" fn miopenGetDropoutDescriptor(
    descriptor: miopenDropoutDescriptor_t,
    _: miopenHandle_t,
    rate: *mut f32,
    states: *mut *mut c_void,
    seed: *mut c_ulonglong,
    use_mask: *mut bool,
    evolves: *mut bool,
    generator: *mut miopenRNGType_t,
) -> miopenStatus_t {
    answer(|| {
        let it = DROPOUTS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            give(rate, it.rate)?;
            give(states, it.states as *mut c_void)?;
            give(seed, it.seed)?;
            give(use_mask, it.use_mask)?;
            give(evolves, it.evolves)?;
            give(generator, it.generator)
        }
    })
}

/// Where the mask of kept elements comes from.
enum Mask {
    /// In the reserve space.
    Given(View),
    /// From the states; it is stored in the reserve space if there is one.
    Drawn(View, Option<View>),
}

fn run(
    (handle, name): (miopenHandle_t, &'static str),
    descriptor: miopenDropoutDescriptor_t,
    shape: miopenTensorDescriptor_t,
    (x_desc, x): (miopenTensorDescriptor_t, *const c_void),
    (y_desc, y): (miopenTensorDescriptor_t, *mut c_void),
    (reserve, size): (*mut c_void, usize),
    backward: bool,
) -> Outcome {
    let it = DROPOUTS.get(descriptor)?;
    let (input, output, noise) = (tensor(x_desc)?, tensor(y_desc)?, tensor(shape)?);
    check(!x.is_null() && !y.is_null(), BAD)?;
    check(input.lens == output.lens && input.rank() <= 5 && input.dtype == output.dtype, UNKNOWN)?;
    check(noise.count() == input.count() && noise.rank() == input.rank(), UNKNOWN)?;
    check((0.0..=1.0).contains(&it.rate), UNKNOWN)?;
    let count = input.count();
    let kept = !reserve.is_null();
    check((!kept && !it.use_mask) || (kept && size >= count), UNKNOWN)?;
    let mut job = Job::new(handle)?;
    let (from, to) = (job.read(x, &input)?, job.write(y, &output)?);
    let mask = if (it.use_mask || backward) && kept {
        Mask::Given(job.read_view(reserve, Kind::Int8, count)?)
    } else {
        check(it.size >= STATES, UNKNOWN)?;
        let states = job.write_view(it.states as *mut c_void, Kind::Int8, STATES)?;
        let noted = kept.then(|| job.write_view(reserve, Kind::Int8, count)).transpose()?;
        Mask::Drawn(states, noted)
    };
    let by = share(it.rate);
    job.submit(name, move || {
        let drawn = match &mask {
            Mask::Drawn(states, _) => Some((states.number(0, 8), states.number(8, 8))),
            Mask::Given(_) => None,
        };
        blocks(count, |first, count| {
            let mut buffer = [0.0_f32; BLOCK];
            let block = &mut buffer[..count];
            from.load(first, block);
            for (at, value) in (first..).zip(block.iter_mut()) {
                let keeps = match (&mask, drawn) {
                    (Mask::Given(view), _) => view.number(at, 1) != 0,
                    (Mask::Drawn(_, noted), drawn) => {
                        let keeps = drawn.is_some_and(|(seed, round)| keeps(seed, round, at, it.rate));
                        if let Some(noted) = noted {
                            noted.set_number(at, 1, keeps.into());
                        }
                        keeps
                    }
                };
                *value = if keeps { *value * by } else { 0.0 };
            }
            to.store(first, block);
        });
        if let (Mask::Drawn(states, _), Some((_, round)), true) = (&mask, drawn, it.evolves && !backward) {
            states.set_number(8, 8, round.wrapping_add(1));
        }
    })
}

pub(super) unsafe extern "C" fn miopenDropoutForward(
    handle: miopenHandle_t,
    descriptor: miopenDropoutDescriptor_t,
    noise_shape: miopenTensorDescriptor_t,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    reserve: *mut c_void,
    size: usize,
) -> miopenStatus_t {
    let (from, to) = ((x_desc, x), (y_desc, y));
    let name = "miopenDropoutForward";
    answer(|| run((handle, name), descriptor, noise_shape, from, to, (reserve, size), false))
}

pub(super) unsafe extern "C" fn miopenDropoutBackward(
    handle: miopenHandle_t,
    descriptor: miopenDropoutDescriptor_t,
    noise_shape: miopenTensorDescriptor_t,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    reserve: *mut c_void,
    size: usize,
) -> miopenStatus_t {
    let (from, to) = ((dy_desc, dy), (dx_desc, dx));
    let name = "miopenDropoutBackward";
    answer(|| run((handle, name), descriptor, noise_shape, from, to, (reserve, size), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with Random123.
    #[test]
    fn philox_draws_what_it_is_known_to_draw() {
        assert_eq!(philox([0, 0], 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = u64::MAX;
        assert_eq!(philox([ones, ones], ones), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }
}
