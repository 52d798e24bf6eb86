//! Tensors: operators, indices, sharing, and what comes back from files.

use script::Options;
use serde_json::json;

use crate::common::{Run, value};

#[test]
fn operators_work_on_tensors_and_numbers_of_each_dtype() {
    for dtype in ["u8", "u32", "i16", "i32", "i64", "f8e4m3", "bf16", "f16", "f32", "f64"] {
        let text = format!(
            "let x = tensor([6, 9], \"{dtype}\"); let y = tensor([2, 3], \"{dtype}\");
             [x + y, x - y, x * 2, x / y, 12 / y, 10 - y, x % 4].map(|z| {{ assert_dtype(z); z.to_array() }})"
        );
        let text = format!("fn assert_dtype(z) {{ if z.dtype != \"{dtype}\" {{ throw z.dtype; }} }}\n{text}");
        // Worked out by hand; floats print with a point.
        let expected = "[[8, 12], [4, 6], [12, 18], [3, 3], [6, 4], [8, 7], [2, 1]]";
        assert_eq!(value(&text).replace(".0", ""), expected, "{dtype}");
    }
}

#[test]
fn comparisons_give_a_number_for_each_element() {
    assert_eq!(value("(tensor([1, 2, 3]) >= 2).to_array()"), "[0, 1, 1]");
    assert_eq!(value("(2 > tensor([1, 2, 3])).to_array()"), "[1, 0, 0]");
    assert_eq!(value("(tensor([1.0]) == tensor([1.0])).to_scalar()"), "1");
    assert_eq!(value("(tensor([1.0]) != 1).to_scalar()"), "0");
}

#[test]
fn indices_select_ranges_and_ids() {
    let mut run = Run::new(Options::default());
    run.value("let x = arange(0, 24, \"i64\").reshape([2, 3, -1]);");
    for (index, expected) in [
        ("x[1][0]", "[12, 13, 14, 15]"),
        ("x[-1][-1]", "[20, 21, 22, 23]"),
        ("x[[0, 1..3, 2]]", "[6, 10]"),
        ("x[[(), 0, 1..=2]]", "[[1, 2], [13, 14]]"),
        ("x[[0, -2..3]][[(), 0]]", "[4, 8]"),
        ("x[[1, [2, 0], 0]]", "[20, 12]"),
        ("x[[1, tensor([2, 0], \"u32\"), 0]]", "[20, 12]"),
        ("x[1..2].shape", "[1, 3, 4]"),
    ] {
        let text = if index.ends_with("shape") { index.to_owned() } else { format!("({index}).to_array()") };
        assert_eq!(run.value(&text), expected, "{index}");
    }
    assert_eq!(run.value("x.set(0, zeros([3, 4], \"i64\")); x.sum_all().to_scalar()"), "210");
    assert_eq!(run.value("x.set(0..2, ones([2, 3, 4], \"i64\")); x.sum_all().to_scalar()"), "24");
}

#[test]
fn a_copy_is_a_reference_and_a_write_copies_what_is_shared() {
    let mut run = Run::new(Options::default());
    run.value("let x = zeros([4]); let y = x; let a = [x, #{ z: x }]; let f = || x.sum_all();");
    assert_eq!(run.value("x.references"), "4");
    assert_eq!(
        run.value(
            "fn plus(t) { t += 1; t } let p = plus(x); [x.sum_all().to_scalar(), p.sum_all().to_scalar()]"
        ),
        "[0.0, 4.0]"
    );
    // Closures share the variable itself.
    assert_eq!(run.value("x += 2; f.call().to_scalar()"), "8.0");
    assert_eq!(run.value("y.sum_all().to_scalar() + a[1].z.sum_all().to_scalar()"), "0.0");
    // Alone: written in place.
    assert_eq!(run.value("let c = memory().copies_on_write; let w = ones([4]); w += 1; w.affine_(2, 1); w -= 3; memory().copies_on_write - c"), "0");
    assert_eq!(run.value("w.to_array()"), "[2.0, 2.0, 2.0, 2.0]");
    // Reading a row and calling a method on it writes nothing back.
    assert_eq!(
        run.value(
            "let m = ones([2, 2]); let n = m; m[0].sum_all(); [m.references, memory().copies_on_write - c]"
        ),
        "[2, 0]"
    );
}

#[test]
fn several_results_are_arrays() {
    assert_eq!(
        value("let s = tensor([3.0, 1.0, 2.0]).sort(0, true); [s[0].to_array(), s[1].to_array()]"),
        "[[3.0, 2.0, 1.0], [0, 2, 1]]"
    );
    assert_eq!(value("arange(0, 6).split_with_sizes([1, 5], 0).map(|x| x.elements)"), "[1, 5]");
    assert_eq!(value("cat([ones([1, 2]), zeros([2, 2])], 0).sum(1).to_array()"), "[2.0, 0.0, 0.0]");
}

#[test]
fn constants_are_read() {
    assert_eq!(value("const X = ones([2, 2]); X.sum(0).to_array() == [2.0, 2.0] && X[0].rank == 1"), "true");
}

#[test]
fn a_generator_draws_the_same_numbers_again() {
    let text = "let g = generator(42); let h = g; let a = g.normal(0, 1, [8]); let b = h.normal(0, 1, [8]);
                let c = h.normal(0, 1, [8]); [(a == b).all_all().to_scalar(), (b == c).all_all().to_scalar(), h.offset]";
    assert_eq!(value(text), "[1, 0, 2]");
}

#[test]
fn values_are_json() {
    let mut run = Run::new(Options::default());
    let found = run.run("#{ n: 1, x: [1.5, true, (), \"a\"], t: tensor([[1], [2]], \"u8\") }").unwrap();
    let tensor = json!({ "dtype": "u8", "shape": [2, 1], "device": "cpu", "data": [1, 2] });
    assert_eq!(found.to_json().unwrap(), json!({ "n": 1, "x": [1.5, true, null, "a"], "t": tensor }));
}

#[test]
fn texts_show_values() {
    let mut run = Run::new(Options::default());
    run.value(
        "print(tensor([1.5])); print([tensor(1), \"a\"]); print(`${zeros([2], \"f16\")}`); write(\"no end\")",
    );
    let expected = "tensor([1.5000])\n[tensor(1), \"a\"]\ntensor([0., 0.], dtype=f16)\nno end";
    assert_eq!(run.printed(), expected);
}

#[test]
fn variables_and_functions_stay_for_the_next_text() {
    let mut run = Run::new(Options { arguments: vec!["one".to_owned()], ..Options::default() });
    run.value("let x = 1; fn twice(n) { 2 * n }");
    assert_eq!(run.value("twice(x + 1) + args.len()"), "5");
    run.interpreter.clear();
    assert!(run.error("x").contains("x"));
    assert_eq!(run.value("args[0]"), "one");
}
