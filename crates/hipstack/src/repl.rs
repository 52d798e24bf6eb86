//! Lines of scripts, run one by one.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use script::Interpreter;

use crate::{Failure, generate};

/// Reads lines until the input ends or says /exit, runs each, and prints its value. An error ends its line alone. Lines with an open
/// bracket go on in the next one.
///
/// # Errors
/// Of the terminal.
pub(crate) fn run(interpreter: &mut Interpreter) -> Result<(), Failure> {
    let mut editor = DefaultEditor::new()?;
    let mut history = history();
    if let Some(path) = history.as_ref().filter(|path| path.is_file())
        && let Err(error) = editor.load_history(path)
    {
        eprintln!("hipstack run: the lines of earlier runs in {} cannot be read: {error}", path.display());
    }
    if std::io::stdin().is_terminal() {
        println!("/exit or Ctrl-D ends, Ctrl-C ends what runs, /clear drops all values, /names lists them");
    }
    let mut text = String::new();
    loop {
        match editor.readline(if text.is_empty() { "> " } else { ". " }) {
            Ok(line) => text += &(line + "\n"),
            Err(ReadlineError::Interrupted) => {
                text.clear();
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        }
        match text.trim() {
            "" => {}
            "/exit" => break,
            "/clear" => interpreter.clear(),
            "/names" => interpreter.variables().iter().for_each(|(name, what)| println!("{name}: {what}")),
            line if interpreter.is_incomplete(line) => continue,
            line => {
                editor.add_history_entry(line)?;
                // Before it runs: a second Ctrl-C ends the program at once.
                if let Some(path) = &history
                    && let Err(error) = remember(&mut editor, path)
                {
                    eprintln!("hipstack run: lines are not remembered in {}: {error}", path.display());
                    history = None;
                }
                evaluate(interpreter, line);
            }
        }
        text.clear();
    }
    Ok(())
}

/// Adds the newest lines to the file of former lines.
fn remember(editor: &mut DefaultEditor, path: &Path) -> Result<(), ReadlineError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    editor.append_history(path)
}

fn evaluate(interpreter: &mut Interpreter, line: &str) {
    generate::begin();
    match interpreter.run("line", line) {
        Ok(value) if value.is_nothing() => {}
        Ok(value) => println!("{value}"),
        Err(error) => eprintln!("{error}"),
    }
}

/// The file of former lines, in the user's folder for such.
fn history() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")))?;
    Some(folder.join("hipstack/history"))
}
