//! candle's operations are types with names. The operation of a name is found when a call is compiled.

/// The value beside `name`.
pub(super) const fn find<T: Copy>(name: &str, table: &[(&str, T)]) -> Option<T> {
    let mut row = 0;
    while row < table.len() {
        if equal(table[row].0.as_bytes(), name.as_bytes()) {
            return Some(table[row].1);
        }
        row += 1;
    }
    None
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
