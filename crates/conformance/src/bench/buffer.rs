//! Device memory and pinned host memory, with typed contents.

use super::Bench;
use crate::case::{Failure, Outcome};
use bytemuck::Pod;
use hip_sys::hip::hipMemcpyKind;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// Device memory that holds `len` values; freed when it is dropped.
pub(crate) struct Buffer<'b, T> {
    pub(crate) pointer: *mut c_void,
    pub(crate) len: usize,
    bench: &'b Bench,
    values: PhantomData<T>,
}

/// Pinned host memory that holds `len` values; freed when it is dropped.
pub(crate) struct Pinned<'b, T> {
    pub(crate) pointer: *mut c_void,
    pub(crate) len: usize,
    bench: &'b Bench,
    values: PhantomData<T>,
}

impl Bench {
    /// Device memory with these values.
    pub(crate) fn buffer<T: Pod>(&self, values: &[T]) -> Result<Buffer<'_, T>, Failure> {
        let mut pointer = null_mut();
        ok!(self, hipMalloc(&mut pointer, size_of_val(values)));
        let buffer = Buffer { pointer, len: values.len(), bench: self, values: PhantomData };
        buffer.write(values)?;
        Ok(buffer)
    }

    /// Device memory with `len` copies of the value.
    pub(crate) fn filled<T: Pod>(&self, len: usize, value: T) -> Result<Buffer<'_, T>, Failure> {
        self.buffer(&vec![value; len])
    }

    /// Device memory that is all zero.
    pub(crate) fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<'_, T>, Failure> {
        self.filled(len, T::zeroed())
    }

    /// Pinned host memory that is all zero.
    pub(crate) fn pinned<T: Pod>(&self, len: usize) -> Result<Pinned<'_, T>, Failure> {
        let (mut pointer, bytes) = (null_mut(), len * size_of::<T>());
        ok!(self, hipHostMalloc(&mut pointer, bytes, 0));
        // SAFETY: S2: just allocated with that many bytes.
        unsafe { pointer.cast::<u8>().write_bytes(0, bytes) };
        Ok(Pinned { pointer, len, bench: self, values: PhantomData })
    }
}

impl<T: Pod> Buffer<'_, T> {
    /// Size of the contents in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The address of a value.
    pub(crate) fn at(&self, index: usize) -> *mut c_void {
        self.pointer.wrapping_byte_add(index * size_of::<T>())
    }

    /// Replaces the contents, after all work of the null stream.
    pub(crate) fn write(&self, values: &[T]) -> Outcome {
        let (bench, kind) = (self.bench, hipMemcpyKind::hipMemcpyHostToDevice);
        let bytes = size_of_val(values).min(self.bytes());
        ok!(bench, hipMemcpy(self.pointer, values.as_ptr().cast(), bytes, kind));
        Ok(())
    }

    /// The contents, after all work of the null stream.
    pub(crate) fn read(&self) -> Result<Vec<T>, Failure> {
        let (bench, kind) = (self.bench, hipMemcpyKind::hipMemcpyDeviceToHost);
        let mut values = vec![T::zeroed(); self.len];
        ok!(bench, hipMemcpy(values.as_mut_ptr().cast(), self.pointer, self.bytes(), kind));
        Ok(values)
    }
}

impl<T> Drop for Buffer<'_, T> {
    fn drop(&mut self) {
        self.bench.open_gates();
        // SAFETY: S4: our own allocation; hipFree waits for the work that uses it.
        unsafe { (self.bench.hip().hipFree)(self.pointer) };
    }
}

impl<T: Pod> Pinned<'_, T> {
    /// The current value; a device may be writing it.
    pub(crate) fn get(&self, index: usize) -> T {
        assert!(index < self.len, "a case stays inside its memory");
        // SAFETY: S2: inside the allocation.
        unsafe { self.pointer.cast::<T>().add(index).read_volatile() }
    }

    /// All current values.
    pub(crate) fn read(&self) -> Vec<T> {
        (0..self.len).map(|index| self.get(index)).collect()
    }

    /// Writes values from the start. No work may be using them.
    pub(crate) fn write(&self, values: &[T]) {
        assert!(values.len() <= self.len, "a case stays inside its memory");
        for (index, value) in values.iter().enumerate() {
            // SAFETY: S2: inside the allocation.
            unsafe { self.pointer.cast::<T>().add(index).write_volatile(*value) };
        }
    }
}

impl<T> Drop for Pinned<'_, T> {
    fn drop(&mut self) {
        self.bench.open_gates();
        // SAFETY: S4: our own allocation; hipHostFree waits for the work that uses it.
        unsafe { (self.bench.hip().hipHostFree)(self.pointer) };
    }
}
