//! How far the two sides of a plan reach, and what cannot be planned.

use crate::{Error, Layout, Result, Spec, Transform};
use hip_safe::is_injective;

/// Both sides of a plan.
#[derive(Debug, Clone)]
pub(crate) struct Sides {
    pub(crate) input: Side,
    pub(crate) output: Side,
}

/// One side.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub(crate) layout: Layout,
    /// The elements from the first to the last one.
    pub(crate) reach: usize,
}

impl Sides {
    /// Checks a description.
    pub(crate) fn of(spec: &Spec) -> Result<Self> {
        let Spec { lengths, batch, .. } = spec;
        if !(1..=3).contains(&lengths.len()) || lengths.contains(&0) {
            return Err(wrong(
                format!("lengths {lengths:?}"),
                "one to three lengths are needed, each above 0",
            ));
        }
        if *batch == 0 {
            return Err(wrong("a batch of 0 transforms".into(), "one at least is needed"));
        }
        if !spec.scale.is_finite() {
            return Err(wrong(format!("a factor of {}", spec.scale), "it has to be finite"));
        }
        if spec.in_place && (spec.input.is_some() || spec.output.is_some()) {
            return Err(wrong("layouts in place".into(), "transform from one piece of memory to another"));
        }
        let (complex_in, complex_out) = match spec.transform {
            Transform::Complex(_) => (false, false),
            Transform::RealForward => (false, true),
            Transform::RealInverse => (true, false),
        };
        let real = !matches!(spec.transform, Transform::Complex(_));
        let side = |halved: bool, layout: &Option<Layout>| {
            let mut grid = lengths.clone();
            let mut row = grid[grid.len() - 1];
            if halved {
                row = row / 2 + 1;
                grid[lengths.len() - 1] = row;
            } else if real && spec.in_place {
                row = (row / 2 + 1).checked_mul(2).ok_or_else(too_large)?;
            }
            let layout = match layout {
                Some(layout) => layout.clone(),
                None => contiguous(&grid, row).ok_or_else(too_large)?,
            };
            Side::new(&grid, *batch, layout)
        };
        let input = side(complex_in, &spec.input)?;
        let output = side(complex_out, &spec.output)?;
        // A real transform may overwrite its input.
        let written = [("an output", complex_out, &output), ("an input", complex_in, &input)];
        for (name, halved, side) in written.into_iter().take(if real { 2 } else { 1 }) {
            let mut grid = lengths.clone();
            if halved {
                let last = grid.len() - 1;
                grid[last] = grid[last] / 2 + 1;
            }
            let strides = side.layout.strides.iter().copied();
            let extents: Vec<_> =
                grid.into_iter().zip(strides).chain([(*batch, side.layout.distance)]).collect();
            if !is_injective(&extents) {
                let what = format!("{name} with {}", words(&side.layout));
                return Err(wrong(what, "each element needs an offset of its own"));
            }
        }
        Ok(Self { input, output })
    }
}

impl Side {
    fn new(grid: &[usize], batch: usize, layout: Layout) -> Result<Self> {
        if layout.strides.len() != grid.len() || layout.strides.contains(&0) {
            return Err(wrong(words(&layout), "as many strides as lengths are needed, each above 0"));
        }
        if batch > 1 && layout.distance == 0 {
            return Err(wrong(words(&layout), "the distance of a batch has to be above 0"));
        }
        let along = grid.iter().zip(&layout.strides).chain([(&batch, &layout.distance)]);
        let last = along.map(|(&count, &stride)| (count - 1).checked_mul(stride));
        let reach = last.chain([Some(1)]).try_fold(0_usize, |sum, reach| sum.checked_add(reach?));
        // Twice as many: complex numbers of 16 bytes have to fit an address space.
        let reach = reach.filter(|reach| reach.checked_mul(32).is_some()).ok_or_else(too_large)?;
        Ok(Self { layout, reach })
    }
}

/// The layout without gaps, of rows of so many elements.
fn contiguous(grid: &[usize], row: usize) -> Option<Layout> {
    let mut strides = vec![1; grid.len()];
    let mut size = row;
    for direction in (0..grid.len() - 1).rev() {
        strides[direction] = size;
        size = size.checked_mul(grid[direction])?;
    }
    Some(Layout { strides, distance: size })
}

fn words(layout: &Layout) -> String {
    format!("strides {:?} and a distance of {}", layout.strides, layout.distance)
}

fn wrong(what: String, wanted: &'static str) -> Error {
    Error::Spec { what, wanted }
}

fn too_large() -> Error {
    wrong("a side of these sizes and strides".into(), "it has to fit an address space")
}
