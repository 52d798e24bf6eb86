//! The same tests on each platform: see [`under_test`].

mod kinds;
mod misuse;
mod moments;
mod sequences;
mod streams;
mod under_test;
mod words;
