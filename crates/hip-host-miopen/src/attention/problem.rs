//! Descriptors of attention, and problems.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::answer::{BAD, NO_SOLVER, Outcome, VALUE, answer, check, give};
use crate::registry::Registry;
use crate::tensor::{Tensor, tensor};
use hip_sys::miopen::miopenTensorArgumentId_t as Id;
use hip_sys::miopen::{
    miopenDataType_t, miopenMhaDescriptor_t, miopenProblem_t, miopenProblemDirection_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use std::collections::HashMap;

/// The settings of a problem.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) scale: f32,
    pub(super) direction: miopenProblemDirection_t,
    tensors: HashMap<Id, Tensor>,
}

/// The sizes of a problem that can be computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Batches times heads.
    pub(super) heads: usize,
    /// The number of queries, which is also the number of keys.
    pub(super) length: usize,
    /// The length of a query's vector.
    pub(super) width: usize,
}

/// The scalars that both directions read, in this order; the probability of dropout comes last.
pub(super) const FACTORS: [Id; 6] = [
    Id::miopenTensorMhaDescaleQ,
    Id::miopenTensorMhaDescaleK,
    Id::miopenTensorMhaDescaleV,
    Id::miopenTensorMhaDescaleS,
    Id::miopenTensorMhaScaleS,
    Id::miopenTensorMhaDropoutProbability,
];
/// The inputs of dropout's generator.
pub(super) const DRAWS: [Id; 2] = [Id::miopenTensorMhaDropoutSeed, Id::miopenTensorMhaDropoutOffset];
/// The forward direction's other scalars, read or written.
pub(super) const FORWARD: [Id; 3] =
    [Id::miopenTensorMhaScaleO, Id::miopenTensorMhaAmaxS, Id::miopenTensorMhaAmaxO];
/// The gradient's other scalars that are read.
pub(super) const BACKWARD: [Id; 7] = [
    Id::miopenTensorMhaDescaleO,
    Id::miopenTensorMhaDescaleDO,
    Id::miopenTensorMhaDescaleDS,
    Id::miopenTensorMhaScaleDS,
    Id::miopenTensorMhaScaleDQ,
    Id::miopenTensorMhaScaleDK,
    Id::miopenTensorMhaScaleDV,
];
/// The gradient's scalars that are written.
pub(super) const GREATEST: [Id; 4] = [
    Id::miopenTensorMhaAmaxDQ,
    Id::miopenTensorMhaAmaxDK,
    Id::miopenTensorMhaAmaxDV,
    Id::miopenTensorMhaAmaxDS,
];
/// The tensors of both directions that have the common shape.
pub(super) const LARGE: [Id; 4] =
    [Id::miopenTensorMhaQ, Id::miopenTensorMhaK, Id::miopenTensorMhaV, Id::miopenTensorMhaO];
/// The gradient's tensors that have the common shape.
pub(super) const GRADIENTS: [Id; 4] =
    [Id::miopenTensorMhaDO, Id::miopenTensorMhaDQ, Id::miopenTensorMhaDK, Id::miopenTensorMhaDV];
/// One number for each query.
pub(super) const ROWS: [Id; 2] = [Id::miopenTensorMhaM, Id::miopenTensorMhaZInv];

impl Problem {
    /// # Errors
    /// NotImplemented for directions that attention does not have.
    pub(super) fn is_backward(&self) -> Outcome<bool> {
        match self.direction {
            miopenProblemDirection_t::miopenProblemDirectionForward => Ok(false),
            miopenProblemDirection_t::miopenProblemDirectionBackward => Ok(true),
            _ => Err(NO_SOLVER),
        }
    }

    fn tensor(&self, id: Id) -> Outcome<&Tensor> {
        self.tensors.get(&id).ok_or(VALUE)
    }

    /// The sizes; `None` for types, strides and additions that are not supported here.
    ///
    /// # Errors
    /// InvalidValue if tensors are missing, BadParm if lengths do not match.
    pub(super) fn shape(&self) -> Outcome<Option<Shape>> {
        let backward = self.is_backward()?;
        let [large, gradients] = [LARGE.as_slice(), if backward { GRADIENTS.as_slice() } else { &[] }];
        let mut ones = FACTORS.to_vec();
        ones.extend(if backward { [BACKWARD.as_slice(), &GREATEST].concat() } else { FORWARD.to_vec() });
        let large = large.iter().chain(gradients).map(|id| self.tensor(*id)).collect::<Outcome<Vec<_>>>()?;
        let rows = ROWS.iter().map(|id| self.tensor(*id)).collect::<Outcome<Vec<_>>>()?;
        let ones = ones.iter().map(|id| self.tensor(*id)).collect::<Outcome<Vec<_>>>()?;
        let draws = DRAWS.iter().map(|id| self.tensor(*id)).collect::<Outcome<Vec<_>>>()?;
        let [n, heads, length, width] = *large[0].lens.as_slice() else { return Err(BAD) };
        check(large.iter().all(|it| it.lens == large[0].lens), BAD)?;
        check(rows.iter().all(|it| it.count() == n * heads * length), BAD)?;
        check(ones.iter().chain(&draws).all(|it| it.count() == 1), BAD)?;
        let floats = [large.as_slice(), &rows, &ones].concat();
        let computed = floats.iter().all(|it| it.is_packed() && it.is_of(&[miopenDataType_t::miopenFloat]))
            && draws.iter().all(|it| it.is_of(&[miopenDataType_t::miopenInt64]))
            && !self.tensors.contains_key(&Id::miopenTensorMhaBias)
            && !self.tensors.contains_key(&Id::miopenTensorMhaMask);
        Ok(computed.then_some(Shape { heads: n * heads, length, width }))
    }
}

/// The scales of attention descriptors. No function destroys those.
static DESCRIPTORS: Registry<f32> = Registry::new(0x7e);
pub(super) static PROBLEMS: Registry<Problem> = Registry::new(0x7f);

pub(crate) unsafe extern "C" fn miopenCreateMhaDescriptor(out: *mut miopenMhaDescriptor_t) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { DESCRIPTORS.create(out, 1.0) })
}

pub(crate) unsafe extern "C" fn miopenSetMhaDescriptor(
    descriptor: miopenMhaDescriptor_t,
    scale: f32,
) -> miopenStatus_t {
    answer(|| DESCRIPTORS.set(descriptor, || Ok(scale)))
}

pub(crate) unsafe extern "C" fn miopenGetMhaDescriptor(
    descriptor: miopenMhaDescriptor_t,
    scale: *mut f32,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's output pointer for the number.
    answer(|| unsafe { give(scale, DESCRIPTORS.get(descriptor)?) })
}

pub(crate) unsafe extern "C" fn miopenCreateMhaProblem(
    out: *mut miopenProblem_t,
    descriptor: miopenMhaDescriptor_t,
    direction: miopenProblemDirection_t,
) -> miopenStatus_t {
    answer(|| {
        let scale = DESCRIPTORS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointer for the handle.
        unsafe { PROBLEMS.create(out, Problem { scale, direction, tensors: HashMap::new() }) }
    })
}

pub(crate) unsafe extern "C" fn miopenSetProblemTensorDescriptor(
    problem: miopenProblem_t,
    id: Id,
    descriptor: miopenTensorDescriptor_t,
) -> miopenStatus_t {
    answer(|| {
        let tensor = tensor(descriptor)?;
        PROBLEMS.with(problem, |problem| drop(problem.tensors.insert(id, tensor)))
    })
}

pub(crate) unsafe extern "C" fn miopenDestroyProblem(problem: miopenProblem_t) -> miopenStatus_t {
    answer(|| PROBLEMS.destroy(problem))
}
