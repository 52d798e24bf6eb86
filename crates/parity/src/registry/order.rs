//! Sorts along an axis, and top-k.

use reference::{Array, DType, Error, Outcome, Sorted};
use serde_json::{Map, Value, json};
use tensor_core::Tensor;

use super::shapes::{BLOCKS, COLS, LARGE, ROWS, every_pattern, high_rank, narrowed, permuted, transposed};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// The three operations.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// `sort`, and one of its results.
    Sort(Sorted),
    /// `argsort`.
    Argsort,
    /// `topk` of this many elements, and one of its results.
    TopK(usize, Sorted),
}

/// A sort along an axis, in either direction.
#[derive(Debug, Clone, Copy)]
struct Sort {
    kind: Kind,
    axis: usize,
    descending: bool,
}

impl Sort {
    fn what(&self) -> Sorted {
        match self.kind {
            Kind::Sort(what) | Kind::TopK(_, what) => what,
            Kind::Argsort => Sorted::Positions,
        }
    }
}

impl Operation for Sort {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Sort(_) => "sort",
            Kind::Argsort => "argsort",
            Kind::TopK(..) => "topk",
        }
    }

    fn parameters(&self) -> String {
        let mut text = format!("axis={}", self.axis);
        if self.descending {
            text += ",descending";
        }
        if let Kind::TopK(k, _) = self.kind {
            text += &format!(",k={k}");
        }
        text + if self.what() == Sorted::Values { ",values" } else { ",positions" }
    }

    fn manifest(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("axis".into(), json!(self.axis));
        map.insert("descending".into(), json!(self.descending));
        map.insert("positions".into(), json!(self.what() == Sorted::Positions));
        if let Kind::TopK(k, _) = self.kind {
            map.insert("k".into(), json!(k));
        }
        map
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let x = &operands[0];
        let (values, positions) = match self.kind {
            Kind::Argsort => return x.argsort(self.axis, self.descending),
            Kind::Sort(_) => x.sort(self.axis, self.descending)?,
            Kind::TopK(k, _) => x.topk(k, self.axis, self.descending)?,
        };
        Ok(if self.what() == Sorted::Values { values } else { positions })
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        let keep = match self.kind {
            Kind::TopK(k, _) => k,
            _ => arrays[0].shape().get(self.axis).copied().unwrap_or(0),
        };
        reference::sort(arrays[0], self.axis, self.descending, keep, self.what())
    }
}

/// Layout, shape class, operand and axis.
type Line = (Layout, &'static str, Operand, usize);

/// Lengths around the elements of a thread, the rows of a block and the tile of a block.
const LENGTHS: [usize; 14] = [1, 2, 8, 9, 31, 32, 33, 1023, 1024, 1025, 2048, 2049, 4097, 5000];

fn lines(dtype: DType) -> Vec<Line> {
    let dense = |shape: &[usize], contents| Operand::dense(dtype, shape, contents);
    let repeated = |shape: &[usize]| {
        Operand::dense(dtype, shape, Contents::Mixed).then(Step::Broadcast(vec![ROWS, COLS]))
    };
    let (mixed, ranked) = (Contents::Mixed, Contents::Ranked);
    let mut lines = vec![
        (Layout::Contiguous, "row", dense(&[ROWS, COLS], mixed), 1),
        (Layout::Contiguous, "short-row", dense(&[701, 5], ranked), 1),
        (Layout::Contiguous, "kilo-row", dense(&[5, 1025], ranked), 1),
        (Layout::Contiguous, "long-row", dense(&[3, 5003], mixed), 1),
        (Layout::Contiguous, "one", dense(&[ROWS, 1], mixed), 1),
        (Layout::Contiguous, "column", dense(&[COLS, ROWS], ranked), 0),
        (Layout::Contiguous, "middle", dense(&[7, 33, 11], mixed), 1),
        (Layout::Transposed, "row", transposed(dtype, ROWS, COLS, ranked), 1),
        (Layout::Narrowed, "row", narrowed(dtype, ROWS, COLS, ranked), 1),
        (Layout::Permuted, "middle", permuted(dtype, mixed), 2),
        (Layout::BroadcastRow, "row", repeated(&[COLS]), 1),
        (Layout::BroadcastColumn, "row", repeated(&[ROWS, 1]), 1),
        (Layout::HighRank, "10d", high_rank(dtype, ranked), 3),
        (Layout::Empty, "no-rows", dense(&[0, 5], mixed), 1),
        (Layout::Empty, "no-elements", dense(&[5, 0], mixed), 1),
    ];
    lines.extend(LENGTHS.map(|length| (Layout::Contiguous, "vector", dense(&[length], ranked), 0)));
    if dtype.bits() <= 16 {
        lines.push((Layout::Contiguous, "every-pattern", every_pattern(dtype), 1));
    }
    lines
}

/// Sorts of every line: values in one direction, positions in the other.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for (number, (layout, shape, operand, axis)) in lines(dtype).into_iter().enumerate() {
            let descending = number % 2 == 0;
            let values = Sort { kind: Kind::Sort(Sorted::Values), axis, descending };
            let positions = Sort { kind: Kind::Argsort, axis, descending: !descending };
            cases.push(Case::new(Op::named(values), vec![operand.clone()], layout, shape));
            cases.push(Case::new(Op::named(positions), vec![operand], layout, shape));
        }
    }
    // Many rows, one row with many passes, and the positions that sort returns with the values.
    for dtype in [DType::BF16, DType::I64, DType::F32] {
        for (shape, dims) in [("large-row", &LARGE[..]), ("many-passes", &[70_001])] {
            let axis = dims.len() - 1;
            let sort = Sort { kind: Kind::Sort(Sorted::Positions), axis, descending: true };
            let operand = Operand::dense(dtype, dims, Contents::Ranked);
            cases.push(Case::new(Op::named(sort), vec![operand], Layout::Contiguous, shape));
        }
    }
    cases
}

/// A block sorts 256 rows of up to eight elements.
pub(super) fn many_blocks() -> Case {
    let positions = Sort { kind: Kind::Argsort, axis: 1, descending: false };
    let rows = Operand::dense(DType::U8, &[BLOCKS * 256, 2], Contents::EveryPattern);
    Case::new(Op::named(positions), vec![rows], Layout::Contiguous, "many-blocks")
}

/// The first elements of short rows, of rows with several runs, and along other axes.
pub(super) fn topk_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let dense = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Ranked);
        let tops = [
            (Layout::Contiguous, "row", dense(&[ROWS, COLS]), 1, 7, true),
            (Layout::Contiguous, "row-whole", dense(&[ROWS, COLS]), 1, COLS, false),
            (Layout::Contiguous, "row-none", dense(&[ROWS, COLS]), 1, 0, true),
            (Layout::Contiguous, "column", dense(&[COLS, ROWS]), 0, 1, true),
            (Layout::Contiguous, "long-row", dense(&[3, 5003]), 1, 5, false),
            (Layout::Contiguous, "long-row-most", dense(&[2, 6001]), 1, 3000, true),
            (Layout::Transposed, "row", transposed(dtype, ROWS, COLS, Contents::Mixed), 1, 33, true),
            (Layout::Narrowed, "row", narrowed(dtype, ROWS, COLS, Contents::Mixed), 1, 2, false),
            (Layout::Empty, "no-rows", dense(&[0, 5]), 1, 3, true),
        ];
        for (layout, shape, operand, axis, k, largest) in tops {
            for what in [Sorted::Values, Sorted::Positions] {
                let top = Sort { kind: Kind::TopK(k, what), axis, descending: largest };
                cases.push(Case::new(Op::named(top), vec![operand.clone()], layout, shape));
            }
        }
    }
    cases
}
