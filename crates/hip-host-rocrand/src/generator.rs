//! Generators: their settings, and the calls that draw from them.

use crate::engine::{Counter, MOST_DIMENSIONS, Mrg32k3a, Philox, Ring, Sobol, Threefry2, Threefry4, Xorwow};
use crate::law::{self, Output, Poisson};
use crate::status::{NOT_CREATED, NOT_MULTIPLE, OUT_OF_RANGE, Outcome, TYPE_ERROR, ensure, failure};
use hip_host::library::{Device, Job, Stream, Uses};
use hip_sys::hip::hipStream_t;
use hip_sys::provider::Handles;
use hip_sys::rocrand::{rocrand_generator, rocrand_ordering as ordering, rocrand_rng_type as Rng};
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock};

/// The object of a generator's handle.
pub(crate) struct Generator {
    /// The device that was current when it was made.
    device: Device,
    kind: Rng,
    settings: Mutex<Settings>,
}

struct Settings {
    /// The stream's handle.
    stream: usize,
    seed: u64,
    offset: u64,
    dimensions: u32,
    /// `None` until the first use after a setting was changed.
    engine: Option<Arc<Mutex<Engine>>>,
    /// The distribution of the last call, by its mean.
    poisson: Option<(f64, Arc<Poisson>)>,
}

/// A sequence, as far as it was drawn. Queued calls keep the one that they draw from.
enum Engine {
    Philox(Counter<Philox>),
    Threefry2x32(Counter<Threefry2<u32>>),
    Threefry2x64(Counter<Threefry2<u64>>),
    Threefry4x32(Counter<Threefry4<u32>>),
    Threefry4x64(Counter<Threefry4<u64>>),
    Xorwow(Ring<Xorwow>),
    Mrg32k3a(Ring<Mrg32k3a>),
    Sobol32(Sobol<u32>),
    Sobol64(Sobol<u64>),
}

static GENERATORS: LazyLock<Handles<Generator>> = LazyLock::new(|| Handles::new(0x63));

/// A new generator for the current device.
pub(crate) fn create(kind: Rng) -> Outcome<rocrand_generator> {
    let kind = match kind {
        Rng::ROCRAND_RNG_PSEUDO_DEFAULT => Rng::ROCRAND_RNG_PSEUDO_XORWOW,
        Rng::ROCRAND_RNG_QUASI_DEFAULT => Rng::ROCRAND_RNG_QUASI_SOBOL32,
        kind => kind,
    };
    let settings = Settings { stream: 0, seed: 0, offset: 0, dimensions: 1, engine: None, poisson: None };
    let generator = Generator { device: Device::current(), kind, settings: Mutex::new(settings) };
    Engine::new(kind, &generator.settings.lock()).ok_or(TYPE_ERROR)?;
    Ok(GENERATORS.insert(Arc::new(generator)) as rocrand_generator)
}

/// Destroys a generator. Queued calls still run.
pub(crate) fn destroy(generator: rocrand_generator) -> Outcome {
    GENERATORS.remove(generator as usize).map(drop).map_err(|_| NOT_CREATED)
}

pub(crate) fn get(generator: rocrand_generator) -> Outcome<Arc<Generator>> {
    GENERATORS.get(generator as usize).map_err(|_| NOT_CREATED)
}

impl Generator {
    fn is_quasi(&self) -> bool {
        self.kind.0 >= Rng::ROCRAND_RNG_QUASI_DEFAULT.0
    }

    /// Whether it can fill numbers of 64 bits.
    pub(crate) fn is_wide(&self) -> bool {
        matches!(
            self.kind,
            Rng::ROCRAND_RNG_PSEUDO_THREEFRY2_64_20
                | Rng::ROCRAND_RNG_PSEUDO_THREEFRY4_64_20
                | Rng::ROCRAND_RNG_QUASI_SOBOL64
        )
    }

    pub(crate) fn set_stream(&self, stream: hipStream_t) -> Outcome {
        self.device.while_current(|| Stream::of(stream)).map_err(failure)?;
        self.settings.lock().stream = stream as usize;
        Ok(())
    }

    pub(crate) fn set_seed(&self, seed: u64) -> Outcome {
        ensure(!self.is_quasi(), TYPE_ERROR)?;
        self.change(|settings| settings.seed = seed);
        Ok(())
    }

    pub(crate) fn set_offset(&self, offset: u64) {
        self.change(|settings| settings.offset = offset);
    }

    /// All orders of this crate are the default one; one that depends on the device is refused.
    pub(crate) fn set_ordering(&self, order: ordering) -> Outcome {
        let known = match order {
            ordering::ROCRAND_ORDERING_QUASI_DEFAULT => self.is_quasi(),
            ordering::ROCRAND_ORDERING_PSEUDO_DEFAULT
            | ordering::ROCRAND_ORDERING_PSEUDO_BEST
            | ordering::ROCRAND_ORDERING_PSEUDO_LEGACY => !self.is_quasi(),
            ordering::ROCRAND_ORDERING_PSEUDO_SEEDED => self.kind == Rng::ROCRAND_RNG_PSEUDO_XORWOW,
            _ => false,
        };
        ensure(known, OUT_OF_RANGE)?;
        self.change(|_| ());
        Ok(())
    }

    pub(crate) fn set_dimensions(&self, dimensions: u32) -> Outcome {
        ensure(self.is_quasi(), TYPE_ERROR)?;
        ensure((1..=MOST_DIMENSIONS).contains(&dimensions), OUT_OF_RANGE)?;
        self.change(|settings| settings.dimensions = dimensions);
        Ok(())
    }

    fn change(&self, act: impl FnOnce(&mut Settings)) {
        let mut settings = self.settings.lock();
        act(&mut settings);
        settings.engine = None;
    }

    /// Poisson's distribution with that mean.
    pub(crate) fn poisson(&self, mean: f64) -> Outcome<Arc<Poisson>> {
        ensure(mean > 0.0, OUT_OF_RANGE)?;
        let mut settings = self.settings.lock();
        match &settings.poisson {
            Some((known, law)) if *known == mean => Ok(Arc::clone(law)),
            _ => {
                let law = Arc::new(Poisson::new(mean));
                settings.poisson = Some((mean, Arc::clone(&law)));
                Ok(law)
            }
        }
    }

    /// The sequence, from where it is.
    pub(crate) fn prepare(&self) -> Outcome {
        self.engine().map(drop)
    }

    fn engine(&self) -> Outcome<Arc<Mutex<Engine>>> {
        let mut settings = self.settings.lock();
        if settings.engine.is_none() {
            let engine = Engine::new(self.kind, &settings).ok_or(TYPE_ERROR)?;
            settings.engine = Some(Arc::new(Mutex::new(engine)));
        }
        settings.engine.clone().ok_or(TYPE_ERROR)
    }

    /// Submits a call that fills `count` numbers with what `output` says.
    ///
    /// # Safety
    /// The numbers are in the memory of the generator's device, as the C function asks.
    pub(crate) unsafe fn fill<T>(
        &self,
        name: &'static str,
        numbers: *mut T,
        count: usize,
        output: impl Fn(&mut [T]) -> Output<'_> + Send + Sync + 'static,
    ) -> Outcome {
        let (stream, dimensions) = {
            let settings = self.settings.lock();
            (settings.stream as hipStream_t, settings.dimensions as usize)
        };
        ensure(count.is_multiple_of(dimensions), NOT_MULTIPLE)?;
        let engine = self.engine()?;
        if numbers.is_null() || count == 0 {
            return Ok(());
        }
        let mut uses = Uses::default();
        uses.write(numbers, count).map_err(failure)?;
        let address = numbers as usize;
        let body = move || {
            // SAFETY: S11, S12: the call named these numbers as written, so nothing else uses them while it runs.
            let numbers = unsafe { std::slice::from_raw_parts_mut(address as *mut T, count) };
            engine.lock().fill(numbers, count / dimensions, &output);
        };
        let job = Job { name, spreads: false, fits: || true };
        // SAFETY: S11: the body writes what was named.
        self.device.while_current(|| unsafe { uses.submit(stream, job, body) }).map_err(failure)
    }
}

impl Engine {
    /// The sequence of a kind with these settings; `None` for a kind that this crate lacks.
    fn new(kind: Rng, settings: &Settings) -> Option<Self> {
        let &Settings { seed, offset, dimensions, .. } = settings;
        let part = |bits: u32| seed >> bits;
        Some(match kind {
            Rng::ROCRAND_RNG_PSEUDO_PHILOX4_32_10 => Self::Philox(Counter::new(Philox(seed), offset)),
            Rng::ROCRAND_RNG_PSEUDO_THREEFRY2_32_20 => {
                Self::Threefry2x32(Counter::new(Threefry2([0, 32].map(|bits| part(bits) as u32)), offset))
            }
            Rng::ROCRAND_RNG_PSEUDO_THREEFRY2_64_20 => {
                Self::Threefry2x64(Counter::new(Threefry2([0, 32].map(part)), offset))
            }
            // rocRAND's keys of four words overlap.
            Rng::ROCRAND_RNG_PSEUDO_THREEFRY4_32_20 => {
                let key = [0, 16, 32, 48].map(|bits| part(bits) as u32);
                Self::Threefry4x32(Counter::new(Threefry4(key), offset))
            }
            Rng::ROCRAND_RNG_PSEUDO_THREEFRY4_64_20 => {
                Self::Threefry4x64(Counter::new(Threefry4([0, 16, 32, 48].map(part)), offset))
            }
            Rng::ROCRAND_RNG_PSEUDO_XORWOW => Self::Xorwow(Ring::new(seed, offset)),
            Rng::ROCRAND_RNG_PSEUDO_MRG32K3A => Self::Mrg32k3a(Ring::new(seed, offset)),
            Rng::ROCRAND_RNG_QUASI_SOBOL32 => Self::Sobol32(Sobol::new(dimensions, offset)),
            Rng::ROCRAND_RNG_QUASI_SOBOL64 => Self::Sobol64(Sobol::new(dimensions, offset)),
            _ => return None,
        })
    }

    /// Fills the numbers. `points` is how many there are of each dimension.
    fn fill<T>(&mut self, numbers: &mut [T], points: usize, output: &impl Fn(&mut [T]) -> Output<'_>) {
        match self {
            Self::Philox(words) => law::fill_narrow(words, output(numbers)),
            Self::Threefry2x32(words) => law::fill_single(words, output(numbers)),
            Self::Threefry4x32(words) => law::fill_narrow(words, output(numbers)),
            Self::Threefry2x64(words) => law::fill_wide(words, output(numbers)),
            Self::Threefry4x64(words) => law::fill_wide(words, output(numbers)),
            Self::Xorwow(words) => law::fill_narrow(words, output(numbers)),
            Self::Mrg32k3a(words) => law::fill_mrg(words, output(numbers)),
            Self::Sobol32(sobol) => {
                for (part, points) in numbers.chunks_mut(points).zip(sobol.next_points(points)) {
                    law::fill_quasi(points, output(part));
                }
            }
            Self::Sobol64(sobol) => {
                for (part, points) in numbers.chunks_mut(points).zip(sobol.next_points(points)) {
                    law::fill_quasi(points, output(part));
                }
            }
        }
    }
}
