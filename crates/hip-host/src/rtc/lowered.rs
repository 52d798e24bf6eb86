//! Extracts mangled names from the type names that a compiler generates for the types in
//! `include/hiphost/rtc.hpp`.

/// The prefix of those type names.
const SCOPE: &str = "N7hiphost";
/// The address of an entity as a template argument; and the end of the address, the argument list and the
/// name.
const ADDRESS: &str = "XadL";
const CLOSED: &str = "EEEE";

/// `SCOPE` and the template itself come first in the registration's name. They take the first two
/// substitution numbers, by which later parts of a mangled name refer to earlier parts.
const TAKEN: u64 = 2;

/// The name of the kernel or variable in a registration's type name; other names are returned unchanged.
///
/// `N7hiphost12RegistrationIXadL_ZN2ns1kIfEEvPT_EEEE` is `_ZN2ns1kIfEEvPT_`. Entities with C linkage, and
/// variables outside namespaces, have their plain name.
pub(crate) fn lowered(registered: &str) -> String {
    let inner = || {
        // GCC prefixes a `*` to the names of types with internal linkage.
        let rest = registered.trim_start_matches('*').strip_prefix(SCOPE)?;
        let (_, rest) = rest.split_once(ADDRESS)?;
        rest.strip_suffix(CLOSED)
    };
    let Some(mangled) = inner() else { return registered.to_owned() };
    plain(mangled).map_or_else(|| renumbered(mangled), str::to_owned)
}

/// A mangled name that was part of another one, with the substitution numbers that it has by itself.
fn renumbered(mangled: &str) -> String {
    let mut out = String::new();
    let mut rest = mangled;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            // An identifier, preceded by its length.
            '0'..='9' => {
                let digits = digits(rest);
                rest[..digits].parse::<usize>().map_or(digits, |length| digits.saturating_add(length))
            }
            // A template parameter, an array length, a numeric argument.
            'T' | 'A' => 1 + digits(&rest[1..]),
            'L' if rest[1..].starts_with(|c: char| c.is_ascii_lowercase()) => rest.find('E').unwrap_or(1),
            'S' => {
                let end = 1 + rest[1..]
                    .bytes()
                    .take_while(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
                    .count();
                if rest[end..].starts_with('_') {
                    out += &reference(&rest[1..end]);
                    rest = &rest[end + 1..];
                    continue;
                }
                1
            }
            other => other.len_utf8(),
        };
        let (part, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out += part;
        rest = after;
    }
    out
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// `S_`, `S0_`, `S1_` and so on refer to the first, second and third part; the numbers have base 36.
fn reference(number: &str) -> String {
    match u64::from_str_radix(number, 36) {
        Ok(value) if value >= TAKEN => format!("S{}_", base_36(value - TAKEN)),
        Ok(1) => "S_".into(),
        // A reference to a part of the outer name.
        _ => format!("S{number}_"),
    }
}

fn base_36(mut value: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(value % 36) as usize] as char);
        value /= 36;
        if value == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// `_Z` with a length and exactly that many letters is an entity that is not mangled.
fn plain(mangled: &str) -> Option<&str> {
    let rest = mangled.strip_prefix("_Z")?;
    let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let length = rest[..rest.len() - name.len()].parse::<usize>().ok()?;
    (length == name.len()).then_some(name)
}

/// The lowered name of a name expression, by its number, in an object compiled with it.
pub(crate) fn of_expression(object: &[u8], number: usize) -> Option<String> {
    let start = format!("{SCOPE}10ExpressionILi{number}E");
    let at = object.windows(start.len()).position(|window| window == start.as_bytes())?;
    let rest = &object[at..];
    let name = std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0)?]).ok()?;
    Some(lowered(name)).filter(|name| !name.starts_with(SCOPE))
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
        // As g++ and clang++ mangle the type and the function itself.
        assert_eq!(
            lowered("N7hiphost12RegistrationIXadL_ZN5outer12of_templatesIiNS1_3BoxEEEvT0_IT_EPS5_EEEE"),
            "_ZN5outer12of_templatesIiNS_3BoxEEEvT0_IT_EPS3_"
        );
        // Registered by its own name.
        assert_eq!(lowered("scale"), "scale");
        assert_eq!(lowered("N7hiphost12RegistrationI"), "N7hiphost12RegistrationI");
    }

    #[test]
    fn references_are_renumbered_without_the_outer_name() {
        let numbers = ["1", "2", "9", "A", "B", "Z", "10", "11", "12", "21"].map(reference);
        assert_eq!(numbers, ["S_", "S0_", "S7_", "S8_", "S9_", "SX_", "SY_", "SZ_", "S10_", "S1Z_"]);
        // The first two belong to the outer name.
        assert_eq!(["", "0"].map(reference), ["S_", "S0_"]);
        // Identifiers and numbers are not references.
        let name = "_ZN4S1_aILi51EA12_S1_St3mapEEvS2_3S2_";
        assert_eq!(renumbered(name), "_ZN4S1_aILi51EA12_S_St3mapEEvS0_3S2_");
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
