//! `hipstack embed`: vectors of texts.

use models::text::{EncodeOptions, Tokenizer};
use models::{Bert, BertConfig, Settings};
use serde_json::json;
use weights::{Checkpoint, Model, progress_bar};

use crate::load::ModelArguments;
use crate::{Failure, shown};

#[derive(clap::Args, Debug)]
pub(crate) struct EmbedArguments {
    #[command(flatten)]
    model: ModelArguments,
    /// The texts
    #[arg(required = true)]
    texts: Vec<String>,
    /// Print the vectors as JSON, instead of the cosine of each pair of texts
    #[arg(long)]
    json: bool,
}

/// Prints the vectors, or how similar the texts are.
///
/// # Errors
/// Of the model, of the device, or of the memory check.
pub(crate) fn run(arguments: &EmbedArguments) -> Result<(), Failure> {
    let model = &arguments.model;
    let ((device, memory), path) = (model.device()?, &model.path);
    let checkpoint = Checkpoint::open(path)?;
    let config = BertConfig::new(&Settings::read(path, &checkpoint)?)?;
    let tokenizer = Tokenizer::of_model(path, &checkpoint)?;
    let bert = Bert::new(config, &Model::load(&checkpoint, &device, &mut progress_bar())?, None)?;
    let encode = |text: &String| tokenizer.encode(text, EncodeOptions::default());
    let tokens: Vec<Vec<u32>> = arguments.texts.iter().map(encode).collect::<Result<_, _>>()?;
    let vectors = bert.embed(&tokens)?.to_vec2::<f32>()?;
    drop(bert);
    if arguments.json {
        println!("{}", json!(vectors));
    } else {
        let short = |text: &String| text.chars().take(40).collect::<String>();
        let mut rows = Vec::new();
        for (i, first) in vectors.iter().enumerate() {
            for (j, second) in vectors.iter().enumerate().skip(i + 1) {
                let cosine: f32 = first.iter().zip(second).map(|(a, b)| a * b).sum();
                let (a, b) = (&arguments.texts[i], &arguments.texts[j]);
                rows.push(vec![format!("{cosine:.4}"), short(a), short(b)]);
            }
        }
        print!("{}", shown::table(&[" cosine", "text", "text"], &rows));
    }
    model.end(&memory)
}
