//! What parts of the registry have of it.

use std::collections::HashSet;

use parity::choice::{Sanitizer, for_sanitizer, subset};
use parity::{Case, registry};

fn ids(cases: &[Case]) -> Vec<String> {
    cases.iter().map(Case::id).collect()
}

/// These words of the cases' ids, which are operation, dtypes, layout, class of shape and more.
fn words(cases: &[Case], wanted: &[usize]) -> HashSet<String> {
    let of = |id: &String| {
        let words: Vec<&str> = id.split('/').collect();
        wanted.iter().map(|at| words[*at]).collect::<Vec<_>>().join("/")
    };
    ids(cases).iter().map(of).collect()
}

#[test]
fn a_run_has_every_operation_dtype_and_layout_and_every_shape_of_an_operation() {
    let all = registry::all();
    let chosen = subset(all.clone());
    println!("{} of {} cases", chosen.len(), all.len());
    assert_eq!(words(&chosen, &[0, 1, 2]), words(&all, &[0, 1, 2]));
    assert_eq!(words(&chosen, &[0, 3]), words(&all, &[0, 3]));
    assert!(chosen.len() * 5 < all.len() * 3, "{} of {} cases", chosen.len(), all.len());
}

#[test]
fn a_run_has_its_cases_in_the_order_of_the_registry_each_once() {
    let chosen = ids(&subset(registry::all()));
    let mut all = ids(&registry::all()).into_iter();
    assert!(chosen.iter().all(|id| all.any(|other| other == *id)));
    assert_eq!(ids(&subset(registry::all())), chosen);
}

#[test]
fn a_case_without_a_representative_is_chosen() {
    let few: Vec<Case> = registry::all().into_iter().step_by(1009).collect();
    let chosen = subset(few.clone());
    assert_eq!(words(&chosen, &[0, 1, 2]), words(&few, &[0, 1, 2]));
    assert_eq!(words(&chosen, &[0, 3]), words(&few, &[0, 3]));
    assert_eq!(subset(few[..1].to_vec()), few[..1]);
}

#[test]
fn a_sanitizer_has_every_operation_dtype_and_layout_in_small_arrays() {
    let chosen = for_sanitizer(registry::all(), Sanitizer::Address);
    assert_eq!(words(&chosen, &[0, 1, 2]), words(&registry::all(), &[0, 1, 2]));
    assert!(chosen.len() < registry::all().len());
    let fewer = for_sanitizer(registry::all(), Sanitizer::Thread);
    assert!(fewer.len() < chosen.len());
    assert_eq!(words(&fewer, &[0, 1]), words(&chosen, &[0, 1]));
    let elements = |case: &Case| -> usize {
        case.operands.iter().map(|operand| operand.view().dims.iter().product::<usize>()).sum()
    };
    assert!(chosen.iter().all(|case| elements(case) <= 20_000));
}
