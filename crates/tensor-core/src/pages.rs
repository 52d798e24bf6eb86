//! Attention to keys and values in pages that several sequences share.

use std::ops::Range;

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};
use crate::hip;
use crate::plan::attention::{PAGED, Paged};
use crate::plan::index::Indexed;
use crate::shape::Shape;
use crate::storage::{Storage, apart};
use crate::tensor::Tensor;

/// The axis of rows in keys and values.
const ROWS: usize = 2;

/// Which pages of a common memory have the keys and values of each sequence, and how many of these a query sees.
///
/// The memory is `[1, heads, rows, length]` for keys and for values. A page is some rows, one behind the other: page p the rows from p ·
/// `rows` on. Rows behind the last whole page belong to none.
///
/// ```
/// use tensor_core::{DType, Device, Pages, Tensor};
///
/// # fn main() -> tensor_core::Result<()> {
/// let device = Device::Cpu;
/// // Three pages of two rows, each row of one number. The sequence has the last page first, and then the first one.
/// let values = Tensor::new([3f32, 4.0, 0.0, 0.0, 1.0, 2.0], &device)?.reshape([1, 1, 6, 1])?;
/// let (table, positions) = (Tensor::new([[2u32, 0]], &device)?, Tensor::new([2u32], &device)?);
/// let pages = Pages { table: &table, positions: &positions, rows: 2, window: None };
/// // Equal scores give the mean of the three values that the query sees: 1, 2 and 3.
/// let query = Tensor::zeros([1, 1, 1, 1], DType::F32, &device)?;
/// assert_eq!(pages.attention(&query, [&values, &values], None)?.flatten_all()?.to_vec1::<f32>()?, [2.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Pages<'a> {
    /// The pages of each sequence in the order of its tokens: `[sequences, pages]` of `u32`. Those whose keys no
    /// query sees are ignored.
    pub table: &'a Tensor,
    /// The last key that the query of each sequence sees: `[sequences]` of `u32`. Behind the pages of the table there are no keys.
    pub positions: &'a Tensor,
    /// Rows of a page: a power of two, at most 2³¹.
    pub rows: usize,
    /// How many keys a query sees at most.
    pub window: Option<usize>,
}

impl Pages<'_> {
    /// The most numbers of a query.
    pub const LONGEST: usize = 512;

    /// Attention of a query `[sequences, heads, 1, d]` to keys `[1, kv_heads, rows, d]` and values `[1, kv_heads, rows, dv]`, by the
    /// formula of [`Tensor::scaled_dot_product_attention`]: `[sequences, heads, 1, dv]`. d is at most [`Pages::LONGEST`].
    ///
    /// On a HIP device this is one launch, for many keys two, which read the table, and of keys and values those that are seen. On the CPU
    /// the seen keys of a sequence are copied, unless their pages are one behind the other.
    ///
    /// # Errors
    /// As [`Tensor::scaled_dot_product_attention`]; [`ErrorKind::Argument`] for other shapes, a number of rows that is no power of two,
    /// or longer queries; [`ErrorKind::UnsupportedDType`] for ids that are not `u32`; [`ErrorKind::IdOutOfRange`] for a page that is not
    /// there. On a HIP device the next reading gives this error, after a graph's launch the next one behind an operation that is not in a
    /// graph; and the query's result means nothing.
    pub fn attention(
        &self,
        query: &Tensor,
        [keys, values]: [&Tensor; 2],
        scale: Option<f64>,
    ) -> Result<Tensor> {
        let plan = self.plan(query, [keys, values], scale)?;
        let storages = [query, keys, values, self.table, self.positions].map(Tensor::storage);
        match storages {
            [
                Storage::Hip(q),
                Storage::Hip(k),
                Storage::Hip(v),
                Storage::Hip(table),
                Storage::Hip(positions),
            ] => {
                let out =
                    hip::ops::attention::paged_attention([q, k, v], [table, positions], &plan).on(query)?;
                Tensor::tight(Storage::Hip(out), Shape::from(plan.result()), PAGED).on(query)
            }
            [Storage::Cpu(_), Storage::Cpu(_), Storage::Cpu(_), Storage::Cpu(_), Storage::Cpu(_)] => {
                self.one_by_one(query, [keys, values], &plan)
            }
            _ => Err(apart(PAGED, &storages)),
        }
    }

    fn plan(&self, query: &Tensor, [keys, values]: [&Tensor; 2], scale: Option<f64>) -> Result<Paged> {
        let (table, positions) = (self.table, self.positions);
        for other in [keys, values] {
            query.require_alike(other, PAGED)?;
        }
        query.require(PAGED, query.dtype().is_float(), "cast it to a float first: to_dtype(DType::F32)")?;
        for ids in [table, positions] {
            query.require_same_device(ids, PAGED)?;
            ids.require(PAGED, ids.dtype() == DType::U32, "cast it first: to_dtype(DType::U32)")?;
        }
        let wrong = |rule: &str| {
            let what = format!(
                "q {}, k {}, v {}, a table {} and positions {} do not fit: {rule}",
                query.shape(),
                keys.shape(),
                values.shape(),
                table.shape(),
                positions.shape()
            );
            Error::new(PAGED, ErrorKind::Argument { what }).on(&query.device())
        };
        let (&[sequences, heads, 1, d], &[1, kv_heads, rows, of_key], &[1, of_values, value_rows, _]) =
            (query.dims(), keys.dims(), values.dims())
        else {
            return Err(wrong("q is [sequences, heads, 1, d], k and v are [1, heads, rows, d]"));
        };
        if of_key != d || of_values != kv_heads || value_rows != rows {
            return Err(wrong("k has the lengths of q, and v the heads and rows of k"));
        }
        if heads.checked_rem(kv_heads).unwrap_or(heads) != 0 {
            return Err(wrong("the heads of q must be a multiple of those of k and v"));
        }
        if d > Pages::LONGEST {
            return Err(wrong("queries have at most 512 numbers; select the rows of longer ones first"));
        }
        if !self.rows.is_power_of_two() || self.rows > 1 << 31 {
            return Err(wrong("the rows of a page must be a power of two, at most 2^31"));
        }
        if !matches!(table.dims(), [of_table, _] if *of_table == sequences) || positions.dims() != [sequences]
        {
            return Err(wrong("the table is [sequences, pages], positions are [sequences]"));
        }
        if table.dims()[1].checked_mul(self.rows).is_none() {
            return Err(wrong("the table has more keys than a number holds"));
        }
        let paged = Paged {
            q: query.layout().clone(),
            k: keys.layout().clone(),
            v: values.layout().clone(),
            table: table.layout().clone(),
            positions: positions.layout().clone(),
            rows: self.rows,
            pages: Indexed {
                operation: PAGED,
                axis: ROWS,
                length: rows / self.rows,
                // Pages are found by their rows.
                stride: 0,
            },
            window: self.window.unwrap_or(usize::MAX),
            scale: scale.unwrap_or(query.usual_scale()),
        };
        Shape::from(paged.result()).elements(PAGED).on(query)?;
        Ok(paged)
    }

    /// The attention of each sequence by itself, to keys and values in order.
    fn one_by_one(&self, query: &Tensor, vectors: [&Tensor; 2], plan: &Paged) -> Result<Tensor> {
        let (table, positions) = (self.table.to_vec2::<u32>()?, self.positions.to_vec1::<u32>()?);
        let each = table.iter().zip(positions).enumerate().map(|(sequence, (pages, position))| {
            let runs = runs(plan, pages, position).on(query)?;
            let seen = |all: &Tensor| {
                let parts: Vec<Tensor> =
                    runs.iter().map(|run| all.narrow(ROWS, run.start, run.len())).collect::<Result<_>>()?;
                match &*parts {
                    [] => all.narrow(ROWS, 0, 0),
                    [one] => Ok(one.clone()),
                    _ => Tensor::cat(&parts, ROWS),
                }
            };
            let (keys, values) = (seen(vectors[0])?, seen(vectors[1])?);
            let query = query.narrow(0, sequence, 1)?;
            query.scaled_dot_product_attention(&keys, &values, None, false, Some(plan.scale))
        });
        let each = each.collect::<Result<Vec<_>>>()?;
        if each.is_empty() {
            return Tensor::zeros(plan.result(), query.dtype(), &query.device());
        }
        Tensor::cat(&each, 0)
    }
}

/// The rows of the keys that a query at this position sees, in order.
fn runs(plan: &Paged, pages: &[u32], position: u32) -> Result<Vec<Range<usize>>> {
    let seen = position as usize + 1;
    let (mut key, end) = (seen.saturating_sub(plan.window), seen.min(plan.keys()));
    let mut runs: Vec<Range<usize>> = Vec::new();
    while key < end {
        let page = pages[key / plan.rows];
        if page as usize >= plan.pages.length {
            return Err(plan.pages.wrong(page.into()));
        }
        let first = page as usize * plan.rows;
        let next = (key / plan.rows + 1) * plan.rows;
        let rows = first + key % plan.rows..first + (end.min(next) - 1) % plan.rows + 1;
        match runs.last_mut() {
            Some(last) if last.end == rows.start => last.end = rows.end,
            _ => runs.push(rows),
        }
        key = next;
    }
    Ok(runs)
}
