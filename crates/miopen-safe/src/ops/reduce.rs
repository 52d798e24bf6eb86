//! Reductions.

use crate::raw::reduce as raw;
use crate::tensor::is_packed;
use crate::work::{Scratch, Work};
use crate::{Blend, DataType, Element, Error, Handle, ReductionDesc, Result, Tensor, TensorMut};
use hip_safe::DeviceViewMut;
use std::ffi::c_void;
use std::ptr::null_mut;

impl Handle {
    /// `c ←` the reduction of `a`: a dimension of `c` has `a`'s length, or length 1, and then that whole dimension of `a` is
    /// reduced. If the descriptor asks for indices, `indices` gets the index of the chosen element for each element of `c`; `c` is then contiguous.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes that do not match, indices that are missing or too short, or gaps in `c` beside indices; the error of memory, stream or library.
    #[doc(alias = "miopenReduceTensor")]
    pub fn reduce<T: Element>(
        &self,
        reduction: &ReductionDesc,
        blend: Blend,
        a: &Tensor<'_, T>,
        c: &mut TensorMut<'_, T>,
        mut indices: Option<DeviceViewMut<'_, u32>>,
    ) -> Result<()> {
        let (whole, part) = (a.desc().dims(), c.desc().dims());
        let fits = whole.len() == part.len()
            && whole.iter().zip(part).all(|(whole, part)| part == whole || *part == 1);
        if !fits {
            return Err(Error::mismatch(
                "the shape of a reduction's output, or 1 in a dimension",
                whole,
                part,
            ));
        }
        if reduction.reduction().indices {
            // MIOpen writes indices with the strides of `c`, but asks for memory only for as many indices as elements.
            is_packed("the output of a reduction with indices", c.desc())?;
        }
        let (bytes, index_bytes) = reduction.bytes(a.desc(), c.desc(), self)?;
        let wanted = if reduction.reduction().indices { c.desc().elements() } else { 0 };
        let given = indices.as_ref().map_or(0, DeviceViewMut::len);
        let missing = index_bytes > given * size_of::<u32>() || given < wanted;
        if missing || (wanted == 0 && given > 0) {
            return Err(Error::mismatch("the indices of a reduction", wanted.max(index_bytes / 4), given));
        }
        let (desc, a_desc, c_desc) = (reduction.on(self)?, a.desc().on(self)?, c.desc().on(self)?);
        let mut scratch = Scratch::new(self, bytes)?;
        let mut work = Work::new(self, "a reduction");
        let (a, c, space) = (work.read(a), work.write(c), work.scratch(&mut scratch));
        let positions = indices.as_mut().map_or(null_mut(), |indices| work.write_slice(indices));
        let factors = Factors::new::<T>(blend);
        let (alpha, beta) = (factors.at(0), factors.at(1));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; workspace and indices have the bytes asked
        // for, and the factors the type that the library reads.
        work.run(|m, h| unsafe {
            raw::reduce_tensor(
                m,
                h,
                desc,
                positions,
                given * size_of::<u32>(),
                space,
                bytes,
                alpha,
                a_desc,
                a,
                beta,
                c_desc,
                c,
            )
        })
    }
}

/// Two factors in the type that the library reads: doubles for tensors of doubles.
enum Factors {
    Single([f32; 2]),
    Double([f64; 2]),
}

impl Factors {
    fn new<T: Element>(blend: Blend) -> Self {
        if T::DATA_TYPE == DataType::F64 {
            Self::Double([blend.alpha.into(), blend.beta.into()])
        } else {
            Self::Single([blend.alpha, blend.beta])
        }
    }

    fn at(&self, which: usize) -> *const c_void {
        match self {
            Self::Single(factors) => std::ptr::from_ref(&factors[which]).cast(),
            Self::Double(factors) => std::ptr::from_ref(&factors[which]).cast(),
        }
    }
}
