//! Generators of cuRAND behind handles of ours.

use super::convert::{NOT_CREATED, OUT_OF_RANGE, Outcome, TYPE_ERROR, done, driven, ensure, kind_of};
use super::functions::{Curand, Raw};
use super::library::curand;
use hip_nvidia::library::{self, Device, RawStream};
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
pub(super) struct RawGenerator {
    pub(super) raw: Raw,
    settings: Settings,
}

/// What was set.
#[derive(Clone, Copy)]
struct Settings {
    stream: RawStream,
    /// None: cuRAND's own.
    order: Option<u32>,
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
    let settings = Settings { stream: null_mut(), order: None, seed: None, offset: 0 };
    let raw = Mutex::new(RawGenerator { raw: create_raw(theirs)?, settings });
    let generator = Generator { raw, device, kind };
    Ok(GENERATORS.insert(Arc::new(generator)) as rocrand_generator)
}

fn create_raw(theirs: u32) -> Outcome<Raw> {
    let mut raw = null_mut();
    // SAFETY: S1: a live variable; the device's context is current.
    done(unsafe { (curand().curandCreateGenerator)(&mut raw, theirs) })?;
    Ok(raw)
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
        let mut held = self.raw();
        // SAFETY: S11: a live generator and stream.
        done(unsafe { (curand().curandSetStream)(held.raw, raw) })?;
        held.settings.stream = raw;
        Ok(())
    }

    /// Sets a seed, and starts the sequence.
    pub(super) fn set_seed(&self, seed: u64) -> Outcome {
        let mut held = self.raw();
        // SAFETY: S11: a live generator. It says whether there are seeds.
        done(unsafe { (curand().curandSetPseudoRandomGeneratorSeed)(held.raw, seed) })?;
        held.settings.seed = Some(seed);
        held.restart(self.kind)
    }

    /// Sets an offset, and starts the sequence there.
    pub(super) fn set_offset(&self, offset: u64) -> Outcome {
        let mut held = self.raw();
        // SAFETY: S11: a live generator. It says whether there are offsets.
        done(unsafe { (curand().curandSetGeneratorOffset)(held.raw, offset) })?;
        held.settings.offset = offset;
        held.restart(self.kind)
    }

    /// Sets an ordering, and starts the sequence, as rocRAND does.
    pub(super) fn set_ordering(&self, order: u32) -> Outcome {
        let mut held = self.raw();
        // SAFETY: S11: a live generator.
        done(unsafe { (curand().curandSetGeneratorOrdering)(held.raw, order) })?;
        held.settings.order = Some(order);
        held.restart(self.kind)
    }

    /// Sets the dimensions of points, and starts the sequence, as rocRAND does.
    pub(super) fn set_dimensions(&self, dimensions: u32) -> Outcome {
        let mut held = self.raw();
        // SAFETY: S11: a live generator. It says whether it has points.
        done(unsafe { (curand().curandSetQuasiRandomGeneratorDimensions)(held.raw, dimensions) })?;
        held.restart(self.kind)
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
        done(unsafe { (curand().curandGenerate)(self.raw().raw, numbers.cast(), bytes / 4) })
    }
}

impl RawGenerator {
    /// Starts the sequence. cuRAND goes on with it, also after a setting that was the same before: so each is another one in between.
    fn restart(&mut self, kind: Rng) -> Outcome {
        if has_no_offset(kind) {
            return self.begin_anew(kind);
        }
        let (functions, Settings { seed, offset, .. }) = (curand(), self.settings);
        let set = |function: unsafe extern "C" fn(Raw, u64) -> u32, value: u64| {
            // SAFETY: S11: a live generator.
            done(unsafe { function(self.raw, value ^ 1) })?;
            // SAFETY: S11: as above.
            done(unsafe { function(self.raw, value) })
        };
        seed.map_or(Ok(()), |seed| set(functions.curandSetPseudoRandomGeneratorSeed, seed))?;
        set(functions.curandSetGeneratorOffset, offset)
    }

    /// Takes a new generator of cuRAND with the same settings. Nothing else starts the sequence of a kind without offsets: cuRAND's Mtgp32 goes on
    /// after another seed and back, and Poisson's numbers are wrong after `curandGenerateSeeds`.
    fn begin_anew(&mut self, kind: Rng) -> Outcome {
        let functions = curand();
        let former = std::mem::replace(&mut self.raw, create_raw(kind_of(kind)?)?);
        let outcome = self.apply(functions);
        let unused = if outcome.is_ok() { former } else { std::mem::replace(&mut self.raw, former) };
        // SAFETY: S11: it was live, and nobody else has it any more. Nothing depends on its answer.
        unsafe { (functions.curandDestroyGenerator)(unused) };
        outcome
    }

    fn apply(&self, functions: &Curand) -> Outcome {
        let Settings { stream, order, seed, .. } = self.settings;
        // SAFETY: S11: a live generator, and the stream that the caller set, which has to live as long as it is.
        done(unsafe { (functions.curandSetStream)(self.raw, stream) })?;
        if let Some(order) = order {
            // SAFETY: S11: a live generator.
            done(unsafe { (functions.curandSetGeneratorOrdering)(self.raw, order) })?;
        }
        match seed {
            // SAFETY: S11: a live generator.
            Some(seed) => done(unsafe { (functions.curandSetPseudoRandomGeneratorSeed)(self.raw, seed) }),
            None => Ok(()),
        }
    }
}

/// Whether cuRAND refuses offsets of a kind.
fn has_no_offset(kind: Rng) -> bool {
    matches!(kind, Rng::ROCRAND_RNG_PSEUDO_MTGP32 | Rng::ROCRAND_RNG_PSEUDO_MT19937)
}

impl Drop for Generator {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: S11: it was live, and nobody else has it any more. Nothing depends on its answer.
            unsafe { (curand().curandDestroyGenerator)(self.raw.get_mut().raw) };
        }
    }
}

/// Destroys every generator on a device whose context is about to end.
fn forget_device(ordinal: usize) {
    GENERATORS.end_all(|generator| generator.device.ordinal() == ordinal);
}
