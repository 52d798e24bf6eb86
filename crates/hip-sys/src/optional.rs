//! A function that only later versions of a library have.

use crate::Unsupported;

/// A function pointer that may be absent, with its name and the version that brought it.
#[derive(Clone, Copy)]
pub struct Optional<F> {
    function: Option<F>,
    symbol: &'static str,
    since: &'static str,
}

impl<F: Copy> Optional<F> {
    /// The function is there.
    pub const fn present(function: F, symbol: &'static str, since: &'static str) -> Self {
        Self { function: Some(function), symbol, since }
    }

    /// The function is not there.
    pub const fn absent(symbol: &'static str, since: &'static str) -> Self {
        Self { function: None, symbol, since }
    }

    /// The function.
    ///
    /// # Errors
    /// [`Unsupported`], with the name and the version that has it.
    pub const fn get(&self) -> Result<F, Unsupported> {
        match self.function {
            Some(function) => Ok(function),
            None => Err(Unsupported { symbol: self.symbol, since: self.since }),
        }
    }

    /// Whether it is there.
    pub const fn is_present(&self) -> bool {
        self.function.is_some()
    }
}

/// A row of a table's list of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// The exported name.
    pub name: &'static str,
    /// The ROCm version that introduced it; `None` if every version since 5.2 has it.
    pub since: Option<&'static str>,
}
