//! Mangled names, taken out of the names that a compiler gives to the types in `include/hiphost/rtc.hpp`.

/// What the names of those types begin with.
const SCOPE: &str = "N7hiphost";
/// The address of an entity as a template argument, and what closes it, the argument list and the name.
const ADDRESS: &str = "XadL";
const CLOSED: &str = "EEEE";

/// The name of the kernel or variable that a registration's type is made of; other names stay as they are.
///
/// `N7hiphost12RegistrationIXadL_ZN2ns1kIfEEvPT_EEEE` is `_ZN2ns1kIfEEvPT_`. Entities with a C name, and variables
/// outside namespaces, have their plain name.
pub(crate) fn lowered(registered: &str) -> &str {
    let inner = || {
        // GCC marks the names of types that other units do not share.
        let rest = registered.trim_start_matches('*').strip_prefix(SCOPE)?;
        let (_, rest) = rest.split_once(ADDRESS)?;
        rest.strip_suffix(CLOSED)
    };
    inner().map_or(registered, |mangled| plain(mangled).unwrap_or(mangled))
}

/// `_Z` with a length and just as many letters is an entity that is not mangled.
fn plain(mangled: &str) -> Option<&str> {
    let rest = mangled.strip_prefix("_Z")?;
    let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let length = rest[..rest.len() - name.len()].parse::<usize>().ok()?;
    (length == name.len()).then_some(name)
}

/// The lowered name of the name expression of that number, in an object that was made with it.
pub(crate) fn of_expression(object: &[u8], number: usize) -> Option<String> {
    let start = format!("{SCOPE}10ExpressionILi{number}E");
    let at = object.windows(start.len()).position(|window| window == start.as_bytes())?;
    let rest = &object[at..];
    let name = std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0)?]).ok()?;
    let name = lowered(name);
    (!name.starts_with(SCOPE)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_hold_mangled_names() {
        assert_eq!(lowered("N7hiphost12RegistrationIXadL_Z1kEEEE"), "k");
        assert_eq!(lowered("N7hiphost12RegistrationIXadL_ZN2ns1kIfEEvPT_EEEE"), "_ZN2ns1kIfEEvPT_");
        assert_eq!(lowered("*N7hiphost12RegistrationIXadL_ZN2nsL2stEiEEEE"), "_ZN2nsL2stEi");
        assert_eq!(lowered("N7hiphost8VariableIXadL_Z5tableEEEE"), "table");
        assert_eq!(lowered("N7hiphost8VariableIXadL_ZL2sgEEEE"), "_ZL2sg");
        assert_eq!(lowered("N7hiphost10ExpressionILi3EXadL_Z2oviEEEE"), "_Z2ovi");
        // Registered under its own name.
        assert_eq!(lowered("scale"), "scale");
        assert_eq!(lowered("N7hiphost12RegistrationI"), "N7hiphost12RegistrationI");
    }

    #[test]
    fn expressions_are_found_by_number() {
        let object =
            b"\x7fELF\0N7hiphost10ExpressionILi1EXadL_Z1aEEEE\0*N7hiphost10ExpressionILi11EXadL_Z1bvEEEE\0";
        assert_eq!(of_expression(object, 1).as_deref(), Some("a"));
        assert_eq!(of_expression(object, 11).as_deref(), Some("_Z1bv"));
        assert_eq!(of_expression(object, 2), None);
    }
}
