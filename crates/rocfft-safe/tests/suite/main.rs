//! The same tests on each platform: see [`under_test`].

mod cache;
mod complex;
mod judge;
mod layouts;
mod misuse;
mod real;
mod streams;
mod under_test;
