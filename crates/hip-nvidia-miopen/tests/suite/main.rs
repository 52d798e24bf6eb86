//! MIOpen's C functions over cuDNN on a card, with results made by hand. A machine without the driver, a card or
//! cuDNN runs none of it and
//! says so.

mod bench;
mod convolutions;
mod networks;
mod others;
mod problems;
mod solutions;
