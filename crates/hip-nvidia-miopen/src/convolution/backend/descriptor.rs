//! Owned descriptors of cuDNN's backend: attributes are set, then the descriptor is finalized and read-only.

use crate::Outcome;
use crate::library::{Code, Out, check, cudnn};
use cudarc::cudnn::sys;
use std::ffi::c_void;
use std::ptr::null_mut;
use sys::cudnnBackendAttributeName_t as Name;
use sys::cudnnBackendAttributeType_t as Type;
use sys::cudnnBackendDescriptorType_t as Kind;

/// A type that attributes can have.
///
/// # Safety
/// The type has the size and the meaning of the elements of an attribute of `TYPE`.
pub(super) unsafe trait Element: Copy {
    const TYPE: Type;
}

/// Another descriptor, as an attribute.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Reference(sys::cudnnBackendDescriptor_t);

/// Device memory, as an attribute.
#[derive(Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(super) struct Memory(pub(super) Out);

/// A numerical note of an engine, as cuDNN's number: newer versions have notes that our list lacks.
#[derive(Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(super) struct Note(pub(super) u32);

macro_rules! elements {
    ($($element:ty => $name:ident;)*) => {
        // SAFETY: S14: numbers of 64 and 32 bits, an address, or an enum of cuDNN's, as its header has them.
        $(unsafe impl Element for $element {
            const TYPE: Type = Type::$name;
        })*
    };
}

elements! {
    i64 => CUDNN_TYPE_INT64;
    f32 => CUDNN_TYPE_FLOAT;
    Reference => CUDNN_TYPE_BACKEND_DESCRIPTOR;
    Memory => CUDNN_TYPE_VOID_PTR;
    Note => CUDNN_TYPE_NUMERICAL_NOTE;
    sys::cudnnHandle_t => CUDNN_TYPE_HANDLE;
    sys::cudnnDataType_t => CUDNN_TYPE_DATA_TYPE;
    sys::cudnnConvolutionMode_t => CUDNN_TYPE_CONVOLUTION_MODE;
    sys::cudnnBackendHeurMode_t => CUDNN_TYPE_HEUR_MODE;
}

const _: () = assert!(size_of::<Note>() == size_of::<sys::cudnnBackendNumericalNote_t>());

/// A descriptor.
pub(super) struct Descriptor(sys::cudnnBackendDescriptor_t);

impl Descriptor {
    pub(super) fn new(kind: Kind) -> Outcome<Self> {
        let mut raw = null_mut();
        // SAFETY: S1: a live variable for the result.
        check(unsafe { (cudnn()?.cudnnBackendCreateDescriptor)(kind, &mut raw) })?;
        Ok(Self(raw))
    }

    pub(super) fn raw(&self) -> sys::cudnnBackendDescriptor_t {
        self.0
    }

    pub(super) fn reference(&self) -> Reference {
        Reference(self.0)
    }

    pub(super) fn set<E: Element>(&self, name: Name, values: &[E]) -> Outcome {
        let first = values.as_ptr().cast::<c_void>();
        // SAFETY: S1: a live descriptor and so many elements of the type, which cuDNN copies.
        check(unsafe {
            (cudnn()?.cudnnBackendSetAttribute)(self.0, name, E::TYPE, values.len() as i64, first)
        })
    }

    /// Sets an attribute and returns the descriptor.
    pub(super) fn with<E: Element>(self, name: Name, values: &[E]) -> Outcome<Self> {
        self.set(name, values).map(|()| self)
    }

    /// Finalizes the descriptor, which is then read-only.
    pub(super) fn finalized(self) -> Outcome<Self> {
        // SAFETY: S1: a live descriptor.
        check(unsafe { (cudnn()?.cudnnBackendFinalize)(self.0) })?;
        Ok(self)
    }

    /// The number of elements of an attribute.
    pub(super) fn count<E: Element>(&self, name: Name) -> Outcome<usize> {
        let mut count = 0;
        // SAFETY: S1: a live descriptor and a live variable; no element is asked for.
        check(unsafe {
            (cudnn()?.cudnnBackendGetAttribute)(self.0, name, E::TYPE, 0, &mut count, null_mut())
        })?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Reads an attribute into the values, and returns how many there are.
    pub(super) fn read<E: Element>(&self, name: Name, values: &mut [E]) -> Outcome<usize> {
        let (room, mut count) = (values.len(), 0);
        let first = values.as_mut_ptr().cast::<c_void>();
        // SAFETY: S1: a live descriptor, a live variable, and room for so many elements of the type.
        check(unsafe {
            (cudnn()?.cudnnBackendGetAttribute)(self.0, name, E::TYPE, room as i64, &mut count, first)
        })?;
        Ok(usize::try_from(count).unwrap_or(0).min(room))
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if let Ok(library) = cudnn() {
            // SAFETY: S4: the only owner ends. Calls that were made with it have read it already.
            let _: Code = unsafe { (library.cudnnBackendDestroyDescriptor)(self.0) };
        }
    }
}
