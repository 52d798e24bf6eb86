//! The source of random numbers: a seed, and the number of draws made from it.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::cpu::philox::Draw;
use crate::device::Device;
use crate::error::Result;

/// A random number generator: a seed, and the number of draws made from it. A plain value. The methods that make
/// tensors are documented with [`Tensor`](crate::Tensor)'s.
///
/// Numbers come from Philox4x32-10. The seed is the key. The low half of the 128-bit counter is the index of a block of
/// four 32-bit words, the high half is the number of the draw, [`Generator::offset`]. Every call takes one draw,
/// however many elements it makes, so that calls never share a block.
///
/// Element i of a result, in row-major order, uses
/// - word i % 4 of block i / 4 in `bernoulli`, in `dropout`, and in `uniform` and `normal` up to `f32`;
/// - words 2 (i % 2), the low half, and 2 (i % 2) + 1 of block i / 2 in `randint`, in the keys of `randperm`, and in
///   `uniform` and `normal` of `f64`.
///
/// A result therefore depends only on seed, offset, shape and dtype. It has the same bits on every device, with any
/// number of cores. The generator is not cryptographically secure.
///
/// ```
/// use tensor_core::{DType, Device, Generator};
///
/// # fn main() -> tensor_core::Result<()> {
/// let mut generator = Generator::new(42);
/// let x = generator.normal(0, 1, [2, 3], DType::F32, &Device::Cpu)?;
/// let y = generator.normal(0, 1, [2, 3], DType::F32, &Device::Cpu)?;
/// assert_ne!(x.to_vec2::<f32>()?, y.to_vec2::<f32>()?);
///
/// let again = Generator::at(42, 1).normal(0, 1, [2, 3], DType::F32, &Device::Cpu)?;
/// assert_eq!(again.to_vec2::<f32>()?, y.to_vec2::<f32>()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    seed: u64,
    offset: u64,
}

impl Generator {
    /// The seed of every device until [`Device::set_seed`].
    pub const DEFAULT_SEED: u64 = 299_792_458;

    /// The generator of a seed, before its first draw.
    pub const fn new(seed: u64) -> Generator {
        Generator { seed, offset: 0 }
    }

    /// The generator of a seed, after `offset` draws.
    pub const fn at(seed: u64, offset: u64) -> Generator {
        Generator { seed, offset }
    }

    /// The seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of draws made. It wraps after 2⁶⁴.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes the next draw.
    pub(crate) fn draw(&mut self) -> Draw {
        let draw = Draw { seed: self.seed, stream: self.offset };
        self.offset = self.offset.wrapping_add(1);
        draw
    }
}

/// The default generator of each device, by the device's name.
static GENERATORS: Mutex<BTreeMap<String, Generator>> = Mutex::new(BTreeMap::new());

/// Random number seeds.
impl Device {
    /// Restarts the device's random numbers from `seed`. These are the numbers of [`Tensor::rand`](crate::Tensor::rand)
    /// and of all methods without a [`Generator`] argument. The process has one such generator per device name.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let device = Device::Cpu;
    /// device.set_seed(7)?;
    /// let x = Tensor::randn(0f32, 1.0, 4, &device)?;
    /// device.set_seed(7)?;
    /// assert_eq!(x.to_vec::<f32>()?, Tensor::randn(0f32, 1.0, 4, &device)?.to_vec::<f32>()?);
    /// assert_eq!(device.get_current_seed()?, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// None at present.
    #[doc(alias = "manual_seed")]
    pub fn set_seed(&self, seed: u64) -> Result<()> {
        self.with_generator(|generator| *generator = Generator::new(seed));
        Ok(())
    }

    /// The seed of the device's random numbers: that of [`Device::set_seed`], or [`Generator::DEFAULT_SEED`].
    ///
    /// # Errors
    /// None at present.
    #[doc(alias = "initial_seed")]
    pub fn get_current_seed(&self) -> Result<u64> {
        Ok(self.with_generator(|generator| generator.seed()))
    }

    /// Takes the next draw of the device's generator, as a generator positioned at that draw.
    pub(crate) fn next_draw(&self) -> Generator {
        self.with_generator(|generator| {
            let draw = generator.draw();
            Generator::at(draw.seed, draw.stream)
        })
    }

    fn with_generator<T>(&self, work: impl FnOnce(&mut Generator) -> T) -> T {
        let mut generators = GENERATORS.lock();
        work(generators.entry(self.name()).or_insert(Generator::new(Generator::DEFAULT_SEED)))
    }
}
