//! All cases, one file per family of operations.

mod attention;
mod binary;
mod cast;
mod conv;
mod index;
mod matmul;
mod nn;
mod order;
mod paged;
mod pool;
mod quant;
mod random;
mod rearrange;
mod reduce;
mod rope;
mod scan;
mod select;
pub(crate) mod shapes;
mod stat;
mod unary;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::case::Case;

/// Every case with inputs from the seed, in the order of the report.
pub fn all() -> Vec<Case> {
    families().into_iter().flat_map(|(_, cases)| cases).collect()
}

/// The same by family, with its name: that of the family's file.
pub fn families() -> Vec<(&'static str, Vec<Case>)> {
    let elementwise = [unary::cases(), unary::scalar_cases(), unary::affine_cases(), unary::clamp_cases()];
    let casts = [cast::cases(), cast::copy_cases(), cast::write_cases(), cast::fill_cases()];
    let selections =
        [select::mask_cases(), select::triangle_cases(), select::made_cases(), select::flip_cases()];
    vec![
        ("unary", elementwise.concat()),
        ("binary", [binary::cases(), binary::compare_cases()].concat()),
        ("cast", casts.concat()),
        ("reduce", [reduce::cases(), reduce::special_cases()].concat()),
        ("matmul", [matmul::cases(), matmul::exact_cases()].concat()),
        ("index", index::cases()),
        ("order", [order::cases(), order::topk_cases()].concat()),
        ("scan", scan::cases()),
        ("select", selections.concat()),
        ("rearrange", [rearrange::join_cases(), rearrange::move_cases()].concat()),
        ("stat", stat::cases()),
        ("rope", [rope::cases(), rope::pair_cases()].concat()),
        ("attention", [attention::cases(), paged::cases()].concat()),
        ("conv", [conv::cases(), conv::exact_cases()].concat()),
        ("pool", pool::cases()),
        (
            "nn",
            [nn::softmax_cases(), nn::row_norm_cases(), nn::add_rms_norm_cases(), nn::channel_norm_cases()]
                .concat(),
        ),
        ("random", random::cases()),
        ("quant", quant::cases()),
    ]
}

/// The family of an operation; "other" if the registry does not have it.
pub fn family(operation: &str) -> &'static str {
    static BY_OPERATION: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    let by_operation = BY_OPERATION.get_or_init(|| {
        let pairs = |(family, cases): (&'static str, Vec<Case>)| {
            cases.into_iter().map(move |case| (case.op.name(), family))
        };
        families().into_iter().flat_map(pairs).collect()
    });
    by_operation.get(operation).copied().unwrap_or("other")
}

/// Cases that take seconds each and gigabytes together: more than 65,535 blocks of work in families whose blocks do
/// much. Only full runs include them.
pub fn long() -> Vec<Case> {
    let mut cases = vec![
        cast::many_blocks(),
        conv::many_blocks(),
        order::many_blocks(),
        quant::many_blocks(),
        rope::many_blocks(),
        select::many_blocks(),
        random::many_blocks(),
    ];
    cases.extend(attention::many_blocks());
    cases
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn at_least_800_distinct_cases_with_unique_ids() {
        let cases = [all(), long()].concat();
        let ids: HashSet<String> = cases.iter().map(Case::id).collect();
        assert_eq!(ids.len(), cases.len(), "two cases share an id");
        let classes: HashSet<_> = cases.iter().map(Case::class).collect();
        assert!(classes.len() >= 800, "{} distinct cases", classes.len());
    }

    #[test]
    fn every_operation_is_there() {
        use tensor_core::{BinaryOp, CmpOp, ReduceOp, ScalarOp, UnaryOp};
        let names: HashSet<&str> = all().iter().map(|case| case.op.name()).collect();
        let mut wanted: Vec<&str> = "affine clamp cast copy const_set copy_into fill mean matmul \
            index_select gather embedding scatter scatter_add index_add slice_scatter slice_set \
            sort argsort topk cumsum cumprod \
            rope rope_i rope_thd rope_pair rope_i_pair scaled_dot_product_attention paged_attention \
            where_cond masked_fill tril triu eye tril2 triu2 arange linspace flip cat stack chunk split repeat roll \
            pad_with_zeros pad_with_same pad meshgrid var std norm log_sum_exp any all \
            conv1d conv2d conv_transpose1d conv_transpose2d max_pool2d avg_pool2d adaptive_avg_pool2d \
            upsample_nearest1d upsample_nearest2d upsample_bilinear2d \
            softmax log_softmax layer_norm rms_norm add_rms_norm group_norm batch_norm \
            uniform normal randint randperm bernoulli dropout \
            dequantize quant_embedding quant_matmul quant_experts"
            .split_whitespace()
            .collect();
        wanted.extend(UnaryOp::ALL.map(UnaryOp::name));
        wanted.extend(ScalarOp::ALL.map(ScalarOp::name));
        wanted.extend(BinaryOp::ALL.map(BinaryOp::name));
        wanted.extend(CmpOp::ALL.map(CmpOp::name));
        wanted.extend(ReduceOp::ALL.map(ReduceOp::name));
        for name in &wanted {
            assert!(names.contains(name), "no case of {name}");
        }
        assert_eq!(names.len(), wanted.len(), "an operation is missing from this test's list");
    }

    #[test]
    fn every_family_of_kernels_has_the_work_of_many_blocks() {
        let cases = [all(), long()].concat();
        let many = cases.iter().filter(|case| case.shape.starts_with("many-blocks"));
        let operations: HashSet<&str> = many.map(|case| case.op.name()).collect();
        let wanted = [
            ("attention", "scaled_dot_product_attention"),
            ("conv", "conv1d"),
            ("elementwise", "cast"),
            ("index", "scatter"),
            ("matmul", "matmul"),
            ("norm", "rms_norm"),
            ("pool", "upsample_nearest2d"),
            ("quant", "quant_experts"),
            ("random", "bernoulli"),
            ("reduce", "sum"),
            ("rope", "rope"),
            ("scan", "cumsum"),
            ("select", "flip"),
            ("softmax", "softmax"),
            ("sort", "argsort"),
            ("stat", "var"),
            ("transpose", "copy"),
        ];
        // No case has that many blocks of the first five families: their sections have 4096 elements, their heads 64
        // rows or more, and their tiles 8192 outputs. No case uses the others on the host, where bucket sums, radix
        // sorts and emulated products of quantized blocks are slower. kernels-hip's own tests launch them.
        // A row is multiplied by as many blocks as the matrix has rows, and no case has that many.
        let without = [
            "matvec",
            "topk",
            "attention_mma",
            "conv_mma",
            "conv_split",
            "conv_wide",
            "buckets",
            "radix",
            "quant_mma",
        ];
        let families: HashSet<&str> = kernels_hip::families().iter().map(|family| family.name).collect();
        assert_eq!(families, wanted.iter().map(|(family, _)| *family).chain(without).collect());
        for (family, operation) in wanted {
            assert!(operations.contains(operation), "{family} has none");
        }
    }

    #[test]
    fn every_operation_belongs_to_one_family() {
        let mut of: HashMap<&str, HashSet<&str>> = HashMap::new();
        for (family, cases) in families() {
            cases.iter().for_each(|case| {
                of.entry(case.op.name()).or_default().insert(family);
            });
        }
        assert!(of.values().all(|families| families.len() == 1), "{of:?}");
        assert_eq!((family("sum"), family("softmax"), family("no such")), ("reduce", "nn", "other"));
        assert!(long().iter().all(|case| family(case.op.name()) != "other"));
    }

    #[test]
    fn every_pair_of_dtypes_is_cast() {
        let pairs: HashSet<String> = cast::cases().iter().map(Case::dtypes).collect();
        assert_eq!(pairs.len(), 100);
    }
}
