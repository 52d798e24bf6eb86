//! Kernels in Rust: a function with `#[kernel]` runs on AMD's GPUs, on NVIDIA's, and on the threads of the CPU.
//!
//! ```
//! use hip_kernel::hip_safe::{self, Device, LaunchConfig};
//! use hip_kernel::{Out, global_idx, hip_host, kernel};
//!
//! /// y = a · x + y.
//! #[kernel]
//! fn saxpy(a: f32, x: &[f32], mut y: Out<f32>) {
//!     if let Some(y) = y.own() {
//!         *y += a * x[global_idx()];
//!     }
//! }
//!
//! # fn main() -> hip_safe::Result<()> {
//! let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
//! let saxpy = Saxpy::load(stream.device())?;
//! let x = stream.upload(&[1.0_f32, 2.0, 3.0])?;
//! let mut y = stream.upload(&[10.0_f32, 20.0, 30.0])?;
//! saxpy.launch(&stream, LaunchConfig::linear(3, 64), 0.5, &x, &mut y)?;
//! assert_eq!(stream.download(&y)?, [10.5, 21.0, 31.5]);
//! # Ok(())
//! # }
//! ```
//!
//! # Parameters
//! | written | on the host | what a thread may do |
//! |---|---|---|
//! | `&[T]` | `&` of a buffer or view of `T` | read any element |
//! | [`Out<T>`](Out) | `&mut` of one | write the elements with its number |
//! | [`PerBlock<T>`](PerBlock) | `&mut` of one | write its block's element, the first thread alone |
//! | [`Rows<T>`](Rows) | `&mut` of one, then the width | write its columns of its block's row |
//! | `&[AtomicU32]`, also `I32`, `U64`, `I64` | `&mut` of a buffer of `u32` and so on | atomic operations on any element |
//! | [`Scatter<T>`](Scatter) | `&mut` of a buffer | write any element, in an `unsafe` block |
//! | [`Shared<T, N>`](Shared) | nothing | read and write any of `N` elements of its block's own memory |
//! | any other type | a value of it | |
//!
//! `#[kernel]` leaves the function as it is and makes a type beside it: of `block_sum` it makes `BlockSum`, with `load` and `launch`. A launch is
//! safe, because the function is: each view gives a thread only elements that no other thread has, and an index past the end panics. The
//! launch passes the lengths and the size of shared memory, and hip-safe compares number and sizes of the arguments with those in the code.
//!
//! `#[kernel(f32, f64)]` is for a function with one type parameter: of `scale` it makes the kernels `scale_f32` and `scale_f64`, whose types
//! are `ScaleF32` and `ScaleF64`.
//!
//! # Where it runs
//! On hip-host's devices the function itself runs, compiled for the CPU with the program: `cargo test` and debuggers see it, barriers work, and a
//! panic fails the launch with its message and line. For a GPU, `cargo xtask build-rust-kernels` of this project's repository compiles the
//! crate by a nightly compiler; see the chapter `docs/RUST_KERNELS.md` there. There a panic fails the launch
//! with its location and without its message.
#![cfg_attr(any(target_arch = "amdgpu", target_arch = "nvptx64"), no_std)]
#![cfg_attr(
    any(target_arch = "amdgpu", target_arch = "nvptx64"),
    feature(core_intrinsics, f16, gpu_intrinsics, gpu_launch_sized_workgroup_mem, link_llvm_intrinsics),
    allow(internal_features)
)]
#![cfg_attr(target_arch = "amdgpu", feature(stdarch_amdgpu))]
#![cfg_attr(target_arch = "nvptx64", feature(stdarch_nvptx))]

mod backend;
#[cfg(any(hip_kernel_panic = "location", test))]
mod failure;
#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
#[doc(hidden)]
pub mod host;
mod index;
mod layout;
mod math;
mod shared;
mod vector;
mod view;
mod wave;

/// The platform that runs kernels on the CPU. Code for a GPU has no such module.
#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
pub use hip_host;
pub use hip_kernel_macros::kernel;
/// Devices, memory and launches. Code for a GPU has no such module.
#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
pub use hip_safe;
pub use index::{Dim3, barrier, block_dim, block_idx, global_idx, grid_dim, grid_threads, thread_idx};
#[doc(hidden)]
pub use layout::layout;
pub use math::{bf16_to_f32, exp, f16_to_f32, f32_to_bf16, f32_to_f16, fast_exp, fast_ln, fma, ln, sqrt};
pub use shared::{Shared, SharedValue};
pub use vector::{F32x4, F64x2, U16x8, U32x4};
pub use view::{Columns, Out, PerBlock, Rows, Scatter};
#[doc(hidden)]
pub use view::{Scope, slice};
pub use wave::{LaneValue, ballot, lane, shuffle, shuffle_down, shuffle_up, shuffle_xor, wave_size};
