//! Calls in graphs.

use crate::under_test;
use hip_safe::Stream;
use rocblas_safe::{
    Handle, Layout, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut, Result, Vector, VectorBatch,
};

const ROWS: Layout = Layout::RowMajor;

/// What a capture of calls gives: the graph, and what the calls answered.
fn capture(stream: &Stream, calls: impl FnOnce() -> Result<()>) -> hip_safe::Graph {
    let mut answer = Ok(());
    let graph = stream.capture(|_| {
        answer = calls();
        Ok(())
    });
    answer.unwrap();
    graph.unwrap()
}

#[test]
fn a_graph_repeats_calls_on_the_same_memory() {
    let (stream, handle) = under_test::handle();
    let mut a = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let mut c = stream.alloc_zeros::<f32>(4).unwrap();
    let mut sum = stream.alloc_zeros::<f32>(1).unwrap();
    let graph = capture(&stream, || {
        let a = Matrix::new(a.view(), 2, 2, ROWS)?;
        handle.gemm(1.0, a, a, 1.0, MatrixMut::new(c.view_mut(), 2, 2, ROWS)?)?;
        handle.scal(2.0, &mut c)?;
        handle.asum_into(&c, sum.view_mut())
    });
    assert_eq!(stream.download(&c).unwrap(), [0.0; 4], "nothing ran yet");
    let exec = graph.instantiate().unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [14.0, 20.0, 30.0, 44.0]);
    assert_eq!(stream.download(&sum).unwrap(), [108.0]);
    stream.copy_from_host(&[1.0_f32, 0.0, 0.0, 1.0], &mut a).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [30.0, 40.0, 60.0, 90.0]);
    // The handle goes on as before.
    assert_eq!(handle.asum(&a).unwrap(), 2.0);
}

#[test]
fn a_graph_outlives_the_handle_and_the_memory() {
    let (stream, handle) = under_test::handle();
    let mut c = stream.upload(&[1.0_f32, 2.0]).unwrap();
    let exec = {
        let x = stream.upload(&[10.0_f32, 20.0]).unwrap();
        let alpha = stream.upload(&[0.5_f32]).unwrap();
        let graph = capture(&stream, || handle.axpy(alpha.view(), &x, &mut c));
        graph.instantiate().unwrap()
    };
    handle.close().unwrap();
    exec.launch(&stream).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [11.0, 22.0]);
}

#[test]
fn batches_of_addresses_in_a_graph() {
    let (stream, handle) = under_test::handle();
    let a = stream.upload(&[1.0_f64, 2.0, 3.0]).unwrap();
    let mut c = stream.alloc_zeros::<f64>(3).unwrap();
    let graph = capture(&stream, || {
        let one = |i: usize| Matrix::new(a.slice(i..i + 1)?, 1, 1, ROWS);
        let factors = MatrixBatch::from_matrices([one(2)?, one(1)?, one(0)?])?;
        let result = MatrixBatchMut::strided(c.view_mut(), (1, 1), ROWS, None, (3, 1))?;
        handle.gemm(1.0, &factors, &factors, 1.0, result)
    });
    let exec = graph.instantiate().unwrap();
    exec.launch(&stream).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [18.0, 8.0, 2.0]);
}

#[test]
fn results_on_the_host_are_refused_in_a_capture() {
    let (stream, handle) = under_test::handle();
    let x = stream.upload(&[3.0_f32, 4.0]).unwrap();
    let graph = capture(&stream, || {
        for refused in
            [handle.nrm2(&x).map(drop), handle.iamax(&x).map(drop), handle.rotg(1.0_f32, 2.0).map(drop)]
        {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("while a stream captures"), "{error}");
        }
        let error = handle.nrm2(&x).unwrap_err().to_string();
        assert!(error.contains("a result on the host") && error.contains("_into"), "{error}");
        let members = VectorBatch::from_vectors([Vector::new(x.view())])?;
        assert!(handle.dot_batch(members, &x).is_err());
        Ok(())
    });
    assert_eq!(graph.node_count(), 0, "nothing of it is in the graph");
    assert_eq!(handle.nrm2(&x).unwrap(), 5.0);
}

#[test]
fn a_handle_is_not_made_or_closed_in_a_capture() {
    let stream = under_test::stream();
    let mut made = None;
    stream
        .capture(|stream| {
            made = Some(Handle::new(stream));
            Ok(())
        })
        .unwrap();
    let error = made.unwrap().unwrap_err().to_string();
    assert!(error.contains("while a stream captures"), "{error}");
    assert!(Handle::new(&stream).is_ok());
}
