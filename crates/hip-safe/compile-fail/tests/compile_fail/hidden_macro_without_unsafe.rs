//! The hidden macro with another word instead of the promise.
use hip_safe::Source;

hip_safe::__kernel_arguments! {
    [
        [] [pub] Forged "k" [Source::new("extern \"C\" __global__ void k(char* a) { *a = 1; }")]
        [unsafe { "no promise" }] [loop { "no promise" }]
        [] []
    ]
    []
    a: &[u8]
}

fn main() {}
