//! Measured results: rows of JSON, in one file for each set.

use super::rows::{Set, Work};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The results of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The operation.
    pub op: String,
    /// The dtype of its inputs.
    pub dtype: String,
    /// The sizes of its inputs.
    pub shape: String,
    /// Microseconds of a call as a user makes it.
    pub us: f64,
    /// PyTorch's microseconds.
    pub torch_us: Option<f64>,
    /// `torch_us / us`: above 1, ours is faster.
    pub ratio: Option<f64>,
    /// GB/s of a call: each input read once, each output written once.
    pub gbps: Option<f64>,
    /// `gbps` divided by that of the device's own copy in the same run.
    pub share: Option<f64>,
    /// TFLOP/s of a call, for products and attention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tflops: Option<f64>,
    /// Microseconds of the kernels alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_us: Option<f64>,
    /// Microseconds of PyTorch's kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torch_kernel_us: Option<f64>,
}

impl Figures {
    /// A row with only our time.
    pub fn new(op: &str, dtype: &str, shape: &str, us: f64) -> Figures {
        Figures {
            op: op.into(),
            dtype: dtype.into(),
            shape: shape.into(),
            us: rounded(us, 3),
            torch_us: None,
            ratio: None,
            gbps: None,
            share: None,
            tflops: None,
            kernel_us: None,
            torch_kernel_us: None,
        }
    }

    /// Adds PyTorch's time and the ratio.
    #[must_use]
    pub fn beside(mut self, torch_us: Option<f64>) -> Figures {
        self.torch_us = torch_us.map(|us| rounded(us, 3));
        self.ratio = self.torch_us.map(|torch| rounded(torch / self.us, 4));
        self
    }

    /// Adds the throughput for the work done.
    #[must_use]
    pub fn doing(mut self, work: Work) -> Figures {
        let seconds = self.us / 1e6;
        self.gbps = work.gbps(seconds).map(|rate| rounded(rate, 1));
        self.tflops = work.tflops(seconds).map(|rate| rounded(rate, 2));
        self
    }

    /// Adds the times of the kernels alone.
    #[must_use]
    pub fn kernels(mut self, ours: Option<f64>, torch: Option<f64>) -> Figures {
        self.kernel_us = ours.map(|us| rounded(us, 3));
        self.torch_kernel_us = torch.map(|us| rounded(us, 3));
        self
    }

    /// The time of PyTorch's kernels divided by that of ours.
    pub fn kernel_ratio(&self) -> Option<f64> {
        Some(self.torch_kernel_us? / self.kernel_us?)
    }

    /// Sets the share of the copy's GB/s.
    pub fn share_of(&mut self, copy: f64) {
        self.share = self.gbps.map(|gbps| rounded(gbps / copy, 4));
    }
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

/// The rows as a JSON array, with one row per line.
pub fn to_json(rows: &[Figures]) -> String {
    let lines: Vec<String> =
        rows.iter().map(|row| serde_json::to_string(row).expect("it has no maps")).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Parses the output of [`to_json`].
///
/// # Errors
/// Where and why it is invalid.
pub fn from_json(text: &str) -> Result<Vec<Figures>, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Reads the files of a folder, set by set; a set that was not measured has no file.
///
/// # Errors
/// The file that cannot be read, and why.
pub fn read_folder(folder: &Path) -> Result<Vec<(Set, Vec<Figures>)>, String> {
    let mut sets = Vec::new();
    for set in Set::ALL {
        let file = folder.join(format!("{}.json", set.name()));
        if file.is_file() {
            let text =
                std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            sets.push((set, from_json(&text).map_err(|error| format!("{}: {error}", file.display()))?));
        }
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Figures {
        let mut row = Figures::new("add", "f16", "16384x8192", 186.2504)
            .doing(Work::Bytes(805_306_368))
            .beside(Some(190.0))
            .kernels(Some(185.0), None);
        row.share_of(4400.0);
        row
    }

    #[test]
    fn figures_follow_from_the_times() {
        let row = row();
        assert_eq!((row.us, row.torch_us, row.ratio), (186.25, Some(190.0), Some(1.0201)));
        // 805306368 bytes in 186.25 us.
        assert_eq!((row.gbps, row.share, row.tflops), (Some(4323.8), Some(0.9827), None));
        assert_eq!((row.kernel_us, row.kernel_ratio()), (Some(185.0), None));
        let product = Figures::new("gemm", "f16", "8x8x8", 2000.0).doing(Work::Operations(1e12));
        assert_eq!((product.gbps, product.tflops), (None, Some(500.0)));
    }

    #[test]
    fn files_are_read_as_they_are_written() {
        let rows = vec![row(), Figures::new("host_add", "f32", "16x16", 3.0)];
        let text = to_json(&rows);
        assert_eq!(text.lines().count(), 4);
        assert_eq!(from_json(&text), Ok(rows));
        assert!(
            text.contains(r#""us":3.0,"torch_us":null,"ratio":null,"gbps":null,"share":null}"#),
            "{text}"
        );
        assert!(from_json("[{\"op\": \"add\"}]").is_err_and(|error| error.contains("dtype")));
    }
}
