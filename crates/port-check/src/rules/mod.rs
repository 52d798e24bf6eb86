//! The rules, one file each.

mod async_copy;
mod atomics;
mod ballot_width;
mod clock;
mod cooperative_groups;
mod cuda_macro;
mod cuda_std;
mod device_launch;
mod device_printf;
mod fast_math;
mod fp8;
mod inline_ptx;
mod launch_bounds;
mod missing_function;
mod nvidia_library;
mod rounding_mode;
mod shared_memory;
mod shuffle_width;
mod sync_mask;
mod textures;
mod types;
mod warp_size;
mod warp_size_constant;
mod warp_synchronous;
mod wmma;

use crate::preprocess::{File, Macros};
use crate::report::Severity;
use crate::scene::Scene;

/// A rule: what it looks for, and how it is found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its name, as `--rule` takes it.
    pub name: &'static str,
    /// What it finds, in a few words.
    pub about: &'static str,
    pub(crate) check: fn(&Look<'_>, &mut Found),
}

/// All rules, in the order of their names.
pub fn rules() -> &'static [Rule] {
    static RULES: [Rule; 24] = [
        async_copy::RULE,
        atomics::RULE,
        ballot_width::RULE,
        clock::RULE,
        cooperative_groups::RULE,
        cuda_macro::RULE,
        cuda_std::RULE,
        device_launch::RULE,
        device_printf::RULE,
        fast_math::RULE,
        fp8::RULE,
        inline_ptx::RULE,
        launch_bounds::RULE,
        missing_function::RULE,
        nvidia_library::RULE,
        rounding_mode::RULE,
        shared_memory::RULE,
        shuffle_width::RULE,
        sync_mask::RULE,
        textures::RULE,
        warp_size::RULE,
        warp_size_constant::RULE,
        warp_synchronous::RULE,
        wmma::RULE,
    ];
    &RULES
}

/// A file as rules see it.
pub(crate) struct Look<'a> {
    pub(crate) file: &'a File<'a>,
    pub(crate) macros: &'a Macros,
    /// The file's code, then what its macros stand for.
    pub(crate) scenes: Vec<Scene<'a>>,
}

impl<'a> Look<'a> {
    pub(crate) fn new(file: &'a File<'a>, macros: &'a Macros) -> Look<'a> {
        let code = Scene::new(&file.code, None, macros);
        let defines = file.shared_defines().map(|define| {
            let parameters = define.parameters.as_deref().unwrap_or_default();
            Scene::new(&define.body, Some((define.name, parameters)), macros)
        });
        Look { file, macros, scenes: std::iter::once(code).chain(defines).collect() }
    }
}

/// What a rule found.
#[derive(Debug)]
pub(crate) struct One {
    pub(crate) at: usize,
    pub(crate) severity: Severity,
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

/// Where a rule puts what it finds.
#[derive(Debug, Default)]
pub(crate) struct Found(Vec<One>);

impl Found {
    /// It breaks at this byte.
    pub(crate) fn breaks(&mut self, at: usize, reason: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(One { at, severity: Severity::Breaks, reason: reason.into(), remedy: remedy.into() });
    }

    /// Somebody has to look at this byte.
    pub(crate) fn check(&mut self, at: usize, reason: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(One { at, severity: Severity::Check, reason: reason.into(), remedy: remedy.into() });
    }
}

impl IntoIterator for Found {
    type Item = One;
    type IntoIter = std::vec::IntoIter<One>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
