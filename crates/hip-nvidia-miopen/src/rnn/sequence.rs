//! Descriptors of sequences.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::convert::{data_type, size_of_type};
use crate::descriptor::Descriptors;
use crate::entry::{entries, list, offer, offer_list};
use crate::library::{Out, check};
use crate::raw::{Lazy, RawSequence};
use crate::tensor::Tensor;
use crate::{BAD, Outcome};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock};

/// Sequences of vectors: `lengths[b]` vectors for sequence `b`.
pub(crate) struct Sequence {
    pub(super) kind: miopenDataType_t,
    pub(super) layout: miopenRNNBaseLayout_t,
    longest: c_int,
    pub(super) lengths: Vec<c_int>,
    pub(super) vector: c_int,
    /// The bytes that padding is filled with; `None` if padding is unchanged.
    marker: Option<[u8; 8]>,
    raw: Lazy<RawSequence>,
}

static SEQUENCES: LazyLock<Descriptors<Sequence>> = LazyLock::new(|| Descriptors::new(0x5c));

/// The sequences of a descriptor.
pub(super) fn sequence_of(handle: miopenSeqTensorDescriptor_t) -> Outcome<Arc<Sequence>> {
    SEQUENCES.get(handle)
}

impl Default for Sequence {
    fn default() -> Self {
        let layout = miopenRNNBaseLayout_t::miopenRNNDataUnknownLayout;
        Self::unchecked(miopenDataType_t::miopenFloat, layout, 0, Vec::new(), 0, None)
    }
}

impl Sequence {
    fn unchecked(
        kind: miopenDataType_t,
        layout: miopenRNNBaseLayout_t,
        longest: c_int,
        lengths: Vec<c_int>,
        vector: c_int,
        marker: Option<[u8; 8]>,
    ) -> Self {
        Self { kind, layout, longest, lengths, vector, marker, raw: Lazy::new() }
    }

    /// Sequences by time steps, the longest sequence first: a step has a vector for each sequence that is not over.
    pub(crate) fn of_steps(steps: &[Arc<Tensor>], padded: bool) -> Outcome<Self> {
        let first = steps.first().ok_or(BAD)?;
        // Vectors; further dimensions must have length 1.
        let rows = |step: &Tensor| match step.dims[..] {
            [batch, vector, ref rest @ ..] if rest.iter().all(|n| *n == 1) => Ok((batch, vector)),
            _ => Err(BAD),
        };
        let (batch, vector) = rows(first)?;
        let mut lengths = vec![0; batch];
        for step in steps {
            let (here, same) = rows(step)?;
            if same != vector || step.kind != first.kind || here > batch {
                return Err(BAD);
            }
            lengths[..here].iter_mut().for_each(|length| *length += 1);
        }
        let falling = steps.windows(2).all(|pair| pair[0].dims[0] >= pair[1].dims[0]);
        if !falling {
            return Err(BAD);
        }
        let layout = if padded {
            miopenRNNBaseLayout_t::miopenRNNDataSeqMajorPadded
        } else {
            miopenRNNBaseLayout_t::miopenRNNDataSeqMajorNotPadded
        };
        let int = |n: usize| c_int::try_from(n).map_err(|_| BAD);
        Ok(Self::unchecked(first.kind, layout, int(steps.len())?, lengths, int(vector)?, None))
    }

    pub(super) fn batch(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn is_padded(&self) -> bool {
        self.layout != miopenRNNBaseLayout_t::miopenRNNDataSeqMajorNotPadded
    }

    /// The number of vectors in a layout without padding.
    pub(super) fn vectors(&self) -> usize {
        self.lengths.iter().map(|n| usize::try_from(*n).unwrap_or(0)).sum()
    }

    pub(super) fn longest(&self) -> usize {
        usize::try_from(self.longest).unwrap_or(0)
    }

    /// cuDNN's descriptor.
    pub(crate) fn raw(&self) -> Outcome<sys::cudnnRNNDataDescriptor_t> {
        use sys::cudnnRNNDataLayout_t as L;
        let make = || {
            let layout = match self.layout {
                miopenRNNBaseLayout_t::miopenRNNDataSeqMajorNotPadded => {
                    L::CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED
                }
                miopenRNNBaseLayout_t::miopenRNNDataSeqMajorPadded => {
                    L::CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
                }
                miopenRNNBaseLayout_t::miopenRNNDataBatchMajorPadded => {
                    L::CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
                }
                _ => return Err(BAD),
            };
            let kind = data_type(self.kind)?;
            let mut marker = self.marker;
            let fill = marker.as_mut().map_or(std::ptr::null_mut(), |bytes| bytes.as_mut_ptr().cast());
            RawSequence::new(|library, raw| {
                let (longest, batch) = (self.longest, self.lengths.len() as c_int);
                // SAFETY: S1: a new descriptor, a length for each sequence, and a value of the type or null.
                check(unsafe {
                    (library.cudnnSetRNNDataDescriptor)(
                        raw,
                        kind,
                        layout,
                        longest,
                        batch,
                        self.vector,
                        self.lengths.as_ptr(),
                        fill,
                    )
                })
            })
        };
        self.raw.get(make).map(RawSequence::raw)
    }
}

type S = miopenSeqTensorDescriptor_t;
type Layout = miopenRNNBaseLayout_t;

entries! {
    fn miopenCreateSeqTensorDescriptor(out: *mut S) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { SEQUENCES.create(out) }
    }

    fn miopenDestroySeqTensorDescriptor(handle: S) {
        SEQUENCES.destroy(handle)
    }

    /// Without a marker padding is unchanged.
    fn miopenSetRNNDataSeqTensorDescriptor(
        handle: S, kind: miopenDataType_t, layout: Layout, longest: c_int, batch: c_int, vector: c_int,
        lengths: *const c_int, marker: Out,
    ) {
        let size = size_of_type(kind)?;
        let count = usize::try_from(batch).ok().filter(|n| *n > 0).ok_or(BAD)?;
        // SAFETY: S11: the caller's list has a length for each sequence.
        let lengths = unsafe { list(lengths, count) }?;
        let known = (1..=3).contains(&layout.0);
        if !known || longest < 1 || vector < 1 || lengths.iter().any(|n| *n < 1 || *n > longest) {
            return Err(BAD);
        }
        let mut bytes = [0; 8];
        let marker = (!marker.is_null()).then(|| {
            // SAFETY: S11: not null; the C contract puts a value of the type there.
            unsafe { marker.cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), size) };
            bytes
        });
        SEQUENCES.set(handle, Sequence::unchecked(kind, layout, longest, lengths, vector, marker))
    }

    /// Each pointer may be null.
    fn miopenGetRNNDataSeqTensorDescriptor(
        handle: S, kind: *mut miopenDataType_t, layout: *mut Layout, longest: *mut c_int, batch: *mut c_int,
        vector: *mut c_int, room: c_int, lengths: *mut c_int, marker: Out,
    ) {
        let sequence = sequence_of(handle)?;
        let room = usize::try_from(room).map_err(|_| BAD)?.min(sequence.lengths.len());
        // SAFETY: S11: the caller's output pointers for the results, with room for as many lengths as were asked for.
        unsafe {
            offer(kind, sequence.kind);
            offer(layout, sequence.layout);
            offer(longest, sequence.longest);
            offer(batch, sequence.lengths.len() as c_int);
            offer(vector, sequence.vector);
            offer_list(lengths, &sequence.lengths[..room]);
            if let Some(bytes) = sequence.marker {
                offer_list(marker.cast(), &bytes[..size_of_type(sequence.kind)?]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    fn steps(batches: &[usize]) -> Vec<Arc<Tensor>> {
        let step = |n: &usize| Arc::new(Tensor::new(miopenDataType_t::miopenFloat, &[*n, 7], None).unwrap());
        batches.iter().map(step).collect()
    }

    #[test]
    fn steps_tell_the_lengths() {
        let sequence = Sequence::of_steps(&steps(&[3, 2, 2, 1]), false).unwrap();
        assert_eq!((&sequence.lengths[..], sequence.longest(), sequence.vector), (&[4, 3, 1][..], 4, 7));
        assert_eq!((sequence.vectors(), sequence.batch(), sequence.is_padded()), (8, 3, false));
        assert!(Sequence::of_steps(&steps(&[2, 3]), false).is_err());
        assert!(Sequence::of_steps(&steps(&[3, 1, 2]), false).is_err());
        assert!(Sequence::of_steps(&[], false).is_err());
    }

    #[test]
    fn settings_read_back() {
        let mut handle = null_mut();
        let (mut kind, mut layout, mut longest, mut batch, mut vector) =
            (miopenDataType_t(0), Layout::miopenRNNDataUnknownLayout, 0, 0, 0);
        let (mut lengths, mut marker) = ([0; 3], 0_f32);
        let (mut fill, float) = (2.5_f32, miopenDataType_t::miopenFloat);
        // SAFETY: S11: a live variable.
        assert_eq!(unsafe { miopenCreateSeqTensorDescriptor(&mut handle) }.0, 0);
        let set = |layout, lengths: [c_int; 2], fill: Out| {
            // SAFETY: S11: a live descriptor, a list of two and a live value.
            unsafe {
                miopenSetRNNDataSeqTensorDescriptor(handle, float, layout, 5, 2, 7, lengths.as_ptr(), fill)
            }
        };
        let fill: Out = (&raw mut fill).cast();
        assert_eq!(set(Layout::miopenRNNDataBatchMajorPadded, [5, 4], fill).0, 0);
        assert_eq!(set(Layout::miopenRNNDataUnknownLayout, [5, 4], fill), BAD);
        assert_eq!(set(Layout::miopenRNNDataBatchMajorPadded, [6, 4], fill), BAD);
        // SAFETY: S11: live variables and room for three.
        let got = unsafe {
            miopenGetRNNDataSeqTensorDescriptor(
                handle,
                &mut kind,
                &mut layout,
                &mut longest,
                &mut batch,
                &mut vector,
                3,
                lengths.as_mut_ptr(),
                (&raw mut marker).cast(),
            )
        };
        assert_eq!(
            (got.0, kind, layout, longest, batch, vector),
            (0, float, Layout::miopenRNNDataBatchMajorPadded, 5, 2, 7)
        );
        assert_eq!((lengths, marker), ([5, 4, 0], 2.5));
    }
}
