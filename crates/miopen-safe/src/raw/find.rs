//! Problems, and solutions that are found for them.

use super::{Failure, optional_calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenFindOptions_t, miopenHandle_t, miopenProblem_t, miopenSolution_t, miopenTensorArgument_t,
    miopenTensorArgumentId_t, miopenTensorDescriptor_t,
};
use std::ffi::c_void;

optional_calls! {
    set_problem_tensor_descriptor = miopenSetProblemTensorDescriptor(
        problem: miopenProblem_t, id: miopenTensorArgumentId_t, descriptor: miopenTensorDescriptor_t,
    );
    destroy_problem = miopenDestroyProblem(problem: miopenProblem_t);
    create_find_options = miopenCreateFindOptions(options: *mut miopenFindOptions_t);
    set_find_option_preallocated_tensor = miopenSetFindOptionPreallocatedTensor(
        options: miopenFindOptions_t, id: miopenTensorArgumentId_t, buffer: *mut c_void,
    );
    destroy_find_options = miopenDestroyFindOptions(options: miopenFindOptions_t);
    find_solutions = miopenFindSolutions(
        handle: miopenHandle_t, problem: miopenProblem_t, options: miopenFindOptions_t,
        solutions: *mut miopenSolution_t, num_solutions: *mut usize, max_solutions: usize,
    );
    get_solution_workspace_size = miopenGetSolutionWorkspaceSize(
        solution: miopenSolution_t, workspace_size: *mut usize,
    );
    run_solution = miopenRunSolution(
        handle: miopenHandle_t, solution: miopenSolution_t, n_inputs: usize,
        tensors: *const miopenTensorArgument_t, workspace: *mut c_void, workspace_size: usize,
    );
    destroy_solution = miopenDestroySolution(solution: miopenSolution_t);
}
