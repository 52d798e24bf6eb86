//! Language models, sessions, encoders and tokenizers.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use models::text::{ChatTemplate, EncodeOptions, Message, Tokenizer};
use models::{
    Answer, AnswerOptions, Bert, BertConfig, CacheFormat, Config, Conversation, LanguageModel, Settings,
};
use rhai::{Dynamic, FnPtr, Map, NativeCallContext};
use weights::{Checkpoint, Model};

use crate::argument::Argument;
use crate::error::{Returned, failed};
use crate::interpreter::Context;
use crate::registry::{IntoValue, Registry, finish, properties};
use crate::tensors::shown;

/// A tokenizer; a copy counts a reference.
pub(crate) type SharedTokenizer = Arc<Tokenizer>;

/// A language model with what turns text into tokens; a copy counts references.
#[derive(Clone)]
pub(crate) struct Language {
    model: LanguageModel,
    texts: Arc<Texts>,
}

struct Texts {
    tokenizer: SharedTokenizer,
    template: Option<ChatTemplate>,
}

/// A text in the making. Copies are the same text.
#[derive(Clone)]
pub(crate) struct Session {
    conversation: Rc<RefCell<Conversation>>,
    texts: Arc<Texts>,
}

/// A sentence encoder; a copy counts a reference.
#[derive(Clone)]
pub(crate) struct Encoder {
    inner: Arc<(Bert, Tokenizer)>,
}

pub(crate) fn add(registry: &mut Registry, context: &Rc<Context>) {
    registry.engine.register_type_with_name::<Language>("language model");
    registry.engine.register_type_with_name::<Session>("session");
    registry.engine.register_type_with_name::<Encoder>("encoder");
    registry.engine.register_type_with_name::<SharedTokenizer>("tokenizer");
    tokenizers(registry, context);
    languages(registry, context);
    sessions(registry, context);
    encoders(registry, context);
}

fn tokenizers(registry: &mut Registry, context: &Rc<Context>) {
    let here = Rc::clone(context);
    registry.named("tokenizer").register_fn("tokenizer", move |path: &str| -> Returned {
        let path = here.files.model(path).map_err(failed)?;
        let found = match path.extension() {
            Some(extension) if extension == "json" => Tokenizer::from_json(&path),
            _ => Tokenizer::of_model(&path, &Checkpoint::open(&path).map_err(failed)?),
        };
        Ok(Dynamic::from(Arc::new(found.map_err(failed)?)))
    });
    registry.named("encode").register_fn("encode", |this: &mut SharedTokenizer, text: &str| {
        finish(this.encode(text, EncodeOptions::default()))
    });
    registry.named("decode").register_fn("decode", |this: &mut SharedTokenizer, tokens: Dynamic| {
        finish(this.decode(&Vec::<u32>::take(&tokens, "decode", "the tokens")?, false))
    });
    registry.named("id").register_fn("id", |this: &mut SharedTokenizer, token: &str| {
        this.id(token).map_or(Dynamic::UNIT, |id| Dynamic::from_int(id.into()))
    });
    properties! { registry, SharedTokenizer, this;
        "stop_tokens" => this.stop_tokens().iter().copied().collect::<Vec<u32>>();
    }
    registry.named("len").register_fn("len", |this: &mut SharedTokenizer| this.len() as i64);
    shown::<SharedTokenizer>(registry, |this| format!("tokenizer of {} tokens", this.len()));
}

fn languages(registry: &mut Registry, context: &Rc<Context>) {
    let here = Rc::clone(context);
    registry.named("language_model").register_fn("language_model", move |path: &str| -> Returned {
        language_model(&here, path).map(Dynamic::from).map_err(failed)
    });
    properties! { registry, Language, this;
        "tokenizer" => Dynamic::from(Arc::clone(&this.texts.tokenizer));
        "weights" => Dynamic::from(this.model.weights().clone());
        "vocabulary" => this.model.vocabulary();
        "architecture" => this.model.config().architecture.name().to_owned();
        "device" => this.model.device().clone();
    }
    registry
        .named("session")
        .register_fn("session", |this: &mut Language| session(this, &Map::new()))
        .register_fn("session", |this: &mut Language, options: Map| session(this, &options));
    shown::<Language>(registry, |this| format!("{:?}", this.model));
}

fn language_model(context: &Context, path: &str) -> Result<Language, Box<dyn std::error::Error>> {
    let path = context.files.model(path)?;
    let checkpoint = Checkpoint::open(&path)?;
    // Texts first: a model without them is of no use, and they are small.
    let config = Config::new(&Settings::read(&path, &checkpoint)?)?;
    let tokenizer = Tokenizer::of_model(&path, &checkpoint)?;
    let template = ChatTemplate::of_model(&path, &checkpoint, &tokenizer)?;
    let weights = Model::load(&checkpoint, &context.device, &mut |_| ())?;
    let model = LanguageModel::new(config, &weights)?;
    Ok(Language { model, texts: Arc::new(Texts { tokenizer: Arc::new(tokenizer), template }) })
}

fn session(language: &Language, options: &Map) -> Returned {
    let mut made = models::SessionOptions::default();
    for (key, value) in options {
        match key.as_str() {
            "context" => made.context = Some(usize::take(value, "session", "context")?),
            "cache" => {
                let name = String::take(value, "session", "cache")?;
                made.cache = Some(name.parse::<CacheFormat>().map_err(failed)?);
            }
            _ => return Err(failed(format!("session: there is no option {key}: there are context cache"))),
        }
    }
    let session = models::Session::new(&language.model, &made).map_err(failed)?;
    let conversation = Rc::new(RefCell::new(Conversation::new(session)));
    Ok(Dynamic::from(Session { conversation, texts: Arc::clone(&language.texts) }))
}

fn sessions(registry: &mut Registry, context: &Rc<Context>) {
    for (name, is_chat) in [("generate", false), ("chat", true)] {
        let interrupted = context.interrupted;
        registry
            .named(name)
            .register_fn(name, move |this: &mut Session, text: Dynamic| {
                answer(this, &text, &Map::new(), is_chat, &mut |_| Ok(!interrupted()))
            })
            .register_fn(name, move |this: &mut Session, text: Dynamic, options: Map| {
                answer(this, &text, &options, is_chat, &mut |_| Ok(!interrupted()))
            })
            .register_fn(
                name,
                move |call: NativeCallContext,
                      this: &mut Session,
                      text: Dynamic,
                      options: Map,
                      show: FnPtr| {
                    answer(this, &text, &options, is_chat, &mut |piece| {
                        // A function that returns false ends the answer.
                        let more: Dynamic = show.call_within_context(&call, (piece.to_owned(),))?;
                        Ok(more.as_bool().unwrap_or(true) && !interrupted())
                    })
                },
            );
    }
    registry.named("system").register_fn("system", |this: &mut Session, text: &str| -> Returned {
        in_use(this)?.messages_mut().push(Message::system(text));
        Ok(Dynamic::UNIT)
    });
    registry.named("feed").register_fn("feed", |this: &mut Session, tokens: Dynamic| {
        let tokens = Vec::<u32>::take(&tokens, "feed", "the tokens")?;
        finish(in_use(this)?.feed(&tokens))
    });
    registry.named("truncate").register_fn("truncate", |this: &mut Session, length: Dynamic| -> Returned {
        in_use(this)?.truncate(usize::take(&length, "truncate", "the length")?);
        Ok(Dynamic::UNIT)
    });
    registry.named("length").register_get("length", |this: &mut Session| -> Returned {
        Ok(in_use(this)?.session().length().into_value())
    });
    registry.named("capacity").register_get("capacity", |this: &mut Session| -> Returned {
        Ok(in_use(this)?.session().capacity().into_value())
    });
    registry.named("tokens").register_get("tokens", |this: &mut Session| -> Returned {
        Ok(in_use(this)?.tokens().to_vec().into_value())
    });
    shown::<Session>(registry, |this| match this.conversation.try_borrow() {
        Ok(text) => {
            format!("session with {} of {} tokens", text.session().length(), text.session().capacity())
        }
        Err(_) => "session".to_owned(),
    });
}

/// The text of a session.
///
/// # Errors
/// That an answer is being made, from whose function this is called.
fn in_use(session: &Session) -> Returned<std::cell::RefMut<'_, Conversation>> {
    session.conversation.try_borrow_mut().map_err(|_| failed("the session is in use: it makes an answer"))
}

/// A map of the answer's text, tokens and times. `show` says whether to go on.
fn answer(
    session: &Session,
    text: &Dynamic,
    options: &Map,
    is_chat: bool,
    show: &mut dyn FnMut(&str) -> Returned<bool>,
) -> Returned {
    let options = answer_options(options)?;
    let Texts { tokenizer, template } = &*session.texts;
    let mut problem = None;
    let mut go_on = |piece: &str| match show(piece) {
        Ok(true) => ControlFlow::Continue(()),
        Ok(false) => ControlFlow::Break(()),
        Err(error) => {
            problem = Some(error);
            ControlFlow::Break(())
        }
    };
    let mut conversation = in_use(session)?;
    let answer = if is_chat {
        let template = template.as_ref().ok_or_else(|| {
            failed("chat: the model has no chat template: generate continues a text without one")
        })?;
        let text = String::take(text, "chat", "the text")?;
        conversation.say(&text, (tokenizer, template), &options, &mut go_on)
    } else {
        let prompt = match String::of(text) {
            Some(text) => tokenizer.encode(&text, EncodeOptions::default()).map_err(failed)?,
            None => Vec::<u32>::take(text, "generate", "the prompt")?,
        };
        conversation.continue_text(&prompt, tokenizer, &options, &mut go_on)
    };
    match problem {
        Some(problem) => Err(problem),
        None => answer.map(map_of).map_err(failed),
    }
}

fn answer_options(options: &Map) -> Returned<AnswerOptions> {
    let mut made = AnswerOptions::default();
    for (key, value) in options {
        let (key, sampling) = (key.as_str(), &mut made.sampling);
        let float = || f64::take(value, "generate", key).map(|number| number as f32);
        match key {
            "most" => made.most = usize::take(value, "generate", key)?,
            "stop" => made.stops = Vec::<String>::take(value, "generate", key)?,
            "temperature" => sampling.temperature = float()?,
            "top_k" => sampling.top_k = usize::take(value, "generate", key)?,
            "top_p" => sampling.top_p = float()?,
            "min_p" => sampling.min_p = float()?,
            "repetition_penalty" => sampling.repetition_penalty = float()?,
            "seed" => sampling.seed = usize::take(value, "generate", key)? as u64,
            _ => {
                let known = "most stop temperature top_k top_p min_p repetition_penalty seed";
                return Err(failed(format!("generate: there is no option {key}: there are {known}")));
            }
        }
    }
    Ok(made)
}

fn map_of(answer: Answer) -> Dynamic {
    let rates = [answer.prompt_rate(), answer.rate()];
    let mut map = Map::new();
    map.insert("text".into(), answer.text.into());
    map.insert("tokens".into(), answer.tokens.into_value());
    map.insert("prompt_tokens".into(), answer.prompt_tokens.into_value());
    map.insert("first_token_seconds".into(), answer.first.as_secs_f64().into());
    map.insert("prompt_tokens_per_second".into(), rates[0].into());
    map.insert("tokens_per_second".into(), rates[1].into());
    map.insert("interrupted".into(), answer.interrupted.into());
    Dynamic::from_map(map)
}

fn encoders(registry: &mut Registry, context: &Rc<Context>) {
    let here = Rc::clone(context);
    registry.named("encoder").register_fn("encoder", move |path: &str| -> Returned {
        let path = here.files.model(path).map_err(failed)?;
        encoder(&here, &path).map(Dynamic::from).map_err(failed)
    });
    registry.named("embed").register_fn("embed", |this: &mut Encoder, texts: Dynamic| {
        let texts = Vec::<String>::take(&texts, "embed", "the texts")?;
        let (bert, tokenizer) = &*this.inner;
        let encoded = texts.iter().map(|text| tokenizer.encode(text, EncodeOptions::default()));
        finish(bert.embed(&encoded.collect::<Result<Vec<_>, _>>().map_err(failed)?))
    });
    shown::<Encoder>(registry, |this| format!("encoder in {}", this.inner.0.dtype()));
}

fn encoder(context: &Context, path: &Path) -> Result<Encoder, Box<dyn std::error::Error>> {
    let checkpoint = Checkpoint::open(path)?;
    let config = BertConfig::new(&Settings::read(path, &checkpoint)?)?;
    let tokenizer = Tokenizer::of_model(path, &checkpoint)?;
    let weights = Model::load(&checkpoint, &context.device, &mut |_| ())?;
    Ok(Encoder { inner: Arc::new((Bert::new(config, &weights, None)?, tokenizer)) })
}
