//! Errors: the position, the operation, shapes and devices.

use script::Options;

use crate::common::{Run, error};

#[test]
fn an_error_has_its_position_the_operation_the_shapes_and_the_device() {
    let text = "let a = ones([2, 3]);\nlet b = ones([2, 2]);\n\nlet c = a.matmul(b);";
    assert_eq!(error(text), "test:4:11: matmul: inner dimensions differ: [2, 3] x [2, 2] on cpu");
    let text = "ones([2, 3]) +\n  ones([4])";
    assert_eq!(error(text), "test:1:14: add: shapes do not broadcast: [2, 3] and [4] on cpu");
    let text = "ones([2], \"f16\").mul(ones([2]))";
    assert_eq!(
        error(text),
        "test:1:18: mul: dtypes differ: f16 and f32 on cpu; cast one of them with to_dtype; operands: [2] f16 on cpu, [2] f32 on cpu"
    );
    assert_eq!(error("ones([2])[2]"), "test:1:10: i: index 2 is out of range for axis 0 of [2] on cpu");
    assert_eq!(error("ones([2])[-3]"), "test:1:10: i: index -3 is out of range for axis 0 of [2] on cpu");
}

#[test]
fn an_error_names_both_devices() {
    let text = "let there = device(\"host:0\"); tensor([1.0], \"f32\", there) + tensor([1.0])";
    assert_eq!(
        error(text),
        "test:1:59: add: operands lie on two devices, host:0 (host-w32) and cpu; move one of them with to_device; \
         operands: [1] f32 on host:0 (host-w32), [1] f32 on cpu"
    );
    // A device that is opened again by name is the same one.
    let mut run = Run::new(Options::default());
    assert_eq!(run.value("device(\"host:0\") == device(\"host:0\")"), "true");
}

#[test]
fn shapes_and_devices_are_named_whatever_is_wrong() {
    let mut run = Run::new(Options::default());
    run.value(
        "let x = ones([2, 3]); let half = ones([3, 4], \"f16\"); let q = ones([4, 32]).quantize(\"q8_0\");
         let there = ones([3, 5], \"f32\", device(\"host:0\")); let ids = tensor([0, 9], \"u32\");",
    );
    let (two, host) = ("[2, 3] f32 on cpu", "[3, 5] f32 on host:0 (host-w32)");
    for (text, operation, operands) in [
        ("x.matmul(half)", "matmul", vec![two, "[3, 4] f16 on cpu"]),
        ("x.matmul(there)", "matmul", vec![two, host]),
        ("there.linear(x, ())", "linear", vec![host, two]),
        ("x -= there", "sub", vec![two, host]),
        ("x < there", "lt", vec![two, host]),
        ("cat([x, there], 0)", "cat", vec![two, host]),
        ("x.linear_each([there, half])", "linear", vec![two, host, "[3, 4] f16 on cpu"]),
        ("q.forward(there)", "qmatmul", vec!["[4, 32] q8_0 on cpu", host]),
        ("q.forward(1)", "forward", vec!["[4, 32] q8_0 on cpu"]),
        ("x.embedding(ids)", "embedding", vec![two, "[2] u32 on cpu"]),
        ("x.embedding(half)", "embedding", vec![two, "[3, 4] f16 on cpu"]),
        ("x.softmax(\"a\")", "softmax", vec![two]),
        ("x.sum(\"a\")", "sum", vec![two]),
        ("x.powf(\"a\")", "powf", vec![two]),
        ("x * \"a\"", "mul", vec![two]),
        ("x.one_hot(-1)", "one_hot", vec![two]),
        ("x.quantize(\"q8_0\")", "quantize", vec!["[2, 3]", "cpu"]),
        ("x.quantize(\"q9\")", "quantize", vec![two]),
        ("x.set(0, there)", "slice_set_", vec![two, host]),
        ("x.set(0..2, half)", "set", vec![two, "[3, 4] f16 on cpu"]),
        ("x.set(0, 1)", "set", vec![two]),
        ("x[#{}]", "i", vec![two]),
        ("x.where_cond(x, x)", "where_cond", vec!["[2, 3]", "cpu"]),
        ("x.scaled_dot_product_attention(x, x, (), 1, ())", "scaled_dot_product_attention", vec![two]),
        ("x.to_scalar()", "to_scalar", vec!["[2, 3]", "cpu"]),
    ] {
        let found = run.error(text);
        assert!(found.starts_with("test:1:"), "{text}: {found}");
        assert!(found.contains(&format!(": {operation}")), "{text}: {found}");
        for operand in operands {
            assert!(found.contains(operand), "{text}: {operand} is not in {found}");
        }
    }
    // What names all of it already gets nothing more.
    assert_eq!(run.error("x.matmul(x)"), "test:1:3: matmul: inner dimensions differ: [2, 3] x [2, 3] on cpu");
    // No more than eight are listed.
    let found = run.error("let many = []; for i in 0..20 { many.push(x); } many.push(half); cat(many, 0)");
    assert!(found.ends_with("[2, 3] f32 on cpu, …") && found.matches(two).count() == 8, "{found}");
}

#[test]
fn an_error_in_a_function_has_the_calls() {
    let text = "fn inner(x) {\n  x.sum(3)\n}\nfn outer(x) {\n  inner(x)\n}\nouter(ones([2]));";
    assert_eq!(
        error(text),
        "test:2:5: sum: axis 3 is out of range for [2] on cpu\n  in inner, called at test:5:3\n  in outer, called at test:7:1"
    );
}

#[test]
fn arguments_are_named() {
    for (text, expected) in [
        ("ones([2]).softmax(\"a\")", "softmax: axis is \"a\"; expected an axis: a whole number"),
        ("ones([2]).narrow(0, -1, 1)", "narrow: start is -1; expected a whole number, 0 or more"),
        ("ones([2]).matmul(1)", "matmul: other is 1; expected a tensor"),
        ("ones([2]) * \"a\"", "mul: the other operand is \"a\"; expected a tensor or a number"),
        (
            "zeros([2, ones([1])])",
            "zeros: shape is [2, the tensor [1] f32 on cpu]; expected a length or an array of lengths, 0 or more",
        ),
        (
            "full(0, [2], \"f31\")",
            "full: dtype is \"f31\"; expected a dtype: \"u8\" \"u32\" \"i16\" \"i32\" \"i64\" \"f8e4m3\" \"bf16\" \"f16\" \"f32\" \"f64\"",
        ),
        ("tensor([[1, 2], [3]])", "tensor: rows of different lengths: 2 and 1"),
        ("ones([2]).reshape([-1, -1])", "reshape: more than one length is -1 on cpu"),
        ("ones([3]).to_scalar()", "to_scalar: [3] has 3 elements on cpu; expected one"),
        ("ones([3]).foo", "a tensor has no property \"foo\"; a method is called with ()"),
        ("ones([3]).foo()", "there is no function foo (tensor): docs/SCRIPTS.md lists those there are"),
        ("device(\"cuda\")", "device: \"cuda\" is none of cpu "),
    ] {
        let found = error(text);
        assert!(found.contains(expected), "{text}: {found}");
        assert!(found.starts_with("test:1:"), "{found}");
    }
}

#[test]
fn other_errors_have_their_position_too() {
    assert!(error("let x = 1;\nlet y = ;").starts_with("test:2:9: "), "{}", error("let x = 1;\nlet y = ;"));
    assert_eq!(error("\n throw \"mine\""), "test:2:2: mine");
    assert!(error("unknown").starts_with("test:1:1: Variable not found: unknown"), "{}", error("unknown"));
    let found = Run::new(Options::default()).interpreter.run_file("no/such.rhai").unwrap_err().to_string();
    assert!(found.starts_with("no/such.rhai: No such file"), "{found}");
    // A script may go on after an error.
    assert_eq!(
        Run::new(Options::default())
            .value("let m; try { ones([2]).matmul(ones([3])); } catch (e) { m = e; } m"),
        error("ones([2]).matmul(ones([3]));").split_once(": ").unwrap().1
    );
}

#[test]
fn open_brackets_go_on() {
    let run = Run::new(Options::default());
    for text in ["fn f(x) {", "let x = [1,", "f(1, ", "1 +", "let y = `a", "if true {\n 1"] {
        assert!(run.interpreter.is_incomplete(text), "{text}");
    }
    for text in ["1 + 1", "let x = 1;", "let = 3", "x.y(1) }", ""] {
        assert!(!run.interpreter.is_incomplete(text), "{text}");
    }
}
