//! Scripts in a folder of their own.
#![allow(dead_code, reason = "each test program uses its part")]

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use script::{Error, Interpreter, Options, Value};

/// An interpreter, and what its scripts printed.
pub(crate) struct Run {
    pub(crate) interpreter: Interpreter,
    printed: Rc<RefCell<String>>,
}

impl Run {
    pub(crate) fn new(options: Options) -> Run {
        let printed = Rc::new(RefCell::new(String::new()));
        let kept = Rc::clone(&printed);
        let print = move |text: &str| kept.borrow_mut().push_str(text);
        Run { interpreter: Interpreter::new(options, print).unwrap(), printed }
    }

    /// With the files of a folder alone.
    pub(crate) fn inside(folder: &Path, options: Options) -> Run {
        Run::new(Options { sandbox: Some(folder.to_owned()), ..options })
    }

    pub(crate) fn run(&mut self, text: &str) -> Result<Value, Error> {
        self.interpreter.run("test", text)
    }

    /// The value of a script, as it is printed.
    pub(crate) fn value(&mut self, text: &str) -> String {
        self.run(text).unwrap_or_else(|error| panic!("{error}")).to_string()
    }

    /// The error of a script.
    pub(crate) fn error(&mut self, text: &str) -> String {
        self.run(text).unwrap_err().to_string()
    }

    /// What was printed since the last call.
    pub(crate) fn printed(&self) -> String {
        std::mem::take(&mut self.printed.borrow_mut())
    }
}

/// The value of a script on the CPU, as it is printed.
pub(crate) fn value(text: &str) -> String {
    Run::new(Options::default()).value(text)
}

/// The error of a script on the CPU.
pub(crate) fn error(text: &str) -> String {
    Run::new(Options::default()).error(text)
}

/// A file of the project.
pub(crate) fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Writes the model of random weights of an example, `tiny.gguf`, to a folder.
pub(crate) fn tiny_model(folder: &Path) {
    let mut run = Run::inside(folder, Options::default());
    run.interpreter.run_file(project("examples/scripts/05_tiny_model.rhai")).unwrap();
}

/// Writes the encoder of random weights of an example, `encoder.gguf`, to a folder.
pub(crate) fn tiny_encoder(folder: &Path) {
    let mut run = Run::inside(folder, Options::default());
    run.interpreter.run_file(project("examples/scripts/09_embed.rhai")).unwrap();
}
