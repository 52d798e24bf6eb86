//! All cases, one file per family of operations.

mod binary;
mod cast;
mod matmul;
mod random;
mod reduce;
mod shapes;
mod unary;

use crate::case::Case;

/// Every case whose inputs come from the seed, in the order of the report.
pub fn all() -> Vec<Case> {
    [
        unary::cases(),
        unary::scalar_cases(),
        unary::affine_cases(),
        unary::clamp_cases(),
        binary::cases(),
        binary::compare_cases(),
        cast::cases(),
        cast::copy_cases(),
        cast::write_cases(),
        cast::fill_cases(),
        reduce::cases(),
        reduce::special_cases(),
        matmul::cases(),
        matmul::exact_cases(),
        random::cases(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn at_least_800_distinct_cases_with_unique_ids() {
        let cases = all();
        let ids: HashSet<String> = cases.iter().map(Case::id).collect();
        assert_eq!(ids.len(), cases.len(), "two cases share an id");
        let classes: HashSet<_> = cases.iter().map(Case::class).collect();
        assert!(classes.len() >= 800, "{} distinct cases", classes.len());
    }

    #[test]
    fn every_operation_of_the_first_families_is_there() {
        let names: HashSet<&str> = all().iter().map(|case| case.op.name()).collect();
        let wanted = "neg abs sign sqr sqrt rsqrt recip exp log sin cos tan tanh sigmoid erf gelu gelu_erf relu silu \
            softplus ceil floor round powf elu leaky_relu affine clamp add sub mul div rem minimum maximum pow eq ne lt le \
            gt ge cast copy const_set copy_into fill sum prod min max argmin argmax mean matmul \
            uniform normal randint randperm bernoulli dropout";
        for name in wanted.split_whitespace() {
            assert!(names.contains(name), "no case of {name}");
        }
        assert_eq!(
            names.len(),
            wanted.split_whitespace().count(),
            "an operation is missing from this test's list"
        );
    }

    #[test]
    fn every_pair_of_dtypes_is_cast() {
        let pairs: HashSet<String> = cast::cases().iter().map(Case::dtypes).collect();
        assert_eq!(pairs.len(), 100);
    }
}
