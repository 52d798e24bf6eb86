//! Attention by problems and solutions.

use crate::common::Buffer;
use crate::library::*;
use hip_sys::miopen::miopenTensorArgumentId_t as Id;
use hip_sys::miopen::*;
use std::ptr::null_mut;

const VALUE: u32 = miopenStatus_t::miopenStatusInvalidValue.0;
const FACTORS: [u32; 7] = [7, 8, 9, 10, 11, 12, 13];
const LONG: miopenDataType_t = miopenDataType_t::miopenInt64;

/// The forward's problem of one head, two queries and keys, one number each.
fn problem(mi: &Mi, direction: u32, without: u32) -> miopenProblem_t {
    let (mut descriptor, mut problem) = (null_mut(), null_mut());
    assert_eq!(mi_later!(mi, miopenCreateMhaDescriptor(&mut descriptor)), 0);
    assert_eq!(mi_later!(mi, miopenSetMhaDescriptor(descriptor, 0.5)), 0);
    let mut scale = 0.0;
    assert_eq!(mi_later!(mi, miopenGetMhaDescriptor(descriptor, &mut scale)), 0);
    assert_eq!(scale, 0.5);
    let direction = miopenProblemDirection_t(direction);
    assert_eq!(mi_later!(mi, miopenCreateMhaProblem(&mut problem, descriptor, direction)), 0);
    let (one, large, draw) = (mi.floats(&[1; 4]), mi.floats(&[1, 1, 2, 1]), mi.tensor(LONG, &[1; 4]));
    for id in 4..=20 {
        let tensor = match id {
            4..=6 | 16 | 19 | 20 => large,
            14 | 15 => draw,
            _ => one,
        };
        if id != without {
            assert_eq!(mi_later!(mi, miopenSetProblemTensorDescriptor(problem, Id(id), tensor)), 0);
        }
    }
    problem
}

fn find(mi: &Mi, problem: miopenProblem_t) -> (u32, usize, miopenSolution_t) {
    let (mut solution, mut count) = (null_mut(), 9);
    let status =
        mi_later!(mi, miopenFindSolutions(mi.handle, problem, null_mut(), &mut solution, &mut count, 4));
    (status, count, solution)
}

#[test]
fn weights_of_three_quarters_and_a_quarter() {
    let mi = mi();
    let problem = problem(&mi, 0, 0);
    let (status, count, solution) = find(&mi, problem);
    assert_eq!((status, count), (0, 1));
    assert_eq!(mi_later!(mi, miopenDestroyProblem(problem)), 0);
    let (mut bytes, mut time) = (9, -1.0);
    assert_eq!(mi_later!(mi, miopenGetSolutionWorkspaceSize(solution, &mut bytes)), 0);
    assert_eq!(mi_later!(mi, miopenGetSolutionTime(solution, &mut time)), 0);
    assert!(bytes == 0 && time > 0.0);

    // The scale halves the scores: ln 3 and 0 for the first query.
    let keys = mi.hip.buffer(&[2.0 * 3_f32.ln(), 0.0]);
    let (queries, values) = (mi.hip.buffer(&[1.0_f32, 0.0]), mi.hip.buffer(&[4.0_f32, 12.0]));
    let (one, none, draws) = (mi.hip.buffer(&[1.0_f32]), mi.hip.zeros::<f32>(1), mi.hip.zeros::<f32>(2));
    let (o, m, z) = (mi.hip.zeros::<f32>(2), mi.hip.zeros::<f32>(2), mi.hip.zeros::<f32>(2));
    let (amax_o, amax_s) = (mi.hip.zeros::<f32>(1), mi.hip.zeros::<f32>(1));
    let argument = |id: u32, buffer: &Buffer<'_, f32>| miopenTensorArgument_t {
        id: Id(id),
        descriptor: null_mut(),
        buffer: buffer.pointer.cast(),
    };
    let mut list = vec![argument(4, &keys), argument(5, &queries), argument(6, &values)];
    list.extend(FACTORS.map(|id| argument(id, if id == 13 { &none } else { &one })));
    list.extend([argument(14, &draws), argument(15, &draws), argument(16, &o), argument(17, &amax_o)]);
    list.extend([argument(18, &amax_s), argument(19, &m), argument(20, &z)]);
    let run = |list: &[miopenTensorArgument_t]| {
        mi_later!(mi, miopenRunSolution(mi.handle, solution, list.len(), list.as_ptr(), null_mut(), 0))
    };
    assert_eq!(run(&list), 0);
    close(&mi.read(&o), &[6.0, 8.0], 1e-6);
    close(&mi.read(&m), &[3_f32.ln(), 0.0], 1e-6);
    close(&mi.read(&z), &[0.75, 0.5], 1e-6);
    close(&mi.read(&amax_o), &[8.0], 1e-6);
    close(&mi.read(&amax_s), &[0.75], 1e-6);

    // One tensor is missing; there is a bias; one tensor is not in memory of HIP.
    assert_eq!(run(&list[1..]), VALUE);
    let mut more = list.clone();
    more.push(argument(Id::miopenTensorMhaBias.0, &o));
    assert_eq!(run(&more), NOT_IMPLEMENTED);
    let mut mine = [0.0_f32; 2];
    more = list.clone();
    more[0].buffer = mine.as_mut_ptr().cast();
    assert_eq!(run(&more), BAD);
    assert_eq!(mi_later!(mi, miopenDestroySolution(solution)), 0);
    assert_eq!(run(&list), BAD);
}

#[test]
fn problems_that_are_not_solved() {
    let mi = mi();
    // The keys' tensor is not set.
    assert_eq!(find(&mi, problem(&mi, 0, 4)).0, VALUE);
    // The backward direction by weights does not exist; and the gradient's own tensors are missing.
    assert_eq!(find(&mi, problem(&mi, 2, 0)).0, NOT_IMPLEMENTED);
    assert_eq!(find(&mi, problem(&mi, 1, 0)).0, VALUE);
    let set = |id: Id, tensor: miopenTensorDescriptor_t| {
        let problem = problem(&mi, 0, 0);
        assert_eq!(mi_later!(mi, miopenSetProblemTensorDescriptor(problem, id, tensor)), 0);
        let (status, count, _) = find(&mi, problem);
        (status, count)
    };
    // Lengths that do not match are refused. Unsupported types, strides and a bias have no solution.
    assert_eq!(set(Id::miopenTensorMhaV, mi.floats(&[1, 1, 3, 1])).0, BAD);
    assert_eq!(set(Id::miopenTensorMhaM, mi.floats(&[1, 1, 3, 1])).0, BAD);
    assert_eq!(set(Id::miopenTensorMhaV, mi.tensor(HALF, &[1, 1, 2, 1])), (0, 0));
    let gaps = mi.strided(FLOAT, &[1, 1, 2, 1], Some(&[4, 4, 2, 1]));
    assert_eq!(set(Id::miopenTensorMhaK, gaps), (0, 0));
    assert_eq!(set(Id::miopenTensorMhaBias, mi.floats(&[1, 1, 2, 2])), (0, 0));
    assert_eq!(find(&mi, null_mut()).0, BAD);
    let mut options = null_mut();
    assert_eq!(mi_later!(mi, miopenCreateFindOptions(&mut options)), 0);
    assert_eq!(mi_later!(mi, miopenSetFindOptionTuning(options, 1)), 0);
    assert_eq!(mi_later!(mi, miopenSetFindOptionResultsOrder(options, miopenFindResultsOrder_t(7))), BAD);
    assert_eq!(mi_later!(mi, miopenDestroyFindOptions(options)), 0);
    assert_eq!(mi_later!(mi, miopenSetFindOptionTuning(options, 1)), BAD);
}
