//! A comparison of tensors as text.

use std::fmt::Write;

use super::{Compared, Comparison, Differences, ElementPair, Status};

/// A line for each tensor, then what is wrong in more words, then the totals.
pub fn render(comparison: &Comparison) -> String {
    let mut text = String::new();
    let widths = comparison.tensors.iter().map(|tensor| (tensor.name.len(), tensor.form.len()));
    let (name, form) = widths.fold((6, 5), |most, one| (most.0.max(one.0), most.1.max(one.1)));
    if !comparison.tensors.is_empty() {
        let _ = writeln!(
            text,
            "     {:name$}  {:form$}  {:>10}  {:>9}  {:>9}  different",
            "tensor", "dtype", "max ulp", "max abs", "max rel"
        );
    }
    for tensor in &comparison.tensors {
        line(&mut text, tensor, name, form);
    }
    for (names, file) in
        [(&comparison.only_left, &comparison.left), (&comparison.only_right, &comparison.right)]
    {
        names.iter().for_each(|name| {
            let _ = writeln!(text, "FAIL {name}: only in {file}");
        });
    }
    totals(&mut text, comparison);
    text
}

fn line(text: &mut String, tensor: &Compared, name: usize, form: usize) {
    let verdict = if tensor.status.is_good() { "ok  " } else { "FAIL" };
    let _ = write!(text, "{verdict} {:name$}  {:form$}", tensor.name, tensor.form);
    if let Some(reason) = &tensor.reason {
        let _ = writeln!(text, "  {reason}");
    }
    let Some(found) = &tensor.differences else { return };
    let Differences { elements, different, outside, max_ulp, max_absolute, max_relative, .. } = found;
    let count = match (different, &found.first_different) {
        (0, _) | (_, None) => "none".to_owned(),
        (_, Some(first)) => format!("{different} of {elements}, first {:?}", first.index),
    };
    let _ = writeln!(text, "  {max_ulp:>10}  {max_absolute:>9.2e}  {max_relative:>9.2e}  {count}");
    if let Some(ElementPair { index, flat, left, right }) = &found.first_outside {
        let _ = writeln!(
            text,
            "     {outside} outside of the bound, first {index:?} (element {flat}): {left} and {right}"
        );
    }
    if found.nan_mismatches + found.infinity_mismatches > 0 {
        let (nan, infinite) = (found.nan_mismatches, found.infinity_mismatches);
        let _ =
            writeln!(text, "     NaN in only one of them: {nan}; infinite in only one of them: {infinite}");
    }
}

fn totals(text: &mut String, comparison: &Comparison) {
    let count = |status| comparison.tensors.iter().filter(|tensor| tensor.status == status).count();
    let only = |names: &[String], file: &str| match names.len() {
        0 => String::new(),
        count => format!(", {count} only in {file}"),
    };
    let _ = writeln!(
        text,
        "{} tensors compared, bound: {}. {} equal, {} within, {} outside, {} of other dtype or shape, {} not read{}{}.",
        comparison.tensors.len(),
        comparison.bound,
        count(Status::Equal),
        count(Status::Within),
        count(Status::Outside),
        count(Status::Form),
        count(Status::Unreadable),
        only(&comparison.only_left, &comparison.left),
        only(&comparison.only_right, &comparison.right)
    );
}
