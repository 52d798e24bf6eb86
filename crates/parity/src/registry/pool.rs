//! Pooling and upsampling: every parameter and layout.

use reference::{Array, DType, Error, Outcome, Pool, Windows, pool};
use serde_json::{Map, Value, json};
use tensor_core::{Pool2dConfig, Tensor};

use super::shapes::BLOCKS;
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;
use crate::operation::Operation;
use crate::view::Step;

/// Pooling or upsampling of planes, or of rows if the operand has three axes.
#[derive(Debug)]
struct OnPlanes {
    how: Pool,
    rows: bool,
}

impl Operation for OnPlanes {
    fn name(&self) -> &'static str {
        match self.how {
            Pool::Max(_) => "max_pool2d",
            Pool::Mean(..) => "avg_pool2d",
            Pool::Adaptive(_) => "adaptive_avg_pool2d",
            Pool::Nearest(_) if self.rows => "upsample_nearest1d",
            Pool::Nearest(_) => "upsample_nearest2d",
            Pool::Bilinear(..) => "upsample_bilinear2d",
        }
    }

    fn parameters(&self) -> String {
        let windows = |windows: Windows| {
            let Windows { window: [a, b], stride: [c, d], padding: [e, f], ceil } = windows;
            format!("window={a}x{b},stride={c}x{d},padding={e}x{f}{}", if ceil { ",ceil" } else { "" })
        };
        match self.how {
            Pool::Max(on) => windows(on),
            Pool::Mean(on, padding) => windows(on) + if padding { ",count-padding" } else { "" },
            Pool::Adaptive([h, w]) | Pool::Nearest([h, w]) => format!("size={h}x{w}"),
            Pool::Bilinear([h, w], align) => format!("size={h}x{w}{}", if align { ",align" } else { "" }),
        }
    }

    fn manifest(&self) -> Map<String, Value> {
        let mut map = Map::new();
        if let Pool::Max(on) | Pool::Mean(on, _) = self.how {
            map.insert("window".into(), json!(on.window));
            map.insert("stride".into(), json!(on.stride));
            map.insert("padding".into(), json!(on.padding));
            map.insert("ceil_mode".into(), json!(on.ceil));
        }
        match self.how {
            Pool::Mean(_, padding) => {
                map.insert("count_include_pad".into(), json!(padding));
            }
            Pool::Adaptive(size) | Pool::Nearest(size) => {
                map.insert("size".into(), json!(size));
            }
            Pool::Bilinear(size, align) => {
                map.insert("size".into(), json!(size));
                map.insert("align_corners".into(), json!(align));
            }
            Pool::Max(_) => {}
        }
        map
    }

    fn run(&self, operands: &[Tensor]) -> tensor_core::Result<Tensor> {
        let x = &operands[0];
        let config = |on: Windows, count_include_pad| Pool2dConfig {
            window: on.window,
            stride: on.stride,
            padding: on.padding,
            ceil_mode: on.ceil,
            count_include_pad,
        };
        match self.how {
            Pool::Max(on) => x.max_pool2d_with(&config(on, true)),
            Pool::Mean(on, padding) => x.avg_pool2d_with(&config(on, padding)),
            Pool::Adaptive(size) => x.adaptive_avg_pool2d(size),
            Pool::Nearest([_, w]) if self.rows => x.upsample_nearest1d(w),
            Pool::Nearest([h, w]) => x.upsample_nearest2d(h, w),
            Pool::Bilinear([h, w], align) => x.upsample_bilinear2d(h, w, align),
        }
    }

    fn outcome<'a>(&self, arrays: &[&'a Array]) -> Result<Outcome<'a>, Error> {
        pool(arrays[0], self.how)
    }
}

/// The layouts of planes: layout, shape class, and operand with 13 rows and 11 columns unless it is empty.
fn layouts(dtype: DType, contents: Contents) -> Vec<(Layout, &'static str, Operand)> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    let part = [2, 3, 13, 11].into_iter().enumerate().fold(dense(&[4, 5, 16, 14]), |operand, (axis, len)| {
        operand.then(Step::Narrow { axis, start: 1, len })
    });
    vec![
        (Layout::Contiguous, "planes", dense(&[2, 3, 13, 11])),
        (Layout::Contiguous, "many-planes", dense(&[3, 37, 13, 11])),
        (Layout::Transposed, "planes", dense(&[2, 3, 11, 13]).then(Step::Transpose(2, 3))),
        (Layout::Permuted, "channels-last", dense(&[2, 13, 11, 3]).then(Step::Permute(vec![0, 3, 1, 2]))),
        (Layout::Narrowed, "planes", part),
        (Layout::BroadcastBatch, "planes", dense(&[3, 13, 11]).then(Step::Broadcast(vec![2, 3, 13, 11]))),
        (Layout::Empty, "no-images", dense(&[0, 3, 13, 11])),
    ]
}

fn case(how: Pool, (layout, shape, operand): (Layout, &'static str, Operand)) -> Case {
    let rows = operand.view().dims.len() == 3;
    Case::new(Op::named(OnPlanes { how, rows }), vec![operand], layout, shape)
}

/// Every parameter and layout, on every float.
pub(super) fn cases() -> Vec<Case> {
    let plain = Windows { window: [3, 2], stride: [3, 2], padding: [0, 0], ceil: false };
    let padded = Windows { window: [3, 5], stride: [2, 3], padding: [1, 2], ceil: false };
    let parameters = [
        ("side-by-side", plain),
        ("ceil", Windows { ceil: true, ..plain }),
        ("overlapping", Windows { stride: [1, 1], ..plain }),
        ("gaps", Windows { stride: [4, 5], ..plain }),
        ("padded", padded),
        ("padded-ceil", Windows { window: [4, 2], stride: [3, 4], padding: [2, 1], ceil: true }),
        ("whole", Windows { window: [13, 11], ..plain }),
        ("one", Windows { window: [1, 1], stride: [1, 1], ..plain }),
    ];
    let mut cases = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_float()) {
        let planes = |contents| {
            move |shape| (Layout::Contiguous, shape, Operand::dense(dtype, &[2, 3, 13, 11], contents))
        };
        let (ranked, terms) = (planes(Contents::Ranked), planes(Contents::Terms));
        for (shape, on) in parameters {
            cases.push(case(Pool::Max(on), ranked(shape)));
            cases.push(case(Pool::Mean(on, true), terms(shape)));
        }
        cases.push(case(Pool::Mean(padded, false), terms("padding-left-out")));
        cases.push(case(Pool::Mean(padded, true), planes(Contents::SpecialTerms)("special")));
        for (shape, size) in
            [("larger-bins", [5, 4]), ("one-bin", [1, 1]), ("more-bins", [17, 23]), ("no-bins", [0, 3])]
        {
            cases.push(case(Pool::Adaptive(size), terms(shape)));
        }
        for (shape, size) in [("larger", [29, 23]), ("smaller", [5, 7]), ("same", [13, 11])] {
            cases.push(case(Pool::Nearest(size), planes(Contents::Mixed)(shape)));
            cases.push(case(Pool::Bilinear(size, false), terms(shape)));
        }
        cases.push(case(Pool::Bilinear([29, 23], true), terms("aligned")));
        cases.push(case(Pool::Bilinear([1, 5], true), terms("aligned-one")));
        let row = |shape: &[usize]| Operand::dense(dtype, shape, Contents::Mixed);
        let size = [1, 41];
        cases.push(case(Pool::Nearest(size), (Layout::Contiguous, "row", row(&[2, 3, 17]))));
        cases.push(case(
            Pool::Nearest(size),
            (Layout::Transposed, "row", row(&[2, 17, 3]).then(Step::Transpose(1, 2))),
        ));
        cases.push(case(Pool::Nearest(size), (Layout::Empty, "row", row(&[0, 3, 17]))));
        for (how, contents) in [
            (Pool::Max(padded), Contents::Ranked),
            (Pool::Mean(padded, true), Contents::Terms),
            (Pool::Adaptive([5, 4]), Contents::Terms),
            (Pool::Nearest([17, 19]), Contents::Mixed),
            (Pool::Bilinear([17, 19], false), Contents::Terms),
        ] {
            cases.extend(layouts(dtype, contents).into_iter().map(|layout| case(how, layout)));
        }
    }
    // More outputs than a launch on the host has threads.
    let ones = Operand::dense(DType::F32, &[1, 1, 3, 5], Contents::Whole(5));
    cases.push(case(Pool::Nearest([1031, 517]), (Layout::Contiguous, "many", ones)));
    // A block has 256 threads, one per output.
    let few = Operand::dense(DType::F8E4M3, &[1, 1, 3, 5], Contents::Mixed);
    cases.push(case(Pool::Nearest([BLOCKS, 256]), (Layout::Contiguous, "many-blocks", few)));
    cases
}
