//! Attention to keys and values in pages.

use reference::{Array, AttentionOptions, DType, Error, Expected, Outcome, Value as Number};
use serde_json::{Map, Value};
use tensor_core::{Pages, Tensor};

use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

const DTYPES: [DType; 5] = [DType::F8E4M3, DType::BF16, DType::F16, DType::F32, DType::F64];

/// An attention of q to pages of k and v, by a table and positions.
#[derive(Debug, Clone, Copy)]
struct Paged {
    rows: usize,
    window: Option<usize>,
}

impl Operation for Paged {
    fn name(&self) -> &'static str {
        "paged_attention"
    }

    fn parameters(&self) -> String {
        let window = self.window.map_or(String::new(), |window| format!(",window={window}"));
        format!("rows={}{window}", self.rows)
    }

    fn manifest(&self) -> Map<String, Value> {
        Map::from_iter([("rows".to_owned(), self.rows.into()), ("window".to_owned(), self.window.into())])
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let [q, k, v, table, positions] = operands else { unreachable!("there are five operands") };
        Pages { table, positions, rows: self.rows, window: self.window }.attention(q, [k, v], None)
    }

    /// That of each sequence to the keys it sees, in order.
    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let [q, k, v, table, positions] = *arrays else { unreachable!("there are five operands") };
        let whole = |array: &Array, index: usize| match array.get(index) {
            Number::Int(number) => number as usize,
            Number::Float(_) => unreachable!("ids are integers"),
        };
        let (sequences, pages) = (table.shape()[0], table.shape()[1]);
        let mut all: Vec<Expected> = Vec::new();
        let mut judge = None;
        for sequence in 0..sequences {
            let seen = whole(positions, sequence) + 1;
            let first = self.window.map_or(0, |window| seen.saturating_sub(window));
            let row =
                |key: usize| whole(table, sequence * pages + key / self.rows) * self.rows + key % self.rows;
            let rows: Vec<usize> = (first..seen.min(pages * self.rows)).map(row).collect();
            let (query, options) = (q.narrow(0, sequence, 1)?, AttentionOptions::default());
            let (keys, values) = (at_rows(k, &rows)?, at_rows(v, &rows)?);
            let outcome = reference::attention(&query, &keys, &values, None, options)?;
            judge = Some(outcome.judge());
            all.extend(outcome.iter());
        }
        let judge = judge.expect("cases have sequences");
        let shape = [&q.shape()[..3], &v.shape()[3..]].concat();
        Ok(Outcome::new(q.dtype(), shape, judge, move |i| all[i]))
    }
}

/// Rows of `[1, heads, rows, length]`.
fn at_rows(array: &Array, rows: &[usize]) -> Result<Array, Error> {
    let &[_, heads, all, length] = array.shape() else { unreachable!("the array has four axes") };
    let numbers = (0..heads).flat_map(|head| {
        rows.iter().flat_map(move |row| (0..length).map(move |i| array.get((head * all + row) * length + i)))
    });
    Array::from_values(array.dtype(), &[1, heads, rows.len(), length], &numbers.collect::<Vec<_>>())
}

/// Sequences, heads of q and of k, pages of a sequence, columns of k and of v.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    sequences: usize,
    hq: usize,
    hk: usize,
    pages: usize,
    d: usize,
    dv: usize,
}

/// The operands of `all` pages of so many rows.
fn operands(dtype: DType, of: Lengths, rows: usize, all: usize) -> Vec<Operand> {
    let dense = |shape: &[usize], contents| Operand::dense(dtype, shape, contents);
    let ids =
        |shape: &[usize], below: usize| Operand::dense(DType::U32, shape, Contents::Below(below as u32));
    vec![
        dense(&[of.sequences, of.hq, 1, of.d], Contents::Factors),
        dense(&[1, of.hk, all * rows, of.d], Contents::Factors),
        dense(&[1, of.hk, all * rows, of.dv], Contents::Terms),
        ids(&[of.sequences, of.pages], all),
        ids(&[of.sequences], of.pages * rows),
    ]
}

/// Pages of all sizes, with and without windows, in several layouts.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let grouped = Lengths { sequences: 3, hq: 4, hk: 2, pages: 5, d: 64, dv: 64 };
    let many = Lengths { sequences: 2, hq: 9, hk: 1, pages: 40, d: 20, dv: 12 };
    let one = Lengths { sequences: 1, hq: 1, hk: 1, pages: 1, d: 1, dv: 1 };
    for dtype in DTYPES {
        let mut add = |layout, shape, rows, window, operands| {
            let case = Case::new(Op::named(Paged { rows, window }), operands, layout, shape);
            cases.push(if shape == "whole" { case.exactly() } else { case });
        };
        for (shape, rows, window, of, all) in [
            ("pages", 64, None, grouped, 9),
            ("window", 64, Some(70), grouped, 9),
            ("small-pages", 4, None, many, 50),
            ("rows", 1, Some(30), Lengths { pages: 600, ..many }, 300),
            ("one-page", 512, None, Lengths { pages: 1, ..grouped }, 2),
            ("wide", 16, None, Lengths { d: 200, dv: 300, ..grouped }, 6),
            ("deep", 8, None, Lengths { d: 512, pages: 2, ..grouped }, 3),
            ("one", 1, None, one, 1),
        ] {
            add(Layout::Contiguous, shape, rows, window, operands(dtype, of, rows, all));
        }
        let mut special = operands(dtype, many, 4, 50);
        special[2].contents = Contents::SpecialTerms;
        add(Layout::Contiguous, "special", 4, None, special);
        // The mean of two values behind equal scores.
        let mut whole = operands(dtype, Lengths { pages: 2, ..grouped }, 1, 9);
        for (operand, contents) in whole.iter_mut().zip([Contents::Ones, Contents::Ones, Contents::Whole(2)])
        {
            operand.contents = contents;
        }
        whole[4].contents = Contents::Ones;
        add(Layout::Contiguous, "whole", 1, None, whole);
        // [1, rows, heads, d] viewed as [1, heads, rows, d], and a part of a wider table.
        let mut turned = operands(dtype, grouped, 8, 7);
        for (operand, shape) in turned.iter_mut().zip([[3, 1, 4, 64], [1, 56, 2, 64], [1, 56, 2, 64]]) {
            *operand = Operand::dense(dtype, &shape, operand.contents).then(Step::Transpose(1, 2));
        }
        turned[3] = Operand::dense(DType::U32, &[5, 3], Contents::Below(7)).then(Step::Transpose(0, 1));
        add(Layout::Transposed, "pages", 8, None, turned);
        let mut part = operands(dtype, grouped, 8, 7);
        part[3] = Operand::dense(DType::U32, &[3, 9], Contents::Below(7)).then(Step::Narrow {
            axis: 1,
            start: 2,
            len: 5,
        });
        part[4] = Operand::dense(DType::U32, &[5], Contents::Below(40)).then(Step::Narrow {
            axis: 0,
            start: 1,
            len: 3,
        });
        add(Layout::Narrowed, "pages", 8, Some(20), part);
    }
    cases
}
