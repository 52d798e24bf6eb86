//! What attention refuses before any call.

use crate::under_test::{Machine, offered, platform};
use hip_safe::{Device, DeviceBuffer};
use miopen_safe::{
    AttentionDesc, AttentionFactors, AttentionParams, AttentionStatistics, Error, Result, TensorDesc,
};

#[test]
fn numbers_that_are_no_good() {
    let Machine { handle, .. } = &Machine::new();
    for scale in [f32::NAN, f32::INFINITY] {
        assert!(matches!(AttentionDesc::new(handle, scale), Err(Error::Invalid { .. })), "{scale}");
    }
    for dropout in [-0.5, 1.0, f32::NAN] {
        let made = AttentionParams::new(handle, AttentionFactors { dropout, ..AttentionFactors::default() });
        assert!(matches!(made, Err(Error::Invalid { .. })), "{dropout}");
    }
}

/// A call with these descriptors of queries, keys, output and rows; `theirs` is the queries' memory, if it is not the machine's own.
fn call(
    machine: &Machine,
    [q, k, o, rows]: [&TensorDesc; 4],
    theirs: Option<&DeviceBuffer<f32>>,
) -> Option<Result<()>> {
    let desc = offered(AttentionDesc::new(&machine.handle, 1.0))?;
    let params = AttentionParams::new(&machine.handle, AttentionFactors::default()).unwrap();
    let scratch = |desc: &TensorDesc| machine.scratch::<f32>(desc.span());
    let (own, keys, mut out) = (scratch(q), scratch(k), scratch(o));
    let (mut first, mut second) = (scratch(rows), scratch(rows));
    let one = machine.desc::<f32>(&[1; 4]);
    let (mut third, mut fourth) = (scratch(&one), scratch(&one));
    let mut statistics = AttentionStatistics {
        m: rows.view_mut(&mut first).unwrap(),
        z_inv: rows.view_mut(&mut second).unwrap(),
        amax_s: one.view_mut(&mut third).unwrap(),
        amax_o: one.view_mut(&mut fourth).unwrap(),
    };
    let (tq, tk) = (q.view(theirs.unwrap_or(&own)).unwrap(), k.view(&keys).unwrap());
    let mut to = o.view_mut(&mut out).unwrap();
    Some(machine.handle.attention_forward(&desc, &params, [&tq, &tk, &tk], &mut to, &mut statistics))
}

#[test]
fn shapes_that_do_not_fit() {
    let machine = Machine::new();
    let (fits, rows) = (machine.desc::<f32>(&[1, 2, 3, 4]), machine.desc::<f32>(&[1, 2, 3, 1]));
    let Some(done) = call(&machine, [&fits, &fits, &fits, &rows], None) else { return };
    assert!(offered(done).is_some());
    let gaps = TensorDesc::strided::<f32>(&machine.handle, &[1, 2, 3, 4], &[30, 15, 5, 1]).unwrap();
    let (longer, flat) = (machine.desc::<f32>(&[1, 2, 4, 4]), machine.desc::<f32>(&[2, 3, 4]));
    let short = machine.desc::<f32>(&[1, 2, 3]);
    for (descs, what) in [
        ([&fits, &longer, &fits, &rows], "an attention's keys"),
        ([&fits, &fits, &longer, &rows], "an attention's output"),
        ([&fits, &fits, &fits, &short], "an attention's greatest scores"),
        ([&gaps, &fits, &fits, &rows], "an attention's queries"),
        ([&fits, &gaps, &fits, &rows], "an attention's keys"),
        ([&flat, &flat, &flat, &rows], "the dimensions of an attention's queries"),
    ] {
        let refused = call(&machine, descs, None).unwrap();
        assert!(
            matches!(&refused, Err(Error::Mismatch { what: found, .. }) if *found == what),
            "{refused:?}"
        );
    }
    // 2^16 · 2^16 scores are more than 32 bits count.
    let many = machine.desc::<f32>(&[1, 1, 1 << 16, 1]);
    let refused = call(&machine, [&many, &many, &many, &many], None).unwrap();
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
}

#[test]
fn elements_of_another_type() {
    let machine = Machine::new();
    let desc = machine.desc::<f64>(&[1, 2, 3, 4]);
    let refused = desc.view(&machine.scratch::<f32>(24)).map(drop);
    assert!(matches!(refused, Err(Error::Mismatch { what: "the type of a tensor's elements", .. })));
}

#[test]
fn memory_of_another_device() {
    if Device::count(&platform()).unwrap() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let (machine, other) = (Machine::on(0), Machine::on(1));
    let (desc, rows) = (machine.desc::<f32>(&[1, 2, 3, 4]), machine.desc::<f32>(&[1, 2, 3, 1]));
    let theirs = other.scratch::<f32>(24);
    let Some(refused) = call(&machine, [&desc, &desc, &desc, &rows], Some(&theirs)) else { return };
    assert!(matches!(refused, Err(Error::Hip(hip_safe::Error::WrongDevice { .. }))), "{refused:?}");
}
