//! miopen-safe on the platform under test: hip-host, or the one that `HIPSTACK_TEST_PLATFORM` names.

mod bad_input;
mod captures;
mod convolutions;
mod elementwise;
mod lifetimes;
mod numbers;
mod poolings;
mod solutions;
mod under_test;
