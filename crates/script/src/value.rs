//! What a script ends with.

use std::fmt;

use rhai::Dynamic;

use crate::json;

/// The value of a script's last expression.
pub struct Value {
    pub(crate) value: Dynamic,
    /// As `print` prints it.
    pub(crate) text: String,
}

impl Value {
    /// Whether there is none: the last statement was no expression, or `()`.
    pub fn is_nothing(&self) -> bool {
        self.value.is_unit()
    }

    /// As JSON. A tensor is an object with its dtype, shape, device and numbers; what JSON does not have is its text.
    ///
    /// # Errors
    /// A text: of the device that the numbers of a tensor are read from.
    pub fn to_json(&self) -> Result<serde_json::Value, String> {
        json::of(&self.value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.text)
    }
}
