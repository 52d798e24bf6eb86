//! Operators between tensors and numbers, and the element-wise operations and reductions of tensor-core's tables.

use rhai::Dynamic;
use tensor_core::{BinaryOp, CmpOp, ReduceOp, Scalar, ScalarOp, Tensor, UnaryOp};

use crate::argument::{Argument, Axes, described, is_a};
use crate::error::{Returned, failed};
use crate::operands::naming_operands;
use crate::registry::{Registry, finish};

const ARITHMETIC: [(&str, &str, BinaryOp); 5] = [
    ("+", "+=", BinaryOp::Add),
    ("-", "-=", BinaryOp::Sub),
    ("*", "*=", BinaryOp::Mul),
    ("/", "/=", BinaryOp::Div),
    ("%", "%=", BinaryOp::Rem),
];

const COMPARISONS: [(&str, CmpOp); 6] = [
    ("==", CmpOp::Eq),
    ("!=", CmpOp::Ne),
    ("<", CmpOp::Lt),
    ("<=", CmpOp::Le),
    (">", CmpOp::Gt),
    (">=", CmpOp::Ge),
];

/// The operand beside a tensor: a number has its dtype and device.
fn beside(tensor: &Tensor, other: &Dynamic, operation: &str) -> Returned<Tensor> {
    if let Some(other) = is_a::<Tensor>(other) {
        return Ok(other);
    }
    let number = Scalar::of(other).ok_or_else(|| {
        let what = described(other);
        failed(format!("{operation}: the other operand is {what}; expected a tensor or a number"))
    })?;
    Tensor::full(number, (), tensor.dtype(), &tensor.device()).map_err(failed)
}

pub(crate) fn add(registry: &mut Registry) {
    for op in UnaryOp::ALL {
        let name = op.name();
        registry.named(name).register_fn(name, move |this: &mut Tensor| {
            naming_operands(this, &[], |this| finish(this.unary(op)))
        });
        let name = format!("{name}_");
        registry.named(&name).register_fn(&name, move |this: &mut Tensor| {
            naming_operands(this, &[], |this| finish(this.unary_assign_(op)))
        });
    }
    registry.engine.register_fn("-", |this: &mut Tensor| finish(this.unary(UnaryOp::Neg)));
    for op in ScalarOp::ALL {
        let name = op.name();
        registry.named(name).register_fn(name, move |this: &mut Tensor, scalar: Dynamic| {
            naming_operands(this, &[], |this| {
                finish(this.unary_scalar(op, Scalar::take(&scalar, op.name(), "the number")?))
            })
        });
    }
    for op in BinaryOp::ALL {
        let name = op.name();
        binary(registry.named(name), name, op);
    }
    for op in CmpOp::ALL {
        let name = op.name();
        compare(registry.named(name), name, op);
    }
    for (symbol, assign, op) in ARITHMETIC {
        binary(&mut registry.engine, symbol, op);
        let written = move |this: &mut Tensor, other: Dynamic| {
            naming_operands(this, &[&other], |this| {
                let other = beside(this, &other, op.name())?;
                finish(this.binary_assign_(&other, op))
            })
        };
        registry.engine.register_fn(assign, written);
        let before = move |number: Scalar, tensor: Tensor| {
            let number = Tensor::full(number, (), tensor.dtype(), &tensor.device()).map_err(failed)?;
            finish(number.binary(&tensor, op))
        };
        registry.engine.register_fn(symbol, move |number: i64, tensor: Tensor| before(number.into(), tensor));
        registry.engine.register_fn(symbol, move |number: f64, tensor: Tensor| before(number.into(), tensor));
    }
    for (symbol, op) in COMPARISONS {
        compare(&mut registry.engine, symbol, op);
        let before = move |number: Scalar, tensor: Tensor| {
            let number = Tensor::full(number, (), tensor.dtype(), &tensor.device()).map_err(failed)?;
            finish(number.compare(&tensor, op))
        };
        registry.engine.register_fn(symbol, move |number: i64, tensor: Tensor| before(number.into(), tensor));
        registry.engine.register_fn(symbol, move |number: f64, tensor: Tensor| before(number.into(), tensor));
    }
    for op in ReduceOp::ALL {
        let name = op.name();
        for keepdim in [false, true] {
            let name = if keepdim { format!("{name}_keepdim") } else { name.to_owned() };
            registry.named(&name).register_fn(&name, move |this: &mut Tensor, axes: Dynamic| {
                naming_operands(this, &[], |this| {
                    let axes = Axes::take(&axes, op.name(), "axes")?;
                    finish(this.reduce(op, axes.as_slice(), keepdim))
                })
            });
        }
        let name = format!("{name}_all");
        registry.named(&name).register_fn(&name, move |this: &mut Tensor| {
            naming_operands(this, &[], |this| finish(this.reduce_all(op)))
        });
    }
}

fn binary(engine: &mut rhai::Engine, name: &str, op: BinaryOp) {
    engine.register_fn(name, move |this: &mut Tensor, other: Dynamic| {
        naming_operands(this, &[&other], |this| {
            let other = beside(this, &other, op.name())?;
            finish(this.binary(&other, op))
        })
    });
}

fn compare(engine: &mut rhai::Engine, name: &str, op: CmpOp) {
    engine.register_fn(name, move |this: &mut Tensor, other: Dynamic| {
        naming_operands(this, &[&other], |this| {
            let other = beside(this, &other, op.name())?;
            finish(this.compare(&other, op))
        })
    });
}
