//! The search for algorithms.

use crate::convert::{Outcome, done};
use crate::functions::{Heuristic, Raw};
use crate::handle::Handle;
use crate::library::cublaslt;
use crate::product::Descriptors;
use cudarc::cublaslt::sys::cublasLtMatmulPreferenceAttributes_t as preferred;
use std::ffi::c_int;
use std::ptr::{from_ref, null_mut};

/// Finds up to as many algorithms as there is room for, and says how many. `alignments` are those of a, b, c and d, if they are not those that
/// cuBLASLt takes for granted.
pub(super) fn search(
    handle: &Handle,
    made: &Descriptors,
    work_bytes: u64,
    alignments: Option<[u32; 4]>,
    found: &mut [Heuristic],
) -> Outcome<usize> {
    let (mut count, [a, b, c, d]) = (0, made.layouts);
    let room = c_int::try_from(found.len()).unwrap_or(c_int::MAX);
    with_preference(work_bytes, alignments, |preferred| {
        let results = found.as_mut_ptr();
        // SAFETY: S1, S11: live descriptors, and room for as many results as are asked for.
        done(unsafe {
            (cublaslt().cublasLtMatmulAlgoGetHeuristic)(
                handle.raw,
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
fn with_preference<R>(
    work_bytes: u64,
    alignments: Option<[u32; 4]>,
    act: impl FnOnce(Raw) -> Outcome<R>,
) -> Outcome<R> {
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
    let answer = set(preferred::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, from_ref(&work_bytes).cast(), 8)
        .and_then(|()| {
            let mut pairs = least.into_iter().zip(alignments.iter().flatten());
            pairs.try_for_each(|(attribute, bytes)| set(attribute, from_ref(bytes).cast(), 4))
        })
        .and_then(|()| act(raw));
    // SAFETY: S1, S4: nobody else has it.
    unsafe { (functions.cublasLtMatmulPreferenceDestroy)(raw) };
    answer
}
