//! `hipstack chat`: a conversation, line by line.

use std::io::{BufRead, IsTerminal, Write};

use models::Session;
use models::text::{ChatOptions, ChatTemplate, Message, Tokenizer};

use crate::Failure;
use crate::generate::{SamplingArguments, answer, catch_interrupts};
use crate::load::{LanguageArguments, Loaded};

#[derive(clap::Args, Debug)]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    language: LanguageArguments,
    #[command(flatten)]
    sampling: SamplingArguments,
    /// What the model is told before the conversation
    #[arg(long)]
    system: Option<String>,
}

/// Reads lines until the input ends or says /exit, and answers each.
///
/// # Errors
/// Of the model, of the device, or of the memory check.
pub(crate) fn run(arguments: &ChatArguments) -> Result<(), Failure> {
    let model = &arguments.language.model;
    let (device, memory) = model.device()?;
    let Loaded { session, tokenizer, template, .. } = arguments.language.load(&device)?;
    let Some(template) = template else {
        let what = "has no chat template: hipstack generate continues a text without one";
        return Err(format!("{} {what}", model.path.display()).into());
    };
    catch_interrupts()?;
    let messages = arguments.system.iter().map(Message::system).collect();
    let mut chat = Chat { session, tokenizer, template, messages, tokens: Vec::new() };
    let (input, mut out) = (std::io::stdin(), std::io::stdout());
    let is_terminal = input.is_terminal();
    if is_terminal {
        eprintln!("/exit or Ctrl-D ends the conversation, Ctrl-C an answer, /new begins another one");
    }
    loop {
        if is_terminal {
            out.write_all(b"> ").and_then(|()| out.flush())?;
        }
        let mut line = String::new();
        if input.lock().read_line(&mut line)? == 0 || line.trim() == "/exit" {
            break;
        }
        match line.trim() {
            "" => continue,
            "/new" => chat.messages.truncate(usize::from(arguments.system.is_some())),
            text => chat.say(text, &arguments.sampling, &mut out)?,
        }
    }
    drop(chat);
    model.end(&memory)
}

struct Chat {
    session: Session,
    tokenizer: Tokenizer,
    template: ChatTemplate,
    messages: Vec<Message>,
    /// What the session has.
    tokens: Vec<u32>,
}

impl Chat {
    fn say(
        &mut self,
        text: &str,
        sampling: &SamplingArguments,
        out: &mut std::io::Stdout,
    ) -> Result<(), Failure> {
        self.messages.push(Message::user(text));
        let prompt = self.template.render(&self.messages, &ChatOptions::default())?;
        let prompt = self.tokenizer.encode_chat(&prompt)?;
        // What the session has already of the conversation is not computed again; one token at least is.
        let known = self.tokens.iter().zip(&prompt).take_while(|(a, b)| a == b).count();
        let known = known.min(self.session.length()).min(prompt.len().saturating_sub(1));
        self.session.truncate(known);
        let mut show = |text: &str| out.write_all(text.as_bytes()).and_then(|()| out.flush());
        let found = answer(&mut self.session, &self.tokenizer, prompt.split_at(known), sampling, &mut show)?;
        println!();
        eprintln!("{}", found.summary());
        self.tokens = [prompt, found.tokens].concat();
        self.tokens.truncate(self.session.length());
        self.messages.push(Message::assistant(found.text));
        Ok(())
    }
}
