//! Launches: arguments and their checks, `kernel!`, occupancy, and cooperative launches.

mod builder;
mod cooperative;
mod kernel_macro;
mod launch_buffers;
mod occupancy;
