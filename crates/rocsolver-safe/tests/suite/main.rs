//! The same tests on each platform: see [`under_test`].

mod anywhere;
mod definite;
mod dense;
mod general;
mod least_squares;
mod misuse;
mod operand;
mod orthogonal;
mod spectra;
mod streams;
mod under_test;
