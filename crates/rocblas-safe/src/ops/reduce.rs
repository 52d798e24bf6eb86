//! The common part of reductions: results in device memory or on the host.

use crate::plan::Plan;
use crate::raw::{Call, Failure, Operand};
use crate::{Error, Handle, Result};
use hip_safe::{AnyBits, DeviceViewMut};

/// Submits a reduction that writes one result for each member.
///
/// # Safety
/// As for [`Plan::submit`]; the call writes a result of type `R` for each member to [`Call`]'s `result`.
pub(super) unsafe fn into<'a, R: AnyBits>(
    handle: &Handle,
    mut plan: Plan<'a>,
    result: DeviceViewMut<'a, R>,
    call: impl Fn(&Call<'_>, &[Operand]) -> Result<(), Failure>,
) -> Result<()> {
    let wanted = plan.batch_count()?.unwrap_or(1);
    if result.len() != wanted {
        return Err(Error::ScalarLen { what: "a result", wanted, got: result.len() });
    }
    plan.on_device();
    plan.results(result)?;
    // SAFETY: S2: there is room for the results; the caller vouches for the rest.
    unsafe { plan.submit(handle, call) }
}

/// The results. Waits for them.
///
/// # Safety
/// As for [`into`].
pub(super) unsafe fn to_host<R: AnyBits>(
    handle: &Handle,
    mut plan: Plan<'_>,
    call: impl Fn(&Call<'_>, &[Operand]) -> Result<(), Failure>,
) -> Result<Vec<R>> {
    let stream = handle.stream();
    plan.for_host();
    // SAFETY: S15: the call writes each of them before they are read.
    let mut results = unsafe { stream.alloc_uninit(plan.batch_count()?.unwrap_or(1)) }?;
    // SAFETY: S2: the caller vouches for it.
    unsafe { into(handle, plan, results.view_mut(), call) }?;
    Ok(stream.download(&results)?)
}

/// The only result of a reduction of single vectors.
pub(super) fn single<R: Copy>(op: &'static str, results: &[R]) -> Result<R> {
    match results {
        [result] => Ok(*result),
        _ => Err(Error::BatchCount { op, expected: 1, got: results.len() }),
    }
}

/// The three functions of a reduction: to the host, of a batch to the host, and to device memory. `plan` makes the plan and the number of
/// elements of the arguments, `raw` calls.
macro_rules! reduction {
    (
        $(#[$doc:meta])*
        $name:ident $name_batch:ident $name_into:ident <$T:ident: $Bound:ident> ($($x:ident),+) -> $R:ty,
        $op:literal, $plan:expr, $raw:expr
    ) => {
        impl Handle {
            $(#[$doc])*
            ///
            /// It waits for the result.
            ///
            /// # Errors
            /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount) for a batch, and the errors of a call;
            /// [`Error::Hip`](crate::Error::Hip) while the stream captures.
            pub fn $name<'a, $T: $Bound>(&self, $($x: impl Into<VectorBatch<'a, $T>>),+) -> Result<$R> {
                $(let $x = $x.into();)+
                $(if $x.count() != 1 {
                    return Err(crate::Error::BatchCount { op: $op, expected: 1, got: $x.count() });
                })+
                reduce::single($op, &self.$name_batch($($x),+)?)
            }

            #[doc = concat!("As [`Handle::", stringify!($name), "`], one result for each member.")]
            ///
            /// # Errors
            /// As there.
            pub fn $name_batch<'a, $T: $Bound>(&self, $($x: impl Into<VectorBatch<'a, $T>>),+) -> Result<Vec<$R>> {
                let (plan, n) = ($plan)($($x.into()),+)?;
                // SAFETY: S2: the vectors have that many elements, and each member a result.
                unsafe { reduce::to_host(self, plan, |call, o| ($raw)(call, n, o)) }
            }

            #[doc = concat!("As [`Handle::", stringify!($name), "`], into device memory: one element for each member. It does not wait.")]
            ///
            /// # Errors
            /// [`Error::ScalarLen`](crate::Error::ScalarLen), and as there.
            pub fn $name_into<'a, $T: $Bound>(
                &self,
                $($x: impl Into<VectorBatch<'a, $T>>,)+
                result: DeviceViewMut<'a, $R>,
            ) -> Result<()> {
                let (plan, n) = ($plan)($($x.into()),+)?;
                // SAFETY: S2: as above.
                unsafe { reduce::into(self, plan, result, |call, o| ($raw)(call, n, o)) }
            }
        }
    };
}

pub(super) use reduction;
