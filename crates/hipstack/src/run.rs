//! `hipstack run`: scripts, from a file or line by line.

use std::cell::RefCell;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use script::{Interpreter, Options};
use serde_json::json;

use crate::generate::{catch_interrupts, interrupt, interrupted};
use crate::load::DeviceArguments;
use crate::memory::{Kept, Memory};
use crate::{Failure, repl};

pub(crate) const EXAMPLES: &str = "\
What scripts can call is in docs/SCRIPTS.md; examples/scripts has ten of them.

Examples:
  hipstack run                                         read lines, print what they give; Ctrl-D ends
  hipstack run examples/scripts/01_tensors.rhai        a script on the CPU
  hipstack run --device host:0 --memory-check examples/scripts/02_sharing.rhai
  hipstack run examples/scripts/06_generate.rhai SmolLM2-135M-Instruct.Q4_1.gguf
  hipstack run --sandbox work --max-operations 1000000 stranger.rhai
  hipstack run --json sum.rhai | jq .value

Options stand before FILE: what follows it is the script's, in its constant args.
Ctrl-C ends the script, a second one the program.";

#[derive(clap::Args, Debug)]
pub(crate) struct RunArguments {
    /// The script; without it, lines are read and run one by one
    file: Option<PathBuf>,
    /// What the script finds in its constant args
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
    #[command(flatten)]
    device_arguments: DeviceArguments,
    /// The script reads and writes files of this folder alone, links that lead out of it excluded
    #[arg(long, value_name = "DIR")]
    sandbox: Option<PathBuf>,
    /// End the script after so many operations of the language; 0 for no limit
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    max_operations: u64,
    /// Print one JSON object at the end: the last expression's value, what was printed, seconds and memory
    #[arg(long, requires = "file")]
    json: bool,
}

/// Runs the script, or lines until the input ends.
///
/// # Errors
/// Of the script, with its position; of the device, or of the memory check.
pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let (device, memory) = arguments.device_arguments.open()?;
    catch_interrupts()?;
    let options = Options {
        device,
        sandbox: arguments.sandbox.clone(),
        most_operations: arguments.max_operations,
        arguments: arguments.arguments.clone(),
        interrupted,
    };
    let printed = Rc::new(RefCell::new(String::new()));
    let (kept, is_json) = (Rc::clone(&printed), arguments.json);
    let print = move |text: &str| {
        if is_json {
            kept.borrow_mut().push_str(text);
            return;
        }
        let mut out = std::io::stdout();
        // Nobody reads any more: the script need not go on.
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            interrupt();
        }
    };
    let mut interpreter = Interpreter::new(options, print)?;
    let Some(file) = &arguments.file else {
        repl::run(&mut interpreter)?;
        drop(interpreter);
        return end(arguments, &memory);
    };
    let start = Instant::now();
    let value = interpreter.run_file(file).inspect_err(|_| eprint!("{}", printed.borrow()))?;
    if is_json {
        let found = json!({
            "value": value.to_json().inspect_err(|_| eprint!("{}", printed.borrow()))?,
            "printed": *printed.borrow(),
            "seconds": start.elapsed().as_secs_f64(),
            "peak_memory_bytes": memory.peak(),
        });
        println!("{found}");
    }
    drop((value, interpreter));
    end(arguments, &memory)
}

/// # Errors
/// Of the memory check, with what keeps memory in scripts.
fn end(arguments: &RunArguments, memory: &Memory) -> Result<(), Failure> {
    let with_why = |error: Failure| {
        if error.is::<Kept>() { format!("{error}\n{WHY_KEPT}").into() } else { error }
    };
    arguments.device_arguments.end(memory).map_err(with_why)
}

/// What is left of a script that has ended.
const WHY_KEPT: &str = "\
A value that a function made is never dropped if it holds a closure that uses the same value: write `value = ()` at its end.
`x.set_name(\"x\")` names a tensor in this list.";
