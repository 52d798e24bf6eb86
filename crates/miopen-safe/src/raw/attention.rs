//! Attention.

use super::{Failure, optional_calls};
use hip_sys::Miopen;
use hip_sys::miopen::{miopenMhaDescriptor_t, miopenProblem_t, miopenProblemDirection_t};

optional_calls! {
    create_mha_descriptor = miopenCreateMhaDescriptor(mha_desc: *mut miopenMhaDescriptor_t);
    set_mha_descriptor = miopenSetMhaDescriptor(mha_desc: miopenMhaDescriptor_t, scale: f32);
    create_mha_problem = miopenCreateMhaProblem(
        problem: *mut miopenProblem_t, operator_desc: miopenMhaDescriptor_t,
        direction: miopenProblemDirection_t,
    );
}
