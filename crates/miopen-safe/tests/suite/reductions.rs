//! Reductions against the definition.

use crate::numbers::{Real, check, noise};
use crate::under_test::{Machine, offered};
use half::f16;
use miopen_safe::{Blend, Error, ReduceOp, Reduction, ReductionDesc};
use reference::network::reduction::{Op, reduce};

const OPS: [(ReduceOp, Op); 8] = [
    (ReduceOp::Add, Op::Add),
    (ReduceOp::Mul, Op::Mul),
    (ReduceOp::Min, Op::Min),
    (ReduceOp::Max, Op::Max),
    (ReduceOp::AMax, Op::AMax),
    (ReduceOp::Average, Op::Average),
    (ReduceOp::Norm1, Op::Norm1),
    (ReduceOp::Norm2, Op::Norm2),
];

fn run<T: Real>(machine: &Machine, (op, definition): (ReduceOp, Op), to: &[usize], indices: bool) {
    let Machine { handle, .. } = machine;
    let dims = [3, 4, 2, 5];
    let desc = ReductionDesc::new(handle, Reduction { indices, ..Reduction::new(op) });
    let Some(desc) = offered(desc) else { return };
    let (a_desc, c_desc) = (machine.desc::<T>(&dims), machine.desc::<T>(to));
    let a = noise::<T>(1, 120);
    let (dev_a, mut dev_c) = (machine.up::<T>(&a), machine.scratch::<T>(c_desc.elements()));
    let mut positions = machine.stream.upload(&vec![99_u32; c_desc.elements()]).unwrap();
    let (ta, mut tc) = (a_desc.view(&dev_a).unwrap(), c_desc.view_mut(&mut dev_c).unwrap());
    let done = handle.reduce(&desc, Blend::SET, &ta, &mut tc, indices.then(|| positions.view_mut()));
    if offered(done).is_none() {
        return;
    }
    let (wanted, chosen): (Vec<_>, Vec<_>) = reduce(definition, &a, &dims, to).into_iter().unzip();
    check::<T>(&format!("{op:?} to {to:?}"), &machine.down(&dev_c), &wanted);
    if indices {
        let found: Vec<usize> = machine
            .stream
            .download(&positions)
            .unwrap()
            .into_iter()
            .map(|position| position as usize)
            .collect();
        assert_eq!(found, chosen, "{op:?} to {to:?}");
    }
}

#[test]
fn every_operation() {
    let machine = Machine::new();
    for op in OPS {
        for to in [[1, 1, 1, 1], [3, 1, 1, 5], [1, 4, 2, 5], [3, 4, 2, 1]] {
            run::<f32>(&machine, op, &to, false);
        }
        run::<f16>(&machine, op, &[3, 1, 2, 5], false);
    }
}

#[test]
fn which_one_was_chosen() {
    let machine = Machine::new();
    for op in OPS.into_iter().filter(|(op, _)| op.chooses()) {
        run::<f32>(&machine, op, &[3, 4, 2, 1], true);
        run::<f32>(&machine, op, &[3, 1, 1, 1], true);
    }
}

#[test]
fn mismatched_arguments_are_refused() {
    let machine = Machine::new();
    let Machine { handle, .. } = &machine;
    let made = ReductionDesc::new(handle, Reduction { indices: true, ..Reduction::new(ReduceOp::Add) });
    assert!(matches!(made, Err(Error::Invalid { .. })));
    let Some(desc) = offered(ReductionDesc::new(handle, Reduction::new(ReduceOp::Add))) else { return };
    let (a_desc, dev_a) = (machine.desc::<f32>(&[3, 4]), machine.scratch::<f32>(12));
    for dims in [vec![2, 1], vec![3], vec![3, 2]] {
        let c_desc = machine.desc::<f32>(&dims);
        let mut c = machine.scratch::<f32>(c_desc.elements());
        let (ta, mut tc) = (a_desc.view(&dev_a).unwrap(), c_desc.view_mut(&mut c).unwrap());
        let done = handle.reduce(&desc, Blend::SET, &ta, &mut tc, None);
        assert!(matches!(done, Err(Error::Mismatch { .. })), "{dims:?}");
    }
    let chosen =
        ReductionDesc::new(handle, Reduction { indices: true, ..Reduction::new(ReduceOp::Max) }).unwrap();
    let (c_desc, mut c) = (machine.desc::<f32>(&[3, 1]), machine.scratch::<f32>(3));
    let mut short = machine.stream.alloc_zeros::<u32>(2).unwrap();
    let (ta, mut tc) = (a_desc.view(&dev_a).unwrap(), c_desc.view_mut(&mut c).unwrap());
    let done = handle.reduce(&chosen, Blend::SET, &ta, &mut tc, Some(short.view_mut()));
    assert!(matches!(done, Err(Error::Mismatch { what: "the indices of a reduction", .. })));
}
