//! The same tests on each platform: see [`under_test`].

mod convert;
mod judge;
mod matrices;
mod misuse;
mod numbers;
mod overflow;
mod products;
mod solve;
mod streams;
mod under_test;
mod vectors;
