//! Random matrices, on the host and on a device; random ids and masks.

use half::{bf16, f16};
use rayon::prelude::*;
use tensor_core::{DType, Device, Result, Tensor};

/// Elements that one task generates.
const CHUNK: usize = 1 << 16;

/// A dense row-major matrix whose elements are also known on the host, so that results can be checked against
/// the inputs.
pub struct Matrix {
    /// The matrix on the device.
    pub tensor: Tensor,
    /// The same elements, little-endian.
    bytes: Vec<u8>,
    rows: usize,
    columns: usize,
}

impl Matrix {
    /// Numbers with mean 0 and variance 1, between -3.5 and 3.5. A seed gives the same numbers everywhere.
    /// `dtype` is f32, f16 or bf16.
    ///
    /// # Errors
    /// An error of the device.
    ///
    /// # Panics
    /// For another dtype.
    pub fn random(dtype: DType, rows: usize, columns: usize, seed: u64, device: &Device) -> Result<Matrix> {
        let size = dtype.size_in_bytes();
        let mut bytes = vec![0; rows * columns * size];
        bytes.par_chunks_mut(CHUNK * size).enumerate().for_each(|(chunk, bytes)| {
            for (index, element) in bytes.chunks_exact_mut(size).enumerate() {
                let value = random(seed, (chunk * CHUNK + index) as u64);
                match dtype {
                    DType::F32 => element.copy_from_slice(&value.to_le_bytes()),
                    DType::F16 => element.copy_from_slice(&f16::from_f32(value).to_le_bytes()),
                    DType::BF16 => element.copy_from_slice(&bf16::from_f32(value).to_le_bytes()),
                    other => panic!("no random numbers of {other}"),
                }
            }
        });
        let tensor = Tensor::from_bytes(&bytes, dtype, [rows, columns], device)?;
        Ok(Matrix { tensor, bytes, rows, columns })
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> usize {
        self.tensor.dtype().size_in_bytes()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All elements, little-endian.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Rows, concatenated.
    pub fn bytes_of_rows(&self, picks: &[usize]) -> Vec<u8> {
        let length = self.columns * self.element_bytes();
        picks.iter().flat_map(|row| &self.bytes[row * length..(row + 1) * length]).copied().collect()
    }

    /// Columns, concatenated.
    pub fn bytes_of_columns(&self, picks: &[usize]) -> Vec<u8> {
        let size = self.element_bytes();
        let element = |row: usize, column: usize| {
            let index = (row * self.columns + column) * size;
            &self.bytes[index..index + size]
        };
        picks
            .iter()
            .flat_map(|&column| (0..self.rows).flat_map(move |row| element(row, column)))
            .copied()
            .collect()
    }
}

/// Ids from 0 to `below - 1`. A seed gives the same ids everywhere.
pub fn ids(count: usize, below: usize, seed: u64) -> Vec<i64> {
    (0..count as u64).into_par_iter().map(|index| (hash(seed, index) % below as u64) as i64).collect()
}

/// A mask of ones and zeros. A seed gives the same mask everywhere.
pub fn mask(count: usize, seed: u64) -> Vec<u8> {
    (0..count as u64).into_par_iter().map(|index| (hash(seed, index) & 1) as u8).collect()
}

/// splitmix64.
fn hash(seed: u64, index: u64) -> u64 {
    let mut x = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The number at an index: four 16-bit numbers from one hash, added up and scaled.
fn random(seed: u64, index: u64) -> f32 {
    let x = hash(seed, index);
    let sum: i64 = (0..4).map(|part| (x >> (16 * part) & 0xffff) as i64).sum();
    // A uniform 16-bit number has variance 2^32 / 12, four of them 2^32 / 3.
    ((sum - 2 * 0xffff) as f64 * (3f64.sqrt() / 65536.0)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_mean_0_and_variance_1() {
        let numbers: Vec<f64> = (0..100_000).map(|index| random(7, index).into()).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / numbers.len() as f64;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        assert!(numbers.iter().all(|x| x.abs() < 3.5));
        assert_ne!(random(7, 0), random(8, 0));
    }

    #[test]
    fn ids_and_masks_cover_their_valid_range() {
        let ids = ids(10_000, 7, 1);
        for id in 0..7 {
            let count = ids.iter().filter(|other| **other == id).count();
            assert!((1200..1700).contains(&count), "{id}: {count} of 10000");
        }
        assert_eq!(ids.iter().max(), Some(&6));
        let ones: usize = mask(10_000, 2).into_iter().map(usize::from).sum();
        assert!((4700..5300).contains(&ones), "{ones}");
    }

    #[test]
    fn rows_and_columns_are_those_of_the_tensor() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            // Large enough for more than one task.
            let matrix = Matrix::random(dtype, 300, 257, 3, &Device::Cpu).unwrap();
            let (row, column) = (matrix.tensor.get(299).unwrap(), matrix.tensor.select(1, 5).unwrap());
            assert_eq!(matrix.bytes_of_rows(&[299]), row.to_bytes().unwrap());
            assert_eq!(matrix.bytes_of_columns(&[5]), column.to_bytes().unwrap());
            let two = [matrix.bytes_of_rows(&[1]), matrix.bytes_of_rows(&[0])].concat();
            assert_eq!(matrix.bytes_of_rows(&[1, 0]), two);
        }
    }
}
