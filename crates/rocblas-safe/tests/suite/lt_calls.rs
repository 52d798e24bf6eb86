//! Calls of `lt` beside other work: streams, threads, graphs, and the algorithms that a handle remembers.

use crate::under_test;
use hip_safe::Stream;
use rocblas_safe::lt::{LtHandle, library};
use rocblas_safe::{Layout, Matrix, MatrixMut, Result};

const COLS: Layout = Layout::ColMajor;

fn lt() -> (Stream, LtHandle) {
    let stream = under_test::stream();
    let lt = LtHandle::new(stream.device()).expect("the platform has the library");
    (stream, lt)
}

/// A product of ones: m x k and k x n.
fn ones(stream: &Stream, lt: &LtHandle, (m, n, k): (usize, usize, usize)) -> Result<Vec<f32>> {
    let (a, b) = (stream.upload(&vec![1.0_f32; m * k])?, stream.upload(&vec![1.0_f32; k * n])?);
    let mut d = stream.alloc_zeros::<f32>(m * n)?;
    let (a, b) = (Matrix::new(a.view(), m, k, COLS)?, Matrix::new(b.view(), k, n, COLS)?);
    lt.matmul(a, b, MatrixMut::new(d.view_mut(), m, n, COLS)?).run(stream)?;
    Ok(stream.download(&d)?)
}

#[test]
fn the_library_has_a_version() {
    let version = library(&under_test::platform()).expect("the platform has the library").version();
    assert!(version.major <= 1, "{version}: a later one was not compared with");
}

#[test]
fn an_algorithm_is_asked_for_once_for_a_problem() {
    let (stream, lt) = lt();
    let counted = || {
        let now = lt.statistics();
        (now.hits, now.misses, now.remembered)
    };
    for _ in 0..3 {
        assert_eq!(ones(&stream, &lt, (4, 4, 8)).unwrap(), [8.0; 16]);
    }
    assert_eq!(counted(), (2, 1, 1));
    ones(&stream, &lt, (4, 4, 16)).unwrap();
    assert_eq!(counted(), (2, 2, 2), "another size");

    let numbers = stream.upload(&[1.0_f32; 64]).unwrap();
    let mut d = stream.alloc_zeros::<f32>(64).unwrap();
    let mut square = |first: usize, ld: usize, relu: bool| {
        let matrix = Matrix::with_ld(numbers.slice(first..).unwrap(), 4, 4, COLS, ld).unwrap();
        let result = MatrixMut::new(d.view_mut(), 4, 4, COLS).unwrap();
        let call = lt.matmul(matrix, matrix.t(), result);
        if relu { call.relu().run(&stream).unwrap() } else { call.run(&stream).unwrap() }
    };
    for (other, remembered) in [((0, 4, false), 3), ((0, 5, false), 4), ((1, 4, false), 5), ((0, 4, true), 6)]
    {
        square(other.0, other.1, other.2);
        square(other.0, other.1, other.2);
        assert_eq!(lt.statistics().remembered, remembered, "offset, leading dimension, ReLU: {other:?}");
    }
    assert_eq!(counted(), (6, 6, 6));
    lt.set_work_limit(1 << 20);
    assert_eq!(lt.work_limit(), 1 << 20);
    square(0, 4, false);
    assert_eq!(counted(), (6, 7, 7), "another limit of work memory");
    lt.forget_algorithms();
    square(0, 4, false);
    assert_eq!(counted(), (6, 8, 1));
}

#[test]
fn the_number_of_remembered_problems_is_bounded() {
    if under_test::name() != "host" {
        println!("skipped: a thousand problems take long");
        return;
    }
    let (stream, lt) = lt();
    for m in 1..=1030 {
        ones(&stream, &lt, (m, 1, 1)).unwrap();
    }
    let now = lt.statistics();
    assert_eq!((now.misses, now.remembered), (1030, 1024));
    ones(&stream, &lt, (1030, 1, 1)).unwrap();
    assert_eq!(lt.statistics().hits, 1, "the last one is there");
    ones(&stream, &lt, (1, 1, 1)).unwrap();
    assert_eq!(lt.statistics().misses, 1031, "the first one is not");
}

#[test]
fn products_are_ordered_with_other_work_on_any_stream() {
    let (first, lt) = lt();
    let second = first.device().new_stream().unwrap();
    let mut a = first.alloc_zeros::<f32>(4).unwrap();
    let mut d = second.alloc_zeros::<f32>(4).unwrap();
    for turn in 1..=20 {
        first.copy_from_host(&[turn as f32; 4], &mut a).unwrap();
        let matrix = Matrix::new(a.view(), 2, 2, COLS).unwrap();
        lt.matmul(matrix, matrix, MatrixMut::new(d.view_mut(), 2, 2, COLS).unwrap()).run(&second).unwrap();
        let matrix = Matrix::new(d.view(), 2, 2, COLS).unwrap();
        let mut last = first.alloc_zeros::<f32>(4).unwrap();
        lt.matmul(matrix, matrix, MatrixMut::new(last.view_mut(), 2, 2, COLS).unwrap()).run(&first).unwrap();
        let square = 2.0 * (turn * turn) as f32;
        assert_eq!(first.download(&last).unwrap(), [2.0 * square * square; 4]);
    }
}

#[test]
fn threads_share_a_handle() {
    let (stream, lt) = lt();
    std::thread::scope(|scope| {
        for size in 2..6 {
            let (lt, stream) = (&lt, stream.device().new_stream().unwrap());
            scope.spawn(move || {
                for _ in 0..10 {
                    assert_eq!(
                        ones(&stream, lt, (size, size, size)).unwrap(),
                        vec![size as f32; size * size]
                    );
                }
            });
        }
    });
    assert_eq!(lt.statistics().remembered, 4);
}

#[test]
fn a_graph_repeats_a_product_and_outlives_the_handle() {
    let (stream, lt) = lt();
    let mut a = stream.upload(&[1.0_f32, 0.0, 0.0, 1.0]).unwrap();
    let mut d = stream.alloc_zeros::<f32>(4).unwrap();
    let bias = stream.upload(&[1.0_f32, -1.0]).unwrap();
    let mut answer = Ok(());
    let graph = stream.capture(|_| {
        let matrix = Matrix::new(a.view(), 2, 2, COLS).unwrap();
        let result = MatrixMut::new(d.view_mut(), 2, 2, COLS).unwrap();
        answer =
            lt.matmul(matrix, matrix, result).accumulate(1.0).bias_per_row(bias.view()).relu().run(&stream);
        Ok(())
    });
    answer.unwrap();
    let exec = graph.unwrap().instantiate().unwrap();
    drop(bias);
    lt.close().unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&d).unwrap(), [2.0, 0.0, 1.0, 0.0]);
    stream.copy_from_host(&[2.0_f32, 0.0, 0.0, 2.0], &mut a).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&d).unwrap(), [7.0, 0.0, 2.0, 3.0]);
}

/// A factor of zero: what it multiplies is not read. Two executable graphs of one capture work, so that no memory belongs to the capture.
#[test]
fn graphs_repeat_a_product_with_a_factor_of_zero() {
    let (stream, lt) = lt();
    let nan = stream.upload(&[f32::NAN; 4]).unwrap();
    let mut d = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let mut answer = Ok(());
    let graph = stream.capture(|_| {
        let matrix = Matrix::new(nan.view(), 2, 2, COLS).unwrap();
        let result = MatrixMut::new(d.view_mut(), 2, 2, COLS).unwrap();
        answer = lt.matmul(matrix, matrix, result).alpha(0.0).accumulate(2.0).run(&stream);
        Ok(())
    });
    answer.unwrap();
    let graph = graph.unwrap();
    let execs = [graph.instantiate().unwrap(), graph.instantiate().unwrap()];
    for exec in &execs {
        exec.launch(&stream).unwrap();
    }
    assert_eq!(stream.download(&d).unwrap(), [4.0, 8.0, 12.0, 16.0]);
}

/// Addresses that are multiples of 4 alone, for which cuBLASLt takes another algorithm than for whole ones, called again and again.
#[test]
fn unaligned_operands_are_multiplied_again_and_again() {
    let (stream, lt) = lt();
    let numbers = stream.upload(&[1.0_f32; 33]).unwrap();
    let mut d = stream.alloc_zeros::<f32>(17).unwrap();
    for _ in 0..3 {
        let matrix = Matrix::new(numbers.slice(1..17).unwrap(), 4, 4, COLS).unwrap();
        let result = MatrixMut::new(d.slice_mut(1..17).unwrap(), 4, 4, COLS).unwrap();
        lt.matmul(matrix, matrix.t(), result).accumulate(1.0).run(&stream).unwrap();
    }
    let got = stream.download(&d).unwrap();
    assert_eq!((got[0], &got[1..]), (0.0, [12.0_f32; 16].as_slice()));
    assert_eq!(lt.statistics().misses, 1);
}

#[test]
fn an_empty_result_is_no_call() {
    let (stream, lt) = lt();
    let numbers = stream.upload(&[1.0_f32; 4]).unwrap();
    let mut d = stream.upload(&[5.0_f32; 4]).unwrap();
    let (a, b) = (Matrix::new(numbers.view(), 0, 2, COLS), Matrix::new(numbers.view(), 2, 2, COLS));
    let result = MatrixMut::new(d.view_mut(), 0, 2, COLS).unwrap();
    lt.matmul(a.unwrap(), b.unwrap(), result).run(&stream).unwrap();
    assert_eq!(stream.download(&d).unwrap(), [5.0; 4]);
    assert_eq!(lt.statistics().misses, 0);
}
