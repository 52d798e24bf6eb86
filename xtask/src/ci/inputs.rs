//! The inputs of a step: everything that decides its result. These are files, the step's definition, variables and tools.

use super::files::Files;
use super::kernels;
use super::locked::Locked;
use super::mentions::Mentions;
use super::packages::Packages;
use super::steps::{Run, Step};
use super::variables;
use kernels_hip::{hash_bytes, hash_parts};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Where the commands of `cargo xtask` are.
const COMMANDS: &str = "xtask/src";

/// The package that holds the kernels' sources.
const KERNELS: &str = "hipstack-kernels-hip";

/// The module of xtask that starts programs of other crates.
const PROGRAM: &str = "program";

/// Files that are inputs of every step.
const ALWAYS: [&str; 1] = [".cargo/config.toml"];

/// Only the parts about the step's packages are inputs. A step that builds the whole workspace takes the whole files.
const OF_WORKSPACE: [&str; 2] = ["Cargo.lock", "Cargo.toml"];

/// Files that are inputs of every step that `cargo xtask` runs, besides the command's own files.
const OF_XTASK: [&str; 4] = ["xtask/Cargo.toml", "xtask/build.rs", "xtask/src/lib.rs", "xtask/src/main.rs"];

/// A step's inputs by name, such as `crate hip-sys` or `env CXX`, each with a hash or a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inputs(pub(super) BTreeMap<String, String>);

impl Inputs {
    /// The hash of all inputs.
    pub(super) fn hash(&self) -> String {
        hash_parts(self.0.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]))
    }

    /// The names of inputs that differ between the two.
    pub(super) fn differing(&self, before: &BTreeMap<String, String>) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(before.keys()).collect();
        names.into_iter().filter(|name| before.get(*name) != self.0.get(*name)).cloned().collect()
    }

    /// What happened to each of [`Inputs::differing`], in words.
    pub(super) fn changed_since(&self, before: &BTreeMap<String, String>) -> Vec<String> {
        let how = |name: String| match (before.contains_key(&name), self.0.contains_key(&name)) {
            (false, _) => format!("{name} is new"),
            (_, false) => format!("{name} is gone"),
            _ => format!("{name} changed"),
        };
        self.differing(before).into_iter().map(how).collect()
    }
}

/// Where a step's inputs are looked up.
pub(super) struct Sources {
    files: Files,
    packages: Packages,
    environment: BTreeMap<String, String>,
    /// What each file mentions; the flag says whether its tests are read too.
    mentions: RefCell<BTreeMap<(String, bool), Rc<Mentions>>>,
}

impl Sources {
    pub(super) fn new(files: Files, packages: Packages, environment: BTreeMap<String, String>) -> Self {
        Self { files, packages, environment, mentions: RefCell::default() }
    }

    /// The inputs of a step.
    pub(super) fn of(&self, step: &Step) -> Result<Inputs, String> {
        let (counted, built) = self.files_and_packages_of(step)?;
        let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for path in counted.keys() {
            groups.entry(self.group(path)).or_default().push(path);
        }
        let mut inputs = BTreeMap::new();
        for (group, paths) in groups {
            inputs.insert(group, self.files.hash_all(paths)?);
        }
        if !counted.contains_key(OF_WORKSPACE[0]) {
            let [lock, manifest] = OF_WORKSPACE.map(|path| self.files.text(path));
            let locked = Locked::read(&lock, &manifest)?.of(&built);
            inputs.insert("Cargo.lock and Cargo.toml".into(), hash_bytes(locked.as_bytes()));
        }
        if let Some(of_step) = step.kernels {
            kernels::same_texts(&self.files)?;
            inputs.extend(kernels::inputs(of_step));
        }
        inputs.insert("definition".into(), hash_bytes(step.command_line().as_bytes()));
        let mentions: Vec<Rc<Mentions>> =
            counted.iter().map(|(path, tests)| self.mentions(path, *tests)).collect();
        let mentions = mentions.iter().map(Rc::as_ref);
        for (name, value) in variables::of_step(step, mentions, &self.environment, self.files.root()) {
            inputs.insert(format!("env {name}"), value);
        }
        for tool in step.tools {
            inputs.extend((tool.versions)()?);
        }
        Ok(Inputs(inputs))
    }

    /// The files that are inputs of a step, each with whether its tests run, and the packages that the step builds.
    pub(super) fn files_and_packages_of(
        &self,
        step: &Step,
    ) -> Result<(BTreeMap<String, bool>, BTreeSet<String>), String> {
        let mut found = Found { sources: self, counted: BTreeMap::new(), open: Vec::new() };
        ALWAYS.iter().chain(step.files).for_each(|path| found.add(path, false));
        if self.builds_whole_workspace(step) {
            OF_WORKSPACE.iter().for_each(|path| found.add(path, false));
            // A member may switch on a feature of a dependency of other members.
            let manifests = self.packages.iter().map(|(_, package)| format!("{}/Cargo.toml", package.folder));
            manifests.for_each(|path| found.add(&path, false));
        }
        if let Run::Script(path) = step.run {
            found.add(path, false);
        }
        let mut named: BTreeSet<&str> = step.packages.iter().copied().collect();
        if let Run::Xtask(args) = step.run {
            OF_XTASK.iter().for_each(|path| found.add(path, false));
            let files = self.command(args[0]);
            let used = |name: &str| {
                let as_crate = name.replace('-', "_");
                let mentions = |path: &String| self.mentions(path, false);
                files.iter().map(mentions).any(|file| file.names_crate(&as_crate) || file.word(name))
            };
            let others = self.packages.iter().filter(|(name, _)| *name != "xtask");
            named.extend(others.filter(|(_, package)| used(&package.short_name)).map(|(name, _)| name));
            files.iter().for_each(|path| found.add(path, false));
        }
        // Packages that the step names count with their tests if the step runs tests. Other packages count without tests.
        let mut built = self.packages.built_from(step.packages, step.tests)?;
        built.extend(self.packages.built_from(&named.into_iter().collect::<Vec<_>>(), false)?);
        for name in &built {
            let Some(package) = self.packages.get(name) else { continue };
            let whole = step.tests && step.packages.contains(&name.as_str());
            let apart = ["tests", "benches", "examples"].map(|part| format!("{}/{part}/", package.folder));
            for path in self.files.below(&package.folder) {
                let owned = self.packages.owner(path).is_some_and(|(owner, _)| owner == name);
                if owned && (whole || !apart.iter().any(|part| path.starts_with(part))) {
                    found.add(path, whole);
                }
            }
        }
        found.follow();
        if step.kernels.is_some() {
            // Each kernel family is an input of its own. Nothing else of the crate affects the result.
            let of_kernels =
                |path: &String| self.packages.owner(path).is_some_and(|(owner, _)| owner == KERNELS);
            found.counted.retain(|path, _| !of_kernels(path));
        }
        let counted = found.counted;
        // `cargo xtask` itself is built too.
        built.extend(matches!(step.run, Run::Xtask(_)).then(|| "xtask".to_owned()));
        Ok((counted, built))
    }

    /// The files that are inputs of a step, each with whether its tests run.
    #[cfg(test)]
    pub(super) fn files_of(&self, step: &Step) -> Result<BTreeMap<String, bool>, String> {
        Ok(self.files_and_packages_of(step)?.0)
    }

    /// Whether cargo gets `--workspace`, from the step or from its command: then all members are built, with all their features.
    fn builds_whole_workspace(&self, step: &Step) -> bool {
        const OPTION: &str = "--workspace";
        match step.run {
            Run::Cargo(args) => args.contains(&OPTION),
            Run::Xtask(args) => {
                self.command(args[0]).iter().any(|path| self.mentions(path, false).word(OPTION))
            }
            Run::Script(_) => false,
        }
    }

    /// The files of a command of `cargo xtask` and of the modules that it uses. The list of steps is left out, because
    /// each step's definition is an input of its own.
    pub(super) fn command(&self, name: &str) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        let own = name.replace('-', "_");
        let is_module = |path: &String| self.files.has(path);
        let known =
            [format!("{COMMANDS}/{own}.rs"), format!("{COMMANDS}/{own}/mod.rs")].iter().any(is_module);
        // A command without a module is a program of its own, which the module `program` starts.
        let mut open = vec![if known { own } else { PROGRAM.to_owned() }];
        let mut seen = BTreeSet::from(["ci".to_owned()]);
        while let Some(module) = open.pop() {
            if !seen.insert(module.clone()) {
                continue;
            }
            let file = format!("{COMMANDS}/{module}.rs");
            let below = self.files.below(&format!("{COMMANDS}/{module}")).map(Into::into);
            let of_module: Vec<String> =
                below.chain(Some(file).filter(|file| self.files.has(file))).collect();
            for path in &of_module {
                open.extend(self.mentions(path, false).modules().into_iter().map(Into::into));
            }
            files.extend(of_module);
        }
        files
    }

    fn mentions(&self, path: &str, tests: bool) -> Rc<Mentions> {
        let key = (path.to_owned(), tests);
        if let Some(known) = self.mentions.borrow().get(&key) {
            return known.clone();
        }
        let of_program = path.ends_with(".rs") || path.ends_with(".sh");
        let text = if of_program { self.files.text(path) } else { String::new() };
        let mentions = Rc::new(Mentions::of(path, &text, tests));
        self.mentions.borrow_mut().insert(key, mentions.clone());
        mentions
    }

    /// The name of the input that a file is part of.
    fn group(&self, path: &str) -> String {
        match self.packages.owner(path) {
            Some(("xtask", _)) => {
                let rest = path.strip_prefix(COMMANDS).unwrap_or("").trim_start_matches('/');
                rest.split_once('/')
                    .map_or_else(|| path.to_owned(), |(module, _)| format!("{COMMANDS}/{module}"))
            }
            Some((_, package)) => format!("crate {}", package.short_name),
            None => path.to_owned(),
        }
    }
}

/// The input files found so far, and those whose mentions were not followed yet.
struct Found<'a> {
    sources: &'a Sources,
    counted: BTreeMap<String, bool>,
    open: Vec<String>,
}

impl Found<'_> {
    fn add(&mut self, path: &str, tests: bool) {
        if self.sources.files.has(path) && !self.counted.contains_key(path) {
            self.counted.insert(path.to_owned(), tests);
            self.open.push(path.to_owned());
        }
    }

    /// Adds the files and folders that input files name: by `#[path]`, by `include_str!`, and by strings that a program
    /// reads when it runs.
    fn follow(&mut self) {
        while let Some(path) = self.open.pop() {
            let tests = self.counted[&path];
            let mentions = self.sources.mentions(&path, tests);
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let package =
                self.sources.packages.owner(&path).map_or("", |(_, package)| package.folder.as_str());
            for name in mentions.names() {
                self.add(&normal(folder, name), tests);
            }
            for text in mentions.paths() {
                for base in ["", package, folder] {
                    let path = normal(base, text);
                    // A folder that contains the file itself is only a starting point for other paths.
                    if !format!("{base}/").starts_with(&format!("{path}/")) {
                        self.add_all(&path, tests);
                    }
                }
            }
        }
    }

    /// Adds a file, or everything below a folder. The root and `crates` are left out: they would add everything.
    fn add_all(&mut self, path: &str, tests: bool) {
        if ["", "crates"].contains(&path) {
            return;
        }
        self.add(path, tests);
        let below: Vec<String> = self.sources.files.below(path).map(Into::into).collect();
        below.iter().for_each(|path| self.add(path, tests));
    }
}

/// Resolves `text` against the folder `base` to a path from the root; empty if it leads out of the tree.
fn normal(base: &str, text: &str) -> String {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return String::new(),
            ".." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
