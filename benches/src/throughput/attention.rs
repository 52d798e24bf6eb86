//! Causal attention, forward, with the shape of a language model's prompt.

use super::check::{self, Check, picks};
use super::data::Matrix;
use super::rows::{Row, Work};
use reference::{Array, AttentionOptions};
use std::borrow::Cow;
use tensor_core::{DType, Device, Result, Tensor};

/// The name of the row.
pub const OP: &str = "attention_causal";
/// Batches, heads, queries and keys, elements per head.
pub const DIMS: [usize; 4] = [1, 32, 4096, 128];

/// Queries, keys and values: a row for each batch, head and position.
pub struct Inputs {
    matrices: [Matrix; 3],
    tensors: [Tensor; 3],
    dims: [usize; 4],
}

impl Inputs {
    /// Random inputs of `[batch, heads, length, width]`.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(dtype: DType, dims: &[usize], device: &Device) -> Result<Inputs> {
        let &[batch, heads, length, width] = dims else { unreachable!("the list of rows has four sizes") };
        let random = |seed| Matrix::random(dtype, batch * heads * length, width, seed, device);
        let dims = [batch, heads, length, width];
        let matrices = [random(1)?, random(2)?, random(3)?];
        let [q, k, v] = matrices.each_ref().map(|matrix| matrix.tensor.reshape(dims));
        Ok(Inputs { tensors: [q?, k?, v?], matrices, dims })
    }

    /// The only row.
    pub fn row(&self) -> Row<'_> {
        let [batch, heads, length, width] = self.dims.map(|size| size as f64);
        let [q, k, v] = &self.tensors;
        // Two products over the width of a head, for the half of the keys that a query attends to.
        let work = Work::Operations(4.0 * batch * heads * length * length * width / 2.0);
        Row {
            op: OP,
            work,
            run: Box::new(|| q.scaled_dot_product_attention(k, v, None, true, None)),
            check: Box::new(|result| self.check(result)),
        }
    }

    /// Checks some queries of the first and last head.
    fn check(&self, result: &Tensor) -> Check {
        let text = |error: reference::Error| error.to_string();
        let [batch, heads, length, width] = self.dims;
        let result = result.reshape([batch * heads * length, width]).map_err(|error| error.to_string())?;
        let queries = picks(length);
        let mut heads = vec![0, batch * heads - 1];
        heads.dedup();
        for head in heads {
            let rows: Vec<usize> = queries.iter().map(|query| head * length + query).collect();
            let keys: Vec<usize> = (head * length..(head + 1) * length).collect();
            let [q, k, v] = [(0, &rows), (1, &keys), (2, &keys)].map(|(which, rows)| {
                check::rows_of(&self.matrices[which], rows).reshape(&[1, 1, rows.len(), width])
            });
            let seen: Vec<u8> = queries
                .iter()
                .flat_map(|query| (0..length).map(move |key| u8::from(key <= *query)))
                .collect();
            let mask = Array::from_bytes(reference::DType::U8, &[1, 1, queries.len(), length], &seen);
            let (q, k, v, mask) = (q.map_err(text)?, k.map_err(text)?, v.map_err(text)?, mask.map_err(text)?);
            let options = AttentionOptions::default();
            let expected = reference::attention(&q, &k, &v, Some(Cow::Owned(mask)), options);
            check::judge(&result, &rows, expected)?;
        }
        Ok(())
    }
}
