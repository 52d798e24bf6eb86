//! What must not compile.
//!
//! One buffer as input and output, which needs a plan in place:
//!
//! ```compile_fail,E0502
//! # use rocfft_safe::{Complex, Plan};
//! # fn transform(plan: &Plan<f32>, stream: &hip_safe::Stream, mut x: hip_safe::DeviceBuffer<Complex<f32>>) {
//! plan.complex(stream, &x, &mut x);
//! # }
//! ```
//!
//! The same of two parts of one buffer, which may overlap:
//!
//! ```compile_fail,E0499
//! # use rocfft_safe::{Complex, Plan};
//! # fn transform(plan: &Plan<f32>, stream: &hip_safe::Stream, mut x: hip_safe::DeviceBuffer<Complex<f32>>) {
//! let (mut front, mut back) = (x.slice_mut(..5).unwrap(), x.slice_mut(3..).unwrap());
//! plan.complex(stream, &front, &mut back);
//! # }
//! ```
//!
//! Numbers of another precision than the plan's:
//!
//! ```compile_fail,E0271
//! # use rocfft_safe::{Complex, Plan};
//! # fn transform(plan: &Plan<f32>, stream: &hip_safe::Stream, mut x: hip_safe::DeviceBuffer<Complex<f64>>) {
//! plan.in_place(stream, &mut x);
//! # }
//! ```
