//! Attention against a case by hand and the definition.

use crate::numbers::{check, noise, steps};
use crate::under_test::{Machine, offered};
use hip_safe::DeviceBuffer;
use miopen_safe::{
    AttentionDesc, AttentionFactors, AttentionGradients, AttentionParams, AttentionPassed,
    AttentionStatistics, Error, Result, SolutionStatistics, TensorDesc,
};
use reference::network::Sum;
use reference::network::attention::{Attention, greatest};

/// The tensors of one attention.
struct Case {
    desc: AttentionDesc,
    params: AttentionParams,
    large: TensorDesc,
    rows: TensorDesc,
    one: TensorDesc,
    inputs: [DeviceBuffer<f32>; 3],
    o: DeviceBuffer<f32>,
    /// The greatest scores, the inverse sums.
    kept: [DeviceBuffer<f32>; 2],
    amax: [DeviceBuffer<f32>; 2],
}

impl Case {
    fn new(
        machine: &Machine,
        dims: [usize; 4],
        scale: f32,
        factors: AttentionFactors,
        inputs: [&[f64]; 3],
    ) -> Option<Self> {
        let [n, heads, length, width] = dims;
        let rows = n * heads * length;
        let scratch = |len| machine.scratch::<f32>(len);
        Some(Self {
            desc: offered(AttentionDesc::new(&machine.handle, scale))?,
            params: AttentionParams::new(&machine.handle, factors).unwrap(),
            large: machine.desc::<f32>(&dims),
            rows: machine.desc::<f32>(&[n, heads, length, 1]),
            one: machine.desc::<f32>(&[1; 4]),
            inputs: inputs.map(|values| machine.up::<f32>(values)),
            o: scratch(rows * width),
            kept: [scratch(rows), scratch(rows)],
            amax: [scratch(1), scratch(1)],
        })
    }

    fn forward(&mut self, machine: &Machine) -> Result<()> {
        let [q, k, v] = self.inputs.each_ref().map(|input| self.large.view(input).unwrap());
        let [m, z_inv] = self.kept.each_mut().map(|kept| self.rows.view_mut(kept).unwrap());
        let [amax_s, amax_o] = self.amax.each_mut().map(|amax| self.one.view_mut(amax).unwrap());
        let mut o = self.large.view_mut(&mut self.o).unwrap();
        let mut statistics = AttentionStatistics { m, z_inv, amax_s, amax_o };
        machine.handle.attention_forward(&self.desc, &self.params, [&q, &k, &v], &mut o, &mut statistics)
    }

    /// The gradients of queries, keys and values, and the greatest values of these and of the products'.
    fn backward(&self, machine: &Machine, d_o: &[f64]) -> Result<[Vec<f64>; 4]> {
        let given = machine.up::<f32>(d_o);
        let mut gradients = [0; 3].map(|_| machine.scratch::<f32>(d_o.len()));
        let mut amax = [0; 4].map(|_| machine.scratch::<f32>(1));
        {
            let [dq, dk, dv] = gradients.each_mut().map(|it| self.large.view_mut(it).unwrap());
            let [amax_dq, amax_dk, amax_dv, amax_ds] =
                amax.each_mut().map(|it| self.one.view_mut(it).unwrap());
            let mut gradients = AttentionGradients { dq, dk, dv, amax_dq, amax_dk, amax_dv, amax_ds };
            let [q, k, v] = self.inputs.each_ref().map(|input| self.large.view(input).unwrap());
            let [m, z_inv] = self.kept.each_ref().map(|kept| self.rows.view(kept).unwrap());
            let (o, d_o) = (self.large.view(&self.o).unwrap(), self.large.view(&given).unwrap());
            let passed = AttentionPassed { q: &q, k: &k, v: &v, o: &o, m: &m, z_inv: &z_inv };
            machine.handle.attention_backward(&self.desc, &self.params, &passed, &d_o, &mut gradients)?;
        }
        let [dq, dk, dv] = gradients.map(|it| machine.down(&it));
        Ok([dq, dk, dv, amax.map(|it| machine.down(&it)[0]).to_vec()])
    }
}

/// Scores of ln 3 and 0 give weights of 3/4 and 1/4.
#[test]
fn two_keys_by_hand() {
    let machine = Machine::new();
    let ln3 = 3_f64.ln();
    let inputs: [&[f64]; 3] = [&[1.0, 0.0], &[ln3, 0.0], &[4.0, 12.0]];
    let Some(mut case) = Case::new(&machine, [1, 1, 2, 1], 1.0, AttentionFactors::default(), inputs) else {
        return;
    };
    if offered(case.forward(&machine)).is_none() {
        return;
    }
    let near = |what: &str, found: &[f64], wanted: &[f64]| {
        // A dozen roundings.
        let wanted: Vec<Sum> = wanted.iter().map(|value| steps(*value, 12)).collect();
        check::<f32>(what, found, &wanted);
    };
    near("output", &machine.down(&case.o), &[6.0, 8.0]);
    near("greatest scores", &machine.down(&case.kept[0]), &[ln3, 0.0]);
    near("inverse sums", &machine.down(&case.kept[1]), &[0.75, 0.5]);
    near("greatest probability", &machine.down(&case.amax[0]), &[0.75]);
    near("greatest output", &machine.down(&case.amax[1]), &[8.0]);
    let Some([dq, dk, dv, amax]) = offered(case.backward(&machine, &[1.0, 0.0])) else { return };
    // Of the products: 3/4 (4 − 6) and 1/4 (12 − 6).
    near("dv", &dv, &[0.75, 0.25]);
    near("dk", &dk, &[-1.5, 1.5]);
    near("dq", &dq, &[-1.5 * ln3, 0.0]);
    near("greatest gradients", &amax, &[1.5 * ln3, 1.5, 0.75, 1.5]);
}

/// Powers of two, so that they round nothing.
fn factors() -> AttentionFactors {
    AttentionFactors {
        descale_q: 2.0,
        descale_k: 0.25,
        descale_v: 4.0,
        descale_s: 0.5,
        descale_o: 0.125,
        descale_do: 2.0,
        descale_ds: 0.25,
        scale_s: 8.0,
        scale_o: 0.5,
        scale_ds: 2.0,
        scale_dq: 4.0,
        scale_dk: 0.5,
        scale_dv: 0.25,
        ..AttentionFactors::default()
    }
}

fn times(values: &[Sum], factor: f64) -> Vec<Sum> {
    values.iter().map(|sum| sum.times(factor)).collect()
}

#[test]
fn shapes_and_factors() {
    let machine = Machine::new();
    for (dims, scale, factors) in [
        ([1, 1, 1, 1], 1.0, AttentionFactors::default()),
        ([2, 3, 5, 4], 0.5, AttentionFactors::default()),
        ([1, 2, 70, 33], 0.25, AttentionFactors::default()),
        ([1, 2, 7, 8], 0.5, factors()),
        ([2, 1, 300, 3], 1.5, factors()),
    ] {
        let [n, heads, length, width] = dims;
        let count = n * heads * length * width;
        let [q, k, v, d_o] = [1, 2, 3, 4].map(|seed| noise::<f32>(seed, count));
        let Some(mut case) = Case::new(&machine, dims, scale, factors, [&q, &k, &v]) else { return };
        if offered(case.forward(&machine)).is_none() {
            return;
        }
        let f = |value: f32| f64::from(value);
        // The scores, and the values, as they are with their factors.
        let qk = f(factors.descale_q) * f(factors.descale_k);
        let it = Attention { heads: n * heads, length, width, scale: f(scale) * qk, q: &q, k: &k, v: &v };
        let wanted = it.forward();
        let name = |what: &str| format!("{what} {dims:?}");
        let stored = f(factors.scale_s) * f(factors.descale_s) * f(factors.descale_v);
        let o = times(&wanted.o, stored);
        check::<f32>(&name("output"), &machine.down(&case.o), &times(&o, f(factors.scale_o)));
        check::<f32>(&name("greatest scores"), &machine.down(&case.kept[0]), &wanted.m);
        check::<f32>(&name("inverse sums"), &machine.down(&case.kept[1]), &wanted.z_inv);
        check::<f32>(&name("greatest probability"), &machine.down(&case.amax[0]), &[greatest(&wanted.p)]);
        check::<f32>(&name("greatest output"), &machine.down(&case.amax[1]), &[greatest(&o)]);

        let Some([dq, dk, dv, amax]) = offered(case.backward(&machine, &d_o)) else { return };
        // What is subtracted reads the output with its factor: it is the definition's if these two are the same.
        let read = stored * f(factors.scale_o) * f(factors.descale_o);
        let values: Vec<f64> = v.iter().map(|value| value * f(factors.descale_v)).collect();
        let mut passed = wanted.clone();
        passed.o = times(&wanted.o, read);
        let given: Vec<f64> = d_o.iter().map(|value| value * f(factors.descale_do)).collect();
        let it = Attention { scale: f(scale), v: &values, ..it };
        let gradients = it.backward(&passed, &given);
        let ds = f(factors.scale_ds) * f(factors.descale_ds);
        let wanted = [
            (times(&gradients.dq, ds * f(factors.descale_k)), factors.scale_dq, dq),
            (times(&gradients.dk, ds * f(factors.descale_q)), factors.scale_dk, dk),
            (times(&gradients.dv, f(factors.scale_s) * f(factors.descale_s)), factors.scale_dv, dv),
        ];
        for (at, (wanted, scale, found)) in wanted.iter().enumerate() {
            let what = name(["dq", "dk", "dv"][at]);
            check::<f32>(&what, found, &times(wanted, f(*scale)));
            check::<f32>(&format!("greatest {what}"), &amax[at..=at], &[greatest(wanted)]);
        }
        check::<f32>(&name("greatest ds"), &amax[3..], &[greatest(&gradients.ds)]);
    }
}

/// What is dropped follows from the seed: values of one make each output the share that was kept, by what is left of 1.
#[test]
fn dropout_drops_by_its_seed() {
    let machine = Machine::new();
    let (dims, count) = ([1, 2, 64, 1], 128);
    let (nothing, ones) = (vec![0.0; count], vec![1.0; count]);
    let draw = |dropout: f32, seed: u64| {
        let factors = AttentionFactors { dropout, seed, ..AttentionFactors::default() };
        let mut case = Case::new(&machine, dims, 1.0, factors, [&nothing, &nothing, &ones])?;
        offered(case.forward(&machine))?;
        Some(machine.down(&case.o))
    };
    let Some(all) = draw(0.0, 1) else { return };
    let one: Vec<Sum> = all.iter().map(|_| steps(1.0, 8)).collect();
    check::<f32>("none dropped", &all, &one);
    let (first, again, other) = (draw(0.5, 1), draw(0.5, 1), draw(0.5, 2));
    assert_eq!(first, again);
    assert_ne!(first, other);
    let first = first.unwrap_or_default();
    // Each is a number of keys by 32, and 8192 draws are about half of them: off by less than six deviations of 45.
    for value in &first {
        assert!((value * 32.0 - (value * 32.0).round()).abs() < 1e-3, "{value}");
    }
    let kept: f64 = first.iter().map(|value| value * 32.0).sum();
    assert!((kept - 4096.0).abs() < 270.0, "{kept}");
}

#[test]
fn a_solution_is_found_once_for_each_problem() {
    let machine = Machine::new();
    let call = |dims: [usize; 4], scale: f32| {
        let values = vec![0.5; dims.iter().product()];
        let inputs: [&[f64]; 3] = [&values, &values, &values];
        let mut case = Case::new(&machine, dims, scale, AttentionFactors::default(), inputs)?;
        offered(case.forward(&machine))
    };
    for (dims, scale) in [([1, 1, 2, 2], 1.0), ([1, 1, 2, 2], 1.0), ([1, 1, 3, 2], 0.5)] {
        if call(dims, scale).is_none() {
            return;
        }
    }
    let SolutionStatistics { hits, misses, remembered } = machine.handle.attention_statistics();
    assert_eq!((hits, misses, remembered), (1, 2, 2));
    machine.handle.forget_solutions();
    assert_eq!(machine.handle.attention_statistics().remembered, 0);
    assert!(call([1, 1, 2, 2], 1.0).is_some());
    assert_eq!(machine.handle.attention_statistics().misses, 3);
}

/// MIOpen would compute it with the first one.
#[test]
fn a_shape_has_one_scale_on_a_handle() {
    let (machine, other) = (Machine::new(), Machine::new());
    let call = |machine: &Machine, scale: f32| {
        let inputs: [&[f64]; 3] = [&[1.0, 0.0], &[0.0, 2.0], &[4.0, 12.0]];
        Case::new(machine, [1, 1, 2, 1], scale, AttentionFactors::default(), inputs)
            .map(|mut case| case.forward(machine))
    };
    let Some(Ok(())) = call(&machine, 1.0) else { return };
    machine.handle.forget_solutions();
    let refused = call(&machine, 0.5);
    let Some(Err(Error::Unsupported { reason, .. })) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("with the scale 1: make another for 0.5"), "{reason}");
    assert!(matches!(call(&machine, 1.0), Some(Ok(()))) && matches!(call(&other, 0.5), Some(Ok(()))));
}

/// A graph has the forward of a problem that is known, with other values at each launch.
#[test]
fn a_graph_of_attention() {
    let machine = Machine::new();
    let inputs: [&[f64]; 3] = [&[1.0, 0.0], &[0.0, 0.0], &[4.0, 12.0]];
    let Some(mut case) = Case::new(&machine, [1, 1, 2, 1], 1.0, AttentionFactors::default(), inputs) else {
        return;
    };
    let hip = |error: Error| match error {
        Error::Hip(error) => error,
        other => panic!("{other}"),
    };
    let unknown = machine.stream.capture(|_| case.forward(&machine).map_err(hip));
    assert!(matches!(unknown, Err(hip_safe::Error::Capturing { .. })), "the search measures or waits");
    if offered(case.forward(&machine)).is_none() {
        return;
    }
    machine.stream.synchronize().unwrap();
    let graph = machine.stream.capture(|_| case.forward(&machine).map_err(hip)).unwrap();
    let exec = graph.instantiate().unwrap();
    machine.stream.copy_from_host(&[2.0_f32, 6.0], &mut case.inputs[2]).unwrap();
    exec.launch(&machine.stream).unwrap();
    check::<f32>("a launch", &machine.down(&case.o), &[steps(4.0, 8), steps(4.0, 8)]);
}
