//! Operations of each element, reductions, order, and writes in place.

use serde_json::json;
use tensor_core::{BinaryOp, CmpOp, DType, Device, ReduceOp, ScalarOp, Tensor, UnaryOp};

use super::{Calls, rows, some, written};

pub(super) fn check(calls: &mut Calls) {
    let (x, y) = (some(1, [2, 3]), some(2, [3]));
    let positive = x.abs().unwrap();
    calls.given("x", &x);
    calls.given("y", &y);
    calls.given("p", &positive);
    tables(calls, &x, &y, &positive);
    let bits = Tensor::new([[1u8, 0, 1], [1, 1, 1]], &Device::Cpu).unwrap();
    calls.given("bits", &bits);
    rows! { calls;
        "x.affine(2, -0.5)" => x.affine(2, -0.5);
        "x.clamp(-1, 0.5)" => x.clamp(-1, 0.5);
        "x.selu(1.5, 1.25)" => x.selu(1.5, 1.25);
        "x.softcap(1.5)" => x.softcap(1.5);
        "x.mish()" => x.mish();
        "x.hard_sigmoid()" => x.hard_sigmoid();
        "x.cumsum(1)" => x.cumsum(1);
        "x.cumprod(-1)" => x.cumprod(-1);
        "x.sort(1, false)" => x.sort(1, false);
        "x.sort(1, true)" => x.sort(1, true);
        "x.argsort(0, true)" => x.argsort(0, true);
        "x.topk(2, 1, false)" => x.topk(2, 1, false);
        "x.mean(1)" => x.mean(1);
        "x.mean_keepdim([0, 1])" => x.mean_keepdim([0, 1]);
        "x.mean_all()" => x.mean_all();
        "x.var(1)" => x.var(1);
        "x.var_keepdim(0)" => x.var_keepdim(0);
        "x.var_all()" => x.var_all();
        "x.std(1)" => x.std(1);
        "x.std_keepdim(0)" => x.std_keepdim(0);
        "x.std_all()" => x.std_all();
        "x.norm(1)" => x.norm(1);
        "x.norm_keepdim(0)" => x.norm_keepdim(0);
        "x.norm_all()" => x.norm_all();
        "x.log_sum_exp(1)" => x.log_sum_exp(1);
        "x.log_sum_exp_keepdim(0)" => x.log_sum_exp_keepdim(0);
        "x.log_sum_exp_all()" => x.log_sum_exp_all();
        "bits.any(1).to_array()" => json!([1, 1]);
        "bits.any_keepdim(0).shape" => json!([1, 3]);
        "bits.any_all().to_scalar()" => json!(1);
        "bits.all(1).to_array()" => json!([0, 1]);
        "bits.all_keepdim(1).to_array()" => json!([[0], [1]]);
        "bits.all_all().to_scalar()" => json!(0);
    }
    in_place(calls, &x, &y);
}

/// Rows of tensor-core's tables.
fn tables(calls: &mut Calls, x: &Tensor, y: &Tensor, positive: &Tensor) {
    for op in UnaryOp::ALL {
        let name = op.name();
        // Of positive numbers, so that roots and logarithms are numbers.
        calls.gives(&format!("p.{name}()"), positive.unary(op));
        calls.gives(&format!("let c = p; c.{name}_(); c"), written(positive, |c| c.unary_assign_(op)));
    }
    for op in ScalarOp::ALL {
        calls.gives(&format!("p.{}(0.75)", op.name()), positive.unary_scalar(op, 0.75));
    }
    for op in BinaryOp::ALL {
        let powers = op == BinaryOp::Pow;
        let (name, left) = if powers { ("p", positive) } else { ("x", x) };
        calls.gives(&format!("{name}.{}(y)", op.name()), left.binary(y, op));
    }
    for op in CmpOp::ALL {
        calls.gives(&format!("x.{}(y)", op.name()), x.compare(y, op));
        calls.gives(&format!("x.{}(x)", op.name()), x.compare(x, op));
    }
    for op in ReduceOp::ALL {
        let name = op.name();
        calls.gives(&format!("x.{name}(1)"), x.reduce(op, 1, false));
        calls.gives(&format!("x.{name}_keepdim(0)"), x.reduce(op, 0, true));
        calls.gives(&format!("x.{name}_all()"), x.reduce_all(op));
    }
}

fn in_place(calls: &mut Calls, x: &Tensor, y: &Tensor) {
    let ids = Tensor::new([[2u32, 0, 1], [0, 2, 1]], &Device::Cpu).unwrap();
    let rows = Tensor::new([1u32, 0, 1], &Device::Cpu).unwrap();
    let (source, row) = (some(3, [2, 3]), some(4, [3, 3]));
    for (name, tensor) in [("ids", &ids), ("rows", &rows), ("source", &source), ("row", &row)] {
        calls.given(name, tensor);
    }
    let mask = x.gt(&x.zeros_like().unwrap()).unwrap();
    rows! { calls;
        "let c = x; c.add_assign_(y); c" => written(x, |c| c.add_assign_(y));
        "let c = x; c.sub_assign_(y); c" => written(x, |c| c.sub_assign_(y));
        "let c = x; c.mul_assign_(y); c" => written(x, |c| c.mul_assign_(y));
        "let c = x; c.div_assign_(y); c" => written(x, |c| c.div_assign_(y));
        "let c = x; c.add_rms_norm_(y, (), 0.5); c" => written(x, |c| c.add_rms_norm_(y, None, 0.5).map(drop));
        "let c = x; c.add_rms_norm_(y, (), 0.5)" => x.copy().and_then(|mut c| c.add_rms_norm_(y, None, 0.5));
        "let c = x; c.affine_(2, 1); c" => written(x, |c| c.affine_(2, 1));
        "let c = x; c.clamp_(-1, 0.5); c" => written(x, |c| c.clamp_(-1, 0.5));
        "let c = x; c.fill_(1.5); c" => Tensor::full(1.5, [2, 3], DType::F32, &Device::Cpu);
        "let c = x; c.copy_from_(y); c" => y.broadcast_as([2, 3]);
        "let c = x; c.scatter_(ids, source, 1); c" => written(x, |c| c.scatter_(&ids, &source, 1));
        "let c = x; c.scatter_add_(ids, source, 1); c" => written(x, |c| c.scatter_add_(&ids, &source, 1));
        "let c = x; c.index_add_(rows, row, 0); c" => written(x, |c| c.index_add_(&rows, &row, 0));
        "let c = x; c.slice_set_(row[1..2], 0, 1); c" => written(x, |c| c.slice_set_(&row.narrow(0, 1, 1)?, 0, 1));
        "let c = x; c.set(1, y); c[1]" => y.copy();
        // Nothing of this was seen through the other name.
        "x" => x.copy();
        "x.scatter(ids, source, 1)" => x.scatter(&ids, &source, 1);
        "x.scatter_add(ids, source, 1)" => x.scatter_add(&ids, &source, 1);
        "x.index_add(rows, row, 0)" => x.index_add(&rows, &row, 0);
        "x.slice_scatter(row[2..3], 0, 1)" => row.narrow(0, 2, 1).and_then(|row| x.slice_scatter(&row, 0, 1));
        "x.gather(ids, 1)" => x.gather(&ids, 1);
        "x.index_select(rows, 0)" => x.index_select(&rows, 0);
        "x.embedding(rows)" => x.embedding(&rows);
        "x.gt(0).where_cond(x, y)" => mask.where_cond(x, y);
        "x.masked_fill(x.gt(0), 7)" => x.masked_fill(&mask, 7);
    }
}
