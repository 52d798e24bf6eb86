//! Random numbers: of generators, and of the device after its seed was set.

use serde_json::json;
use tensor_core::{DType, Device, Generator, Result, Tensor};

use super::{Calls, Expected, rows, some};

/// That a script draws what a function draws from the CPU's generator. No other test of this program draws from it.
fn drawn(calls: &mut Calls, text: &str, draw: impl FnOnce(&Device) -> Result<Tensor>) {
    let cpu = Device::Cpu;
    cpu.set_seed(7).unwrap();
    let found = calls.json(text);
    cpu.set_seed(7).unwrap();
    assert_eq!(found, draw(&cpu).json(), "{text}");
}

pub(super) fn check(calls: &mut Calls) {
    const F32: DType = DType::F32;
    let x = some(23, [2, 3]);
    calls.given("x", &x);
    drawn(calls, "uniform(-1, 3, [2, 3])", |cpu| Tensor::uniform(-1, 3, [2, 3], F32, cpu));
    drawn(calls, "normal(1, 0.5, 6, \"f16\")", |cpu| Tensor::normal(1, 0.5, 6, DType::F16, cpu));
    drawn(calls, "randint(-3, 9, [7])", |cpu| Tensor::randint(-3, 9, 7, DType::I64, cpu));
    drawn(calls, "randperm(9)", |cpu| Tensor::randperm(9, DType::U32, cpu));
    drawn(calls, "bernoulli(0.25, [9])", |cpu| Tensor::bernoulli(0.25, 9, F32, cpu));
    drawn(calls, "x.rand_like(-1, 3)", |_| x.rand_like(-1, 3));
    drawn(calls, "x.randn_like(1, 0.5)", |_| x.randn_like(1, 0.5));
    drawn(calls, "x.bernoulli_like(0.25)", |_| x.bernoulli_like(0.25));
    drawn(calls, "x.dropout(0.5)", |_| x.dropout(0.5));
    let (mut own, cpu) = (Generator::new(9), &Device::Cpu);
    calls.does("let g = generator(9);");
    rows! { calls;
        "g.uniform(-1, 3, [2, 3])" => own.uniform(-1, 3, [2, 3], F32, cpu);
        "g.normal(1, 0.5, 6, \"f16\")" => own.normal(1, 0.5, 6, DType::F16, cpu);
        "g.randint(-3, 9, [7], \"i32\", device())" => own.randint(-3, 9, 7, DType::I32, cpu);
        "g.randperm(9)" => own.randperm(9, DType::U32, cpu);
        "g.bernoulli(0.25, [9])" => own.bernoulli(0.25, 9, F32, cpu);
        "g.dropout(x, 0.5)" => own.dropout(&x, 0.5);
        "[g.seed, g.offset]" => json!([9, 6]);
    }
}
