//! Reading and writing by ids, and replacing slices.

use reference::{Array, DType, Error, Outcome};
use serde_json::{Map, Value, json};
use tensor_core::Tensor;

use super::shapes::{BLOCKS, COLS, ROWS, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// The dtypes of ids.
const IDS: [DType; 4] = [DType::U8, DType::U32, DType::I32, DType::I64];

/// An operation with ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    IndexSelect,
    Gather,
    Embedding,
    Scatter,
    ScatterAdd,
    IndexAdd,
}

/// An operation with ids, its axis, and the dtype of its ids.
#[derive(Debug)]
struct ByIds {
    verb: Verb,
    axis: usize,
    ids: DType,
}

impl Operation for ByIds {
    fn name(&self) -> &'static str {
        match self.verb {
            Verb::IndexSelect => "index_select",
            Verb::Gather => "gather",
            Verb::Embedding => "embedding",
            Verb::Scatter => "scatter",
            Verb::ScatterAdd => "scatter_add",
            Verb::IndexAdd => "index_add",
        }
    }

    fn parameters(&self) -> String {
        match self.verb {
            Verb::Embedding => format!("ids={}", self.ids),
            _ => format!("axis={},ids={}", self.axis, self.ids),
        }
    }

    fn manifest(&self) -> Map<String, Value> {
        let parameters = json!({ "axis": self.axis });
        parameters.as_object().cloned().unwrap_or_default()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let (x, ids, axis) = (&operands[0], &operands[1], self.axis);
        match self.verb {
            Verb::IndexSelect => x.index_select(ids, axis),
            Verb::Gather => x.gather(ids, axis),
            Verb::Embedding => x.embedding(ids),
            Verb::Scatter => x.scatter(ids, &operands[2], axis),
            Verb::ScatterAdd => x.scatter_add(ids, &operands[2], axis),
            Verb::IndexAdd => x.index_add(ids, &operands[2], axis),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let (x, ids, axis) = (arrays[0], arrays[1], self.axis);
        match self.verb {
            Verb::IndexSelect => reference::index_select(x, ids, axis),
            Verb::Gather => reference::gather(x, ids, axis),
            Verb::Embedding => reference::embedding(x, ids),
            Verb::Scatter => reference::scatter(x, ids, arrays[2], axis),
            Verb::ScatterAdd => reference::scatter_add(x, ids, arrays[2], axis),
            Verb::IndexAdd => reference::index_add(x, ids, arrays[2], axis),
        }
    }
}

/// Replacing slices along an axis, in place or not.
#[derive(Debug)]
struct SetSlices {
    in_place: bool,
    axis: usize,
    start: usize,
}

impl Operation for SetSlices {
    fn name(&self) -> &'static str {
        if self.in_place { "slice_set" } else { "slice_scatter" }
    }

    fn parameters(&self) -> String {
        format!("axis={},start={}", self.axis, self.start)
    }

    fn manifest(&self) -> Map<String, Value> {
        let parameters = json!({ "axis": self.axis, "start": self.start });
        parameters.as_object().cloned().unwrap_or_default()
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        if !self.in_place {
            return operands[0].slice_scatter(&operands[1], self.axis, self.start);
        }
        let mut target = operands[0].clone();
        target.slice_set_(&operands[1], self.axis, self.start).map(|()| target)
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        reference::slice_scatter(arrays[0], arrays[1], self.axis, self.start)
    }
}

/// A case without its operation: layout, shape class, axis, and operands.
type Sketch = (Layout, &'static str, usize, Vec<Operand>);

/// All cases of the family.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (turn, dtype) in DType::ALL.into_iter().enumerate() {
        let sketches = [
            (Verb::IndexSelect, select(dtype)),
            (Verb::Gather, gather(dtype)),
            (Verb::Embedding, embedding(dtype)),
            (Verb::Scatter, scatter(dtype, Contents::Mixed)),
            (Verb::ScatterAdd, scatter(dtype, Contents::Terms)),
            (Verb::IndexAdd, add(dtype)),
        ];
        for (verb, sketches) in sketches {
            // Every operation gets every dtype of ids with every dtype.
            for (number, (layout, shape, axis, mut operands)) in sketches.into_iter().enumerate() {
                let ids = IDS[(number + turn) % IDS.len()];
                operands[1].dtype = ids;
                cases.push(Case::new(Op::named(ByIds { verb, axis, ids }), operands, layout, shape));
            }
        }
        for ids in IDS {
            let operands = vec![Operand::dense(dtype, &[24, 64], Contents::Mixed), numbers(&[50], 24, ids)];
            let op = Op::named(ByIds { verb: Verb::IndexSelect, axis: 0, ids });
            cases.push(Case::new(op, operands, Layout::Contiguous, "packs"));
        }
        cases.extend(slices(dtype));
    }
    // A block writes 64 lines, one per thread.
    let x = |shape: [usize; 2]| Operand::dense(DType::U8, &shape, Contents::EveryPattern);
    let operands = vec![x([BLOCKS * 64, 3]), numbers(&[BLOCKS * 64, 1], 3, DType::U8), x([BLOCKS * 64, 1])];
    let op = Op::named(ByIds { verb: Verb::Scatter, axis: 1, ids: DType::U8 });
    cases.push(Case::new(op, operands, Layout::Contiguous, "many-blocks"));
    cases
}

/// Ids below `end`, of this dtype or one that is chosen later.
fn numbers(shape: &[usize], end: u32, dtype: DType) -> Operand {
    Operand::dense(dtype, shape, Contents::Below(end))
}

fn ids(shape: &[usize], end: usize) -> Operand {
    numbers(shape, end as u32, DType::I64)
}

fn select(dtype: DType) -> Vec<Sketch> {
    let contents = Contents::Mixed;
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    let mut sketches = vec![
        (Layout::Contiguous, "vector", 0, vec![dense(&[251]), ids(&[4099], 251)]),
        (Layout::Contiguous, "matrix", 0, vec![matrix(), ids(&[53], ROWS)]),
        (Layout::Contiguous, "columns", 1, vec![matrix(), ids(&[67], COLS)]),
        (Layout::Contiguous, "middle", 1, vec![dense(&[7, 33, 16]), ids(&[21], 33)]),
        (Layout::Contiguous, "one", 0, vec![dense(&[1]), ids(&[1], 1)]),
        (Layout::Transposed, "rows", 0, vec![transposed(dtype, ROWS, COLS, contents), ids(&[53], ROWS)]),
        (Layout::Narrowed, "rows", 0, vec![narrowed(dtype, ROWS, COLS, contents), ids(&[53], ROWS)]),
        (
            Layout::Narrowed,
            "ids",
            1,
            vec![matrix(), ids(&[90], COLS).then(Step::Narrow { axis: 0, start: 7, len: 71 })],
        ),
        (Layout::Permuted, "4d", 2, vec![permuted(dtype, contents), ids(&[9], 13)]),
        (
            Layout::BroadcastRow,
            "rows",
            0,
            vec![dense(&[COLS]).then(Step::Broadcast(vec![ROWS, COLS])), ids(&[11], ROWS)],
        ),
        (Layout::BroadcastScalar, "ids", 0, vec![matrix(), ids(&[1], ROWS).then(Step::Broadcast(vec![19]))]),
        (Layout::HighRank, "10d", 3, vec![high_rank(dtype, contents), ids(&[5], 2)]),
        (Layout::Empty, "no-ids", 0, vec![matrix(), ids(&[0], 1)]),
        (Layout::Empty, "no-columns", 0, vec![dense(&[ROWS, 0]), ids(&[5], ROWS)]),
    ];
    if matches!(dtype, DType::U8 | DType::F32) {
        sketches.push((Layout::Contiguous, "large", 0, vec![dense(&[251, 5]), ids(&[70_001], 251)]));
    }
    sketches
}

fn gather(dtype: DType) -> Vec<Sketch> {
    let contents = Contents::Mixed;
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    let part = |shape: &[usize], end| {
        let stored: Vec<usize> = shape.iter().map(|length| length + 3).collect();
        let whole = ids(&stored, end);
        (0..shape.len()).fold(whole, |ids, axis| ids.then(Step::Narrow { axis, start: 2, len: shape[axis] }))
    };
    vec![
        (Layout::Contiguous, "vector", 0, vec![dense(&[251]), ids(&[4099], 251)]),
        (Layout::Contiguous, "matrix", 1, vec![matrix(), ids(&[ROWS, 41], COLS)]),
        (Layout::Contiguous, "along-columns", 0, vec![matrix(), ids(&[50, COLS], ROWS)]),
        (Layout::Contiguous, "fewer", 1, vec![matrix(), ids(&[11, 64], COLS)]),
        (Layout::Contiguous, "one", 0, vec![dense(&[1]), ids(&[1], 1)]),
        (
            Layout::Transposed,
            "both",
            1,
            vec![transposed(dtype, ROWS, COLS, contents), ids(&[41, ROWS], COLS).then(Step::Transpose(0, 1))],
        ),
        (Layout::Narrowed, "both", 0, vec![narrowed(dtype, ROWS, COLS, contents), part(&[20, COLS], ROWS)]),
        (Layout::Permuted, "4d", 1, vec![permuted(dtype, contents), ids(&[11, 3, 13, 7], 5)]),
        (
            Layout::BroadcastColumn,
            "ids",
            1,
            vec![matrix(), ids(&[ROWS, 1], COLS).then(Step::Broadcast(vec![ROWS, 33]))],
        ),
        (
            Layout::BroadcastRow,
            "both",
            0,
            vec![
                dense(&[COLS]).then(Step::Broadcast(vec![ROWS, COLS])),
                ids(&[COLS], ROWS).then(Step::Broadcast(vec![5, COLS])),
            ],
        ),
        (
            Layout::HighRank,
            "10d",
            6,
            vec![high_rank(dtype, contents), ids(&[2, 3, 2, 2, 2, 2, 3, 2, 2, 2], 3)],
        ),
        (Layout::Empty, "no-ids", 1, vec![matrix(), ids(&[ROWS, 0], 1)]),
    ]
}

fn embedding(dtype: DType) -> Vec<Sketch> {
    let contents = Contents::Mixed;
    let table = |rows: usize, width: usize| Operand::dense(dtype, &[rows, width], contents);
    vec![
        (Layout::Contiguous, "packs", 0, vec![table(101, 64), ids(&[7, 9], 101)]),
        (Layout::Contiguous, "matrix", 0, vec![table(101, 33), ids(&[2, 5, 9], 101)]),
        (Layout::Contiguous, "scalar-id", 0, vec![table(101, 64), ids(&[], 101)]),
        (
            Layout::Transposed,
            "both",
            0,
            vec![transposed(dtype, 101, 32, contents), ids(&[9, 7], 101).then(Step::Transpose(0, 1))],
        ),
        (Layout::Narrowed, "table", 0, vec![narrowed(dtype, 101, 48, contents), ids(&[31], 101)]),
        (Layout::Empty, "no-ids", 0, vec![table(101, 64), ids(&[0, 4], 1)]),
    ]
}

/// The shapes of scatter and scatter_add.
fn scatter(dtype: DType, contents: Contents) -> Vec<Sketch> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    vec![
        (Layout::Contiguous, "line", 0, vec![dense(&[501]), ids(&[3001], 256), dense(&[3001])]),
        (Layout::Contiguous, "matrix", 1, vec![matrix(), ids(&[ROWS, 70], COLS), dense(&[ROWS, 70])]),
        (Layout::Contiguous, "along-columns", 0, vec![matrix(), ids(&[60, COLS], ROWS), dense(&[60, COLS])]),
        (Layout::Contiguous, "fewer", 0, vec![matrix(), ids(&[60, 40], ROWS), dense(&[60, 40])]),
        (Layout::Contiguous, "one", 0, vec![dense(&[1]), ids(&[3], 1), dense(&[3])]),
        (
            Layout::Transposed,
            "all",
            1,
            vec![
                transposed(dtype, ROWS, COLS, contents),
                ids(&[50, ROWS], COLS).then(Step::Transpose(0, 1)),
                transposed(dtype, ROWS, 50, contents),
            ],
        ),
        (
            Layout::Permuted,
            "4d",
            2,
            vec![
                permuted(dtype, contents),
                ids(&[5, 9, 7, 11], 13).then(Step::Permute(vec![3, 0, 1, 2])),
                dense(&[11, 5, 9, 7]),
            ],
        ),
        (
            Layout::BroadcastBoth,
            "ids-and-source",
            0,
            vec![
                matrix(),
                ids(&[30, 1], ROWS).then(Step::Broadcast(vec![30, COLS])),
                dense(&[COLS]).then(Step::Broadcast(vec![30, COLS])),
            ],
        ),
        (
            Layout::HighRank,
            "10d",
            6,
            vec![
                high_rank(dtype, contents),
                ids(&[2, 3, 2, 2, 2, 2, 4, 2, 2, 2], 3),
                dense(&[2, 3, 2, 2, 2, 2, 4, 2, 2, 2]),
            ],
        ),
        (Layout::Empty, "no-ids", 1, vec![matrix(), ids(&[ROWS, 0], 1), dense(&[ROWS, 0])]),
    ]
}

fn add(dtype: DType) -> Vec<Sketch> {
    let contents = Contents::Terms;
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    vec![
        (Layout::Contiguous, "matrix", 0, vec![matrix(), ids(&[80], ROWS), dense(&[80, COLS])]),
        (Layout::Contiguous, "columns", 1, vec![matrix(), ids(&[200], COLS), dense(&[ROWS, 200])]),
        (Layout::Contiguous, "middle", 1, vec![dense(&[5, 9, 17]), ids(&[31], 9), dense(&[5, 31, 17])]),
        (Layout::Contiguous, "line", 0, vec![dense(&[251]), ids(&[4001], 251), dense(&[4001])]),
        (
            Layout::Transposed,
            "both",
            0,
            vec![
                transposed(dtype, ROWS, COLS, contents),
                ids(&[40], ROWS),
                transposed(dtype, 40, COLS, contents),
            ],
        ),
        (
            Layout::Narrowed,
            "all",
            0,
            vec![
                narrowed(dtype, ROWS, COLS, contents),
                ids(&[50], ROWS).then(Step::Narrow { axis: 0, start: 5, len: 40 }),
                narrowed(dtype, 40, COLS, contents),
            ],
        ),
        (
            Layout::BroadcastScalar,
            "ids",
            0,
            vec![matrix(), ids(&[1], ROWS).then(Step::Broadcast(vec![70])), dense(&[70, COLS])],
        ),
        (Layout::Empty, "no-ids", 0, vec![matrix(), ids(&[0], 1), dense(&[0, COLS])]),
    ]
}

fn slices(dtype: DType) -> Vec<Case> {
    let contents = Contents::Mixed;
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let matrix = || dense(&[ROWS, COLS]);
    let turned = |rows, columns| transposed(dtype, rows, columns, contents);
    let sketches = || {
        [
            (Layout::Contiguous, "matrix", 0, 5, vec![matrix(), dense(&[9, COLS])]),
            (Layout::Contiguous, "columns", 1, 31, vec![matrix(), dense(&[ROWS, 64])]),
            (Layout::Transposed, "both", 1, 0, vec![turned(ROWS, COLS), turned(ROWS, 33)]),
            (
                Layout::BroadcastRow,
                "source",
                0,
                20,
                vec![matrix(), dense(&[COLS]).then(Step::Broadcast(vec![17, COLS]))],
            ),
            (Layout::Empty, "nothing", 0, ROWS, vec![matrix(), dense(&[0, COLS])]),
        ]
    };
    let mut cases = Vec::new();
    for in_place in [false, true] {
        for (layout, shape, axis, start, operands) in sketches() {
            cases.push(Case::new(Op::named(SetSlices { in_place, axis, start }), operands, layout, shape));
        }
    }
    cases
}
