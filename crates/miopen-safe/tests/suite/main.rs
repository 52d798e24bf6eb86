//! miopen-safe on the platform under test: hip-host, or the one that `HIPSTACK_TEST_PLATFORM` names.

mod attentions;
mod attentions_refused;
mod bad_input;
mod captures;
mod convolutions;
mod coverage;
mod elementwise;
mod failures;
mod lifetimes;
mod losses;
mod norms;
mod numbers;
mod others;
mod poolings;
mod recurrent;
mod reductions;
mod solutions;
mod strides;
mod under_test;
