//! What `Debug` shows of an error: `main() -> Result` and `unwrap` print that, and who reads it wants the message.

use std::error::Error;
use std::fmt::{self, Write};

/// Writes an error as `Display` does, and below it each error behind it that says more. For `Debug`, by [`debug_by_display`](crate::debug_by_display).
///
/// # Errors
/// Those of the formatter.
pub fn fmt_chain(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut said = error.to_string();
    f.write_str(&said)?;
    let mut behind = error.source();
    while let Some(cause) = behind {
        let words = cause.to_string();
        // Most messages have that of their cause in them.
        if !said.contains(&words) {
            write!(f, "\n  because {words}")?;
            write!(said, "\n{words}")?;
        }
        behind = cause.source();
    }
    Ok(())
}

/// Implements `Debug` for error types by [`fmt_chain`].
///
/// ```
/// use std::fmt;
///
/// struct Stopped(std::io::Error);
///
/// impl fmt::Display for Stopped {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("it stopped")
///     }
/// }
///
/// impl std::error::Error for Stopped {
///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
///         Some(&self.0)
///     }
/// }
///
/// hip_sys::debug_by_display!(Stopped);
///
/// assert_eq!(format!("{:?}", Stopped(std::io::Error::other("no paper"))), "it stopped\n  because no paper");
/// ```
#[macro_export]
macro_rules! debug_by_display {
    ($($error:ty),+ $(,)?) => {
        $(
            impl ::core::fmt::Debug for $error {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    $crate::fmt_chain(self, f)
                }
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    #[derive(thiserror::Error)]
    enum Level {
        #[error("no file")]
        File,
        #[error("no library: {0}")]
        Library(#[source] Box<Level>),
        #[error("no device")]
        Device(#[source] Box<Level>),
    }

    crate::debug_by_display!(Level);

    #[test]
    fn each_cause_is_said_once() {
        let error = Level::Device(Box::new(Level::Library(Box::new(Level::File))));
        assert_eq!(format!("{error:?}"), "no device\n  because no library: no file");
        assert_eq!(format!("{:#?}", Level::Library(Box::new(Level::File))), "no library: no file");
        assert_eq!(format!("{:?}", Err::<(), _>(Level::File)), "Err(no file)");
    }
}
