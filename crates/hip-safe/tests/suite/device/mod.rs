//! Devices: identity, limits, access between two of them, which calls are made, and what is left of a device after errors.

mod calls;
mod causes;
mod exit;
mod faults;
mod identity;
mod last_error;
mod library_handle;
mod limits;
mod peers;
