//! Sparse and dense vectors.

use crate::judge::Sum;
use crate::numbers::{Number, Random, for_all_types};
use crate::under_test;
use rocsparse_safe::{Handle, Index, SparseVector};

fn gather_and_scatter<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for positions in [vec![0, 3, 4, 11], vec![], (0..12).collect()] {
            let indices: Vec<I> = positions.iter().map(|&position| I::of_size(position).unwrap()).collect();
            let mut random = Random(2);
            let (dense, sparse) = (random.numbers::<T>(12), random.numbers::<T>(positions.len()));
            let mut y = stream.upload(&dense).unwrap();
            let mut x = SparseVector::upload(&stream, 12, &indices, &sparse).unwrap();
            assert_eq!((x.elements(), x.stored()), (12, positions.len()));

            let (alpha, beta) = (T::of(random.number()), T::of(random.number()));
            handle.axpby(alpha, &x, beta, &mut y).unwrap();
            for (at, &found) in stream.download(&y).unwrap().iter().enumerate() {
                let mut sum = Sum::default();
                sum.add(&[beta.to(), dense[at].to()]);
                if let Some(number) = positions.iter().position(|&position| position == at) {
                    sum.add(&[alpha.to(), sparse[number].to()]);
                }
                sum.check("axpby", found);
            }

            y = stream.upload(&dense).unwrap();
            handle.scatter(&x, &mut y).unwrap();
            let mut expected = dense.clone();
            positions.iter().zip(&sparse).for_each(|(&position, &value)| expected[position] = value);
            assert_eq!(stream.download(&y).unwrap(), expected);

            handle.gather(&stream.upload(&dense).unwrap(), &mut x).unwrap();
            let (taken, found) = x.into_parts();
            let expected: Vec<T> = positions.iter().map(|&position| dense[position]).collect();
            assert_eq!(
                (stream.download(&taken).unwrap(), stream.download(&found).unwrap()),
                (indices, expected)
            );
        }
    }
}

#[test]
fn sparse_and_dense_vectors() {
    for_all_types!(gather_and_scatter);
}
