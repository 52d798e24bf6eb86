//! Enumerations whose values are keywords of a file format.

/// Defines an enumeration with a keyword for each value, and the conversions in both directions.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* #[doc = concat!(" (`", $word, "`)")] $value,)*
        }

        impl $name {
            /// The value of a keyword, if there is one.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$value),)*
                    _ => None,
                }
            }

            /// Its keyword.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }
    };
}

pub(crate) use words;
