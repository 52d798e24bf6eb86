//! The parity cases that are run: every operation, dtype and layout, without large arrays and repetitions.

use super::setup::Kind;
use parity::case::Op;
use parity::{Case, filter, registry};
use std::collections::BTreeMap;

/// Elements of a case's arrays, beyond which it takes long and shows nothing more: a few blocks' worth.
const MOST: usize = 20_000;

/// Ids of the cases that a filter means, of all, or of the choice.
pub(super) fn choose(text: Option<&str>, all: bool, kind: Kind) -> Result<Vec<String>, String> {
    let cases = match text {
        Some(text) => filter::select(registry::all(), text),
        None if all => registry::all(),
        None => choice(registry::all(), kind),
    };
    if cases.is_empty() {
        return Err(format!(
            "sanitize: no case fits {:?}; `cargo xtask parity --list` shows them",
            text.unwrap_or("")
        ));
    }
    Ok(cases.iter().map(Case::id).collect())
}

/// For each operation, dtype and layout the largest case that is not too large. Reductions and products run differently
/// for each class of shapes, so those count too. Who writes where in an elementwise kernel does not depend on the layout: for
/// ThreadSanitizer, which is slow, one case of each is enough.
fn choice(cases: Vec<Case>, kind: Kind) -> Vec<Case> {
    let mut chosen = BTreeMap::new();
    for case in cases.into_iter().filter(|case| elements(case) <= MOST) {
        let (op, dtypes, layout, shape) = case.class();
        let by_shape = matches!(case.op, Op::Reduce { .. } | Op::Matmul | Op::Named(_));
        let layout = (by_shape || kind == Kind::Address).then_some(layout);
        let shape = if by_shape { shape } else { "" };
        // Masks and ids have dtypes of their own.
        let others: Vec<&str> = case.operands.iter().skip(1).map(|operand| operand.dtype.name()).collect();
        let known = chosen.entry((op, dtypes, others, layout, shape)).or_insert_with(|| case.clone());
        if elements(&case) > elements(known) {
            *known = case;
        }
    }
    chosen.into_values().collect()
}

fn elements(case: &Case) -> usize {
    case.operands.iter().map(|operand| operand.view().dims.iter().product::<usize>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_operation_dtype_and_layout_is_chosen() {
        let class = |case: &Case| {
            let (op, dtypes, layout, _) = case.class();
            (op, dtypes, layout)
        };
        let all: HashSet<_> = registry::all().iter().map(class).collect();
        let chosen = choice(registry::all(), Kind::Address);
        assert_eq!(chosen.iter().map(class).collect::<HashSet<_>>(), all);
        assert!(chosen.len() < registry::all().len());
        let names =
            |cases: &[Case]| cases.iter().map(|case| (case.op.name(), case.dtypes())).collect::<HashSet<_>>();
        let fewer = choice(registry::all(), Kind::Thread);
        assert!(fewer.len() < chosen.len());
        assert_eq!(names(&fewer), names(&chosen));
        assert!(chosen.iter().all(|case| elements(case) <= MOST));
    }

    #[test]
    fn a_filter_means_what_it_means_for_parity() {
        assert_eq!(
            choose(Some("neg/f32/transposed"), false, Kind::Thread),
            Ok(vec!["neg/f32/transposed/matrix/[37,129]".into()])
        );
        assert!(
            choose(Some("no such thing"), false, Kind::Thread)
                .expect_err("nothing")
                .contains("no such thing")
        );
    }
}
