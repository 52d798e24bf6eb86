//! What a script ends with.

use std::fmt;

use rhai::Dynamic;

use crate::argument::text_of;
use crate::json;

/// The value of a script's last expression.
///
/// Its text is what `print` prints of it: that of a tensor is read from its device.
pub struct Value(pub(crate) Dynamic);

impl Value {
    /// Whether there is none: the last statement was no expression, or `()`.
    pub fn is_nothing(&self) -> bool {
        self.0.is_unit()
    }

    /// As JSON. A tensor is an object with its dtype, shape, device and numbers; what JSON does not have is its text.
    ///
    /// # Errors
    /// A text: of the device that the numbers of a tensor are read from.
    pub fn to_json(&self) -> Result<serde_json::Value, String> {
        json::of(&self.0)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text_of(&self.0))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", text_of(&self.0))
    }
}
