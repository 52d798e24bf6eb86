//! Running scripts.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use rhai::{AST, Array, Dynamic, Engine, FnPtr, LexError, Map, ParseErrorType, Scope, Token};
use tensor_core::Device;

use crate::argument::{self, array};
use crate::error::Error;
use crate::files::Files;
use crate::measure::{self, InUse};
use crate::registry::Registry;
use crate::value::Value;
use crate::{random, tensors, text, weights};

/// The most calls of functions within each other.
const DEPTH: usize = 64;

/// Where a script computes, and what it may do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where tensors and models are made that name no device.
    pub device: Device,
    /// The folder whose files a script may read and write; `None` for all files. It is checked when a file is opened: it is no
    /// protection from other programs that change the folder at the same time.
    pub sandbox: Option<PathBuf>,
    /// The most operations of the language in one run; 0 for no limit.
    pub most_operations: u64,
    /// What the script finds in its constant `args`.
    pub arguments: Vec<String>,
    /// Whether the script is to end now. It is asked between operations, and after each token of an answer.
    pub interrupted: fn() -> bool,
}

impl Default for Options {
    /// The CPU, all files, and no limit.
    fn default() -> Options {
        Options {
            device: Device::Cpu,
            sandbox: None,
            most_operations: 0,
            arguments: Vec::new(),
            interrupted: || false,
        }
    }
}

/// What the functions of a script share.
pub(crate) struct Context {
    pub device: Device,
    pub files: Files,
    pub start: Instant,
    /// The device's memory in use before the script.
    pub before: InUse,
    pub interrupted: fn() -> bool,
    /// Where `print` and `write` write to.
    pub print: Box<dyn Fn(&str)>,
    /// By name: a device that is opened again has a stream of its own, and its tensors do not mix with the first one's.
    devices: RefCell<BTreeMap<String, Device>>,
}

impl Context {
    /// The device of that name, opened once.
    ///
    /// # Errors
    /// As [`Device::parse`].
    pub(crate) fn device_named(&self, name: &str) -> tensor_core::Result<Device> {
        // What a device is called, such as "host:0 (host-w32)", and what it was opened by.
        let own = self.device.to_string();
        if name == own || own.split(' ').next() == Some(name) {
            return Ok(self.device.clone());
        }
        if let Some(device) = self.devices.borrow().get(name) {
            return Ok(device.clone());
        }
        let device = Device::parse(name)?;
        self.devices.borrow_mut().insert(name.to_owned(), device.clone());
        Ok(device)
    }
}

/// Runs scripts, which share variables and functions.
pub struct Interpreter {
    engine: Engine,
    scope: Scope<'static>,
    functions: AST,
    builtins: BTreeSet<String>,
    most_operations: u64,
}

impl Interpreter {
    /// An interpreter without variables but `args`. `print` gets what scripts print, with ends of lines. The figures of `memory()`
    /// count from now on: let the device do a product and a lookup first, as it keeps a workspace from then on.
    ///
    /// # Errors
    /// That the sandbox is no folder.
    pub fn new(options: Options, print: impl Fn(&str) + 'static) -> Result<Interpreter, Error> {
        let Options { device, sandbox, most_operations, arguments, interrupted } = options;
        let files = Files::new(sandbox.as_deref()).map_err(|what| Error::of("script", what))?;
        let before = InUse::now(&device);
        let print: Box<dyn Fn(&str)> = Box::new(print);
        let context = Context {
            device,
            files,
            start: Instant::now(),
            before,
            interrupted,
            print,
            devices: RefCell::default(),
        };
        let context = Rc::new(context);
        let mut registry = Registry::new();
        tensors::add(&mut registry, &context);
        random::add(&mut registry, &context);
        weights::add(&mut registry, &context);
        text::add(&mut registry, &context);
        measure::add(&mut registry, &context);
        let (mut engine, builtins) = registry.into_parts();
        engine
            .set_max_operations(most_operations)
            .set_max_call_levels(DEPTH)
            .set_max_expr_depths(DEPTH, DEPTH);
        take_reserved_words(&mut engine);
        engine.on_progress(move |_| interrupted().then_some(Dynamic::UNIT));
        let here = Rc::clone(&context);
        engine.on_print(move |text| (here.print)(&format!("{text}\n")));
        engine.on_debug(move |text, _, position| (context.print)(&format!("{position}: {text}\n")));
        let mut scope = Scope::new();
        scope.push_constant_dynamic("args", array(arguments));
        Ok(Interpreter { engine, scope, functions: AST::empty(), builtins, most_operations })
    }

    /// Runs the script in a file.
    ///
    /// # Errors
    /// As [`Interpreter::run`]; that the file cannot be read.
    pub fn run_file(&mut self, path: impl AsRef<Path>) -> Result<Value, Error> {
        let name = path.as_ref().display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Error::of(&name, error))?;
        self.run(&name, &text)
    }

    /// Runs a script, which `name` names in errors, and gives the value of its last expression. Its variables and functions stay,
    /// for the next one: [`Interpreter::clear`] drops them.
    ///
    /// # Errors
    /// Where and why the script failed.
    pub fn run(&mut self, name: &str, text: &str) -> Result<Value, Error> {
        let parsed = self.engine.compile_with_scope(&self.scope, text);
        let parsed = parsed.map_err(|error| Error::parse(name, &error))?;
        let whole = self.functions.merge(&parsed);
        self.functions = whole.clone_functions_only();
        let found = self.engine.eval_ast_with_scope::<Dynamic>(&mut self.scope, &whole);
        found.map(Value).map_err(|error| Error::run(name, *error, self.most_operations))
    }

    /// Whether a text is the beginning of a script that may go on, such as an open bracket.
    pub fn is_incomplete(&self, text: &str) -> bool {
        let Err(error) = self.engine.compile_with_scope(&self.scope, text) else { return false };
        match error.err_type() {
            ParseErrorType::UnexpectedEOF => return true,
            // A text between backticks goes over several lines.
            ParseErrorType::BadInput(LexError::UnterminatedString) => {
                return text.matches('`').count() % 2 == 1;
            }
            _ => {}
        }
        // An error at the end of the text moves with the end.
        let longer = self.engine.compile_with_scope(&self.scope, format!("{text}\n "));
        longer.is_err_and(|longer| longer.position() != error.position())
    }

    /// Drops all variables and functions but `args`, also values that hold a closure which uses them. A closure in a [`Value`] that
    /// is still there finds `()` instead of them.
    pub fn clear(&mut self) {
        let mut held = Vec::new();
        for (index, (name, value, _)) in std::mem::take(&mut self.scope).into_iter().enumerate() {
            if index == 0 {
                self.scope.push_constant_dynamic(name, value);
            } else {
                held.push(value);
            }
        }
        drop_all(held);
        self.functions = AST::empty();
    }

    /// The names of functions and properties that scripts have beside the language's own.
    pub fn builtins(&self) -> impl Iterator<Item = &str> {
        self.builtins.iter().map(String::as_str)
    }

    /// The variables, and what they are.
    pub fn variables(&self) -> BTreeMap<String, String> {
        self.scope.iter().map(|(name, _, value)| (name.to_owned(), argument::described(&value))).collect()
    }
}

/// The language keeps `var` for later versions of its own, and tensors have a method of that name.
#[expect(
    deprecated,
    reason = "it is marked so because it may change, and nothing else gives a reserved word away"
)]
fn take_reserved_words(engine: &mut Engine) {
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) if word.as_str() == "var" => Token::Identifier(word),
        other => other,
    });
}

/// As [`Interpreter::clear`].
impl Drop for Interpreter {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Drops values and what is in them, one by one. Variables that closures use are emptied: a closure in such a variable may use the
/// variable itself, and then their references never become none.
fn drop_all(mut held: Vec<Dynamic>) {
    while let Some(mut value) = held.pop() {
        if value.is_shared() {
            // It may be of a value that a program still has, which is borrowed only within the language.
            let inside = value.write_lock::<Dynamic>().map(|mut inside| std::mem::take(&mut *inside));
            held.extend(inside);
        } else if value.is_array() {
            held.extend(value.try_cast::<Array>().unwrap_or_default());
        } else if value.is_map() {
            held.extend(value.try_cast::<Map>().unwrap_or_default().into_values());
        } else if let Some(closure) = value.try_cast::<FnPtr>() {
            held.extend(closure.curry().iter().cloned());
        }
    }
}

impl std::fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interpreter").field("variables", &self.variables()).finish_non_exhaustive()
    }
}
