//! Misuse.
