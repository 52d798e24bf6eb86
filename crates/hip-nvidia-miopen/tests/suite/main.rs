//! MIOpen's C functions over cuDNN on a card, with results computed by hand. A machine without the driver, a card or
//! cuDNN skips all tests and
//! says so.

mod bench;
mod convolutions;
mod networks;
mod others;
mod problems;
mod solutions;
