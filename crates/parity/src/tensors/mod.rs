//! Comparing two files or folders of tensors, such as PyTorch's results on CUDA with ours on ROCm.
//!
//! Tensors are matched by name, and every element is compared. Two NaN are equal, whatever their bits. The sign of zero
//! counts only if equal bits are asked for.
//!
//! ```
//! use parity::tensors::{Bound, TensorFiles, compare};
//! use tensor_core::{Device, Tensor, npy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let (ours, theirs) = (folder.path().join("ours.npy"), folder.path().join("theirs.npy"));
//! npy::write(&ours, &Tensor::new([1f32, 2.0], &Device::Cpu)?)?;
//! npy::write(&theirs, &Tensor::new([1f32, 2.0000002], &Device::Cpu)?)?;
//!
//! let open = || Ok::<_, parity::Error>((TensorFiles::open(&ours)?, TensorFiles::open(&theirs)?));
//! let (mut left, mut right) = open()?;
//! assert!(compare(&mut left, &mut right, Bound::Ulp(1), |_| true).is_good());
//! assert!(!compare(&mut left, &mut right, Bound::Equal, |_| true).is_good());
//! # Ok(())
//! # }
//! ```

mod bound;
mod differences;
mod files;
mod text;

use serde::Serialize;

pub use bound::{Bound, steps};
pub use differences::{Differences, ElementPair};
pub use files::{ElementType, Stored, TensorFiles};
pub use text::render;

/// The format version of a comparison in JSON, which changes whenever a change could break a reader.
pub const SCHEMA: &str = "parity-tensors/1";

/// All tensors of two files or folders. In JSON this is an object with fields of these names. Non-finite numbers are
/// `null`.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The first file or folder.
    pub left: String,
    /// The second one.
    pub right: String,
    /// The bound in words.
    pub bound: String,
    /// Whether all tensors are in both and within the bound.
    pub good: bool,
    /// The tensors of both, by name.
    pub tensors: Vec<Compared>,
    /// Names that only the first has.
    pub only_left: Vec<String>,
    /// Names that only the second has.
    pub only_right: Vec<String>,
}

/// A tensor of both.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// How the two compare.
    pub status: Status,
    /// Dtype and shape: the first one's, if they differ.
    pub form: String,
    /// Why they were not compared; `null` if they were.
    pub reason: Option<String>,
    /// The comparison of their elements; `null` if they were not compared.
    pub differences: Option<Differences>,
}

/// How two tensors compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every element has equal bits, or is NaN in both.
    Equal,
    /// Every element is within the bound.
    Within,
    /// Some element is outside of the bound.
    Outside,
    /// Dtype or shape differ.
    Form,
    /// One of them cannot be read.
    Unreadable,
}

impl Status {
    /// Whether the bound holds.
    pub fn is_good(self) -> bool {
        matches!(self, Status::Equal | Status::Within)
    }
}

impl Comparison {
    /// Whether all tensors are in both and within the bound.
    pub fn is_good(&self) -> bool {
        self.good
    }
}

/// Compares the tensors whose names are `chosen`. Two `.npy` files are compared whatever their names.
pub fn compare(
    left: &mut TensorFiles,
    right: &mut TensorFiles,
    bound: Bound,
    chosen: impl Fn(&str) -> bool,
) -> Comparison {
    let names = |files: &TensorFiles| -> Vec<String> {
        files.names().filter(|name| chosen(name)).map(str::to_owned).collect()
    };
    let (of_left, of_right) = (names(left), names(right));
    let lone = left.is_npy() && right.is_npy();
    let pairs: Vec<(&String, &String)> = match lone {
        true => of_left.iter().zip(&of_right).collect(),
        false => of_left.iter().filter(|name| of_right.contains(name)).map(|name| (name, name)).collect(),
    };
    let without = |names: &[String], others: &[String]| -> Vec<String> {
        names.iter().filter(|name| !lone && !others.contains(name)).cloned().collect()
    };
    let (only_left, only_right) = (without(&of_left, &of_right), without(&of_right, &of_left));
    let one = |(name, other): (&String, &String)| {
        let (left, right) = (left.load(name), right.load(other));
        compared(name.clone(), left, right, bound)
    };
    let tensors: Vec<Compared> = pairs.into_iter().map(one).collect();
    let whole = only_left.is_empty() && only_right.is_empty() && !tensors.is_empty();
    Comparison {
        schema: SCHEMA,
        left: left.path().display().to_string(),
        right: right.path().display().to_string(),
        bound: bound.to_string(),
        good: whole && tensors.iter().all(|tensor| tensor.status.is_good()),
        tensors,
        only_left,
        only_right,
    }
}

fn compared(
    name: String,
    left: Result<Stored, String>,
    right: Result<Stored, String>,
    bound: Bound,
) -> Compared {
    let failed = |status, form: String, reason: String| Compared {
        name: name.clone(),
        status,
        form,
        reason: Some(reason),
        differences: None,
    };
    let (left, right) = match (left, right) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(reason), other) | (other, Err(reason)) => {
            let form = other.map_or(String::new(), |stored| stored.form());
            return failed(Status::Unreadable, form, reason);
        }
    };
    if left.form() != right.form() {
        let what = match (left.element == right.element, left.shape == right.shape) {
            (true, _) => "shapes",
            (_, true) => "dtypes",
            _ => "dtypes and shapes",
        };
        let reason = format!("{what} differ: {} and {}", left.form(), right.form());
        return failed(Status::Form, left.form(), reason);
    }
    let differences = Differences::of(&left, &right, bound);
    let status = match (differences.outside, differences.different) {
        (0, 0) => Status::Equal,
        (0, _) => Status::Within,
        _ => Status::Outside,
    };
    Compared { name, status, form: left.form(), reason: None, differences: Some(differences) }
}
