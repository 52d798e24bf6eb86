//! Each builtin is called from a script, and gives what the Rust method of its name gives, or what is known by hand.

mod elements;
mod files;
mod networks;
mod random;
mod rearrange;
mod texts;

use std::collections::BTreeSet;
use std::path::Path;

use script::Options;
use serde_json::{Value as Json, json};
use tensor_core::{DType, Device, Generator, Result, Tensor};

use crate::common::{Run, tiny_model};

/// Runs scripts, and notes the names in them.
struct Calls {
    run: Run,
    names: BTreeSet<String>,
}

impl Calls {
    fn new(folder: &Path) -> Calls {
        Calls { run: Run::inside(folder, Options::default()), names: BTreeSet::new() }
    }

    /// Gives a variable the numbers of a tensor.
    fn given(&mut self, name: &str, tensor: &Tensor) {
        let (numbers, dtype, shape) = (numbers(tensor), tensor.dtype(), tensor.dims());
        self.does(&format!("let {name} = tensor({numbers}, \"{dtype}\").reshape({shape:?});"));
    }

    fn does(&mut self, text: &str) {
        self.json(text);
    }

    #[track_caller]
    fn gives(&mut self, text: &str, expected: impl Expected) {
        assert_eq!(self.json(text), expected.json(), "{text}");
    }

    fn json(&mut self, text: &str) -> Json {
        self.names.extend(called(text));
        let value = self.run.run(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        value.to_json().unwrap()
    }
}

/// The names in a script that are called, or stand behind a point.
fn called(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut names, mut before, mut rest) = (BTreeSet::new(), ' ', text);
    while let Some(next) = rest.chars().next() {
        let (word, behind) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
        if word.is_empty() {
            (before, rest) = (next, &rest[next.len_utf8()..]);
            continue;
        }
        if before == '.' || behind.starts_with('(') {
            names.insert(word.to_owned());
        }
        (before, rest) = (' ', behind);
    }
    names
}

/// The numbers of a tensor, of integers or of `f64`. JSON keeps all digits of them.
fn numbers(tensor: &Tensor) -> Json {
    let flat = tensor.flatten().unwrap();
    if tensor.dtype().is_float() {
        json!(flat.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap())
    } else {
        json!(flat.to_dtype(DType::I64).unwrap().to_vec::<i64>().unwrap())
    }
}

/// What a script is to end with.
trait Expected {
    fn json(self) -> Json;
}

impl Expected for Json {
    fn json(self) -> Json {
        self
    }
}

impl Expected for Tensor {
    fn json(self) -> Json {
        let (dtype, device) = (self.dtype().name(), self.device().to_string());
        json!({ "dtype": dtype, "shape": self.dims(), "device": device, "data": numbers(&self) })
    }
}

impl Expected for Vec<Tensor> {
    fn json(self) -> Json {
        self.into_iter().map(Expected::json).collect()
    }
}

impl Expected for (Tensor, Tensor) {
    fn json(self) -> Json {
        vec![self.0, self.1].json()
    }
}

impl<T: Expected, E: std::fmt::Debug> Expected for Result<T, E> {
    fn json(self) -> Json {
        self.unwrap().json()
    }
}

/// Rows of a script's text and what it gives.
macro_rules! rows {
    ($calls:expr; $($text:literal => $expected:expr;)+) => {
        $($calls.gives($text, $expected);)+
    };
}
use rows;

/// Different numbers between -2 and 2.
fn some<const RANK: usize>(seed: u64, shape: [usize; RANK]) -> Tensor {
    Generator::new(seed).uniform(-2, 2, shape, DType::F32, &Device::Cpu).unwrap()
}

/// A tensor after an operation that writes it.
fn written(tensor: &Tensor, write: impl FnOnce(&mut Tensor) -> Result<()>) -> Result<Tensor> {
    let mut copy = tensor.copy()?;
    write(&mut copy)?;
    Ok(copy)
}

#[test]
fn every_builtin_is_called_by_a_script() {
    let folder = tempfile::tempdir().unwrap();
    tiny_model(folder.path());
    let mut calls = Calls::new(folder.path());
    elements::check(&mut calls);
    rearrange::check(&mut calls);
    networks::check(&mut calls);
    random::check(&mut calls);
    files::check(&mut calls, folder.path());
    texts::check(&mut calls, folder.path());
    let never: Vec<&str> =
        calls.run.interpreter.builtins().filter(|name| !calls.names.contains(*name)).collect();
    assert!(never.is_empty(), "no script here calls {never:?}: add rows to tests/suite/each");
}

#[test]
fn names_are_found() {
    let found = called("let a = x.rank + sum(b.t()); x[i]");
    assert_eq!(Vec::from_iter(found), ["rank", "sum", "t"]);
}
