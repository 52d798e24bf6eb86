//! The search for algorithms.

use crate::convert::{Outcome, done};
use crate::functions::{Heuristic, Raw};
use crate::library::cublaslt;
use crate::product::Descriptors;
use cudarc::cublaslt::sys::cublasLtMatmulPreferenceAttributes_t as preferred;
use std::ffi::c_int;
use std::ptr::{from_ref, null_mut};

/// What an algorithm has to do with.
#[derive(Default)]
pub(super) struct Wanted {
    /// The most memory that it may use.
    pub(super) work_bytes: u64,
    /// The alignments of a, b, c and d, if they are not those that cuBLASLt takes for granted.
    pub(super) alignments: Option<[u32; 4]>,
    /// Bits of `cublasLtReductionScheme_t`: how parts of a sum may be added, if not in every way.
    pub(super) reductions: Option<u32>,
}

/// Finds up to as many algorithms as there is room for, and says how many.
pub(super) fn search(
    handle: Raw,
    made: &Descriptors,
    wanted: &Wanted,
    found: &mut [Heuristic],
) -> Outcome<usize> {
    let (mut count, [a, b, c, d]) = (0, made.layouts);
    let room = c_int::try_from(found.len()).unwrap_or(c_int::MAX);
    with_preference(wanted, |preferred| {
        let results = found.as_mut_ptr();
        // SAFETY: S1, S11: live descriptors, and room for as many results as are asked for.
        done(unsafe {
            (cublaslt().cublasLtMatmulAlgoGetHeuristic)(
                handle,
                made.product,
                a,
                b,
                c,
                d,
                preferred,
                room,
                results,
                &mut count,
            )
        })
    })?;
    Ok(usize::try_from(count).unwrap_or_default().min(found.len()))
}

/// Calls something with cuBLASLt's preference.
fn with_preference<R>(wanted: &Wanted, act: impl FnOnce(Raw) -> Outcome<R>) -> Outcome<R> {
    let Wanted { work_bytes, alignments, reductions } = wanted;
    let (functions, mut raw) = (cublaslt(), null_mut());
    // SAFETY: S1: a live variable.
    done(unsafe { (functions.cublasLtMatmulPreferenceCreate)(&mut raw) })?;
    let set = |attribute: preferred, value, bytes| {
        // SAFETY: S1: the descriptor is live, and the value has the size given.
        done(unsafe { (functions.cublasLtMatmulPreferenceSetAttribute)(raw, attribute as u32, value, bytes) })
    };
    let least = [
        preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
    ];
    let answer = set(preferred::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, from_ref(work_bytes).cast(), 8)
        .and_then(|()| {
            let mut pairs = least.into_iter().zip(alignments.iter().flatten());
            pairs.try_for_each(|(attribute, bytes)| set(attribute, from_ref(bytes).cast(), 4))
        })
        .and_then(|()| {
            let set = |bits: &u32| {
                set(preferred::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, from_ref(bits).cast(), 4)
            };
            reductions.as_ref().map_or(Ok(()), set)
        })
        .and_then(|()| act(raw));
    // SAFETY: S1, S4: nobody else has it.
    unsafe { (functions.cublasLtMatmulPreferenceDestroy)(raw) };
    answer
}
