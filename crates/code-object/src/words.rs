//! Enumerations whose values are words of a file format.

/// Makes an enumeration with a word for each value, and the ways from one to the other.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* #[doc = concat!(" (`", $word, "`)")] $value,)*
        }

        impl $name {
            /// The value of a word, if it is one.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$value),)*
                    _ => None,
                }
            }

            /// Its word.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }
    };
}

pub(crate) use words;
