//! The two compilers whose view of a condition matters, and what they make of a part of a file.

/// A truth value; `None` is not known.
pub(crate) type Truth = Option<bool>;

/// Whose macros are defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum World {
    /// HIP for an AMD GPU.
    Amd,
    /// HIP for an AMD GPU, if it gave the macros of CUDA's compilers values.
    AmdWithCudaMacros,
    /// CUDA.
    Cuda,
}

/// What the conditions around a part of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worlds {
    pub(crate) amd: Truth,
    pub(crate) cuda: Truth,
}

/// Who compiles a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// No compiler for AMD's GPUs.
    NotAmd,
    /// Only those: somebody has ported it.
    OnlyAmd,
    /// CUDA's compilers, and those for AMD's GPUs as far as is known.
    Both,
}

impl Worlds {
    /// Outside of all conditions.
    pub(crate) const ALL: Worlds = Worlds { amd: Some(true), cuda: Some(true) };

    pub(crate) fn part(self) -> Part {
        match self {
            Worlds { amd: Some(false), .. } => Part::NotAmd,
            Worlds { cuda: Some(false), .. } => Part::OnlyAmd,
            _ => Part::Both,
        }
    }

    pub(crate) fn and(self, other: Worlds) -> Worlds {
        Worlds { amd: and(self.amd, other.amd), cuda: and(self.cuda, other.cuda) }
    }

    pub(crate) fn or(self, other: Worlds) -> Worlds {
        !(!self).and(!other)
    }
}

impl std::ops::Not for Worlds {
    type Output = Worlds;

    fn not(self) -> Worlds {
        Worlds { amd: self.amd.map(|truth| !truth), cuda: self.cuda.map(|truth| !truth) }
    }
}

pub(crate) fn and(left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
