//! candle's backend traits on HIP devices: AMD's GPUs, NVIDIA's through their driver, and threads of this CPU.
//!
//! [`HipDevice`] implements candle-core's [`BackendDevice`], and [`HipStorage`] its [`BackendStorage`], by operations of
//! tensor-core. Every method of both traits is there. A version of this crate is for one version of candle-core: 0.11.1.
//! Its tests ran on the host's devices. On an NVIDIA GPU it was timed beside candle's CUDA backend (`benches/h200/CANDLE.md`).
//!
//! ```
//! # #[cfg(feature = "host")] {
//! use candle_core::backend::{BackendDevice, BackendStorage};
//! use candle_core::{Layout, op};
//! use candle_hip::HipDevice;
//!
//! let device = HipDevice::open("host:0")?; // or "amd:0", "nvidia:0"
//! let x = device.storage_from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let columns = Layout::contiguous((2, 3)).transpose(0, 1)?;
//! let squares = x.unary_impl::<op::Sqr>(&columns)?;
//! assert_eq!(squares.to_cpu_storage()?.as_slice::<f32>()?, [1.0, 16.0, 4.0, 25.0, 9.0, 36.0]);
//! # }
//! # candle_core::Result::Ok(())
//! ```
//!
//! # In candle's tensors
//! candle's `Device`, `Storage`, `QStorage` and `DeviceLocation` are closed enums, so that its tensors know no devices but
//! those that candle has. The program in `patch` adds the arms to the sources of candle-core and candle-nn 0.11.1 that you
//! have; `patch/README.md` says how. A program then uses `Device::new_hip("amd:0")`. What candle leaves closed has these
//! values here:
//!
//! | of candle | without the patch | with it |
//! |---|---|---|
//! | `DeviceLocation` | `Cuda` with a number from 65,536 on | `Hip { platform, gpu_id }` |
//! | `QStorage` | not reachable: [`QHipStorage`] by itself | `Hip` with a [`QHipStorage`] |
//! | `CustomOp1` and its siblings | have no function for these devices | `hip_fwd`, an error unless it is written |
//! | parameters of convolutions | read from their `Debug` text | their fields |
//!
//! # Custom operations
//! [`HipStorage::tensor`] is the door: a forward function gets a tensor of tensor-core, uses its operations or
//! [`tensor_core::HipDevice::compile`] for kernels of its own, and returns [`HipStorage::from_tensor`].
//! [`HipStorage::in_place`] is the door for operations in place.
//!
//! # Meaning
//! Results are candle's wherever candle's CPU and CUDA mean the same. The largest number of an id's type stands for no
//! element: reading it gives 0, writing it does nothing. Where the two differ from each other, or would end the process:
//!
//! | | candle's CPU | candle's CUDA | here |
//! |---|---|---|---|
//! | a wrong id | an error | ends the context | 0, and the next reading or `synchronize` returns `InvalidIndex` |
//! | NaN in max, min, maximum, minimum, relu | lost or kept, by its position | lost | kept |
//! | `argmax` and `argmin` of equal elements | the first | any | the first |
//! | sums, products and pools of `f16`, `bf16`, `f8e4m3` | rounded at every step | by operation | in `f32`, rounded once |
//! | formulas of these types, such as gelu | rounded at every step | by operation | in `f32`, rounded once |
//! | `affine` | two roundings | one or two | one |
//! | x/0 of integers | panics | any | 0 |
//! | exp and the like of integers | panics | no kernel | `UnsupportedDTypeForOp` |
//! | gelu, silu, erf of integers | 0 | no kernel | `UnsupportedDTypeForOp` |
//! | mean pools of integers | 0 | by type | `UnsupportedDTypeForOp` |
//! | sums and products of integers that are too large | wrap, or panic in debug builds | wrap | wrap |
//! | conditions of `i16` and `i32` | taken | an error | taken |
//! | ids of `i16` and `i32` | taken by `index_add` and `scatter_add` | an error | taken |
//! | `f8e4m3` to `f64`, and bilinear enlargement of it | never end | by a kernel | done |
//! | `conv_transpose1d` of several items | wrong rows, where it is one product | not examined | right |
//! | kernels of convolutions that are not contiguous | read as if they were | copied; of `conv1d` the copy is ignored | taken |
//! | strided operands of `gather`, `index_select`, `scatter` | an error | an error | taken |
//! | matrices of any strides and batches | an error for some | an error for some | taken |
//! | `index_select` by strided ids | taken | takes other elements | taken |
//! | `index_add` to elements behind others | taken | panics | taken |
//! | operations on no elements | done | by operation; for most an error of the launch | done |
//! | comparisons of `i16` and `i32` | there | an error | there |
//! | floats to `u8` | saturate | the lowest 8 of 32 bits | saturate |
//! | `copy2d` over rows of its own result | the last row stays | any row stays | the last row stays |
//! | mean pools of `f64` | in `f64` | the factor is rounded to `f32` | in `f64` |
//! | bilinear enlargement of integers | in `f64`, truncated | the same by fused multiply-adds, so that some differ by 1 | as the CPU |
//! | `upsample_nearest1d` | there | missing | there |
//! | `upsample_bilinear2d` to the same size | the whole storage | the view | the view |
//! | `set_seed` | an error | there | there; equal numbers on every device |
//! | memory of `alloc_uninit` | any contents | any contents | zeros until it is written |
//! | formats of bytes (`F8E8M0`, `F6E2M3`, `F6E3M2`, `F4`) | read back | read back | read back and cloned; operations are errors |
//!
//! The columns about candle are read from its sources. The tests compare with candle's CPU, and with the feature `cuda` with its CUDA
//! (`benches/h200/CANDLE.md`).
//!
//! # Costs
//! On `host:0` a call through the trait costs the calling thread more than the same call of tensor-core: 0.04 to 0.06 µs for an
//! operation on each element if the layouts are all of their storages, 0.14 to 0.25 µs with other layouts, and 0.23 to 0.32 µs for a
//! product (the example `overhead`, five runs on a busy machine; `benches/h200/CANDLE.md`).
//!
//! A clone of a storage takes the same time for any size, and the first write copies. Ids cost three small operations more
//! than tensor-core's own, for the id that stands for no element; `scatter_set` copies its tensor twice for it. candle splits
//! grouped convolutions before they come here, so that each group is a launch.
//!
//! # Limits
//! `QHipStorage` has no kernels for `Q8_1` and `Q8K`. Two devices that were made by [`HipDevice::from_device`] do not mix
//! their storages, although their locations are equal.
//!
//! [`BackendDevice`]: candle_core::backend::BackendDevice
//! [`BackendStorage`]: candle_core::backend::BackendStorage

mod backend;
mod device;
mod dtype;
mod error;
mod host;
mod layout;
mod location;
mod named;
pub mod nn;
mod open;
mod ops;
mod params;
mod quant;
mod storage;

pub use device::HipDevice;
pub use dtype::{candles, ours};
pub use error::converted;
pub use quant::QHipStorage;
pub use storage::HipStorage;
