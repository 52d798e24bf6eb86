//! Changes metadata as a tree, so that its encoding stays well formed.

use super::random::Random;
use rmpv::Value;

/// Words that the reader knows, to put where it expects others.
const WORDS: [&str; 14] = [
    ".name",
    ".args",
    ".offset",
    ".size",
    ".value_kind",
    ".wavefront_size",
    ".reqd_workgroup_size",
    "by_value",
    "global_buffer",
    "hidden_none",
    "dynamic_shared_pointer",
    "amdgcn-amd-amdhsa--gfx90a:xnack+",
    "local",
    "",
];

/// The note with one to three changes.
pub(super) fn mutated(note: &[u8], random: &mut Random) -> Vec<u8> {
    let mut root = rmpv::decode::read_value(&mut &*note).unwrap_or(Value::Nil);
    for _ in 0..1 + random.below(3) {
        let mut left = 1 + random.below(count(&root));
        change_nth(&mut root, &mut left, random);
    }
    let mut bytes = Vec::with_capacity(note.len() + 64);
    // Writing to memory cannot fail. If it did, the input would only be shorter.
    let _ = rmpv::encode::write_value(&mut bytes, &root);
    bytes
}

/// The number of values in the tree.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|(_, value)| 1 + count(value)).sum(),
        _ => 0,
    }
}

/// Changes the value number `left` in the order of the walk.
fn change_nth(value: &mut Value, left: &mut usize, random: &mut Random) {
    if take(left) {
        return change(value, random);
    }
    match value {
        Value::Array(list) => {
            for value in list {
                if *left > 0 {
                    change_nth(value, left, random);
                }
            }
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                if *left > 0 && take(left) {
                    change(key, random);
                }
                if *left > 0 {
                    change_nth(value, left, random);
                }
            }
        }
        _ => {}
    }
}

fn take(left: &mut usize) -> bool {
    *left -= 1;
    *left == 0
}

fn change(value: &mut Value, random: &mut Random) {
    if random.one_in(6) {
        *value = other(random);
        return;
    }
    match value {
        Value::Integer(number) => {
            let near = number.as_u64().unwrap_or(0).wrapping_add(random.below(9) as u64).wrapping_sub(4);
            *value = if random.one_in(2) { near.into() } else { random.odd_number().into() };
        }
        Value::String(text) => {
            let mut text = text.as_str().unwrap_or_default().to_string();
            match random.below(4) {
                0 => drop(text.pop()),
                1 => text.push(*random.pick(&['x', 'é', '\0', ':', '+'])),
                2 => text = random.pick(&WORDS).to_string(),
                _ => text.insert_str(0, "hidden_"),
            }
            *value = text.into();
        }
        Value::Array(list) => change_list(list, random),
        Value::Map(entries) => change_list(entries, random),
        _ => *value = other(random),
    }
}

/// Removes, repeats or exchanges entries.
fn change_list<T: Clone>(list: &mut Vec<T>, random: &mut Random) {
    if list.is_empty() {
        return;
    }
    let (a, b) = (random.below(list.len()), random.below(list.len()));
    match random.below(3) {
        0 => drop(list.remove(a)),
        1 => list.insert(b, list[a].clone()),
        _ => list.swap(a, b),
    }
}

fn other(random: &mut Random) -> Value {
    match random.below(8) {
        0 => Value::Nil,
        1 => Value::Boolean(random.one_in(2)),
        2 => Value::F64(f64::NAN),
        3 => Value::Binary(vec![0; random.below(4)]),
        4 => Value::Array(vec![]),
        5 => Value::Map(vec![]),
        6 => Value::from(*random.pick(&WORDS)),
        // Deeper than any reader follows.
        _ => (0..random.below(64)).fold(Value::Nil, |inner, _| Value::Array(vec![inner])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_trees_are_well_formed_and_mostly_differ() {
        let kernel = Value::Map(vec![(".name".into(), "k".into()), (".size".into(), 8.into())]);
        let root = Value::Map(vec![("amdhsa.kernels".into(), Value::Array(vec![kernel.clone(), kernel]))]);
        let mut note = Vec::new();
        rmpv::encode::write_value(&mut note, &root).expect("memory can be written");
        let inputs: Vec<Vec<u8>> = (0..200).map(|i| mutated(&note, &mut Random::for_input(1, i))).collect();
        for bytes in &inputs {
            let mut rest = &bytes[..];
            rmpv::decode::read_value(&mut rest).expect("it is well formed");
            assert!(rest.is_empty());
        }
        assert!(inputs.iter().filter(|bytes| **bytes != note).count() > 150);
        assert_eq!(
            inputs[7],
            mutated(&note, &mut Random::for_input(1, 7)),
            "the same number, the same input"
        );
    }
}
