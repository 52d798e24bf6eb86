//! Descriptors of sequences.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::sequence::{BATCH, SEQUENCES, STEPS, Sequences, TIGHT};
use crate::miopen::answer::{BAD, Outcome, answer, check, give, int, list, offer_list};
use crate::miopen::tensor::Kind;
use hip_sys::miopen::{miopenDataType_t, miopenRNNBaseLayout_t, miopenSeqTensorDescriptor_t, miopenStatus_t};
use std::ffi::{c_int, c_void};

pub(in crate::miopen) unsafe extern "C" fn miopenCreateSeqTensorDescriptor(
    place: *mut miopenSeqTensorDescriptor_t,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's place for the handle.
    answer(|| unsafe { SEQUENCES.create(place, Sequences::default()) })
}

pub(in crate::miopen) unsafe extern "C" fn miopenDestroySeqTensorDescriptor(
    descriptor: miopenSeqTensorDescriptor_t,
) -> miopenStatus_t {
    answer(|| SEQUENCES.destroy(descriptor))
}

pub(in crate::miopen) unsafe extern "C" fn miopenSetRNNDataSeqTensorDescriptor(
    descriptor: miopenSeqTensorDescriptor_t,
    dtype: miopenDataType_t,
    layout: miopenRNNBaseLayout_t,
    steps: c_int,
    batch: c_int,
    width: c_int,
    lens: *const c_int,
    filler: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        check([TIGHT, STEPS, BATCH].contains(&layout), BAD)?;
        let bytes = Kind::of(dtype).ok_or(BAD)?.bytes();
        let size = |value: c_int| usize::try_from(value).ok().filter(|&it| it > 0).ok_or(BAD);
        // SAFETY: S11: the C contract makes the list that long.
        let lens = unsafe { list(lens, batch) }.map_err(|_| BAD)?;
        let lens =
            lens.into_iter().map(|len| usize::try_from(len).map_err(|_| BAD)).collect::<Outcome<Vec<_>>>()?;
        let filler = (!filler.is_null()).then(|| {
            let mut value = [0; 8];
            // SAFETY: S11: not null, and an element by the C contract.
            unsafe { filler.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr(), bytes) };
            value
        });
        let it = Sequences { dtype, layout, steps: size(steps)?, lens, width: size(width)?, filler };
        check(it.lens.iter().all(|len| *len <= it.steps), BAD)?;
        SEQUENCES.set(descriptor, || Ok(it))
    })
}

pub(in crate::miopen) unsafe extern "C" fn miopenGetRNNDataSeqTensorDescriptor(
    descriptor: miopenSeqTensorDescriptor_t,
    dtype: *mut miopenDataType_t,
    layout: *mut miopenRNNBaseLayout_t,
    steps: *mut c_int,
    batch: *mut c_int,
    width: *mut c_int,
    most: c_int,
    lens: *mut c_int,
    filler: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let it = SEQUENCES.get(descriptor)?;
        let bytes = Kind::of(it.dtype).map_or(0, Kind::bytes);
        // SAFETY: S11: the caller's places, with room for as many lengths as it says, and for an element.
        unsafe {
            give(dtype, it.dtype)?;
            give(layout, it.layout)?;
            give(steps, int(it.steps))?;
            give(batch, int(it.lens.len()))?;
            give(width, int(it.width))?;
            offer_list(lens, it.lens.into_iter().take(usize::try_from(most).unwrap_or(0)));
            if let Some(value) = it.filler
                && !filler.is_null()
            {
                filler.cast::<u8>().copy_from_nonoverlapping(value.as_ptr(), bytes);
            }
        }
        Ok(())
    })
}
