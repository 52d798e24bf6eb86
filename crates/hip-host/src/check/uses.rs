//! The name of an operation in reports, and the bytes that it uses.

use super::Announced;
use super::machine::Extent;
use super::shadow::Access;
use crate::library::Use;
use crate::work::{Copy, Fill, Source, Work};
use std::ops::Range;

/// An operation, as the checker sees it.
pub(crate) struct Uses {
    pub(crate) what: String,
    pub(crate) extents: Vec<Extent>,
    /// It is a launch that was not announced.
    pub(crate) unknown: bool,
}

/// `announced`: what the program announced that the operation uses.
pub(crate) fn of(work: &Work, announced: Option<&Announced>) -> Uses {
    let said = || announced.map(|Announced(extents)| extents.clone()).unwrap_or_default();
    let (what, extents, unknown) = match work {
        Work::Launch(_) => (work.name(), said(), announced.is_none()),
        Work::Copy(copy) => (copy_name(&work.name(), copy), copy_extents(copy), false),
        Work::Fill(fill) => (work.name(), fill_extents(fill), false),
        Work::Call(call) => (work.name(), call.uses.iter().map(call_extent).collect(), false),
        Work::Host(_) => (work.name(), said(), false),
        Work::Record(_) => (work.name(), Vec::new(), false),
        Work::Release(released) => {
            let (base, len) = (released.range.base, released.range.len);
            (work.name(), vec![Extent { range: base..base + len, access: Access::Free }], false)
        }
        Work::Graph(program) => {
            // The checker treats a graph as one operation of its stream and does not check its nodes against
            // each other.
            let nodes: Vec<Uses> = program.operations().map(|(node, said)| of(node, said)).collect();
            let unknown = nodes.iter().any(|node| node.unknown);
            (work.name(), nodes.into_iter().flat_map(|node| node.extents).collect(), unknown)
        }
        Work::Nothing => (work.name(), Vec::new(), false),
    };
    Uses { what, extents, unknown }
}

fn fill_extents(fill: &Fill) -> Vec<Extent> {
    let base = fill.to as usize;
    vec![Extent { range: base..base + fill.size * fill.count, access: Access::Write }]
}

fn call_extent(used: &Use) -> Extent {
    let access = if used.writes { Access::Write } else { Access::Read };
    Extent { range: used.address..used.address + used.bytes, access }
}

fn copy_name(name: &str, copy: &Copy) -> String {
    let direction = match copy.sides_on_devices() {
        [true, true] => "within devices",
        [false, true] => "to the host",
        [true, false] => "to the device",
        [false, false] => "within the host",
    };
    format!("{name} {direction}")
}

/// Both sides, row by row. Memory that HIP does not know is not checked: such a copy has ended, or has taken
/// its own copy of the bytes, when the call returns.
fn copy_extents(copy: &Copy) -> Vec<Extent> {
    let [to_known, from_known] = copy.sides.map(|side| side.is_some());
    let from = match copy.from {
        Source::Memory(from) if from_known => rows(from as usize, copy.from_pitch, copy, Access::Read),
        _ => Vec::new(),
    };
    let to = if to_known { rows(copy.to as usize, copy.to_pitch, copy, Access::Write) } else { Vec::new() };
    [from, to].concat()
}

fn rows(base: usize, pitch: usize, copy: &Copy, access: Access) -> Vec<Extent> {
    let extent = |range: Range<usize>| Extent { range, access };
    if pitch == copy.width || copy.height == 1 {
        return vec![extent(base..base + copy.width * copy.height)];
    }
    (0..copy.height).map(|row| base + row * pitch).map(|start| extent(start..start + copy.width)).collect()
}
