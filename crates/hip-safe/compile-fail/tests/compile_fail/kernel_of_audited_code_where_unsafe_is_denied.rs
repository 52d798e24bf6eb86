//! As where unsafe blocks are forbidden, also for code that comes with the promise.
#![deny(unsafe_code)]
use hip_safe::Source;

hip_safe::kernel! {
    pub kernel Set = "set"(out: &mut [f32])
    of { Source::new("extern \"C\" __global__ void set(float* out) { *out = 1; }") }
    audit unsafe { "it writes one element" }
    require { !out.is_empty() }
}

fn main() {}
