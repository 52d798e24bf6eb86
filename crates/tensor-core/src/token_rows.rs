//! Turning queries and keys and writing keys and values to a cache, in one launch.

use crate::dtype::DType;
use crate::error::{On, Result};
use crate::hip::{self, HipStorage};
use crate::plan::index::Indexed;
use crate::plan::rope::Rope;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// The axis of rows in a cache.
const ROWS: usize = 2;

/// Where a token of each sequence is in its text, and which row of a cache takes its key and value.
///
/// ```
/// use tensor_core::{DType, Device, Tensor, TokenRows};
///
/// # fn main() -> tensor_core::Result<()> {
/// let device = Device::Cpu;
/// let (cos, sin) = (Tensor::new([[0f32]], &device)?, Tensor::new([[1f32]], &device)?);
/// let tokens = TokenRows { cos: &cos, sin: &sin, interleaved: false, rows: &Tensor::new([1u32], &device)? };
/// let vector = |numbers: [f32; 2]| Tensor::new(numbers, &device)?.reshape([1, 1, 1, 2]);
/// let (mut keys, mut values) = (Tensor::zeros([1, 1, 3, 2], DType::F32, &device)?, Tensor::zeros([1, 1, 3, 2], DType::F32, &device)?);
/// let new = [&vector([1.0, 2.0])?, &vector([3.0, 4.0])?, &vector([5.0, 6.0])?];
/// // By a right angle (x, y) becomes (-y, x).
/// let query = tokens.turn_and_write(new, [&mut keys, &mut values])?;
/// assert_eq!(query.flatten_all()?.to_vec1::<f32>()?, [-2.0, 1.0]);
/// assert_eq!(keys.flatten_all()?.to_vec1::<f32>()?, [0.0, 0.0, -4.0, 3.0, 0.0, 0.0]);
/// assert_eq!(values.flatten_all()?.to_vec1::<f32>()?, [0.0, 0.0, 5.0, 6.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TokenRows<'a> {
    /// The cosines of the tokens' angles: see [`Tensor::rope`].
    pub cos: &'a Tensor,
    /// The sines.
    pub sin: &'a Tensor,
    /// Whether neighbours are turned, as by [`Tensor::rope_i`].
    pub interleaved: bool,
    /// The row of each sequence, `[sequences]`. If a row is there twice, the last sequence writes it.
    pub rows: &'a Tensor,
}

impl TokenRows<'_> {
    /// Turns a query and a key as [`Tensor::rope_pair`]. The result of the query `[sequences, heads, 1, length]` is returned. That of
    /// the key `[sequences, kv_heads, 1, length]`, and the value of this shape, are written to rows of caches `[1, kv_heads, rows,
    /// length]` as by [`Tensor::scatter_`]. On a HIP device this is one launch, if the caches are contiguous and rows are `u32`.
    ///
    /// # Errors
    /// As [`Tensor::rope_pair`] and [`Tensor::scatter_`].
    pub fn turn_and_write(
        &self,
        [query, key, value]: [&Tensor; 3],
        [keys, values]: [&mut Tensor; 2],
    ) -> Result<Tensor> {
        if let Some(plans) = self.plans([query, key, value], [keys, values])? {
            return self.launch([query, key, value], [keys, values], &plans);
        }
        let (query, key) = if self.interleaved {
            query.rope_i_pair(key, self.cos, self.sin)?
        } else {
            query.rope_pair(key, self.cos, self.sin)?
        };
        for (all, vectors) in [(keys, &key), (values, value)] {
            let vectors = vectors.transpose(0, ROWS)?;
            let ids = self.rows.reshape([1, 1, self.rows.elements(), 1])?.expand(vectors.shape().clone())?;
            all.scatter_(&ids, &vectors, ROWS)?;
        }
        Ok(query)
    }

    /// How query and key are turned; `None` unless the kernel takes all of it.
    fn plans(
        &self,
        [query, key, value]: [&Tensor; 3],
        [keys, values]: [&Tensor; 2],
    ) -> Result<Option<[Rope; 2]>> {
        let all = [key, value, keys, values, self.cos, self.sin];
        let is_hip = |tensor: &&Tensor| matches!(tensor.storage(), Storage::Hip(_));
        if !is_hip(&query) || all.iter().any(|tensor| query.require_alike(tensor, "rope_pair").is_err()) {
            return Ok(None);
        }
        let (&[batch, _, 1, length], &[sequences, heads, 1, _]) = (query.dims(), key.dims()) else {
            return Ok(None);
        };
        let cache = |all: &Tensor| {
            matches!(all.dims(), &[1, of, _, width] if (of, width) == (heads, length)) && all.is_contiguous()
        };
        let rows = self.rows;
        let listed = rows.dims() == [batch]
            && rows.dtype() == DType::U32
            && rows.is_contiguous()
            && rows.device().same_device(&query.device());
        let numbers = query.elements().saturating_add(key.elements()).saturating_add(value.elements());
        let fits = listed
            && (sequences, value.dims()) == (batch, key.dims())
            && key.dims()[3] == length
            && cache(keys)
            && cache(values)
            && keys.dims() == values.dims()
            && key.elements() > 0
            && query.elements() > 0
            && u32::try_from(numbers).is_ok();
        if !fits {
            return Ok(None);
        }
        let name = if self.interleaved { "rope_i_pair" } else { "rope_pair" };
        let of = |x: &Tensor| x.rope_plan(self.cos, self.sin, name, self.interleaved, false);
        Ok(of(query)?.zip(of(key)?).map(|(query, key)| [query, key]))
    }

    fn launch(
        &self,
        [query, key, value]: [&Tensor; 3],
        [keys, values]: [&mut Tensor; 2],
        plans: &[Rope; 2],
    ) -> Result<Tensor> {
        let axis = Indexed::new("scatter_", keys.layout(), ROWS);
        let mut turned = None;
        keys.write(|keys, keys_at| {
            values.write(|values, values_at| {
                let storages = [query, key, value, self.cos, self.sin, self.rows].map(on_hip);
                let (
                    [Some(query), Some(key), Some(of_value), Some(cos), Some(sin), Some(rows)],
                    Storage::Hip(keys),
                    Storage::Hip(values),
                ) = (storages, keys, values)
                else {
                    unreachable!("the plan is for a HIP device")
                };
                let vectors = [(query, &plans[0].x), (key, &plans[1].x), (of_value, value.layout())];
                let caches = [(keys, keys_at.offset()), (values, values_at.offset())];
                let rows = (rows, self.rows.layout().offset());
                turned = Some(hip::ops::rope::rope_write(vectors, [cos, sin], plans, caches, rows, &axis)?);
                Ok(())
            })
        })?;
        let turned = turned.expect("a write that did not fail has called its function");
        Tensor::tight(Storage::Hip(turned), query.shape().clone(), plans[0].name).on(query)
    }
}

fn on_hip(tensor: &Tensor) -> Option<&HipStorage> {
    match tensor.storage() {
        Storage::Hip(storage) => Some(storage),
        Storage::Cpu(_) => None,
    }
}
