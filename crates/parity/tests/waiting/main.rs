//! Nothing waits for a device but what reads back from it, `synchronize`, and what brings elements of the host's to it.
//!
//! A function of the host holds a device's stream while operations are called; it lets go only when told, or after a patience that no
//! call comes near unless it waits for the device.

mod held;
mod methods;

use std::collections::HashSet;

use held::{Held, LONG, apart};
use parity::{Case, devices, evaluate, execute, judge, registry};
use reference::DType;
use tensor_core::{Device, Tensor};

const SEED: u64 = 7;
/// Cases that are submitted while a stream is held once: far fewer launches than a driver queues.
const TOGETHER: usize = 16;
/// Elements of the operands of a case: this test is about calls, not about sizes.
const FEW: usize = 1 << 17;

/// A case of every operation in each layout and class of shapes in `f32`, and one in bytes and in a small float.
fn cases() -> Vec<Case> {
    let mut seen = HashSet::new();
    let mut chosen = |case: &Case| {
        let dtype = case.operands[0].dtype;
        let size: usize = case.operands.iter().map(|operand| operand.stored.iter().product::<usize>()).sum();
        matches!(dtype, DType::U8 | DType::F16 | DType::F32)
            && size <= FEW
            && seen.insert((
                case.op.name(),
                dtype,
                (dtype == DType::F32).then_some((case.layout, case.shape)),
            ))
    };
    registry::all().into_iter().filter(|case| chosen(case)).collect()
}

fn stored(case: &Case, inputs: &[Vec<u8>], device: &Device) -> Vec<Tensor> {
    let stored =
        case.operands.iter().zip(inputs).map(|(operand, bytes)| execute::stored(operand, bytes, device));
    stored.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{}: {error}", case.id()))
}

/// Asserts that a result is what the reference says.
fn is_right(case: &Case, inputs: &[Vec<u8>], result: &Tensor) {
    let output = execute::read_back(result).unwrap_or_else(|error| panic!("{}: {error}", case.id()));
    let arrays = evaluate::arrays(case, inputs).expect("made for the case");
    let outcome = evaluate::outcome(case, &arrays.iter().collect::<Vec<_>>()).expect("the reference has it");
    assert_eq!((output.dtype, &output.shape[..]), (outcome.dtype(), outcome.shape()), "{}", case.id());
    let rule = judge::rule(&outcome, case.exact);
    let verdict = &judge::judge(&outcome, rule, &[&output.bytes])[0];
    assert_eq!(verdict.wrong, 0, "{} on {}: {:?}", case.id(), result.device(), verdict.sample);
}

#[test]
fn operations_do_not_block_the_host() {
    let cases = cases();
    let names = |cases: &[Case]| cases.iter().map(|case| case.op.name()).collect::<HashSet<_>>();
    assert_eq!(names(&cases), names(&registry::all()));
    for device in devices::open(&[]).expect("the devices of this machine") {
        let device = apart(&device.device);
        for together in cases.chunks(TOGETHER) {
            let inputs: Vec<_> = together.iter().map(|case| case.inputs(SEED)).collect();
            let arrays = || together.iter().zip(&inputs).map(|(case, inputs)| stored(case, inputs, &device));
            // The first call loads code and brings memory to the device's pool.
            for (case, arrays) in together.iter().zip(arrays()) {
                execute::submit(case, arrays).unwrap_or_else(|error| panic!("{}: {error}", case.id()));
            }
            let arrays: Vec<_> = arrays().collect();
            let Some(held) = Held::new(&device, LONG) else { break };
            let submit = |(case, arrays): (&Case, _)| {
                let result = execute::submit(case, arrays);
                assert!(!held.is_over(), "{} waits for {device}", case.id());
                result.unwrap_or_else(|error| panic!("{}: {error}", case.id()))
            };
            let results: Vec<Tensor> = together.iter().zip(arrays).map(submit).collect();
            held.let_go();
            for ((case, inputs), result) in together.iter().zip(&inputs).zip(&results) {
                is_right(case, inputs, result);
            }
        }
    }
}
