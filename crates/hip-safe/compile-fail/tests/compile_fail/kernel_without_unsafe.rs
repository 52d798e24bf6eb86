//! An audit without the word is no promise.
hip_safe::kernel! {
    kernel Set = "set"(out: &mut [f32])
    audit "it writes one element"
}

hip_safe::kernel! {
    kernel Fill = "fill"(out: &mut [f32])
    audit safe { "it writes one element" }
}

hip_safe::kernel! {
    unsafe kernel Former = "former"(out: &mut [f32])
    audit "it writes one element"
}

fn main() {}
