//! Where random numbers come from: a seed, and how many draws were made from it.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::cpu::philox::Draw;
use crate::device::Device;
use crate::error::Result;

/// A source of random numbers: a seed and the number of draws made from it. A plain value; its methods that make tensors stand with
/// [`Tensor`](crate::Tensor)'s.
///
/// Numbers come from Philox4x32-10, with the seed as the key and a counter of 128 bits: its low half is the number of a block of four
/// words of 32 bits, its high half the draw's number, [`Generator::offset`]. Every call that draws takes one such number, however many
/// elements it makes, so that calls never share a block.
///
/// Element i of a result, in row-major order, has
/// - word i % 4 of block i / 4 in `bernoulli`, in `dropout`, and in `uniform` and `normal` up to `f32`;
/// - words 2 (i % 2), the low half, and 2 (i % 2) + 1 of block i / 2 in `randint`, in the keys of `randperm`, and in `uniform` and `normal` of `f64`.
///
/// So a result depends on seed, offset, shape and dtype alone: it has the same bits on every device, whatever its number of cores.
/// None of this is fit for secrets.
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

    /// The beginning of a seed's numbers.
    pub const fn new(seed: u64) -> Generator {
        Generator { seed, offset: 0 }
    }

    /// A seed's numbers after `offset` draws.
    pub const fn at(seed: u64, offset: u64) -> Generator {
        Generator { seed, offset }
    }

    /// The seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// How many draws were made; after 2⁶⁴ they begin again.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next draw.
    pub(crate) fn draw(&mut self) -> Draw {
        let draw = Draw { seed: self.seed, stream: self.offset };
        self.offset = self.offset.wrapping_add(1);
        draw
    }
}

/// The default generator of each device, by the device's name.
static GENERATORS: Mutex<BTreeMap<String, Generator>> = Mutex::new(BTreeMap::new());

/// Random numbers.
impl Device {
    /// Lets the device's random numbers begin anew from `seed`: those of [`Tensor::rand`](crate::Tensor::rand) and the other methods
    /// that are not given a [`Generator`]. The process has one such generator for each device, whatever the number of values that name it.
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
    /// None so far.
    #[doc(alias = "manual_seed")]
    pub fn set_seed(&self, seed: u64) -> Result<()> {
        self.with_generator(|generator| *generator = Generator::new(seed));
        Ok(())
    }

    /// The seed that the device's random numbers come from: that of [`Device::set_seed`], or [`Generator::DEFAULT_SEED`].
    ///
    /// # Errors
    /// None so far.
    #[doc(alias = "initial_seed")]
    pub fn get_current_seed(&self) -> Result<u64> {
        Ok(self.with_generator(|generator| generator.seed()))
    }

    /// A generator of one draw, the next one of the device's generator.
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
