//! Jinja as Python has it: what Hugging Face's `transformers` gives chat templates.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, Value};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// An environment without templates.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_formatter(format);
    environment.add_test("iterable", is_iterable);
    environment.add_filter("tojson", to_json);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    environment
}

/// The template without the tags around what the assistant said, which `transformers` has for training. They become
/// conditions that hold, so that the lines and the spaces stay.
pub(super) fn without_generation_tags(source: &str) -> String {
    let tag = |name: &str| format!(r"(\{{%[-+]?\s*){name}(\s*[-+]?%\}})");
    let replace = |text: &str, name: &str, with: &str| {
        let tag = regex::Regex::new(&tag(name)).expect("the expression is right");
        tag.replace_all(text, format!("${{1}}{with}${{2}}")).into_owned()
    };
    replace(&replace(source, "generation", "if true"), "endgeneration", "endif")
}

/// Prints truth values and nothing as Python does.
fn format(output: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let text = match value.kind() {
        ValueKind::None => "None",
        ValueKind::Bool if value.is_true() => "True",
        ValueKind::Bool => "False",
        _ => return minijinja::escape_formatter(output, state, value),
    };
    output.write_str(text).map_err(Error::from)
}

/// As in Python: texts are, and nothing is not.
fn is_iterable(value: &Value) -> bool {
    match value.kind() {
        ValueKind::None => false,
        ValueKind::String => true,
        _ => value.try_iter().is_ok(),
    }
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

fn strftime_now(format: String) -> Result<String, Error> {
    jiff::fmt::strtime::format(&format, &jiff::ZonedDateTime::now()).map_err(|error| {
        Error::new(ErrorKind::InvalidOperation, format!("strftime_now({format:?}): {error}"))
    })
}

/// The widest indent of JSON, in spaces.
const MOST_INDENT: usize = 64;

/// JSON as Python's `json.dumps` writes it, with what `transformers` sets: `ensure_ascii=False`.
fn to_json(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let ascii: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let mut bytes = Vec::new();
    let written = match indent {
        Some(indent) => {
            // Templates come from files: no indent is as long as one says.
            let spaces = " ".repeat(indent.min(MOST_INDENT));
            let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced)),
    };
    let failed = |what: String| Error::new(ErrorKind::InvalidOperation, format!("tojson: {what}"));
    written.map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
    Ok(Value::from_safe_string(if ascii == Some(true) { escaped(&text) } else { text }))
}

/// JSON whose texts have no characters but ASCII's. Others occur nowhere but in texts.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        if char.is_ascii() {
            text.push(char);
        } else {
            let units = char
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>();
            text.push_str(&units);
        }
    }
    text
}

/// One line with spaces after commas and colons.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}
