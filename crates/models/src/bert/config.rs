//! The settings of an encoder.

use crate::config::{Architecture, Origin, Settings};
use crate::error::{Error, Result};

/// The settings of a BERT. The sizes of its vocabulary and of the table of kinds are those of the weights.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BertConfig {
    /// The most tokens of a text.
    pub context: usize,
    /// The length of a token's vector.
    pub width: usize,
    /// The number of layers.
    pub layers: usize,
    /// The length of the vectors within the network of a layer.
    pub hidden: usize,
    /// Heads of attention: a divisor of [`BertConfig::width`].
    pub heads: usize,
    /// What is added to the variance in norms.
    pub norm_eps: f64,
    /// How vectors of tokens become that of a text.
    pub pooling: Pooling,
}

/// How the vectors of tokens become that of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first one's.
    First,
}

impl BertConfig {
    /// The config of an encoder. A config.json does not say how texts are pooled: it is their mean then.
    ///
    /// # Errors
    /// [`Error::WrongKind`] unless it is one; [`Error::MissingSetting`], [`Error::WrongSetting`].
    pub fn new(settings: &Settings) -> Result<BertConfig> {
        let architecture = settings.architecture();
        if architecture != Architecture::Bert {
            return Err(Error::WrongKind {
                architecture,
                is: "continues texts",
                asked: "give the vectors of texts",
            });
        }
        let (width, heads) = (settings.count("embedding_length")?, settings.count("attention.head_count")?);
        if heads == 0 || width % heads != 0 {
            return Err(settings.wrong("attention.head_count", format!("a divisor of {width}")));
        }
        let pooling = match settings.find_count("pooling_type")? {
            None | Some(1) => Pooling::Mean,
            Some(2) => Pooling::First,
            Some(_) => return Err(settings.wrong("pooling_type", "1 (mean) or 2 (the first token)")),
        };
        if settings.origin() == Origin::HuggingFace {
            settings.require_text("hidden_act", &["gelu"])?;
            settings.require_text("position_embedding_type", &["absolute"])?;
        }
        Ok(BertConfig {
            context: settings.count("context_length")?,
            width,
            layers: settings.count("block_count")?,
            hidden: settings.count("feed_forward_length")?,
            heads,
            norm_eps: settings.number("attention.layer_norm_epsilon")?,
            pooling,
        })
    }
}
