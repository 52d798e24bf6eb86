//! The same tests on each platform: see [`under_test`].

mod bad_input;
mod between;
mod capture;
mod empty;
mod ends;
mod gaps;
mod grid;
mod handles;
mod hooks;
mod judge;
mod lacking;
mod level1;
mod level2;
mod level3;
mod line;
mod lt_calls;
mod lt_platforms;
mod lt_products;
mod lt_refusals;
mod lt_sample;
mod products;
mod sample;
mod scalars;
mod threads;
mod triangles;
mod under_test;
