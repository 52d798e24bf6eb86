//! Runs rules over the files of a project.

use crate::preprocess::{Macros, Project};
use crate::report::{Finding, Report};
use crate::rules::{Found, Look, Rule, rules};
use crate::{Error, Source};

/// Which rules to run, and which macros an AMD build defines.
#[derive(Clone, Debug)]
pub struct Checker {
    rules: Vec<&'static Rule>,
    macros: Macros,
}

impl Default for Checker {
    fn default() -> Self {
        Checker::new()
    }
}

impl Checker {
    /// All rules, and no macros but those of the compilers.
    pub fn new() -> Self {
        Checker { rules: rules().iter().collect(), macros: Macros::default() }
    }

    /// Only these rules.
    ///
    /// # Errors
    /// [`Error::UnknownRule`] when a name is no rule's.
    pub fn only<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self, Error> {
        let named = |name: &S| {
            let found = rules().iter().find(|rule| rule.name == name.as_ref());
            found.ok_or_else(|| Error::UnknownRule { name: name.as_ref().to_string() })
        };
        self.rules = names.iter().map(named).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// With macros that the build for AMD's GPUs defines, and the one for CUDA does not: `NAME` or `NAME=INTEGER`. With a value for
    /// `__CUDA_ARCH__` the branches for that architecture are checked, too.
    ///
    /// # Errors
    /// [`Error::BadDefine`] when one is written otherwise.
    pub fn define(mut self, defines: &[String]) -> Result<Self, Error> {
        self.macros.define(defines)?;
        Ok(self)
    }

    /// As if these macros, such as `USE_HIP`, were not defined: sources that somebody has ported are checked as they were before.
    pub fn undefine(mut self, names: &[String]) -> Self {
        self.macros.undefine(names);
        self
    }

    /// Checks files that belong together.
    pub fn check(&self, sources: &[Source]) -> Report {
        let project = Project::read(sources, self.macros.clone());
        let mut findings = Vec::new();
        for (source, file) in &project.files {
            let look = Look::new(file, &project.macros);
            for rule in &self.rules {
                let mut found = Found::default();
                (rule.check)(&look, &mut found);
                findings.extend(found.into_iter().map(|one| {
                    let (line, column) = source.position(one.at);
                    let path = source.path.clone();
                    Finding {
                        path,
                        line,
                        column,
                        rule: rule.name,
                        severity: one.severity,
                        reason: one.reason,
                        remedy: one.remedy,
                    }
                }));
            }
        }
        findings
            .sort_by(|a, b| (&a.path, a.line, a.column, a.rule).cmp(&(&b.path, b.line, b.column, b.rule)));
        // One line with the same problem twice is one thing to do.
        findings.dedup_by(|b, a| (&a.path, a.line, a.rule) == (&b.path, b.line, b.rule));
        Report { files: sources.len(), findings }
    }
}
