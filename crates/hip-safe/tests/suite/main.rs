//! The crate's tests in one program: on hip-host, or on the platform that `HIPSTACK_TEST_PLATFORM` names.

mod adversary;
mod calls;
mod causes;
mod compiled;
mod devices;
mod events;
mod exit;
mod faults;
mod launch;
mod memory;
mod pinned;
mod shared;
mod threads;
mod under_test;
mod watched;
