//! Conversions and sorts: exact, so results are compared with the encoding of the same matrix that the tests make.

use crate::matrices::{BLOCKS, Matrix};
use crate::numbers::{Number, Random, for_all_numbers, for_all_types};
use crate::products::lay;
use crate::under_test::{self, offered};
use rocsparse_safe::{
    DenseMatrix, DenseShape, Error, Format, Handle, Index, Layout, Order, Parts, SparseMatrix,
};

fn dense<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for matrix in Matrix::<T>::some() {
            for format in [Format::Csr, Format::Csc, Format::Coo] {
                for layout in [Layout::RowMajor, Layout::ColumnMajor] {
                    let encoded = matrix.parts::<I>(format);
                    let sparse = encoded.as_slices().upload(&stream).unwrap();
                    let mut shape = DenseShape::new(matrix.rows, matrix.cols, layout);
                    shape.leading += 2;
                    let gap = T::of(99.0.into());
                    let memory = stream.upload(&vec![gap; shape.extent().unwrap()]).unwrap();
                    let mut dense = DenseMatrix::new(memory, shape).unwrap();
                    if offered(handle.to_dense(&sparse, &mut dense)).is_none() {
                        continue;
                    }
                    let mut by_rows = vec![T::ZERO; matrix.rows * matrix.cols];
                    matrix.entries.iter().for_each(|e| by_rows[e.0 * matrix.cols + e.1] = e.2);
                    let found = stream.download(dense.memory()).unwrap();
                    assert_eq!(found, lay(shape, &by_rows, gap), "{format:?} {layout:?}");

                    let Some(back) = offered(handle.to_sparse::<I, T, _>(&dense, format)) else { continue };
                    assert_eq!(back.download(&stream).unwrap(), encoded, "{format:?} {layout:?}");
                    // A look at what the library says of its result.
                    assert_eq!(back.into_parts().check(&stream).unwrap(), Order::Unique);
                }
            }
        }
    }
}

#[test]
fn to_dense_matrices_and_back() {
    for_all_types!(dense);
}

fn formats<T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for matrix in Matrix::<T>::some() {
            let [csr, csc, coo] = [Format::Csr, Format::Csc, Format::Coo].map(|f| matrix.parts::<i32>(f));
            let upload = |parts: &Parts<Vec<i32>, Vec<T>>| parts.as_slices().upload(&stream).unwrap();
            let found = handle.csr_to_coo(upload(&csr)).unwrap();
            assert_eq!((found.order(), found.download(&stream).unwrap()), (Order::Unique, coo.clone()));
            let found = handle.coo_to_csr(upload(&coo)).unwrap();
            assert_eq!((found.order(), found.download(&stream).unwrap()), (Order::Unique, csr.clone()));
            let found = handle.csr_to_csc(&upload(&csr)).unwrap();
            assert_eq!((found.order(), found.download(&stream).unwrap()), (Order::Unique, csc.clone()));
            let found = handle.csc_to_csr(&upload(&csc)).unwrap();
            assert_eq!((found.order(), found.download(&stream).unwrap()), (Order::Unique, csr));
        }
    }
}

#[test]
fn between_formats() {
    for_all_numbers!(formats);
}

fn sorts<T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for matrix in Matrix::<T>::some() {
            let [csr, coo] = [Format::Csr, Format::Coo].map(|format| matrix.parts::<i32>(format));
            // Entries of COO in any order: each is exchanged with another one before it.
            let mut mixed = coo.clone();
            let mut random = Random(3);
            for at in 1..mixed.inner.len() {
                let other = random.below(at + 1);
                mixed.inner.swap(at, other);
                mixed.values.swap(at, other);
                mixed.outer.as_mut().unwrap().swap(at, other);
            }
            let uploaded = mixed.as_slices().upload(&stream).unwrap();
            assert_eq!(uploaded.order() == Order::Any, mixed != coo);
            let sorted = handle.sort(uploaded).unwrap();
            assert_eq!((sorted.order(), sorted.download(&stream).unwrap()), (Order::Unique, coo));

            // The rows of CSR backwards.
            let mut backwards = csr.clone();
            for pair in csr.outer.as_ref().unwrap().windows(2) {
                let row = pair[0] as usize..pair[1] as usize;
                backwards.inner[row.clone()].reverse();
                backwards.values[row].reverse();
            }
            let uploaded = backwards.as_slices().upload(&stream).unwrap();
            assert_eq!(uploaded.order() == Order::Grouped, backwards != csr);
            let sorted = handle.sort(uploaded).unwrap();
            assert_eq!((sorted.order(), sorted.download(&stream).unwrap()), (Order::Unique, csr));
        }
    }
}

#[test]
fn in_order() {
    for_all_numbers!(sorts);
}

/// Entries of one position stay, and are what the order says.
#[test]
fn repeated_entries_stay() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let parts = Parts::coo(2, 2, &[1, 0, 1][..], &[1, 0, 1][..], &[1.0_f64, 2.0, 4.0][..]);
    let sorted = handle.sort(parts.upload(&stream).unwrap()).unwrap();
    assert_eq!(sorted.order(), Order::Sorted);
    let csr = handle.coo_to_csr(sorted).unwrap();
    let mut dense =
        DenseMatrix::new(stream.alloc_zeros::<f64>(4).unwrap(), DenseShape::new(2, 2, Layout::RowMajor))
            .unwrap();
    let refused = handle.to_dense(&csr, &mut dense).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a conversion to a dense matrix needs entries that are sorted, with at most one entry for each position, and from entry 2 on they are only \
         sorted, some positions with several entries: sort the matrix, and add up the entries of each position"
    );
    // Which of the two comes first in CSC is not said.
    let csc = handle.csr_to_csc(&csr).unwrap();
    assert_eq!(csc.order(), Order::Grouped);
    let mut found = csc.download(&stream).unwrap();
    found.values[1..].sort_by(f64::total_cmp);
    assert_eq!(found, Parts::csc(2, 2, vec![0, 1, 3], vec![0, 1, 1], vec![2.0, 1.0, 4.0]));
}

#[test]
fn other_formats_are_refused() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let matrix = Matrix::<f32>::random(1, 4, 4, 50).parts::<i32>(BLOCKS);
    let shape = DenseShape::new(4, 4, Layout::RowMajor);
    let mut dense = DenseMatrix::new(stream.alloc_zeros::<f32>(16).unwrap(), shape).unwrap();
    let upload = || matrix.as_slices().upload(&stream).unwrap();
    let refused = [
        handle.to_dense(&upload(), &mut dense),
        handle.to_sparse::<i32, f32, _>(&dense, BLOCKS).map(drop),
        handle.csr_to_coo(upload()).map(drop),
        handle.coo_to_csr(upload()).map(drop),
        handle.csr_to_csc(&upload()).map(drop),
        handle.csc_to_csr(&upload()).map(drop),
        handle.sort(upload()).map(drop),
    ];
    for error in refused {
        assert!(matches!(error, Err(Error::Format { .. })), "{error:?}");
    }
}

/// A matrix of borrowed memory converts as one of its own.
#[test]
fn borrowed_memory() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let parts = Matrix::<f32>::random(9, 8, 6, 40).parts::<i32>(Format::Csr);
    let (offsets, indices, values) = (
        stream.upload(parts.outer.as_ref().unwrap()).unwrap(),
        stream.upload(&parts.inner).unwrap(),
        stream.upload(&parts.values).unwrap(),
    );
    let borrowed = Parts::csr(8, 6, offsets.view(), indices.view(), values.view());
    let matrix = SparseMatrix::new(borrowed, &stream).unwrap();
    let turned = handle.csr_to_csc(&matrix).unwrap();
    let again = handle.csc_to_csr(&turned).unwrap();
    assert_eq!(again.download(&stream).unwrap(), parts);
}
