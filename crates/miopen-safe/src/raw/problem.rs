//! Problems and their solutions: attention.

use super::{Failure, optional_calls};
use hip_sys::Miopen;
use hip_sys::miopen::{
    miopenConvolutionDescriptor_t, miopenFindOptions_t, miopenFindResultsOrder_t, miopenHandle_t,
    miopenMhaDescriptor_t, miopenProblem_t, miopenProblemDirection_t, miopenSoftmaxAlgorithm_t,
    miopenSoftmaxDescriptor_t, miopenSoftmaxMode_t, miopenSolution_t, miopenTensorArgument_t,
    miopenTensorArgumentId_t, miopenTensorDescriptor_t,
};
use std::ffi::{c_char, c_int, c_void};

optional_calls! {
    create_mha_descriptor = miopenCreateMhaDescriptor(mha_desc: *mut miopenMhaDescriptor_t);
    set_mha_descriptor = miopenSetMhaDescriptor(mha_desc: miopenMhaDescriptor_t, scale: f32);
    get_mha_descriptor = miopenGetMhaDescriptor(mha_desc: miopenMhaDescriptor_t, scale: *mut f32);
    create_mha_problem = miopenCreateMhaProblem(
        problem: *mut miopenProblem_t, operator_desc: miopenMhaDescriptor_t,
        direction: miopenProblemDirection_t,
    );
    destroy_problem = miopenDestroyProblem(problem: miopenProblem_t);
    set_problem_tensor_descriptor = miopenSetProblemTensorDescriptor(
        problem: miopenProblem_t, id: miopenTensorArgumentId_t, descriptor: miopenTensorDescriptor_t,
    );
    create_find_options = miopenCreateFindOptions(options: *mut miopenFindOptions_t);
    destroy_find_options = miopenDestroyFindOptions(options: miopenFindOptions_t);
    set_find_option_results_order = miopenSetFindOptionResultsOrder(
        options: miopenFindOptions_t, value: miopenFindResultsOrder_t,
    );
    set_find_option_workspace_limit = miopenSetFindOptionWorkspaceLimit(
        options: miopenFindOptions_t, value: usize,
    );
    set_find_option_tuning = miopenSetFindOptionTuning(options: miopenFindOptions_t, value: c_int);
    find_solutions = miopenFindSolutions(
        handle: miopenHandle_t, problem: miopenProblem_t, options: miopenFindOptions_t,
        solutions: *mut miopenSolution_t, num_solutions: *mut usize, max_solutions: usize,
    );
    run_solution = miopenRunSolution(
        handle: miopenHandle_t, solution: miopenSolution_t, n_inputs: usize,
        tensors: *const miopenTensorArgument_t, workspace: *mut c_void, workspace_size: usize,
    );
    destroy_solution = miopenDestroySolution(solution: miopenSolution_t);
    get_solution_workspace_size = miopenGetSolutionWorkspaceSize(
        solution: miopenSolution_t, workspace_size: *mut usize,
    );
    get_solution_time = miopenGetSolutionTime(solution: miopenSolution_t, time: *mut f32);
    get_solution_solver_id = miopenGetSolutionSolverId(solution: miopenSolution_t, solver_id: *mut u64);
    get_solution_size = miopenGetSolutionSize(solution: miopenSolution_t, size: *mut usize);
    save_solution = miopenSaveSolution(solution: miopenSolution_t, data: *mut c_char);
    load_solution = miopenLoadSolution(solution: *mut miopenSolution_t, data: *const c_char, size: usize);
    create_conv_problem = miopenCreateConvProblem(
        problem: *mut miopenProblem_t, operator_desc: miopenConvolutionDescriptor_t,
        direction: miopenProblemDirection_t,
    );
    create_softmax_descriptor = miopenCreateSoftmaxDescriptor(softmax_desc: *mut miopenSoftmaxDescriptor_t);
    set_softmax_descriptor = miopenSetSoftmaxDescriptor(
        softmax_desc: miopenSoftmaxDescriptor_t, alpha: f32, beta: f32, algorithm: miopenSoftmaxAlgorithm_t,
        mode: miopenSoftmaxMode_t,
    );
    create_softmax_problem = miopenCreateSoftmaxProblem(
        problem: *mut miopenProblem_t, operator_desc: miopenSoftmaxDescriptor_t,
        direction: miopenProblemDirection_t,
    );
}
