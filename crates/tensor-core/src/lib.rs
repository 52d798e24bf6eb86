//! Tensors: ten dtypes, any rank, any strides, on the CPU and on HIP devices, with the same meaning everywhere.
//!
//! ```
//! use tensor_core::{DType, Device, Tensor};
//!
//! # fn main() -> tensor_core::Result<()> {
//! let device = Device::Cpu;
//! let x = Tensor::new([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &device)?;
//! let bias = Tensor::new([10f32, 20.0, 30.0], &device)?;
//!
//! // Operations return a `Result` and broadcast.
//! let y = (&x + &bias)?;
//! assert_eq!(y.to_vec2::<f32>()?, [[11.0, 22.0, 33.0], [14.0, 25.0, 36.0]]);
//!
//! // Views copy nothing; matmul reads strided operands in place.
//! let gram = x.matmul(&x.t()?)?;
//! assert_eq!(gram.to_vec2::<f32>()?, [[14.0, 32.0], [32.0, 77.0]]);
//!
//! // A clone increments a reference count; the first write to it copies.
//! let mut z = x.clone();
//! z.affine_(2.0, 0.0)?;
//! assert_eq!(x.sum_all()?.to_vec0::<f32>()?, 21.0);
//! assert_eq!(z.sum_all()?.to_vec0::<f32>()?, 42.0);
//!
//! println!("{}", z.to_dtype(DType::F16)?); // as PyTorch prints it
//!
//! // An error says why an operation does not work.
//! let error = x.matmul(&bias.unsqueeze(0)?).unwrap_err();
//! assert_eq!(error.to_string(), "matmul: inner dimensions differ: [2, 3] x [1, 3] on cpu");
//! # Ok(())
//! # }
//! ```
//!
//! # Parts
//! - [`Tensor`] = shared [`Storage`] + [`Layout`]. The layout is a [`Shape`], strides and an offset, all inline up to
//!   rank 8.
//! - [`DType`] names the ten element types at run time, [`Element`] at compile time; [`Scalar`] is a number without a
//!   dtype.
//! - [`UnaryOp`], [`ScalarOp`], [`BinaryOp`], [`CmpOp`], [`ReduceOp`] are operations as data, with the names of their
//!   kernels. All others are methods of [`Tensor`]: indexing ([`IndexOp`] has `i`), sorts and running sums, statistics,
//!   joins and splits, convolutions and pools, normalisation, rotary embeddings and attention.
//! - [`Generator`] is the state of random numbers: a seed, and the number of draws made from it.
//! - [`CustomOp1`] and its siblings are operations of the user's own; [`HipDevice::compile`] compiles kernels for them.
//! - [`QTensor`] has numbers in ggml's block formats ([`QuantFormat`]), which products and lookups read as they are.
//! - [`safetensors`] and [`npy`] read and write files, and [`npz`] reads them; a damaged file is an [`Error`]. [`file`](mod@file) has what other formats
//!   are read and written with, and [`Upload`] brings data to a device through page-locked memory.
//!
//! # Meaning
//! Floats of 16 and 8 bits are computed in `f32` and rounded once, to nearest even. Sums are pairwise. Min, max, relu
//! and clamp propagate NaN, and order −0 below +0. Sorts are stable, and NaN is the largest value. Integers wrap, and
//! division by zero is 0. Scalar arguments are rounded to the dtype first. Random numbers have the same bits on every
//! device. An id out of range is [`ErrorKind::IdOutOfRange`]; on a HIP device the next read or `synchronize` returns
//! it. `docs/MEANING.md` has the whole list and names the test of each rule.
//!
//! # Limits
//! The crate has no gradients. Each device uses a single stream of its own, and an [`Upload`] may have another one. The interface is the same for all vendors.

#[cfg(target_endian = "big")]
compile_error!("tensor-core reads and writes little-endian memory, as every HIP device has");

mod activation;
mod axis;
mod cpu;
mod custom_op;
mod device;
mod display;
pub mod dlpack;
mod dtype;
mod element;
mod error;
mod float8;
mod hip;
mod hole;
mod io;
mod layout;
mod memory;
mod ops;
mod pages;
mod plan;
mod quant;
mod random;
mod rounding;
mod scalar;
mod shape;
mod storage;
mod tensor;
mod token_rows;
mod upload;
mod window;

pub use activation::Activation;
pub use axis::{Axes, Axis, D};
pub use cpu::CpuStorage;
pub use custom_op::{CustomOp1, CustomOp2, CustomOp3, InplaceOp1, InplaceOp2, InplaceOp3};
pub use device::Device;
pub use dtype::DType;
pub use element::Element;
pub use error::{Error, ErrorKind, Result};
pub use float8::F8E4M3;
pub use half::{bf16, f16};
pub use hip::{CodeOrigin, HipDevice, HipStorage, QHipStorage};
pub use hole::ShapeWithHole;
pub use io::{file, npy, npz, safetensors};
pub use layout::{Collapsed, Layout, collapse};
pub use ops::{BinaryOp, CmpOp, ReduceOp, ScalarOp, UnaryOp};
pub use pages::Pages;
pub use quant::{QActivations, QCpuStorage, QStorage, QTensor, QuantFormat};
pub use random::Generator;
pub use scalar::Scalar;
pub use shape::Shape;
pub use storage::Storage;
pub use tensor::{Conv1dConfig, Conv2dConfig, Pool2dConfig, ToUsize2};
pub use tensor::{IndexOp, Nested, Operand, Tensor, TensorIndexer, copies_on_write};
pub use token_rows::TokenRows;
pub use upload::Upload;
