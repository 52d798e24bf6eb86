//! Names that look like a misspelt one, for messages.

/// At most this many are suggested.
const SUGGESTIONS: usize = 3;

/// Those of `names` that are a few edits away from `wanted`, nearest first.
pub(crate) fn near_names<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let limit = wanted.chars().count() / 3 + 1;
    let mut near: Vec<_> =
        names.map(|name| (distance(wanted, name), name)).filter(|(d, _)| *d <= limit).collect();
    near.sort_unstable();
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name.to_string()).collect()
}

/// The number of characters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("add_f32", "ad_f32"), 1);
    }

    #[test]
    fn the_nearest_come_first() {
        let names = ["reduce_sum_f32", "elementwise_add_f64", "elementwise_add_f32"];
        let near = near_names("elementwise_ad_f32", names.into_iter());
        assert_eq!(near, ["elementwise_add_f32", "elementwise_add_f64"]);
        assert!(near_names("x", names.into_iter()).is_empty());
    }
}
