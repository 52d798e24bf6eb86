//! Code: run-time compilation and modules.

mod compile;
mod compiled;
mod modules;
