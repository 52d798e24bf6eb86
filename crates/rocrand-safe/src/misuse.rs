//! What must not compile.
//!
//! Two threads do not draw from a generator at the same time: drawing borrows it exclusively.
//! ```compile_fail,E0596
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! # let mut numbers = stream.alloc_zeros::<f32>(4).unwrap();
//! let generator = rocrand_safe::Generator::new(&stream, rocrand_safe::Kind::Xorwow).unwrap();
//! std::thread::scope(|scope| scope.spawn(|| (&generator).fill_uniform(&mut numbers)));
//! ```
//!
//! There are no uniform integers beside bits.
//! ```compile_fail,E0277
//! # let platform = hip_host::platform();
//! # let stream = hip_safe::Device::new(&platform, 0).unwrap().new_stream().unwrap();
//! # let mut generator = rocrand_safe::Generator::new(&stream, rocrand_safe::Kind::Xorwow).unwrap();
//! let mut numbers = stream.alloc_zeros::<u32>(4).unwrap();
//! generator.fill_uniform(&mut numbers).unwrap();
//! ```
