//! What is an error before any call of the library.

use crate::under_test;
use rocsparse_safe::{
    BlockLayout, DenseMatrix, DenseShape, DiagonalKind, Error, Format, Handle, Layout, Op, Order, Parts,
    Sddmm, SparseMatrix, SparseVector, Spgemm, Spmm, Spmv, Spsv, Triangle,
};

type Given<'a> = Parts<&'a [i32], &'a [f32]>;

/// The text of the error that these parts are refused with, on the host as on the device.
#[track_caller]
fn refused(parts: Given<'_>) -> String {
    let stream = under_test::stream();
    let on_host = parts.upload(&stream).unwrap_err().to_string();
    let upload = |indices: &[i32]| stream.upload(indices).unwrap();
    let on_device = Parts {
        rows: parts.rows,
        cols: parts.cols,
        format: parts.format,
        outer: parts.outer.map(upload),
        inner: upload(parts.inner),
        values: stream.upload(parts.values).unwrap(),
    };
    assert_eq!(on_device.check(&stream).unwrap_err().to_string(), on_host);
    assert_eq!(SparseMatrix::new(on_device, &stream).unwrap_err().to_string(), on_host);
    on_host
}

const ONES: [f32; 9] = [1.0; 9];

#[test]
fn lengths() {
    let csr = |offsets: &'static [i32], indices: &'static [i32], values| {
        refused(Parts::csr(3, 3, offsets, indices, values))
    };
    assert_eq!(csr(&[0, 1, 2], &[0, 1], &ONES[..2]), "the row offsets: 3 elements, and these sizes need 4");
    assert_eq!(csr(&[0, 1, 2, 2], &[0, 1], &ONES[..3]), "the values: 3 elements, and these sizes need 2");
    let csc = refused(Parts::csc(2, 3, &[0, 0, 0][..], &[][..], &[][..]));
    assert_eq!(csc, "the column offsets: 3 elements, and these sizes need 4");
    let coo = refused(Parts::coo(2, 3, &[0][..], &[0, 1][..], &ONES[..2]));
    assert_eq!(coo, "the row indices: 1 elements, and these sizes need 2");
    let ell = refused(Parts::ell(2, 3, 2, &[0, 1, 2][..], &ONES[..3]));
    assert_eq!(ell, "the column indices: 3 elements, and these sizes need 4");
    let blocks = (2, BlockLayout::RowMajor);
    let bsr = refused(Parts::bsr([4, 4], blocks, &[0, 1, 1][..], &[1][..], &ONES[..3]));
    assert_eq!(bsr, "the values: 3 elements, and these sizes need 4");
    let bsr = refused(Parts::bsr([4, 5], blocks, &[0, 1, 1][..], &[1][..], &ONES[..4]));
    assert!(bsr.starts_with("the size of a block is 2: rows and columns have to be multiples"), "{bsr}");
    let bsr = refused(Parts::bsr([0, 0], (0, BlockLayout::RowMajor), &[0][..], &[][..], &[][..]));
    assert!(bsr.starts_with("the size of a block is 0"), "{bsr}");
    let bsr = refused(Parts::bsr([0, 0], (usize::MAX, BlockLayout::RowMajor), &[0][..], &[][..], &ONES[..1]));
    assert!(bsr.starts_with("the number of elements of a block: "), "{bsr}");
}

#[test]
fn offsets_that_do_not_ascend() {
    let csr = |offsets: &'static [i32]| refused(Parts::csr(3, 3, offsets, &[0, 1, 2][..], &ONES[..3]));
    let rule = "offsets start at 0, never descend, and end at the number of stored entries, 3";
    assert_eq!(csr(&[0, 2, 1, 3]), format!("offset 2 is 1: {rule}"));
    assert_eq!(csr(&[1, 2, 3, 3]), format!("offset 0 is 1: {rule}"));
    assert_eq!(csr(&[0, 1, 2, 2]), format!("offset 3 is 2: {rule}"));
    assert_eq!(csr(&[0, 1, 4, 3]), format!("offset 2 is 4: {rule}"));
    assert_eq!(csr(&[0, -1, 2, 3]), format!("offset 1 is -1: {rule}"));
}

#[test]
fn indices_outside_of_the_matrix() {
    let csr = refused(Parts::csr(2, 3, &[0, 1, 2][..], &[2, 3][..], &ONES[..2]));
    assert_eq!(csr, "the column index of entry 1 is 3, and has to be from 0 to below 3");
    let csr = refused(Parts::csr(2, 3, &[0, 1, 2][..], &[-1, 2][..], &ONES[..2]));
    assert_eq!(csr, "the column index of entry 0 is -1, and has to be from 0 to below 3");
    let csc = refused(Parts::csc(2, 3, &[0, 1, 2, 2][..], &[1, 2][..], &ONES[..2]));
    assert_eq!(csc, "the row index of entry 1 is 2, and has to be from 0 to below 2");
    let coo = refused(Parts::coo(2, 3, &[2][..], &[0][..], &ONES[..1]));
    assert_eq!(coo, "the row index of entry 0 is 2, and has to be from 0 to below 2");
    let bsr = refused(Parts::bsr([2, 4], (2, BlockLayout::RowMajor), &[0, 1][..], &[2][..], &ONES[..4]));
    assert_eq!(bsr, "the column of blocks of entry 0 is 2, and has to be from 0 to below 2");
    let ell = refused(Parts::ell(2, 3, 2, &[0, -1, 3, -1][..], &ONES[..4]));
    assert_eq!(ell, "the column index of entry 2 is 3, and has to be from 0 to below 3");
    // Behind padding there is only padding.
    let ell = refused(Parts::ell(2, 3, 2, &[-1, 0, 1, -1][..], &ONES[..4]));
    assert_eq!(ell, "the column index behind padding of entry 2 is 1, and has to be from 0 to below 3");
}

#[test]
fn sizes_beyond_the_type_of_the_indices() {
    let most = i32::MAX as usize;
    let error = refused(Parts::csr(most + 1, 3, &[0][..], &[][..], &[][..]));
    assert_eq!(
        error,
        "the number of rows: 2147483648 is more than an index of type i32 can be, 2147483647: take i64, or a smaller matrix"
    );
    assert!(
        refused(Parts::coo(3, usize::MAX, &[][..], &[][..], &[][..])).starts_with("the number of columns")
    );
    let ell = refused(Parts::ell(1 << 20, 3, 1 << 20, &[][..], &[][..]));
    assert!(ell.starts_with("the number of entries, rows times width,"), "{ell}");
    // What i32 cannot express i64 can.
    let stream = under_test::stream();
    let wide = Parts::coo(3, most + 1, &[2_i64][..], &[1_i64 << 31][..], &[1.0_f32][..]);
    assert!(wide.upload(&stream).unwrap_err().to_string().contains("has to be from 0 to below 2147483648"));
    let wide = Parts::coo(3, most + 2, &[2_i64][..], &[1_i64 << 31][..], &[1.0_f32][..]);
    assert_eq!(wide.upload(&stream).unwrap().shape(), [3, most + 2]);
    let vector = SparseVector::upload(&stream, most + 1, &[0_i32], &[1.0_f32]).unwrap_err();
    assert!(matches!(vector, Error::TooLarge { size: 0x8000_0000, .. }), "{vector}");
    let shape = DenseShape { rows: 1 << 40, cols: 1 << 40, layout: Layout::RowMajor, leading: 1 << 40 };
    assert!(matches!(shape.extent(), Err(Error::Argument { .. })));
}

#[test]
fn entries_out_of_order() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let any = Parts::coo(2, 2, &[1, 0][..], &[0, 0][..], &ONES[..2]);
    let unsorted = Parts::csr(1, 3, &[0, 2][..], &[2, 1][..], &ONES[..2]);
    let twice = Parts::csr(1, 3, &[0, 3][..], &[0, 1, 1][..], &ONES[..3]);
    for (parts, order) in [(any, Order::Any), (unsorted, Order::Grouped), (twice, Order::Sorted)] {
        assert_eq!(parts.upload(&stream).unwrap().order(), order);
    }
    let error = Spmv::prepare(&handle, Op::None, any.upload(&stream).unwrap()).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a product with a vector needs entries that are grouped by rows (or columns), and from entry 1 on they are only in any order: sort the \
         matrix"
    );
    let square = Parts::csr(3, 3, &[0, 2, 2, 2][..], &[2, 1][..], &ONES[..2]);
    let product =
        Spgemm::prepare(&handle, unsorted.upload(&stream).unwrap(), square.upload(&stream).unwrap());
    assert!(matches!(product.map(drop), Err(Error::Order { at: 1, found: Order::Grouped, .. })));
    let lower = (Triangle::Lower, DiagonalKind::Stored);
    let solve = Spsv::prepare(&handle, lower, Op::None, square.upload(&stream).unwrap());
    assert!(matches!(solve.map(drop), Err(Error::Order { at: 1, .. })));
    for indices in [[3, 1], [1, 1]] {
        let vector = SparseVector::upload(&stream, 4, &indices, &ONES[..2]).unwrap_err();
        assert!(matches!(vector, Error::Order { at: 1, .. }), "{vector}");
    }
    let outside = SparseVector::upload(&stream, 4, &[1, 4], &ONES[..2]).unwrap_err();
    assert!(matches!(outside, Error::Index { at: 1, value: 4, below: 4, .. }), "{outside}");
    let (indices, values) = (stream.upload(&[1, 4]).unwrap(), stream.upload(&ONES[..2]).unwrap());
    assert!(SparseVector::new(&stream, 4, indices, values).is_err());
}

#[test]
fn operands_that_do_not_fit() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let matrix = Parts::csr(2, 3, &[0, 1, 2][..], &[0, 2][..], &ONES[..2]).upload(&stream).unwrap();
    let (short, mut right) = (stream.upload(&ONES[..2]).unwrap(), stream.upload(&ONES[..2]).unwrap());
    let product = Spmv::prepare(&handle, Op::None, matrix.view()).unwrap();
    let error = product.compute(1.0, &short, 0.0, &mut right).unwrap_err();
    assert_eq!(error.to_string(), "x: 2 elements, and these sizes need 3");
    let long = stream.upload(&ONES[..3]).unwrap();
    let mut wrong = stream.upload(&ONES[..3]).unwrap();
    let error = product.compute(1.0, &long, 0.0, &mut wrong).unwrap_err();
    assert_eq!(error.to_string(), "y: 3 elements, and these sizes need 2");
    assert_eq!(stream.download(&wrong).unwrap(), ONES[..3]);

    let shape = |rows, cols| DenseShape::new(rows, cols, Layout::RowMajor);
    let wide =
        |b, c| Spmm::prepare(&handle, [Op::None; 2], matrix.view(), b, c).map(drop).unwrap_err().to_string();
    assert_eq!(wide(shape(2, 4), shape(2, 4)), "op(B): [2, 4], and [3, 4] is needed here");
    assert_eq!(wide(shape(3, 4), shape(3, 4)), "C: [3, 4], and [2, 4] is needed here");
    let narrow = DenseShape { leading: 3, ..shape(3, 4) };
    assert!(wide(narrow, shape(2, 4)).starts_with("the leading dimension is 3"));
    let product = Spmm::prepare(&handle, [Op::None; 2], matrix.view(), shape(3, 1), shape(2, 1)).unwrap();
    let other = DenseMatrix::new(long.view(), DenseShape { leading: 1, ..shape(3, 1) }).unwrap();
    let mut result = DenseMatrix::new(right.view_mut(), shape(1, 2)).unwrap();
    assert!(matches!(product.compute(1.0, &other, 0.0, &mut result), Err(Error::Shape { what: "C", .. })));
    let gaps = DenseMatrix::new(wrong.view_mut(), DenseShape { leading: 2, ..shape(2, 1) });
    let error = product.compute(1.0, &other, 0.0, &mut gaps.unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("the leading dimension is 2"), "{error}");
    let short = DenseMatrix::new(long.view(), shape(2, 2)).unwrap_err();
    assert!(matches!(short, Error::Length { needed: 4, len: 3, .. }));

    let sampled = Sddmm::prepare(&handle, [Op::None; 2], shape(2, 5), shape(4, 3), matrix.view()).map(drop);
    assert!(matches!(sampled, Err(Error::Shape { what: "op(B)", .. })));
    let lower = (Triangle::Lower, DiagonalKind::Unit);
    let solve = Spsv::prepare(&handle, lower, Op::None, matrix.view()).map(drop);
    assert!(matches!(solve, Err(Error::Shape { .. })));
    let sparse = Spgemm::prepare(&handle, matrix.view(), matrix.view()).map(drop);
    assert!(matches!(sparse, Err(Error::Shape { .. })));
    assert!(matches!(matrix.view().with_values(long.view()), Err(Error::Length { needed: 2, len: 3, .. })));

    let blocks = Parts::bsr([2, 2], (2, BlockLayout::RowMajor), &[0, 1][..], &[0][..], &ONES[..4]);
    let turned = Spmv::prepare(&handle, Op::Transpose, blocks.upload(&stream).unwrap()).map(drop);
    assert!(matches!(turned, Err(Error::Format { format: Format::Bsr { .. }, .. })));
    for ops in [[Op::Transpose, Op::None], [Op::None, Op::Adjoint]] {
        let both = shape(2, 2);
        let turned = Spmm::prepare(&handle, ops, blocks.upload(&stream).unwrap(), both, both).map(drop);
        assert!(matches!(turned, Err(Error::Format { format: Format::Bsr { .. }, .. })));
    }
}

/// A launch of a graph would change the indices after they were checked.
#[test]
fn indices_that_a_graph_writes() {
    let stream = under_test::stream();
    let mut indices = stream.upload(&[0_i32, 1]).unwrap();
    let graph = stream.capture(|stream| stream.memset(&mut indices, 0x7f)).unwrap();
    let offsets = stream.upload(&[0_i32, 2]).unwrap();
    let parts = Parts::csr(1, 2, offsets.view(), indices.view(), stream.upload(&ONES[..2]).unwrap());
    let error = parts.check(&stream).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the indices are in memory that a graph writes, or whose stream captures a graph: copy them with Stream::clone_of outside of a capture"
    );
    let values = stream.upload(&ONES[..2]).unwrap();
    assert!(matches!(
        SparseVector::new(&stream, 2, indices.view(), values),
        Err(Error::WrittenByGraph { .. })
    ));
    drop(graph);
}

/// In a capture its own thread does not count it among the graphs that write, because work on that stream comes in its order. A look does not.
#[test]
fn indices_that_a_capture_writes() {
    let writer = under_test::stream();
    let reader = writer.device().new_stream().unwrap();
    let mut indices = writer.upload(&[0_i32, 1]).unwrap();
    let [of_matrix, of_vector] = [(); 2].map(|()| reader.upload(&ONES[..2]).unwrap());
    let offsets = reader.upload(&[0_i32, 2]).unwrap();
    let (mut matrix, mut vector) = (None, None);
    let graph = writer.capture(|writer| {
        writer.memset(&mut indices, 0x7f)?;
        let parts = Parts::csr(1, 2, offsets.view(), indices.view(), of_matrix.view());
        matrix = Some(SparseMatrix::new(parts, &reader).map(drop));
        vector = Some(SparseVector::new(&reader, 2, indices.view(), of_vector.view()).map(drop));
        Ok(())
    });
    assert!(matches!(matrix, Some(Err(Error::WrittenByGraph { what: "the indices" }))), "{matrix:?}");
    assert!(matches!(vector, Some(Err(Error::WrittenByGraph { what: "the indices" }))), "{vector:?}");
    drop(graph.unwrap());
    // Without the graph they are as good as others.
    SparseVector::new(&reader, 2, indices.view(), of_vector.view()).unwrap();
}

/// A launch of a graph would change how many elements are not zero, after they were counted.
#[test]
fn a_dense_matrix_that_a_graph_writes() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let mut elements = stream.upload(&[0.0_f32, 1.0]).unwrap();
    let graph = stream.capture(|stream| stream.memset(&mut elements, 0x7f)).unwrap();
    let dense = DenseMatrix::new(elements, DenseShape::new(1, 2, Layout::RowMajor)).unwrap();
    let convert = || handle.to_sparse::<i32, f32, _>(&dense, Format::Csr).map(|sparse| sparse.stored());
    let error = convert().unwrap_err();
    assert!(matches!(error, Error::WrittenByGraph { what: "the elements of the dense matrix" }), "{error}");
    drop(graph);
    assert_eq!(convert().unwrap(), 1);
}
