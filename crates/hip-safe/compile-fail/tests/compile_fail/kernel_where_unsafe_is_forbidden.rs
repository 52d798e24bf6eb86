//! The promise that a kernel stays inside its arguments is an unsafe block: where those are forbidden there is none.
#![forbid(unsafe_code)]

hip_safe::kernel! {
    kernel Set = "set"(out: &mut [f32])
    audit unsafe { "it writes one element" }
    require { !out.is_empty() }
}

fn main() {}
