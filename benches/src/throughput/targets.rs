//! The targets of all operations, in one table.

use super::results::Figures;
use std::fmt;

/// The shape that the shares apply to.
pub const SHAPE: &str = "16384x8192";

/// The minimum share of the copy's bytes per second, by operation, at [`SHAPE`].
pub const SHARES: [(&str, f64); 23] = [
    ("add", 0.90),
    ("mul_scalar", 0.90),
    ("exp", 0.90),
    ("gelu_erf", 0.90),
    ("silu", 0.90),
    ("where", 0.90),
    ("cast", 0.90),
    ("clone_copy", 0.90),
    ("cat0", 0.90),
    ("index_select_rows", 0.90),
    ("add_broadcast_row", 0.90),
    ("add_broadcast_column", 0.90),
    ("rms_norm", 0.85),
    ("layer_norm", 0.85),
    ("softmax_last", 0.85),
    ("sum_last", 0.85),
    ("sum_first", 0.85),
    ("max_last", 0.85),
    ("max_first", 0.85),
    ("argmax_last", 0.85),
    ("argmax_first", 0.85),
    ("sum_all", 0.85),
    ("transpose_contig", 0.80),
];

/// The minimum ratio to PyTorch, by operation and shape. Operations in [`SHARES`] have 1 at [`SHAPE`].
pub const RATIOS: [(&str, &str, f64); 9] = [
    ("argsort", "4096x1024", 1.0),
    ("topk_50", "4096x1024", 1.0),
    ("argsort", "64x128256", 1.0),
    ("topk_50", "64x128256", 1.0),
    ("cumsum_last", "16384x8192", 1.0),
    ("cumsum_first", "16384x8192", 1.0),
    ("gather", "16777216", 1.0),
    ("scatter_add", "16777216", 1.0),
    ("attention_causal", "1x32x4096x128", 0.5),
];

/// The minimum ratio to PyTorch, by operation, for every shape.
pub const PRODUCTS: [(&str, f64); 4] =
    [("gemm", 0.97), ("linear", 0.97), ("conv", 0.90), ("conv_winograd", 0.90)];

/// The maximum host time of one call in microseconds, by operation, for every shape. An addition with the
/// drop of its result has the same limit as the call alone.
pub const TIMES: [(&str, f64); 3] =
    [("host_add_return_above_raw", 0.5), ("host_add_above_raw", 0.5), ("pool_alloc_free", 0.3)];

/// Two runs differ by this much, so a ratio that falls short by less is not missed.
const NOISE: f64 = 0.005;

/// The target of a row.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Target {
    /// The minimum share of the copy's bytes per second.
    pub share: Option<f64>,
    /// The minimum ratio to PyTorch.
    pub ratio: Option<f64>,
    /// The maximum in microseconds.
    pub us: Option<f64>,
}

impl Target {
    /// The target of an operation on a shape; empty for a row without a target.
    pub fn of(op: &str, shape: &str) -> Target {
        let share = SHARES.iter().find(|(name, _)| *name == op && shape == SHAPE).map(|(_, least)| *least);
        let ratio = RATIOS.iter().find(|(name, of, _)| (*name, *of) == (op, shape)).map(|(.., least)| *least);
        let product = PRODUCTS.iter().find(|(name, _)| *name == op).map(|(_, least)| *least);
        let us = TIMES.iter().find(|(name, _)| *name == op).map(|(_, most)| *most);
        Target { share, ratio: ratio.or(product).or(share.map(|_| 1.0)), us }
    }
}

/// The outcome for a row's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It has no target.
    None,
    /// The figure that the target needs was not measured.
    Unmeasured,
    /// The target is reached.
    Ok,
    /// The share, the ratio, or both are missed.
    Missed {
        /// The share of the copy's bytes per second.
        share: bool,
        /// The ratio to PyTorch.
        ratio: bool,
    },
    /// It takes too long.
    Late,
}

impl Verdict {
    /// Compares a row's results with its target. A figure that was not measured is neither missed nor
    /// reached.
    pub fn of(figures: &Figures) -> Verdict {
        let target = Target::of(&figures.op, &figures.shape);
        let below = |got: Option<f64>, least: Option<f64>, noise: f64| {
            least.is_some_and(|least| got.is_some_and(|got| got < least - noise))
        };
        let lacks = |got: Option<f64>, least: Option<f64>| least.is_some() && got.is_none();
        let share = below(figures.share, target.share, 0.0);
        let ratio = below(figures.ratio, target.ratio, NOISE);
        match target {
            Target { share: None, ratio: None, us: None } => Verdict::None,
            Target { us: Some(most), .. } if figures.us > most => Verdict::Late,
            _ if share || ratio => Verdict::Missed { share, ratio },
            _ if lacks(figures.share, target.share) || lacks(figures.ratio, target.ratio) => {
                Verdict::Unmeasured
            }
            _ => Verdict::Ok,
        }
    }

    /// Whether the target was missed.
    pub fn is_missed(self) -> bool {
        matches!(self, Verdict::Missed { .. } | Verdict::Late)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::None => "",
            Verdict::Unmeasured => "not measured",
            Verdict::Ok => "ok",
            Verdict::Missed { share: true, ratio: true } => "MISSED share, ratio",
            Verdict::Missed { share: true, .. } => "MISSED share",
            Verdict::Missed { .. } => "MISSED ratio",
            Verdict::Late => "MISSED time",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory;
    use super::super::rows::{Set, groups};
    use super::*;
    use tensor_core::DType;

    #[test]
    fn every_operation_bound_by_memory_has_a_share() {
        assert_eq!(SHARES.map(|(op, _)| op), memory::OPS);
        assert_eq!(
            Target::of("softmax_last", "16384x8192"),
            Target { share: Some(0.85), ratio: Some(1.0), us: None }
        );
        assert_eq!(Target::of("softmax_last", "65536x512"), Target::default());
        assert_eq!(Target::of("argsort", "64x128256"), Target { share: None, ratio: Some(1.0), us: None });
        assert_eq!(Target::of("argsort", "64x128"), Target::default());
        assert_eq!(Target::of("gemm", "8192x8192x8192"), Target { share: None, ratio: Some(0.97), us: None });
    }

    #[test]
    fn ratios_are_of_rows_that_are_measured() {
        let groups = groups(&[Set::Select, Set::Attention], &[DType::F16], 1);
        let rows: Vec<(&str, String)> =
            groups.iter().flat_map(|group| group.ops.iter().map(|op| (*op, group.shape()))).collect();
        assert_eq!(rows, RATIOS.map(|(op, shape, _)| (op, shape.to_owned())));
    }

    #[test]
    fn shares_and_ratios_are_judged_apart() {
        let verdict = |op: &str, ratio, share| {
            let figures = Figures { ratio, share, ..Figures::new(op, "f16", SHAPE, 1.0) };
            Verdict::of(&figures).to_string()
        };
        assert_eq!(verdict("add", Some(1.2), Some(0.95)), "ok");
        assert_eq!(verdict("add", Some(0.996), Some(0.90)), "ok");
        assert_eq!(verdict("add", Some(0.994), Some(0.899)), "MISSED share, ratio");
        assert_eq!(verdict("add", None, Some(0.899)), "MISSED share");
        assert_eq!(verdict("add", None, Some(0.95)), "not measured");
        assert_eq!(verdict("cumsum_last", Some(0.4), Some(0.1)), "MISSED ratio");
        assert_eq!(verdict("conv", Some(0.4), None), "MISSED ratio");
        assert_eq!(verdict("host_add", Some(0.4), None), "");
    }

    #[test]
    fn calls_of_the_host_have_a_time() {
        let verdict = |op: &str, us| Verdict::of(&Figures::new(op, "f32", "16x16", us));
        assert_eq!(verdict("host_add_return_above_raw", 0.5), Verdict::Ok);
        assert_eq!(verdict("host_add_return_above_raw", 0.501), Verdict::Late);
        assert_eq!(verdict("host_add_above_raw", 0.501), Verdict::Late);
        assert!(verdict("pool_alloc_free", 0.301).is_missed());
        assert_eq!(verdict("pool_alloc_free", 0.301).to_string(), "MISSED time");
        assert_eq!(verdict("host_add", 9.0), Verdict::None);
        assert!(TIMES.iter().all(|(op, _)| super::super::host_time::NAMES.contains(op)));
    }
}
