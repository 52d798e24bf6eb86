//! Where the largest and the smallest elements are.

use super::reduce;
use crate::plan::Plan;
use crate::raw::{Call, Failure, Operand};
use crate::{Blas, Error, Handle, Result, VectorBatch, convert};
use hip_safe::DeviceViewMut;
use std::ffi::c_void;

type Raw = unsafe fn(&Call<'_>, i64, Operand, *mut c_void) -> Result<(), Failure>;

macro_rules! extreme {
    ($name:ident $name_batch:ident $name_into:ident, $what:literal, [$($alias:literal),+]) => {
        impl Handle {
            #[doc = concat!("The index, from 0, of the first element of the ", $what, " absolute value; of complex numbers, of |real part| + |imaginary")]
            /// part|. None if there are no elements. It waits for the result. Which index NaNs lead to is the library's choice.
            ///
            /// # Errors
            /// [`Error::NotSupported`] for a negative increment; [`Error::BatchCount`] for a batch; the errors of a call; [`Error::Hip`] while the
            /// stream captures.
            $(#[doc(alias = $alias)])+
            pub fn $name<'a, T: Blas>(&self, x: impl Into<VectorBatch<'a, T>>) -> Result<Option<usize>> {
                let x = x.into();
                if x.count() != 1 {
                    return Err(Error::BatchCount { op: stringify!($name), expected: 1, got: x.count() });
                }
                reduce::single(stringify!($name), &self.$name_batch(x)?)
            }

            #[doc = concat!("As [`Handle::", stringify!($name), "`], one index for each member.")]
            ///
            /// # Errors
            /// As there.
            pub fn $name_batch<'a, T: Blas>(&self, x: impl Into<VectorBatch<'a, T>>) -> Result<Vec<Option<usize>>> {
                to_host(self, stringify!($name), x.into(), T::$name)
            }

            #[doc = concat!("As [`Handle::", stringify!($name), "`], into device memory: an element for each member, as C counts: from 1, and 0 if there are none.")]
            ///
            /// # Errors
            /// [`Error::ScalarLen`]; [`Error::NotSupported`] for vectors or increments beyond 32 bits; and as there.
            pub fn $name_into<'a, T: Blas>(
                &self,
                x: impl Into<VectorBatch<'a, T>>,
                result: DeviceViewMut<'a, i32>,
            ) -> Result<()> {
                into(self, stringify!($name), x.into(), result, T::$name)
            }
        }
    };
}

extreme!(iamax iamax_batch iamax_into, "largest",
    ["rocblas_isamax", "rocblas_idamax", "rocblas_icamax", "rocblas_izamax"]);
extreme!(iamin iamin_batch iamin_into, "smallest",
    ["rocblas_isamin", "rocblas_idamin", "rocblas_icamin", "rocblas_izamin"]);

/// The plan, the number of elements, and whether the library's results are 32 bits wide.
fn plan<'a, T: Blas>(op: &'static str, x: VectorBatch<'a, T>) -> Result<(Plan<'a>, i64, bool)> {
    if x.line.inc < 0 {
        let remedy = "take the vector the other way round, and count from its end";
        return Err(Error::NotSupported { op, what: "a negative increment", remedy });
    }
    let sizes = [x.len(), x.line.inc.unsigned_abs(), x.count()];
    let narrow = sizes.iter().all(|&size| i32::try_from(size).is_ok());
    let n = convert::size(x.len());
    let mut plan = Plan::new(op);
    plan.read_vector(x)?;
    if !narrow {
        // As one member alone may have sizes for 32 bits.
        plan.wide();
    }
    Ok((plan, n, narrow))
}

fn to_host<T: Blas>(
    handle: &Handle,
    op: &'static str,
    x: VectorBatch<'_, T>,
    raw: Raw,
) -> Result<Vec<Option<usize>>> {
    let (plan, n, narrow) = plan(op, x)?;
    let call = |call: &Call<'_>, o: &[Operand]| {
        // SAFETY: S2: the vector has that many elements, and each member a result of the width that follows from the sizes.
        unsafe { raw(call, n, o[0], call.result) }
    };
    // SAFETY: S2: as above.
    let indices: Vec<i64> = unsafe {
        if narrow {
            reduce::to_host::<i32>(handle, plan, call)?.into_iter().map(i64::from).collect()
        } else {
            reduce::to_host::<i64>(handle, plan, call)?
        }
    };
    // C counts from 1.
    Ok(indices.into_iter().map(|index| usize::try_from(index).ok()?.checked_sub(1)).collect())
}

fn into<'a, T: Blas>(
    handle: &Handle,
    op: &'static str,
    x: VectorBatch<'a, T>,
    result: DeviceViewMut<'a, i32>,
    raw: Raw,
) -> Result<()> {
    let (plan, n, narrow) = plan(op, x)?;
    if !narrow {
        let remedy = "take the result to the host, or split the vector";
        return Err(Error::NotSupported { op, what: "an index on the device beyond 32 bits", remedy });
    }
    // SAFETY: S2: the vector has that many elements, and each member a result of 32 bits, as the sizes have.
    unsafe { reduce::into(handle, plan, result, |call, o| raw(call, n, o[0], call.result)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Vector, raw::Level1Calls};
    use hip_safe::{Device, Platform};
    use hip_sys::{LoadError, Optional, Rocblas, RocblasTable};
    use std::sync::Arc;

    /// The host's library without functions of `iamax` on addresses.
    fn library() -> Result<Rocblas, LoadError> {
        let real = hip_host::platform();
        let library = crate::library(&real).map_err(Clone::clone)?;
        let table = RocblasTable {
            rocblas_isamax_batched: RocblasTable::not_implemented().rocblas_isamax_batched,
            rocblas_isamax_batched_64: Optional::absent("rocblas_isamax_batched_64", "6.1"),
            ..library.table().clone()
        };
        // SAFETY: S1: the functions are the real library's, or answer that they are not implemented.
        Ok(unsafe { Rocblas::from_table(library.version(), "a part of it".into(), table) })
    }

    /// A batch may be beyond 32 bits by its count alone, which is too many to have here: then its results are wide, and so are those of
    /// its members.
    #[test]
    fn members_of_a_batch_beyond_32_bits_write_its_wide_results() {
        let real = hip_host::platform();
        let rtc = Err(LoadError::NotProvided { library: "a compiler", reason: "none is needed" });
        let hip = real.hip().clone();
        // SAFETY: S1, S11: the functions are the real platform's, and the library is made of its library's.
        let platform = unsafe {
            let platform = Platform::from_tables(real.kind, real.raw_version, hip, rtc, *real.ext());
            platform.library(library).unwrap();
            platform
        };
        let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
        let handle = Handle::with_workspace(&stream, 1 << 20).unwrap();
        let x = stream.upload(&[1.0_f32, -5.0, 2.0, 7.0]).unwrap();
        let pair = |at: usize| Vector::new(x.slice(at..at + 2).unwrap());
        let batch = VectorBatch::from_vectors([pair(2), pair(0), pair(1)]).unwrap();
        let (mut plan, n, narrow) = plan("iamax", batch).unwrap();
        assert!(narrow);
        plan.wide();
        // What is not written shows in the upper half.
        let mut results = stream.upload(&[-1_i64; 3]).unwrap();
        // SAFETY: S2: the vectors have that many elements, and the results are of 64 bits.
        let done = unsafe {
            reduce::into(&handle, plan, results.view_mut(), |call, o| f32::iamax(call, n, o[0], call.result))
        };
        done.unwrap();
        assert_eq!(stream.download(&results).unwrap(), [2, 2, 1]);
    }
}
