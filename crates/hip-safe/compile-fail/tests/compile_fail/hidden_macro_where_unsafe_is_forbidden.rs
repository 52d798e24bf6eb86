//! What `kernel!` expands to is unsafe by the caller's word alone: the hidden macro gives nobody a launch without it.
#![forbid(unsafe_code)]
use hip_safe::Source;

hip_safe::__kernel_arguments! {
    [
        [] [pub] Forged "k" [Source::new("extern \"C\" __global__ void k(char* a) { *a = 1; }")]
        [unsafe { "no promise" }] [unsafe { "no promise" }]
        [] []
    ]
    []
    a: &[u8]
}

struct Loaded {
    #[allow(dead_code)]
    function: hip_safe::__kernel::Audited,
}

impl Loaded {
    hip_safe::__kernel_load! { [unsafe { "no promise" }] [pub] "k" [Source::new("")] [read [u8]] }
}

fn main() {}
