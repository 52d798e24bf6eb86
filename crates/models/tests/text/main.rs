//! Text: tokenizers, streams, chat templates and sampling.

mod chat;
mod llama_cpp;
mod sampling;
mod tokenizers;
