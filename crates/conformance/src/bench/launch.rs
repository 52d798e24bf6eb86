//! Launches: a function, a shape, and arguments by value.

use super::{Bench, Buffer, Module, NULL, Pinned};
use crate::case::{Failure, Outcome};
use bytemuck::Pod;
use hip_sys::hip::{hipFunction_t, hipStream_t};
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::rc::Rc;

/// A kernel of a loaded module, which stays loaded as long as this.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) raw: hipFunction_t,
    name: String,
    _module: Rc<Module>,
}

/// Blocks, threads per block, and bytes of dynamic shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
}

/// A one-dimensional shape.
pub(crate) const fn grid(blocks: u32, threads: u32) -> Shape {
    Shape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0 }
}

impl Shape {
    /// A three-dimensional shape, x first.
    pub(crate) const fn of(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, shared: 0 }
    }

    /// With dynamic shared memory.
    pub(crate) const fn shared(self, bytes: u32) -> Self {
        Self { shared: bytes, ..self }
    }
}

/// One argument of a kernel, by value, aligned to 16 bytes.
#[derive(Debug, Clone)]
pub(crate) struct Arg {
    storage: Box<[u128]>,
    pub(crate) size: usize,
    pub(crate) align: usize,
}

impl Arg {
    /// Any plain value, such as a structure.
    pub(crate) fn of<T: Pod>(value: T) -> Self {
        let mut storage = vec![0_u128; size_of::<T>().div_ceil(16).max(1)].into_boxed_slice();
        bytemuck::cast_slice_mut(&mut storage)[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Self { storage, size: size_of::<T>(), align: align_of::<T>() }
    }

    /// Its address, for `kernelParams`.
    pub(crate) fn address(&mut self) -> *mut c_void {
        self.storage.as_mut_ptr().cast()
    }

    /// Its bytes, for a packed buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.storage)[..self.size]
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl From<$number> for Arg {
            fn from(value: $number) -> Self {
                Self::of(value)
            }
        })*
    };
}
numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 usize);

impl<T> From<*mut T> for Arg {
    fn from(pointer: *mut T) -> Self {
        Self::of(pointer as usize)
    }
}

impl<T> From<&Buffer<'_, T>> for Arg {
    fn from(buffer: &Buffer<'_, T>) -> Self {
        Self::from(buffer.pointer)
    }
}

impl<T> From<&Pinned<'_, T>> for Arg {
    fn from(pinned: &Pinned<'_, T>) -> Self {
        Self::from(pinned.pointer)
    }
}

/// Arguments packed as in a C structure, for the `extra` form of a launch.
pub(crate) fn packed(arguments: &[Arg]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for argument in arguments {
        bytes.resize(bytes.len().next_multiple_of(argument.align), 0);
        bytes.extend_from_slice(argument.bytes());
    }
    bytes
}

impl Bench {
    /// A kernel of `kernels/MODULE.hip`.
    pub(crate) fn function(&self, module: &'static str, name: &str) -> Result<Function, Failure> {
        let module = self.module(module)?;
        let c_name = CString::new(name).expect("names have no zero byte");
        let mut raw = null_mut();
        ok!(self, hipModuleGetFunction(&mut raw, module.raw, c_name.as_ptr()));
        Ok(Function { raw, name: name.to_owned(), _module: module })
    }

    /// Launches on the null stream.
    #[track_caller]
    pub(crate) fn launch(&self, function: &Function, shape: Shape, arguments: &mut [Arg]) -> Outcome {
        self.launch_on(NULL, function, shape, arguments)
    }

    /// Launches on a stream.
    #[track_caller]
    pub(crate) fn launch_on(
        &self,
        stream: hipStream_t,
        function: &Function,
        shape: Shape,
        arguments: &mut [Arg],
    ) -> Outcome {
        let code = self.launch_code(stream, function, shape, arguments);
        self.expect(code, crate::codes::SUCCESS, &format!("launch of {}", function.name))
    }

    /// Launches on a stream and returns the code.
    pub(crate) fn launch_code(
        &self,
        stream: hipStream_t,
        function: &Function,
        shape: Shape,
        arguments: &mut [Arg],
    ) -> u32 {
        let mut addresses: Vec<*mut c_void> = arguments.iter_mut().map(Arg::address).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let (list, extra) = (addresses.as_mut_ptr(), null_mut());
        let launch = self.hip().hipModuleLaunchKernel;
        // SAFETY: S9: the case passes as many arguments as the kernel declares, of the declared types.
        unsafe { launch(function.raw, gx, gy, gz, bx, by, bz, shape.shared, stream, list, extra) }.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_arguments_lie_as_in_a_c_structure() {
        let arguments = [Arg::from(1_u8), Arg::from(2_u32), Arg::from(3_u8), Arg::from(4_u64)];
        let mut expected = vec![1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        expected.extend(4_u64.to_ne_bytes());
        assert_eq!(packed(&arguments), expected);
    }
}
