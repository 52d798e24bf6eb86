//! Chat templates: a conversation as the text that a model learnt for it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde::Serialize;
use weights::gguf::Metadata;

use super::error::{Error, Result};
use super::python;
use super::tokenizer::Tokenizer;
use super::{json, special};
use crate::files;

const KEY: &str = "tokenizer.chat_template";
const NAME: &str = "chat template";

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who speaks: "system", "user" or "assistant"; what else a template knows.
    pub role: String,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message of any role.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Message {
        Message { role: role.into(), content: content.into() }
    }

    /// What the model is told before the conversation. Some templates refuse it.
    pub fn system(content: impl Into<String>) -> Message {
        Message::new("system", content)
    }

    /// What the user says.
    pub fn user(content: impl Into<String>) -> Message {
        Message::new("user", content)
    }

    /// What the model said.
    pub fn assistant(content: impl Into<String>) -> Message {
        Message::new("assistant", content)
    }
}

/// What a template gets besides the messages.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatOptions {
    /// Ends the prompt with the beginning of the assistant's answer.
    pub add_generation_prompt: bool,
    /// Variables that some templates read, such as `enable_thinking`.
    pub variables: BTreeMap<String, serde_json::Value>,
}

impl Default for ChatOptions {
    /// A prompt for an answer, without variables.
    fn default() -> ChatOptions {
        ChatOptions { add_generation_prompt: true, variables: BTreeMap::new() }
    }
}

/// A chat template: a Jinja template as Hugging Face's `transformers` renders it.
///
/// Blocks take their line's end and the spaces before them away; there are loop controls, Python's methods of texts, lists
/// and maps, `tojson` as Python writes it, `raise_exception`, and `strftime_now` in the local time. A template gets
/// `messages`, `add_generation_prompt`, `tools` and `documents` (both none), and the texts of special tokens.
#[doc(alias = "apply_chat_template")]
pub struct ChatTemplate {
    environment: Environment<'static>,
    /// Such as `bos_token`.
    tokens: BTreeMap<String, String>,
}

impl ChatTemplate {
    /// A template from its text, with empty texts of special tokens.
    ///
    /// # Errors
    /// [`Error::Template`], which names the line.
    pub fn new(source: &str) -> Result<ChatTemplate> {
        let mut environment = python::environment();
        environment.add_template_owned(NAME, python::without_generation_tags(source)).map_err(error)?;
        Ok(ChatTemplate { environment, tokens: BTreeMap::new() })
    }

    /// The template in a GGUF file's metadata, `tokenizer.chat_template`, if there is one.
    ///
    /// # Errors
    /// As [`ChatTemplate::new`]; [`Error::Metadata`] if it is no text.
    #[doc(alias = "llama_model_chat_template")]
    pub fn from_gguf(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>> {
        let Some(value) = metadata.get(KEY) else { return Ok(None) };
        let source = value.as_str().ok_or_else(|| Error::metadata(KEY, "is no text"))?;
        Ok(Some(ChatTemplate::new(source)?.with_tokens(tokenizer)))
    }

    /// The template in a folder, if there is one: `chat_template.jinja`, or the one in `tokenizer_config.json`, of several
    /// the one named "default".
    ///
    /// # Errors
    /// As [`ChatTemplate::new`]; [`Error::Io`] and [`Error::Json`] for a file that cannot be read.
    pub fn from_folder(folder: impl AsRef<Path>, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>> {
        let folder = folder.as_ref();
        let path = folder.join("chat_template.jinja");
        let source = match files::text(&path) {
            Ok(source) => Some(source),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => in_config(folder)?,
            Err(source) => return Err(Error::Io { path, source }),
        };
        let template = source.map(|source| ChatTemplate::new(&source)).transpose()?;
        Ok(template.map(|template| template.with_tokens(tokenizer)))
    }

    /// The same template with the texts of this tokenizer's special tokens.
    pub fn with_tokens(mut self, tokenizer: &Tokenizer) -> ChatTemplate {
        self.tokens = special::texts(tokenizer);
        self
    }

    /// The prompt for a conversation; [`Tokenizer::encode_chat`] encodes it.
    ///
    /// # Errors
    /// [`Error::Template`]: the template is wrong, or refused the messages. It names the line.
    pub fn render(&self, messages: &[Message], options: &ChatOptions) -> Result<String> {
        let mut variables: BTreeMap<&str, Value> = BTreeMap::new();
        variables.extend(self.tokens.iter().map(|(name, text)| (name.as_str(), Value::from(text.as_str()))));
        variables.insert("tools", Value::from(()));
        variables.insert("documents", Value::from(()));
        variables
            .extend(options.variables.iter().map(|(name, value)| (name.as_str(), Value::from(Serde(value)))));
        variables.insert("messages", Value::from(Serde(messages)));
        variables.insert("add_generation_prompt", Value::from(options.add_generation_prompt));
        let template = self.environment.get_template(NAME).map_err(error)?;
        template.render(Value::from_pairs(variables)).map_err(error)
    }
}

impl fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatTemplate").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

/// The template of `tokenizer_config.json`: a text, or a list of named ones.
fn in_config(folder: &Path) -> Result<Option<String>> {
    let path = folder.join("tokenizer_config.json");
    let config = json::optional(path.clone())?.unwrap_or_default();
    let template = match &config["chat_template"] {
        serde_json::Value::Array(named) => {
            let named = named.iter().find(|template| template["name"] == "default");
            named.map(|template| &template["template"])
        }
        serde_json::Value::Null => None,
        template => Some(template),
    };
    let text = |template: &serde_json::Value| template.as_str().map(str::to_owned);
    let wrong =
        || Error::Json { path, what: "chat_template is neither a text nor a list of named texts".to_owned() };
    template.map(|template| text(template).ok_or_else(wrong)).transpose()
}

fn error(error: minijinja::Error) -> Error {
    let what = match (error.kind(), error.detail()) {
        // The words of `raise_exception`, and of functions that say enough.
        (minijinja::ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    Error::Template { line: error.line(), what }
}
