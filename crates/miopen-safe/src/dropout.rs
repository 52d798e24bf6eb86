//! Dropout: a descriptor with the states of its generators.

use crate::convert::out;
use crate::owner::{DropoutObject, Owner};
use crate::raw::dropout as raw;
use crate::work::{Scratch, Work};
use crate::{Error, Handle, Result};
use hip_safe::DeviceId;
use hip_sys::miopen::{miopenDropoutDescriptor_t, miopenRNGType_t};
use std::fmt;

const REMEDY: &str = "make it before the capture";

/// Dropout with a given rate and its own generators on one device. Work that draws numbers borrows it exclusively.
#[doc(alias = "miopenDropoutDescriptor_t")]
pub struct DropoutDesc {
    object: Owner<DropoutObject>,
    states: Scratch,
    bytes: usize,
    device: DeviceId,
    rate: f32,
    seed: u64,
}

impl DropoutDesc {
    /// Creates the descriptor and its generators from the seed. `rate` is the probability that an element becomes 0.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a rate that is not in 0‥1; [`hip_safe::Error::Capturing`] while the stream captures; the error of memory,
    /// stream or library.
    #[doc(alias = "miopenCreateDropoutDescriptor")]
    #[doc(alias = "miopenSetDropoutDescriptor")]
    #[doc(alias = "miopenDropoutGetStatesSize")]
    pub fn new(handle: &Handle, rate: f32, seed: u64) -> Result<Self> {
        check_rate(rate)?;
        // SAFETY: S1: the handle is live, and the out-pointer too.
        let ask = |m: &_, h| out(|bytes| unsafe { raw::dropout_get_states_size(m, h, bytes) });
        let bytes = handle.call("the states of a dropout", ask)?;
        let object = Owner::new(handle.platform(), |_, _| Ok(()))?;
        let states = Scratch::new(handle, bytes)?;
        let mut made = Self { object, states, bytes, device: handle.device().id(), rate, seed };
        let desc = made.object.raw();
        let mut work = Work::new(handle, "the states of a dropout").waits(REMEDY);
        let space = work.scratch(&mut made.states);
        // SAFETY: S1, S2: the states have the bytes asked for, and the descriptor keeps them.
        work.run(|m, h| unsafe {
            let generator = miopenRNGType_t::MIOPEN_RNG_PSEUDO_XORWOW;
            raw::set_dropout_descriptor(m, desc, h, rate, space, bytes, seed, false, false, generator)
        })?;
        Ok(made)
    }

    /// Changes the rate; the generators keep their states.
    ///
    /// # Errors
    /// As [`DropoutDesc::new`].
    #[doc(alias = "miopenRestoreDropoutDescriptor")]
    pub fn set_rate(&mut self, handle: &Handle, rate: f32) -> Result<()> {
        check_rate(rate)?;
        let desc = self.on(handle)?;
        let (bytes, seed) = (self.bytes, self.seed);
        let mut work = Work::new(handle, "another rate of a dropout").waits(REMEDY);
        let space = work.scratch(&mut self.states);
        // SAFETY: S1, S2: the states are those that the descriptor has.
        work.run(|m, h| unsafe {
            let generator = miopenRNGType_t::MIOPEN_RNG_PSEUDO_XORWOW;
            raw::restore_dropout_descriptor(m, desc, h, rate, space, bytes, seed, false, false, generator)
        })?;
        self.rate = rate;
        Ok(())
    }

    /// The probability that an element becomes 0.
    pub fn rate(&self) -> f32 {
        self.rate
    }

    /// The generators' seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Destroys it and returns any error. The generators' memory is released after the work that uses it.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyDropoutDescriptor")]
    pub fn close(self) -> Result<()> {
        self.object.close()
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenDropoutDescriptor_t> {
        let raw = self.object.on(handle)?;
        if handle.device().id() == self.device {
            return Ok(raw);
        }
        let used = handle.device().label();
        Err(Error::mismatch("the device of a dropout's states", used.id, self.device))
    }

    /// The generators' memory, which work that uses the descriptor writes.
    pub(crate) fn states(&mut self) -> &mut Scratch {
        &mut self.states
    }
}

fn check_rate(rate: f32) -> Result<()> {
    if (0.0..=1.0).contains(&rate) {
        return Ok(());
    }
    Err(Error::invalid("the rate of a dropout", rate, "it has to be from 0 to 1"))
}

impl fmt::Debug for DropoutDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DropoutDesc rate {} seed {}", self.rate, self.seed)
    }
}
