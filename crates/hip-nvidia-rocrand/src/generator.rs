//! Generators of cuRAND behind handles of ours.

use super::convert::{NOT_CREATED, OUT_OF_RANGE, Outcome, TYPE_ERROR, done, driven, ensure, kind_of};
use super::functions::Raw;
use super::library::curand;
use hip_nvidia::library::{self, Device};
use hip_sys::hip::hipStream_t;
use hip_sys::provider::Handles;
use hip_sys::rocrand::{rocrand_generator, rocrand_rng_type as Rng};
use parking_lot::{Mutex, MutexGuard};
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock};

/// A generator of cuRAND. It is destroyed after the last call that uses it.
pub(super) struct Generator {
    raw: Mutex<RawGenerator>,
    device: &'static Device,
    kind: Rng,
}

/// cuRAND's generators are not for several threads at once.
pub(super) struct RawGenerator(pub(super) Raw, Start);

/// What the sequence starts with.
#[derive(Clone, Copy, Default)]
struct Start {
    /// None: cuRAND's own.
    seed: Option<u64>,
    offset: u64,
}

// SAFETY: S8: it is an address, which belongs to no thread and is used under a lock.
unsafe impl Send for RawGenerator {}

static GENERATORS: LazyLock<Handles<Generator>> = LazyLock::new(|| {
    library::on_reset(forget_device);
    Handles::new(0x32)
});

/// A new generator on the current device and its null stream.
pub(super) fn create(kind: Rng) -> Outcome<rocrand_generator> {
    let theirs = kind_of(kind)?;
    let device = driven(library::enter())?;
    let mut raw = null_mut();
    // SAFETY: S1: a live variable; the device's context is current.
    done(unsafe { (curand().curandCreateGenerator)(&mut raw, theirs) })?;
    let generator = Generator { raw: Mutex::new(RawGenerator(raw, Start::default())), device, kind };
    Ok(GENERATORS.insert(Arc::new(generator)) as rocrand_generator)
}

pub(super) fn destroy(generator: rocrand_generator) -> Outcome {
    GENERATORS.remove(generator as usize).map(drop).map_err(|_| NOT_CREATED)
}

/// The object of a handle; its device's context becomes current.
pub(super) fn get(generator: rocrand_generator) -> Outcome<Arc<Generator>> {
    let generator = GENERATORS.get(generator as usize).map_err(|_| NOT_CREATED)?;
    driven(generator.device.enter())?;
    Ok(generator)
}

impl Generator {
    /// cuRAND's generator, for one call.
    pub(super) fn raw(&self) -> MutexGuard<'_, RawGenerator> {
        self.raw.lock()
    }

    pub(super) fn is_quasi(&self) -> bool {
        self.kind.0 >= Rng::ROCRAND_RNG_QUASI_DEFAULT.0
    }

    /// Whether it has words of 64 bits, which cuRAND's other function gives.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.kind, Rng::ROCRAND_RNG_QUASI_SOBOL64 | Rng::ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL64)
    }

    pub(super) fn set_stream(&self, stream: hipStream_t) -> Outcome {
        let raw = if library::is_special(stream) {
            stream.cast()
        } else {
            let (raw, device) = driven(library::stream_of(stream))?;
            ensure(device.ordinal() == self.device.ordinal(), OUT_OF_RANGE)?;
            raw
        };
        // SAFETY: S11: a live generator and stream.
        done(unsafe { (curand().curandSetStream)(self.raw().0, raw) })
    }

    /// Sets a seed, and starts the sequence.
    pub(super) fn set_seed(&self, seed: u64) -> Outcome {
        let mut held = self.raw();
        // SAFETY: S11: a live generator. It says whether there are seeds.
        done(unsafe { (curand().curandSetPseudoRandomGeneratorSeed)(held.0, seed) })?;
        held.1.seed = Some(seed);
        held.restart()
    }

    /// Sets an offset, and starts the sequence there.
    pub(super) fn set_offset(&self, offset: u64) -> Outcome {
        let mut held = self.raw();
        // SAFETY: S11: a live generator. It says whether there are offsets.
        done(unsafe { (curand().curandSetGeneratorOffset)(held.0, offset) })?;
        held.1.offset = offset;
        held.restart()
    }

    /// Changes how it draws, and starts the sequence, as rocRAND does.
    pub(super) fn change(&self, act: impl FnOnce(Raw) -> u32) -> Outcome {
        let held = self.raw();
        done(act(held.0))?;
        held.restart()
    }

    /// Fills `count` numbers of `T` with whole words of 32 bits.
    ///
    /// # Safety
    /// The numbers are the caller's, as the C function asks.
    pub(super) unsafe fn fill_words<T>(&self, numbers: *mut T, count: usize) -> Outcome {
        ensure(!self.is_quasi(), TYPE_ERROR)?;
        let bytes = count.checked_mul(size_of::<T>()).ok_or(OUT_OF_RANGE)?;
        let whole = bytes.is_multiple_of(4) && numbers.addr().is_multiple_of(4);
        ensure(whole, super::convert::NOT_MULTIPLE)?;
        // SAFETY: S2, S11: as promised above; the words lie in the numbers.
        done(unsafe { (curand().curandGenerate)(self.raw().0, numbers.cast(), bytes / 4) })
    }
}

impl RawGenerator {
    /// Starts the sequence. cuRAND goes on with it, also after a setting that was the same before: so each is another one in between. Kinds without
    /// one refuse it.
    fn restart(&self) -> Outcome {
        let Start { seed, offset } = self.1;
        let functions = curand();
        let set = |function: unsafe extern "C" fn(Raw, u64) -> u32, value: u64| {
            // SAFETY: S11: a live generator.
            match done(unsafe { function(self.0, value ^ 1) }) {
                Err(TYPE_ERROR) => Ok(()),
                // SAFETY: S11: as above.
                other => other.and_then(|()| done(unsafe { function(self.0, value) })),
            }
        };
        seed.map_or(Ok(()), |seed| set(functions.curandSetPseudoRandomGeneratorSeed, seed))?;
        set(functions.curandSetGeneratorOffset, offset)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: S11: it was live, and nobody else has it any more. What it answers nobody waits for.
            unsafe { (curand().curandDestroyGenerator)(self.raw.get_mut().0) };
        }
    }
}

/// Destroys every generator on a device whose context is about to end.
fn forget_device(ordinal: usize) {
    GENERATORS.end_all(|generator| generator.device.ordinal() == ordinal);
}
