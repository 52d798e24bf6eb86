//! Elementwise kernels: tight operands, and for `copy` one in another order.

use super::{ELEMENTS, Measured, dense};
use parity::case::Op;
use parity::view::Step;
use reference::{BinaryOp, CmpOp, DType, ScalarOp, UnaryOp, Value};

pub(super) fn cases(dtype: DType) -> impl Iterator<Item = Measured> {
    let name = dtype.name();
    let operand = move || dense(dtype, &[ELEMENTS]);
    let kernel = move |op: &str| format!("elementwise_{op}_{name}");
    let one = move |op: &str, what: Op| Measured::new(kernel(op), what, vec![operand()]);
    let two = move |op: &str, what: Op| Measured::new(kernel(op), what, vec![operand(), operand()]);
    let number =
        move |float: f64, int: i128| if dtype.is_float() { Value::Float(float) } else { Value::Int(int) };

    let unary = UnaryOp::ALL.into_iter().filter(move |op| op.supports(dtype));
    let unary = unary.map(move |op| one(op.name(), Op::Unary(op)));
    let scalar = ScalarOp::ALL.into_iter().filter(move |op| op.supports(dtype));
    let scalar = scalar.map(move |op| one(op.name(), Op::Scalar(op, 0.75)));
    let binary = BinaryOp::ALL.into_iter().filter(move |op| op.supports(dtype));
    let binary = binary.map(move |op| two(op.name(), Op::Binary(op)));
    let compare = CmpOp::ALL.into_iter().map(move |op| two(op.name(), Op::Compare(op)));
    let casts = DType::ALL.into_iter().filter(move |to| *to != dtype);
    let casts = casts.map(move |to| one(&format!("cast_{name}"), Op::Cast(to)).to(to));
    let affine = Op::Affine { mul: number(1.5, 3), add: number(-0.25, 5) };
    let clamp = Op::Clamp { low: number(-0.75, 2), high: number(3.25, 20) };
    // Rows in another order: turned matrices go by kernels of their own.
    let reordered = dense(dtype, &[ELEMENTS >> 12, 8, 1 << 9]).then(Step::Transpose(0, 1));
    let others = vec![
        one("affine", affine),
        one("clamp", clamp),
        one("fill", Op::Fill(number(1.5, 3))),
        one("const_set", Op::ConstSet(number(1.5, 3))),
        Measured::new(kernel("copy"), Op::Copy, vec![reordered]),
    ];
    unary.chain(scalar).chain(binary).chain(compare).chain(others).chain(casts)
}

impl Measured {
    /// As a conversion to this dtype: the kernel's name has both.
    fn to(mut self, to: DType) -> Measured {
        let from = self.case.operands[0].dtype.name();
        self.kernel = format!("elementwise_cast_{from}_{}", to.name());
        self
    }
}
