//! What a model of an architecture is: its sizes, positions, windows.

mod architecture;
mod defaults;
mod positions;
mod settings;
mod windows;

pub use architecture::Architecture;
pub use positions::{Rope, Scaling};
pub use settings::{Origin, Settings};

use crate::error::{Error, Result};

/// More layers than any model has. A damaged file may say more.
const MOST_LAYERS: usize = 4096;
/// The largest head of a model. Positions have a frequency for each two of its numbers.
const MOST_HEAD: usize = 1 << 16;

/// The settings of a model that continues texts. The size of the vocabulary is that of its embedding.
///
/// ```
/// use models::{Config, Settings};
///
/// # fn main() -> models::Result<()> {
/// let text = r#"{"model_type": "llama", "hidden_size": 576, "num_hidden_layers": 30, "intermediate_size": 1536,
///     "num_attention_heads": 9, "num_key_value_heads": 3, "rms_norm_eps": 1e-5, "rope_theta": 1e5}"#;
/// let config = Config::new(&Settings::from_json(text)?)?;
/// assert_eq!((config.heads, config.kv_heads, config.head_size), (9, 3, 64));
/// // What the file leaves out.
/// assert_eq!(config.context, 2048);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// The architecture.
    pub architecture: Architecture,
    /// Who wrote the files, which decides how some weights are stored.
    pub origin: Origin,
    /// The most tokens that the model was made for.
    pub context: usize,
    /// The length of a token's vector between layers.
    pub width: usize,
    /// The number of layers.
    pub layers: usize,
    /// The length of the vectors within the gated network of a layer.
    pub hidden: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values: a divisor of [`Config::heads`].
    pub kv_heads: usize,
    /// The length of a query, a key and a value of one head.
    pub head_size: usize,
    /// What is added to the mean square in norms.
    pub norm_eps: f64,
    /// For each layer, how many tokens a query attends to, itself included; `None` for all before it.
    pub windows: Vec<Option<usize>>,
    /// The positions in layers without a window.
    pub rope: Rope,
    /// The positions in layers with a window.
    pub local_rope: Rope,
    /// The factor of products of queries and keys.
    pub attention_scale: f64,
    /// Scores s of attention become cap · tanh(s / cap).
    pub attention_cap: Option<f64>,
    /// Logits l become cap · tanh(l / cap).
    pub logits_cap: Option<f64>,
    /// Whether the output's weight is the embedding's; `None` if that depends on whether the file has one.
    pub tied: Option<bool>,
}

impl Config {
    /// The config of a model that continues texts.
    ///
    /// # Errors
    /// [`Error::WrongKind`] for an encoder; [`Error::MissingSetting`]; [`Error::WrongSetting`] for a value of another type
    /// or one that models here do not have, such as experts or another scaling of positions.
    pub fn new(settings: &Settings) -> Result<Config> {
        let (architecture, origin) = (settings.architecture(), settings.origin());
        let activations: &[&str] = match architecture {
            Architecture::Bert => {
                return Err(Error::WrongKind { architecture, is: "is an encoder", asked: "continue texts" });
            }
            Architecture::Gemma3 => &["gelu_pytorch_tanh"],
            Architecture::Llama | Architecture::Qwen2 | Architecture::Qwen3 => &["silu", "swish"],
        };
        if origin == Origin::HuggingFace {
            settings.require_text("hidden_act", activations)?;
            settings.require_text("hidden_activation", activations)?;
        }
        if settings.find_count("expert_count")?.is_some_and(|experts| experts > 0) {
            return Err(settings.wrong("expert_count", "0: mixtures of experts are not supported"));
        }
        let (width, heads) =
            (positive(settings, "embedding_length")?, positive(settings, "attention.head_count")?);
        let kv_heads = match settings.find_count("attention.head_count_kv")? {
            None => heads,
            Some(_) => positive(settings, "attention.head_count_kv")?,
        };
        if heads % kv_heads != 0 {
            let expected = format!("a divisor of the {heads} heads");
            return Err(settings.wrong("attention.head_count_kv", expected));
        }
        let head_size = settings.find_count("attention.key_length")?.unwrap_or(width / heads);
        if head_size == 0 || head_size % 2 != 0 || head_size > MOST_HEAD {
            return Err(
                settings.wrong("attention.key_length", format!("an even number of at most {MOST_HEAD}"))
            );
        }
        let layers = settings.count("block_count")?;
        if layers > MOST_LAYERS {
            return Err(settings.wrong("block_count", format!("at most {MOST_LAYERS}")));
        }
        let (rope, local_rope) = positions::read(settings, head_size)?;
        let cap = |key: &str| settings.find_number(key).map(|cap| cap.filter(|cap| *cap > 0.0));
        Ok(Config {
            architecture,
            origin,
            context: settings.count("context_length")?,
            width,
            layers,
            hidden: settings.count("feed_forward_length")?,
            heads,
            kv_heads,
            head_size,
            norm_eps: settings.number("attention.layer_norm_rms_epsilon")?,
            windows: windows::read(settings, layers)?,
            rope,
            local_rope,
            attention_scale: attention_scale(settings, layers, width / heads, head_size)?,
            attention_cap: cap("attn_logit_softcapping")?,
            logits_cap: cap("final_logit_softcapping")?,
            tied: if origin == Origin::Gguf { None } else { settings.find_flag("tie_word_embeddings")? },
        })
    }
}

/// A number that is not zero.
fn positive(settings: &Settings, key: &str) -> Result<usize> {
    match settings.count(key)? {
        0 => Err(settings.wrong(key, "at least 1")),
        number => Ok(number),
    }
}

/// The layers of Gemma 3 27B, whose scale is another one. GGUF files have no setting for it (llama.cpp,
/// `src/models/gemma3.cpp`).
const GEMMA3_27B_LAYERS: usize = 62;

fn attention_scale(settings: &Settings, layers: usize, share: usize, head_size: usize) -> Result<f64> {
    let scale = |length: f64| 1.0 / length.sqrt();
    match (settings.architecture(), settings.origin()) {
        (Architecture::Gemma3, Origin::HuggingFace) => match settings.number("query_pre_attn_scalar")? {
            length if length > 0.0 => Ok(scale(length)),
            _ => Err(settings.wrong("query_pre_attn_scalar", "more than 0")),
        },
        (Architecture::Gemma3, Origin::Gguf) if layers == GEMMA3_27B_LAYERS => Ok(scale(share as f64)),
        _ => Ok(scale(head_size as f64)),
    }
}
