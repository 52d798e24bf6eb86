//! Files: reading and writing tensors.

mod atomic;
pub mod npy;
mod npy_header;
pub mod safetensors;
mod safetensors_header;
