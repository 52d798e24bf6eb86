//! What is known of macros: those of the two compilers, those that the caller gives, and those that the files define.

use super::condition;
use super::file::File;
use super::worlds::{Part, World};
use crate::Error;
use crate::lex::{Token, tokens};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// Macros, and what else the parts for AMD's GPUs declare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Macros {
    /// What the caller says: a value, or that there is no such macro.
    given: HashMap<String, Option<i64>>,
    defined: HashMap<String, Definitions>,
    provided: HashSet<String>,
}

/// The definitions of one name in all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Definitions {
    /// Those that a compiler for AMD's GPUs may see, as text.
    bodies: Vec<String>,
    /// Whether one is certain to be seen by such a compiler, and only by it.
    certain_for_amd: bool,
    /// Whether one is seen by CUDA's compilers too.
    both: bool,
    /// Whether one takes arguments.
    takes_arguments: bool,
}

/// The macros of a compiler for AMD's GPUs whose values are known; HIP's version is 7.2's.
const AMD: [(&str, i64); 9] = [
    ("__HIP_PLATFORM_AMD__", 1),
    ("__HIP_PLATFORM_HCC__", 1),
    ("__HIPCC__", 1),
    ("__HIP__", 1),
    ("HIP_VERSION", 70_200_000),
    ("HIP_VERSION_MAJOR", 7),
    ("HIP_VERSION_MINOR", 2),
    ("__AMDGCN__", 1),
    ("__AMDGPU__", 1),
];

/// The macros of CUDA's compilers and headers, which a compiler for AMD's GPUs does not define.
const CUDA: [&str; 15] = [
    "__CUDA_ARCH__",
    "__CUDA_ARCH_LIST__",
    "__CUDA_ARCH_FEAT_SM90_ALL",
    "__CUDA_ARCH_SPECIFIC__",
    "__CUDA_ARCH_FAMILY_SPECIFIC__",
    "__CUDACC__",
    "__CUDACC_RTC__",
    "__CUDACC_VER_MAJOR__",
    "__CUDACC_VER_MINOR__",
    "__CUDACC_VER_BUILD__",
    "__NVCC__",
    "CUDA_VERSION",
    "CUDART_VERSION",
    "__HIP_PLATFORM_NVIDIA__",
    "__HIP_PLATFORM_NVCC__",
];

impl Macros {
    /// Adds macros as a compiler's `-D` takes them: `NAME` or `NAME=INTEGER`.
    pub(crate) fn define(&mut self, defines: &[String]) -> Result<(), Error> {
        for define in defines {
            let bad = || Error::BadDefine { given: define.clone() };
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            let tokens = tokens(name);
            if tokens.len() != 1 || !tokens[0].is_word() {
                return Err(bad());
            }
            self.given.insert(name.to_string(), Some(value.parse().map_err(|_| bad())?));
        }
        Ok(())
    }

    /// Without these macros, whatever their names tell.
    pub(crate) fn undefine(&mut self, names: &[String]) {
        self.given.extend(names.iter().map(|name| (name.clone(), None)));
    }

    /// With what these files define instead of what is known so far.
    pub(crate) fn of(&self, files: &[File<'_>]) -> Macros {
        let mut macros = Macros { given: self.given.clone(), ..Macros::default() };
        for define in files.iter().flat_map(|file| &file.defines) {
            let entry = macros.defined.entry(define.name.to_string()).or_default();
            let part = define.worlds.part();
            if part == Part::NotAmd {
                continue;
            }
            entry.bodies.push(text(&define.body));
            entry.takes_arguments |= define.parameters.is_some();
            entry.both |= part == Part::Both;
            entry.certain_for_amd |= part == Part::OnlyAmd && define.worlds.amd == Some(true);
        }
        for entry in macros.defined.values_mut() {
            entry.bodies.sort();
            entry.bodies.dedup();
        }
        macros.provided = files.iter().flat_map(File::declared).map(str::to_string).collect();
        macros
    }

    /// Whether the files themselves say what this name of CUDA is for AMD's GPUs.
    pub(crate) fn is_provided(&self, name: &str) -> bool {
        self.provided.contains(name) || self.defined.get(name).is_some_and(|found| !found.bodies.is_empty())
    }

    /// The integer that a name stands for in all files, if it is a macro with one meaning.
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        self.value(name, World::Amd)
    }

    /// What a macro without arguments stands for, if the files give it one meaning.
    pub(crate) fn body(&self, name: &str) -> Option<&str> {
        match self.defined.get(name)? {
            Definitions { bodies, takes_arguments: false, .. } if bodies.len() == 1 => Some(&bodies[0]),
            _ => None,
        }
    }

    /// Whether one of a macro's definitions contains this word.
    pub(crate) fn mentions(&self, name: &str, word: &str) -> bool {
        self.defined
            .get(name)
            .is_some_and(|found| found.bodies.iter().any(|body| body.split(' ').any(|text| text == word)))
    }

    pub(super) fn is_defined(&self, name: &str, world: World) -> Option<bool> {
        match self.look_up(name, world) {
            Known::Absent => Some(false),
            Known::Value(_) | Known::Present => Some(true),
            Known::Nothing => None,
        }
    }

    pub(super) fn value(&self, name: &str, world: World) -> Option<i64> {
        match self.look_up(name, world) {
            Known::Absent => Some(0),
            Known::Value(value) => Some(value),
            // A value does not say that the definition comes first, so that it answers `#if NAME > 3` but not `#ifdef`.
            Known::Present | Known::Nothing => self.body_value(name, world),
        }
    }

    fn body_value(&self, name: &str, world: World) -> Option<i64> {
        let body = self.body(name)?;
        // Macros may stand for themselves, or for each other so often that no machine ends with them.
        let entered = EXPANSIONS.with(|expansions| expansions.enter());
        let value = if entered { condition::value(&tokens(body), self, world) } else { None };
        EXPANSIONS.with(|expansions| expansions.leave(entered));
        value
    }

    fn look_up(&self, name: &str, world: World) -> Known {
        match (self.given.get(name), world) {
            (Some(None), _) => return Known::Absent,
            // What the caller defines of CUDA's macros, CUDA's compilers define too.
            (Some(Some(_)), World::Cuda) => {
                return if is_cuda(name) { Known::Nothing } else { Known::Absent };
            }
            (Some(Some(value)), _) => return Known::Value(*value),
            (None, _) => {}
        }
        if let Some((_, value)) = AMD.iter().find(|(known, _)| *known == name) {
            return if world == World::Cuda { Known::Absent } else { Known::Value(*value) };
        }
        if let Some(found) = self.defined.get(name) {
            let only_amd = !found.both && !found.bodies.is_empty();
            return match world {
                World::Cuda if only_amd => Known::Absent,
                World::Amd | World::AmdWithCudaMacros if found.certain_for_amd => Known::Present,
                World::Amd | World::AmdWithCudaMacros if found.bodies.is_empty() => Known::Absent,
                _ => Known::Nothing,
            };
        }
        if is_cuda(name) {
            return if world == World::Amd { Known::Absent } else { Known::Nothing };
        }
        match (amd_by_name(name), world) {
            (None, _) => Known::Nothing,
            (Some(_), World::Cuda) => Known::Absent,
            (Some(true), _) => Known::Value(1),
            (Some(false), _) => Known::Nothing,
        }
    }
}

/// How deep macros are expanded in macros, and how many were within the outermost one.
struct Expansions {
    depth: Cell<u32>,
    count: Cell<u32>,
}

thread_local! {
    static EXPANSIONS: Expansions = const { Expansions { depth: Cell::new(0), count: Cell::new(0) } };
}

impl Expansions {
    const DEEPEST: u32 = 32;
    const MOST: u32 = 1000;

    /// False if there are too many.
    fn enter(&self) -> bool {
        if self.depth.get() == 0 {
            self.count.set(0);
        }
        self.count.set(self.count.get() + 1);
        let enters = self.depth.get() < Self::DEEPEST && self.count.get() <= Self::MOST;
        self.depth.set(self.depth.get() + u32::from(enters));
        enters
    }

    fn leave(&self, entered: bool) {
        self.depth.set(self.depth.get() - u32::from(entered));
    }
}

enum Known {
    Absent,
    Present,
    Value(i64),
    Nothing,
}

/// Whether it is a macro of CUDA's compilers.
pub(crate) fn is_cuda(name: &str) -> bool {
    CUDA.contains(&name)
}

/// Whether a project's macro is about AMD's GPUs, by the words of its name: `Some(true)` when every build for them defines it, as
/// `USE_ROCM`, and `Some(false)` when some may, as `MYLIB_HIP_NO_GRAPHS` or `__gfx942__`.
fn amd_by_name(name: &str) -> Option<bool> {
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower.split('_').filter(|word| !word.is_empty()).collect();
    let platform = |word: &&str| ["hip", "hipcc", "rocm", "amd", "hcc"].contains(word);
    let chip = |word: &str| {
        ["gfx", "rdna", "cdna", "gcn", "hip", "roc", "mfma"].iter().any(|start| word.starts_with(start))
    };
    let negative =
        words.iter().any(|word| ["no", "not", "without", "disable", "disabled", "device"].contains(word));
    if words.last().is_some_and(platform) && !negative {
        Some(true)
    } else if words.iter().any(|word| platform(word) || chip(word)) {
        Some(false)
    } else {
        None
    }
}

/// Tokens as text, with a space between two of them.
fn text(tokens: &[Token<'_>]) -> String {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_which_macros_are_for_amd() {
        for name in ["USE_ROCM", "GGML_USE_HIP", "TORCH_USE_AMD"] {
            assert_eq!(amd_by_name(name), Some(true), "{name}");
        }
        for name in ["GGML_HIP_NO_VMM", "__gfx942__", "RDNA3", "NO_HIP", "__HIP_DEVICE_COMPILE__"] {
            assert_eq!(amd_by_name(name), Some(false), "{name}");
        }
        for name in ["FLASH_CHIP", "SHIP", "WARP_SIZE"] {
            assert_eq!(amd_by_name(name), None, "{name}");
        }
    }

    #[test]
    fn given_macros_have_integers() {
        let mut macros = Macros::default();
        macros.define(&["A".into(), "B=3".into()]).expect("both are well formed");
        assert_eq!((macros.integer("A"), macros.integer("B"), macros.integer("C")), (Some(1), Some(3), None));
        macros.undefine(&["USE_HIP".into()]);
        assert_eq!(macros.is_defined("USE_HIP", World::Amd), Some(false));
        for bad in ["", "A=x", "A B", "1"] {
            assert!(matches!(macros.define(&[bad.to_string()]), Err(Error::BadDefine { .. })), "{bad}");
        }
    }
}
