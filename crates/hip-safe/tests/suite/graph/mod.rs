//! Graphs: captures, launches, what a graph owns, and calls that fail.

mod capture;
mod faults;
mod kept;
mod memory;
mod threads;
