//! Compiles loops twice: for any machine, and for the vector instructions that most have.
//!
//! Both give the same bits, except for which NaN results from several. The compiler neither reorders floating-point
//! operations nor fuses a product and a sum. An explicit fused operation, `mul_add`, is an instruction in one version
//! and a call of the system's library in the other.

/// Runs `work`, compiled for AVX2 and FMA if this machine has them, else for any machine.
///
/// Only inlined code gets these instructions: `work` is a closure marked `#[inline(always)]`, and so are the functions
/// in its loops.
#[inline(always)]
pub(super) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: S22: both were just found.
        return unsafe { with_avx2_and_fma(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2_and_fma<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_and_with_the_same_bits() {
        let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.37 - 100.0).collect();
        let line = |x: f32| x * 1.7 + 0.3;
        let mut calls = 0;
        let here = vectorised(
            #[inline(always)]
            || {
                calls += 1;
                x.iter().map(|x| line(*x)).collect::<Vec<_>>()
            },
        );
        assert_eq!(calls, 1);
        assert!(here.iter().zip(&x).all(|(y, x)| y.to_bits() == (x * 1.7 + 0.3).to_bits()));
        let fused: f32 = vectorised(
            #[inline(always)]
            || x[1].mul_add(1.7, 0.3),
        );
        assert_eq!(fused.to_bits(), x[1].mul_add(1.7, 0.3).to_bits());
    }
}
