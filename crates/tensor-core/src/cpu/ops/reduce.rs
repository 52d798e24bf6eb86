//! Reductions over sets of axes.

use crate::cpu::arith::Arith;
use crate::cpu::dispatch::{dispatch, dispatch_float};
use crate::cpu::fold::{ArgMax, ArgMin, Fold, Max, Min, Prod, Sum, fold_columns, fold_rows};
use crate::cpu::gather::Walk;
use crate::cpu::number::Number;
use crate::cpu::real::Real;
use crate::cpu::{CpuStorage, unsupported, zeros};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::ReduceOp;

/// Reduces `axes` by `op`. If there are no elements to reduce, the operation has an identity.
pub(crate) fn reduce(
    storage: &CpuStorage,
    layout: &Layout,
    op: ReduceOp,
    axes: &[usize],
) -> Result<CpuStorage> {
    let task = Task::new(layout, axes, op.name());
    dispatch!(storage, elements: T => match op {
        ReduceOp::Sum => task.values::<T, _>(elements, Sum, Default::default()),
        ReduceOp::Prod => task.values::<T, _>(elements, Prod, <T as Number>::Compute::ONE),
        ReduceOp::Min => task.values::<T, _>(elements, Min, Default::default()),
        ReduceOp::Max => task.values::<T, _>(elements, Max, Default::default()),
        ReduceOp::ArgMin => task.positions::<T, _>(elements, ArgMin),
        ReduceOp::ArgMax => task.positions::<T, _>(elements, ArgMax),
    })
}

/// The mean over `axes`, rounded to the dtype once.
pub(crate) fn mean(storage: &CpuStorage, layout: &Layout, axes: &[usize]) -> Result<CpuStorage> {
    let task = Task::new(layout, axes, "mean");
    dispatch_float!(storage, elements: T => task.mean::<T>(elements), else Err(unsupported("mean", storage)))
}

/// A reduction: the groups' starts, the elements of a group, and the number of both.
struct Task {
    kept: Walk,
    reduced: Walk,
    outputs: usize,
    length: usize,
    operation: &'static str,
}

impl Task {
    fn new(layout: &Layout, axes: &[usize], operation: &'static str) -> Task {
        let (kept, reduced) = layout.split(axes);
        Task {
            kept: Walk::new(&kept),
            reduced: Walk::new(&reduced),
            outputs: kept.elements(),
            length: reduced.elements(),
            operation,
        }
    }

    /// Runs a fold whose state is its result. `identity` is the result for no elements.
    fn values<T: Number, F>(&self, elements: &[T], fold: F, identity: T::Compute) -> Result<CpuStorage>
    where
        F: Fold<T::Compute, State = T::Compute>,
    {
        self.run(elements, fold, &T::from_compute, T::from_compute(identity)).map(T::store)
    }

    /// Runs a fold whose state has a position.
    fn positions<T: Number, F>(&self, elements: &[T], fold: F) -> Result<CpuStorage>
    where
        F: Fold<T::Compute, State = (T::Compute, usize)>,
    {
        // The caller checked the length against u32.
        self.run(elements, fold, &|(_, position)| position as u32, 0).map(u32::store)
    }

    /// Runs a sum, divided by the number of elements.
    fn mean<T: Number<Compute: Real>>(&self, elements: &[T]) -> Result<CpuStorage> {
        let count = T::Compute::from_count(self.length);
        let nothing = T::from_compute(T::Compute::default().div(T::Compute::default()));
        self.run(elements, Sum, &|sum: T::Compute| T::from_compute(sum.div(count)), nothing).map(T::store)
    }

    /// Folds every group, with `identity` as the result of an empty one.
    fn run<T: Number, F: Fold<T::Compute>, U: Element>(
        &self,
        elements: &[T],
        fold: F,
        finish: &(impl Fn(F::State) -> U + Sync),
        identity: U,
    ) -> Result<Vec<U>> {
        let mut out = zeros(self.outputs, self.operation)?;
        let walks = (&self.kept, &self.reduced, self.length);
        if self.length == 0 {
            out.fill(identity);
        } else if self.neighbours_are_results() {
            fold_columns(elements, walks, fold, finish, &mut out);
        } else {
            fold_rows(elements, walks, fold, finish, &mut out);
        }
        Ok(out)
    }

    /// Whether the next result's first element is nearer in memory than the next element of the same result.
    fn neighbours_are_results(&self) -> bool {
        let (kept, reduced) = (self.kept.inner_stride(), self.reduced.inner_stride());
        self.outputs > 1 && self.length > 1 && kept != 0 && (kept < reduced || reduced == 0)
    }
}
