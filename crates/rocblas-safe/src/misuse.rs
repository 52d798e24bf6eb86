//! What must not compile: safe calls cannot make inputs and outputs overlap, nor outlive their memory.
//!
//! An output is borrowed exclusively.
//! ```compile_fail,E0502
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! # let handle = rocblas_safe::Handle::new(&stream).unwrap();
//! let mut x = stream.upload(&[1.0_f32; 4]).unwrap();
//! handle.axpy(2.0, &x, &mut x).unwrap();
//! ```
//!
//! The same holds for two parts of one buffer, unless the buffer was split.
//! ```compile_fail,E0502
//! # use rocblas_safe::{Layout::RowMajor, Matrix, MatrixMut};
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! # let handle = rocblas_safe::Handle::new(&stream).unwrap();
//! let mut x = stream.upload(&[1.0_f32; 8]).unwrap();
//! let a = Matrix::new(x.slice(..4).unwrap(), 2, 2, RowMajor).unwrap();
//! let c = MatrixMut::new(x.slice_mut(4..).unwrap(), 2, 2, RowMajor).unwrap();
//! handle.gemm(1.0, a, a, 0.0, c).unwrap();
//! ```
//!
//! Two outputs must be different.
//! ```compile_fail,E0499
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! # let handle = rocblas_safe::Handle::new(&stream).unwrap();
//! let mut x = stream.upload(&[1.0_f32; 4]).unwrap();
//! handle.swap(&mut x, &mut x).unwrap();
//! ```
//!
//! A matrix does not outlive its buffer.
//! ```compile_fail,E0505
//! # use rocblas_safe::{Layout::RowMajor, Matrix};
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! let x = stream.upload(&[1.0_f32; 4]).unwrap();
//! let a = Matrix::new(x.view(), 2, 2, RowMajor).unwrap();
//! drop(x);
//! println!("{a:?}");
//! ```
//!
//! A writable matrix cannot be copied.
//! ```compile_fail,E0382
//! # use rocblas_safe::{Layout::RowMajor, MatrixMut};
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! let mut x = stream.upload(&[1.0_f32; 4]).unwrap();
//! let a = MatrixMut::new(x.view_mut(), 2, 2, RowMajor).unwrap();
//! let (b, c) = (a, a);
//! ```
//!
//! There is no product of types that do not match: bytes are not summed in `f32`.
//! ```compile_fail,E0277
//! # use rocblas_safe::{Layout::RowMajor, Matrix, MatrixMut};
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! # let handle = rocblas_safe::Handle::new(&stream).unwrap();
//! let bytes = stream.upload(&[1_i8; 4]).unwrap();
//! let numbers = stream.upload(&[1.0_f32; 4]).unwrap();
//! let mut d = stream.upload(&[1.0_f32; 4]).unwrap();
//! let a = Matrix::new(bytes.view(), 2, 2, RowMajor).unwrap();
//! let c = Matrix::new(numbers.view(), 2, 2, RowMajor).unwrap();
//! handle.gemm_ex(1.0_f32, a, a, 0.0_f32, c, MatrixMut::new(d.view_mut(), 2, 2, RowMajor).unwrap()).unwrap();
//! ```
//!
//! The same holds for products of `lt`: an output is no input, also where the result is in a buffer's other half.
//! ```compile_fail,E0502
//! # use rocblas_safe::{Layout::RowMajor, Matrix, MatrixMut, lt::LtHandle};
//! # let platform = hip_host::platform();
//! # let device = hip_safe::Device::new(&platform, 0).unwrap();
//! # let (stream, lt) = (device.new_stream().unwrap(), LtHandle::new(&device).unwrap());
//! let mut x = stream.upload(&[1.0_f32; 8]).unwrap();
//! let a = Matrix::new(x.slice(..4).unwrap(), 2, 2, RowMajor).unwrap();
//! let d = MatrixMut::new(x.slice_mut(4..).unwrap(), 2, 2, RowMajor).unwrap();
//! lt.matmul(a, a, d).run(&stream).unwrap();
//! ```
//!
//! Types that the library does not multiply do not compile: floats of OCP and of CDNA 3, and an activation of integers.
//! ```compile_fail,E0277
//! # use rocblas_safe::{Layout::RowMajor, Matrix, MatrixMut, lt::{F8E4M3, F8E4M3Fnuz, LtHandle}};
//! # fn f(lt: &LtHandle, a: Matrix<'_, F8E4M3>, b: Matrix<'_, F8E4M3Fnuz>, d: MatrixMut<'_, f32>) {
//! lt.matmul(a, b, d);
//! # }
//! ```
//! ```compile_fail,E0599
//! # use rocblas_safe::{Layout::RowMajor, Matrix, MatrixMut, lt::LtHandle};
//! # fn f(lt: &LtHandle, a: Matrix<'_, i8>, d: MatrixMut<'_, i32>) {
//! lt.matmul(a, a, d).relu();
//! # }
//! ```
