//! Chat templates, against what `transformers` makes of them: `data/chat.py` recorded it.

use std::collections::BTreeMap;
use std::path::Path;

use models::text::{ChatOptions, ChatTemplate, Error, Message, Tokenizer};
use serde::Deserialize;
use weights::gguf::{self, Metadata};

use crate::tokenizers::{byte_pairs, folder};

#[derive(Deserialize)]
struct Recorded {
    conversations: BTreeMap<String, Vec<Spoken>>,
    tokens: BTreeMap<String, serde_json::Value>,
    templates: Vec<Template>,
    smollm: Vec<Rendering>,
}

#[derive(Deserialize)]
struct Spoken {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct Template {
    name: String,
    template: String,
    renderings: Vec<Rendering>,
}

#[derive(Deserialize)]
struct Rendering {
    conversation: String,
    add_generation_prompt: bool,
    text: Option<String>,
    error: Option<String>,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("../data/chat.json")).unwrap()
}

fn check(recorded: &Recorded, name: &str, template: &ChatTemplate, renderings: &[Rendering]) {
    assert_eq!(renderings.len(), 2 * recorded.conversations.len());
    for rendering in renderings {
        let spoken = &recorded.conversations[&rendering.conversation];
        let messages: Vec<_> =
            spoken.iter().map(|spoken| Message::new(&spoken.role, &spoken.content)).collect();
        let options = ChatOptions {
            add_generation_prompt: rendering.add_generation_prompt,
            variables: recorded.tokens.clone(),
        };
        let found = template.render(&messages, &options);
        let case = format!("{name}: {}, {}", rendering.conversation, rendering.add_generation_prompt);
        match (found, &rendering.text, &rendering.error) {
            (Ok(found), Some(text), None) => assert_eq!(&found, text, "{case}"),
            (Err(Error::Template { line: Some(_), what }), None, Some(error)) => {
                assert_eq!(&what, error, "{case}");
            }
            (found, text, error) => panic!("{case}: {found:?}, and {text:?}, {error:?} was recorded"),
        }
    }
}

#[test]
fn prompts_are_those_of_transformers() {
    let recorded = recorded();
    assert!(recorded.templates.len() >= 10);
    for Template { name, template, renderings } in &recorded.templates {
        check(&recorded, name, &ChatTemplate::new(template).unwrap(), renderings);
    }
}

#[test]
fn a_real_model_has_its_template() {
    let Some(folder) = std::env::var_os("HIPSTACK_MODELS") else {
        eprintln!("skipped: HIPSTACK_MODELS names no folder; ci/fetch-models.sh fills target/ci/models");
        return;
    };
    let open = |name: &str| gguf::File::open(Path::new(&folder).join(name)).unwrap();
    let file = open("SmolLM2-135M-Instruct.Q4_1.gguf");
    let tokenizer = Tokenizer::from_gguf(file.metadata()).unwrap();
    let template = ChatTemplate::from_gguf(file.metadata(), &tokenizer).unwrap().unwrap();
    let recorded = recorded();
    check(&recorded, "SmolLM2", &template, &recorded.smollm);

    let prompt = template.render(&[Message::user("Hi")], &ChatOptions::default()).unwrap();
    let ids = tokenizer.encode_chat(&prompt).unwrap();
    assert_eq!(ids.iter().filter(|&&id| id == 1).count(), 3, "<|im_start|>");
    assert_eq!(tokenizer.decode(&ids, true).unwrap(), prompt);
    // A base model has none.
    let file = open("gemma-3-270m-q4_k_m.gguf");
    let tokenizer = Tokenizer::from_gguf(file.metadata()).unwrap();
    assert!(ChatTemplate::from_gguf(file.metadata(), &tokenizer).unwrap().is_none());
}

fn error(template: &str) -> String {
    let rendered = ChatTemplate::new(template)
        .and_then(|template| template.render(&[Message::user("x")], &ChatOptions::default()));
    rendered.unwrap_err().to_string()
}

#[test]
fn errors_name_the_line() {
    assert_eq!(error("a\n\n{{ raise_exception('no tools here') }}"), "chat template, line 3: no tools here");
    let found = error("a\n{% if messages %}\n{% endfor %}");
    assert!(found.starts_with("chat template, line 3: syntax error"), "{found}");
    let found = error("{% for m in messages %}\n{{ m.content.shout() }}{% endfor %}");
    assert!(found.starts_with("chat template, line 2: ") && found.contains("shout"), "{found}");
    let found = error("\n{{ strftime_now('%') }}");
    assert!(found.starts_with("chat template, line 2: strftime_now"), "{found}");
}

#[test]
fn the_day_is_todays() {
    let template = ChatTemplate::new("{{ strftime_now('%Y|%d %b %Y|%-d.') }}").unwrap();
    let day = template.render(&[], &ChatOptions::default()).unwrap();
    let [year, date, _] = day.split('|').collect::<Vec<_>>()[..] else { panic!("{day}") };
    let seconds = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    // Of 365.2425 days.
    let expected = 1970.0 + seconds as f64 / 31_556_952.0;
    assert!((year.parse::<f64>().unwrap() + 0.5 - expected).abs() < 0.6, "{day}");
    assert!(date.ends_with(year) && date.len() == "01 Jan 2024".len(), "{day}");
}

#[test]
fn special_tokens_come_from_the_tokenizer() {
    let mut metadata = byte_pairs();
    metadata.insert(
        "tokenizer.chat_template",
        "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ unk_token }}",
    );
    let tokenizer = Tokenizer::from_gguf(&metadata).unwrap();
    let template = ChatTemplate::from_gguf(&metadata, &tokenizer).unwrap().unwrap();
    let prompt = template.render(&[Message::user("x")], &ChatOptions::default()).unwrap();
    assert_eq!(prompt, "<|begin|>x<|im_end|>");
    metadata.insert("tokenizer.chat_template", 3u32);
    let error = ChatTemplate::from_gguf(&metadata, &tokenizer).unwrap_err().to_string();
    assert_eq!(error, "tokenizer.chat_template is no text");
    assert!(ChatTemplate::from_gguf(&Metadata::new(), &tokenizer).unwrap().is_none());
}

#[test]
fn a_folder_has_its_template() {
    let folder = folder();
    let tokenizer = Tokenizer::from_json(folder.path()).unwrap();
    let render = || {
        let template = ChatTemplate::from_folder(folder.path(), &tokenizer).unwrap()?;
        Some(template.render(&[Message::user("x")], &ChatOptions::default()).unwrap())
    };
    assert_eq!(render(), None);
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("tokenizer_config.json", r#"{"chat_template": "a{{ messages[0].content }}"}"#);
    assert_eq!(render().as_deref(), Some("ax"));
    write(
        "tokenizer_config.json",
        r#"{"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]}"#,
    );
    assert_eq!(render().as_deref(), Some("d"));
    write("chat_template.jinja", "j{{ bos_token }}");
    assert_eq!(render().as_deref(), Some("j<s>"));
    std::fs::remove_file(folder.path().join("chat_template.jinja")).unwrap();
    write("tokenizer_config.json", "{");
    let error = ChatTemplate::from_folder(folder.path(), &tokenizer).unwrap_err().to_string();
    assert!(error.contains("tokenizer_config.json: EOF"), "{error}");
}
