//! `hipstack chat`: a conversation, line by line.

use std::io::{BufRead, IsTerminal, Write};

use models::text::{ChatTemplate, Message, Tokenizer};
use models::{AnswerOptions, Conversation};

use crate::Failure;
use crate::generate::{Printer, SamplingArguments, catch_interrupts, summary};
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
    let mut chat = Conversation::new(session);
    chat.messages_mut().extend(arguments.system.iter().map(Message::system));
    let options = arguments.sampling.options();
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
            "/new" => chat.messages_mut().truncate(usize::from(arguments.system.is_some())),
            text => say(&mut chat, text, (&tokenizer, &template), &options)?,
        }
    }
    drop(chat);
    model.end(&memory)
}

fn say(
    chat: &mut Conversation,
    text: &str,
    texts: (&Tokenizer, &ChatTemplate),
    options: &AnswerOptions,
) -> Result<(), Failure> {
    let mut printer = Printer::new(false);
    let answer = chat.say(text, texts, options, &mut |text| printer.show(text))?;
    printer.end()?;
    println!();
    eprintln!("{}", summary(&answer));
    Ok(())
}
