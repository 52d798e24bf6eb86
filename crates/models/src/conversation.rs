//! A conversation: messages and the text that a session has of them.

use std::ops::ControlFlow;

use crate::answer::{Answer, AnswerOptions};
use crate::error::Result;
use crate::generate::Session;
use crate::text::{ChatOptions, ChatTemplate, Message, Tokenizer};

/// A session that knows its tokens, and the messages that they are made of.
#[derive(Debug)]
pub struct Conversation {
    session: Session,
    messages: Vec<Message>,
    /// What the session has.
    tokens: Vec<u32>,
}

impl Conversation {
    /// A conversation without messages, in a session without tokens.
    pub fn new(session: Session) -> Conversation {
        Conversation { session, messages: Vec::new(), tokens: Vec::new() }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The tokens that the session has.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// The messages so far. Whoever changes them changes what the next answer is an answer to.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }

    /// Forgets all tokens but the first `length`, and no message.
    pub fn truncate(&mut self, length: usize) {
        self.session.truncate(length);
        self.tokens.truncate(length);
    }

    /// Adds tokens, and gives the logits of the next one: see [`Session::feed`].
    ///
    /// # Errors
    /// As there.
    pub fn feed(&mut self, tokens: &[u32]) -> Result<tensor_core::Tensor> {
        let logits = self.session.feed(tokens)?;
        self.tokens.extend_from_slice(tokens);
        Ok(logits)
    }

    /// Continues the text that the session has, and `prompt` behind it: see [`Session::answer`].
    ///
    /// # Errors
    /// As there.
    pub fn continue_text(
        &mut self,
        prompt: &[u32],
        tokenizer: &Tokenizer,
        options: &AnswerOptions,
        show: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Answer> {
        let answer = self.session.answer(tokenizer, (&self.tokens, prompt), options, show);
        if answer.is_err() {
            // The session may have some of the prompt by now.
            let known = self.tokens.len().min(self.session.length());
            self.truncate(known);
        }
        let answer = answer?;
        self.tokens.extend_from_slice(prompt);
        self.tokens.extend_from_slice(&answer.tokens);
        self.tokens.truncate(self.session.length());
        Ok(answer)
    }

    /// Says something, and answers: both become messages. What the session has already of the conversation is not computed again.
    ///
    /// # Errors
    /// As [`ChatTemplate::render`], [`Tokenizer::encode_chat`] and [`Session::answer`]. The messages are then those of before.
    pub fn say(
        &mut self,
        text: &str,
        of_model: (&Tokenizer, &ChatTemplate),
        options: &AnswerOptions,
        show: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Answer> {
        self.messages.push(Message::user(text));
        let answer = self.answer_messages(of_model, options, show);
        match &answer {
            Ok(answer) => self.messages.push(Message::assistant(answer.text.clone())),
            Err(_) => drop(self.messages.pop()),
        }
        answer
    }

    /// Answers the last message.
    fn answer_messages(
        &mut self,
        (tokenizer, template): (&Tokenizer, &ChatTemplate),
        options: &AnswerOptions,
        show: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Answer> {
        let prompt = template.render(&self.messages, &ChatOptions::default())?;
        let prompt = tokenizer.encode_chat(&prompt)?;
        // One token at least is computed, for its logits.
        let known = self.tokens.iter().zip(&prompt).take_while(|(a, b)| a == b).count();
        self.truncate(known.min(self.session.length()).min(prompt.len().saturating_sub(1)));
        self.continue_text(&prompt[self.tokens.len()..], tokenizer, options, show)
    }
}
