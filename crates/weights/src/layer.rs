//! The weights of one layer of a model.

use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;

use tensor_core::{Error, ErrorKind, Result};

use crate::names;
use crate::weight::Weight;

/// The weights of one layer, by their names within it. They are the model's own: a layer clones references.
///
/// The names are those of GGUF, such as `attn_q.weight`, whichever the file has. The file's own names, such as
/// `self_attn.q_proj.weight`, are understood as well. Only names are translated: see [`crate::Model`].
#[derive(Debug, Clone)]
pub struct Layer {
    number: usize,
    weights: BTreeMap<String, Arc<Weight>>,
    /// The file's own names, where they are others.
    aliases: BTreeMap<String, String>,
}

impl Layer {
    /// The layer of that number, of weights with the file's names within it.
    pub(crate) fn new(number: usize, named: Vec<(&str, Arc<Weight>)>) -> Layer {
        let shorts = names::shorts(named.iter().map(|(name, _)| *name));
        let mut layer = Layer { number, weights: BTreeMap::new(), aliases: BTreeMap::new() };
        for ((name, weight), short) in named.into_iter().zip(shorts) {
            if short == name || layer.weights.contains_key(&short) {
                layer.weights.insert(name.to_owned(), weight);
            } else {
                layer.aliases.insert(name.to_owned(), short.clone());
                layer.weights.insert(short, weight);
            }
        }
        layer
    }

    /// The number of the layer, from 0 on.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The weight of that name.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] that lists the names that there are.
    pub fn get(&self, name: &str) -> Result<&Arc<Weight>> {
        let short = self.aliases.get(name).map_or(name, String::as_str);
        self.weights.get(short).ok_or_else(|| {
            let there: Vec<&str> = self.names().collect();
            let what = format!("layer {} has no {name:?}; it has {}", self.number, there.join(" "));
            Error::new("layer", ErrorKind::Argument { what })
        })
    }

    /// The weight of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<&Arc<Weight>> {
        self.weights.get(self.aliases.get(name).map_or(name, String::as_str))
    }

    /// The names, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.weights.keys().map(String::as_str)
    }

    /// The names and weights, in alphabetical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Arc<Weight>)> {
        self.weights.iter().map(|(name, weight)| (name.as_str(), weight))
    }

    /// The number of weights.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The bytes that its weights take on their device.
    pub fn byte_len(&self) -> usize {
        self.weights.values().map(|weight| weight.byte_len()).sum()
    }
}

impl Index<&str> for Layer {
    type Output = Arc<Weight>;

    /// The weight of that name.
    ///
    /// # Panics
    /// If there is none, as with maps; [`Layer::get`] returns an error.
    fn index(&self, name: &str) -> &Arc<Weight> {
        self.get(name).unwrap_or_else(|error| panic!("{error}"))
    }
}
