//! The operands of a call: matrices and vectors, single or batched, scalars, and results.

use super::check::{MEMORY, Outcome, POINTER};
use super::handle::{Call, LOST};
use super::parallel;
use super::scalar::Scalar;
use hip_host::library::{self, Uses};
use hip_sys::hip::hipError_t;
use parking_lot::Mutex;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A matrix or a vector, or a batch of them, as the program passed it.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    address: usize,
    /// The leading dimension of a matrix, the increment of a vector.
    pub(super) step: i64,
    batch: Batch,
}

#[derive(Clone, Copy)]
enum Batch {
    /// A strided batch, with the stride in elements.
    Strided(i64),
    /// A batch whose addresses are in an array at the operand's address.
    Addresses,
}

impl Operand {
    pub(super) fn one<T>(pointer: *const T, step: i64) -> Self {
        Self::strided(pointer, step, 0)
    }

    pub(super) fn strided<T>(pointer: *const T, step: i64, stride: i64) -> Self {
        Self { address: pointer as usize, step, batch: Batch::Strided(stride) }
    }

    pub(super) fn addresses<T>(pointer: *const T, step: i64) -> Self {
        Self { address: pointer as usize, step, batch: Batch::Addresses }
    }

    pub(super) fn is_null(self) -> bool {
        self.address == 0
    }

    /// Whether both have the same memory.
    pub(super) fn is(self, other: Self) -> bool {
        self.address == other.address
    }

    /// The address of a member of a batch, if the array of addresses may be read now.
    ///
    /// # Safety
    /// The operand fulfils the function's contract.
    pub(super) unsafe fn at<T>(self, index: usize) -> *mut T {
        // SAFETY: S2, S11: the caller vouches for it.
        unsafe { Members::<T>::of(self).at(index) }
    }
}

/// A scalar. One in host memory is read at the call, one in device memory when the work runs.
#[derive(Clone, Copy)]
pub(super) enum Source<T> {
    Known(T),
    Device(usize),
}

impl<T: Copy + PartialEq> Source<T> {
    /// Whether the scalar is known to have this value.
    pub(super) fn is(&self, value: T) -> bool {
        matches!(self, Self::Known(known) if *known == value)
    }

    /// The value, while the work runs.
    pub(super) fn value(&self) -> T {
        match self {
            Self::Known(value) => *value,
            // SAFETY: S2: looked up when the call was prepared.
            Self::Device(address) => unsafe { (*address as *const T).read() },
        }
    }
}

/// The addresses of an operand's values, while the work runs.
pub(super) struct Members<T> {
    operand: Operand,
    _values: PhantomData<fn() -> T>,
}

impl<T> Clone for Members<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Members<T> {}

impl<T> Members<T> {
    fn of(operand: Operand) -> Self {
        Self { operand, _values: PhantomData }
    }

    /// The leading dimension or the increment.
    pub(super) fn step(&self) -> i64 {
        self.operand.step
    }

    /// The address of the first value of a member of the batch.
    ///
    /// # Safety
    /// An array of addresses is live and initialised.
    pub(super) unsafe fn at(&self, index: usize) -> *mut T {
        let Operand { address, batch, .. } = self.operand;
        match batch {
            Batch::Strided(stride) => {
                (address as *mut T).wrapping_offset(stride.wrapping_mul(index as i64) as isize)
            }
            // SAFETY: S2: the caller vouches for the addresses.
            Batch::Addresses => unsafe { (address as *const *mut T).add(index).read() },
        }
    }
}

/// An array of addresses in device memory; each address is looked up when the work runs.
struct Addresses {
    at: usize,
    bytes: usize,
    align: usize,
}

impl Addresses {
    /// Looks up each address.
    fn check(&self, count: usize) -> Result<(), (hipError_t, String)> {
        for index in 0..count {
            // SAFETY: S2: the array was looked up when the call was prepared.
            let address = unsafe { (self.at as *const usize).add(index).read() };
            if !library::is_known(address, self.bytes) || !address.is_multiple_of(self.align) {
                let what = if address == 0 { "null".to_owned() } else { library::describe(address) };
                let bytes = self.bytes;
                let message = format!(
                    "illegal address {address:#x} at index {index} of a batch, for {bytes} bytes: {what}"
                );
                return Err((hipError_t::hipErrorIllegalAddress, message));
            }
        }
        Ok(())
    }
}

/// A call in preparation.
pub(super) struct Plan {
    call: Call,
    batch: usize,
    uses: Uses,
    addresses: Vec<Addresses>,
}

impl Plan {
    pub(super) fn new(call: Call, batch: usize) -> Self {
        Self { call, batch, uses: Uses::default(), addresses: Vec::new() }
    }

    /// Declares that the work reads `count` values of each member; with `count` zero it reads nothing.
    pub(super) fn read<T: Copy>(&mut self, operand: Operand, count: usize) -> Outcome<Members<T>> {
        self.take(operand, count, false)
    }

    /// Declares that the work writes, and may read, `count` values of each member.
    pub(super) fn write<T: Copy>(&mut self, operand: Operand, count: usize) -> Outcome<Members<T>> {
        self.take(operand, count, true)
    }

    fn take<T: Copy>(&mut self, operand: Operand, count: usize, writes: bool) -> Outcome<Members<T>> {
        let batch = self.batch;
        if count == 0 || batch == 0 {
            return Ok(Members::of(operand));
        }
        let taken = match operand.batch {
            Batch::Addresses => {
                let bytes = count.checked_mul(size_of::<T>()).ok_or(POINTER)?;
                self.addresses.push(Addresses { at: operand.address, bytes, align: align_of::<T>() });
                self.uses.read(operand.address as *const usize, batch)
            }
            Batch::Strided(stride) => {
                let last = (batch as i64 - 1).checked_mul(stride).ok_or(POINTER)?;
                let all = count.checked_add(last.unsigned_abs() as usize).ok_or(POINTER)?;
                let first = (operand.address as *mut T).wrapping_offset(last.min(0) as isize);
                if writes { self.uses.write(first, all) } else { self.uses.read(first, all) }
            }
        };
        taken.map_err(|_| POINTER)?;
        Ok(Members::of(operand))
    }

    /// A scalar at a pointer, in host or device memory as the handle's mode says.
    ///
    /// # Safety
    /// A host pointer is null or points to a scalar.
    pub(super) unsafe fn scalar<T: Copy>(&mut self, pointer: *const T) -> Outcome<Source<T>> {
        super::handle::there(pointer)?;
        if self.call.on_host() {
            // SAFETY: S11: the caller vouches for it.
            return Ok(Source::Known(unsafe { pointer.read() }));
        }
        self.uses.read(pointer, 1).map_err(|_| POINTER)?;
        Ok(Source::Device(pointer as usize))
    }

    /// Submits the work: `body` for each member, which takes about so many steps.
    ///
    /// # Safety
    /// The body uses only memory of HIP's that was declared here, and writes only memory that was declared as written.
    pub(super) unsafe fn submit(self, steps: f64, body: impl Fn(usize) + Send + Sync + 'static) -> Outcome {
        // SAFETY: S11: the caller vouches for the body.
        unsafe { self.submit_any(steps, Box::new(body)) }
    }

    /// # Safety
    /// As [`Plan::submit`].
    unsafe fn submit_any(self, steps: f64, body: Box<dyn Fn(usize) + Send + Sync>) -> Outcome {
        let Self { call, batch, uses, addresses } = self;
        let act = move || {
            addresses.iter().try_for_each(|addresses| addresses.check(batch))?;
            parallel::batch(batch, steps, &*body);
            Ok(())
        };
        // SAFETY: S11: the caller vouches for the body; addresses that lead nowhere end the work before it begins.
        unsafe { call.submit(uses, Box::new(act)) }
    }

    /// Submits work with one result per member. A result in host memory is written before this returns.
    ///
    /// # Safety
    /// As [`Plan::submit`]; the pointer is null or has room for the results.
    pub(super) unsafe fn reduce<R: Copy + Default + Send + Sync + 'static>(
        self,
        out: *mut R,
        steps: f64,
        body: impl Fn(usize) -> R + Send + Sync + 'static,
    ) -> Outcome {
        // SAFETY: S11: the caller vouches for the body and the pointer.
        unsafe { self.reduce_any(out, steps, Box::new(body)) }
    }

    /// # Safety
    /// As [`Plan::reduce`].
    unsafe fn reduce_any<R: Copy + Default + Send + Sync + 'static>(
        mut self,
        out: *mut R,
        steps: f64,
        body: Box<dyn Fn(usize) -> R + Send + Sync>,
    ) -> Outcome {
        super::handle::there(out)?;
        let batch = self.batch;
        if !self.call.on_host() {
            let out = self.write::<R>(Operand::strided(out, 1, 1), 1)?;
            // SAFETY: S2: named just now.
            return unsafe { self.submit(steps, move |index| out.at(index).write(body(index))) };
        }
        let Self { call, uses, addresses, .. } = self;
        call.may_wait()?;
        let mut all: Vec<Mutex<R>> = Vec::new();
        // With a stride of zero a batch of any size needs little memory, so its size is checked here.
        all.try_reserve_exact(batch).map_err(|_| MEMORY)?;
        all.resize_with(batch, Mutex::default);
        let results = Arc::new((all, AtomicBool::new(false)));
        let kept = Arc::clone(&results);
        let act = move || {
            addresses.iter().try_for_each(|addresses| addresses.check(batch))?;
            let (all, done) = &*kept;
            parallel::batch(batch, steps, &|index| *all[index].lock() = body(index));
            done.store(true, Ordering::Release);
            Ok(())
        };
        // SAFETY: S11: the caller vouches for the body.
        unsafe { call.submit(uses, Box::new(act))? };
        call.wait()?;
        let (all, done) = &*results;
        super::check::ensure(done.load(Ordering::Acquire), LOST)?;
        for (index, result) in all.iter().enumerate() {
            // SAFETY: S11: the C contract gives room for the results of a batch.
            unsafe { out.add(index).write(*result.lock()) };
        }
        Ok(())
    }

    /// Writes results that are known to be zero.
    ///
    /// # Safety
    /// As [`Plan::reduce`].
    pub(super) unsafe fn zero<R: Copy + Default + Send + Sync + 'static>(self, out: *mut R) -> Outcome {
        super::handle::there(out)?;
        if !self.call.on_host() {
            // SAFETY: S2: nothing else is written.
            return unsafe { self.reduce(out, 1.0, |_| R::default()) };
        }
        for index in 0..self.batch {
            // SAFETY: S11: the C contract gives room for the results of a batch.
            unsafe { out.add(index).write(R::default()) };
        }
        Ok(())
    }

    /// Waits for the stream's work, then runs `act` on the host.
    pub(super) fn now(self, act: impl FnOnce()) -> Outcome {
        self.call.may_wait()?;
        self.call.wait()?;
        act();
        Ok(())
    }

    pub(super) fn on_host(&self) -> bool {
        self.call.on_host()
    }
}

/// The elements of a vector.
#[derive(Clone, Copy)]
pub(super) struct Vector<T> {
    /// The first element; with a negative step it has the highest address.
    start: *mut T,
    pub(super) step: isize,
}

// SAFETY: S8: an address; whoever follows it has ranges of its own or only reads.
unsafe impl<T: Send> Send for Vector<T> {}
// SAFETY: S8: as above.
unsafe impl<T: Sync> Sync for Vector<T> {}

impl<T: Scalar> Vector<T> {
    /// With a negative step the first of the `n` elements is the last in memory.
    pub(super) fn new(base: *mut T, n: usize, step: i64) -> Self {
        let step = step as isize;
        let back = if step < 0 { (n as isize - 1).wrapping_mul(step) } else { 0 };
        Self { start: base.wrapping_offset(back.wrapping_neg()), step }
    }

    /// # Safety
    /// `index` is below the length, and the memory is live.
    #[inline(always)]
    pub(super) unsafe fn address_of(&self, index: usize) -> *mut T {
        self.start.wrapping_offset((index as isize).wrapping_mul(self.step))
    }

    /// # Safety
    /// As [`Vector::address_of`].
    #[inline(always)]
    pub(super) unsafe fn get(&self, index: usize) -> T::Wide {
        // SAFETY: S2: the caller vouches for it.
        unsafe { self.address_of(index).read().wide() }
    }

    /// # Safety
    /// As [`Vector::address_of`]; nobody else uses that element.
    #[inline(always)]
    pub(super) unsafe fn set(&self, index: usize, value: T::Wide) {
        // SAFETY: S2: the caller vouches for it.
        unsafe { self.address_of(index).write(T::narrow(value)) }
    }

    /// The same vector, with a step that the compiler knows to be 1.
    #[inline(always)]
    pub(super) fn dense(&self) -> Self {
        Self { start: self.start, step: 1 }
    }

    /// All elements, widened.
    ///
    /// # Safety
    /// As [`Vector::address_of`] for all below `n`.
    pub(super) unsafe fn to_vec(self, n: usize) -> Vec<T::Wide> {
        // SAFETY: S2: the caller vouches for it.
        (0..n).map(|index| unsafe { self.get(index) }).collect()
    }
}
