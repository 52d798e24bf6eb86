//! Makes one input from a real object: changes it, and corrects the lengths.

use super::base::Base;
use super::packed::Packed;
use super::random::Random;
use super::tree;
use code_object::{Method, compress_bundle, write_bundle};

/// The container that the object is packed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Plain,
    Bundle,
    Compressed,
}

impl Container {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Bundle, Self::Compressed];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "code object",
            Self::Bundle => "bundle",
            Self::Compressed => "compressed bundle",
        }
    }
}

/// An input, and how to read it.
pub(super) struct Input<'a> {
    pub(super) bytes: Vec<u8>,
    pub(super) arch: &'a str,
    pub(super) container: Container,
    /// Its kernels, if nothing in it was changed.
    pub(super) kernels: Option<&'a [String]>,
}

/// The input with this index; the same bases and seed give the same input.
pub(super) fn input<'a>(bases: &'a [Base], seed: u64, index: u64) -> Input<'a> {
    let mut random = Random::for_input(seed, index);
    let base = choose(bases, &mut random);
    if !base.packed.is_empty() && random.one_in(12) {
        return packed(base, &mut random);
    }
    let object = object(base, bases, &mut random);
    let container = match random.below(8) {
        0..5 => Container::Plain,
        5 => Container::Bundle,
        _ => Container::Compressed,
    };
    let (bytes, whole) = match container {
        Container::Plain => (object.clone(), true),
        Container::Bundle => bundle(base, &object, &mut random),
        Container::Compressed => compressed(base, &object, &mut random),
    };
    let kernels = (whole && object == base.bytes).then_some(&base.kernels[..]);
    Input { bytes, arch: &base.arch, container, kernels }
}

/// Chooses small objects more often, by the inverse square of their size, because large ones are similar.
fn choose<'a>(bases: &'a [Base], random: &mut Random) -> &'a Base {
    loop {
        let base = random.pick(bases);
        let times = base.bytes.len() / bases[0].bytes.len().max(1);
        if random.one_in(times * times) {
            return base;
        }
    }
}

/// A mutated object; one in twenty stays unchanged.
fn object(base: &Base, bases: &[Base], random: &mut Random) -> Vec<u8> {
    let mut bytes = base.bytes.clone();
    match random.below(20) {
        0 => {}
        1..9 => {
            // The note is decoded, changed as a tree, and encoded again with correct lengths.
            let note = tree::mutated(&bytes[base.note.clone()], random);
            bytes = base.with_note(&bytes, &note);
        }
        9..12 => {
            let mut note = bytes[base.note.clone()].to_vec();
            spoil(&mut note, random);
            bytes = base.with_note(&bytes, &note);
        }
        12..17 => {
            for _ in 0..1 + random.below(3) {
                let range = random.pick(&base.ranges).clone();
                let at = range.start + random.below(range.len());
                change(&mut bytes, at, random);
            }
        }
        17 => bytes.truncate(random.below(bytes.len())),
        18 => splice(&mut bytes, &random.pick(bases).bytes, random),
        _ => spoil(&mut bytes, random),
    }
    bytes
}

/// Changes a byte or a word.
fn change(bytes: &mut [u8], at: usize, random: &mut Random) {
    let width = *random.pick(&[1, 1, 2, 4, 8]);
    let at = at / width * width;
    let Some(word) = bytes.get_mut(at..at + width) else { return };
    match random.below(3) {
        0 => word[0] ^= 1 << random.below(8),
        1 => word.copy_from_slice(&random.odd_number().to_le_bytes()[..width]),
        _ => {
            let mut wide = [0; 8];
            wide[..width].copy_from_slice(word);
            let near = u64::from_le_bytes(wide).wrapping_add(random.below(17) as u64).wrapping_sub(8);
            word.copy_from_slice(&near.to_le_bytes()[..width]);
        }
    }
}

/// Changes, inserts, removes or repeats a few bytes anywhere.
fn spoil(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let again = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
            2 => bytes.insert(at, random.next() as u8),
            _ => change(bytes, at, random),
        }
    }
}

/// Copies a part of another object over a part of this one.
fn splice(bytes: &mut [u8], other: &[u8], random: &mut Random) {
    let (from, to) = (random.below(other.len()), random.below(bytes.len()));
    let length = random.below(4096).min(other.len() - from).min(bytes.len() - to);
    bytes[to..to + length].copy_from_slice(&other[from..from + length]);
}

/// A bundle of the object and an empty entry for the host, and whether its list stayed unchanged.
fn bundle(base: &Base, object: &[u8], random: &mut Random) -> (Vec<u8>, bool) {
    let id = format!("hipv4-amdgcn-amd-amdhsa--{}", base.arch);
    let other = format!("{id}:xnack+");
    let entries =
        [("host-x86_64-unknown-linux", &b""[..]), (&id, object), (&other, &object[..object.len().min(64)])];
    let count = if random.one_in(8) { 3 } else { 2 };
    let mut bytes = write_bundle(&entries[..count], *random.pick(&[1, 16, 256, 4096]));
    let mut whole = false;
    if random.one_in(3) {
        let list = 24 + 8 + 3 * 24 + 80;
        let at = 24 + random.below(list.min(bytes.len().saturating_sub(24)));
        change(&mut bytes, at, random);
    } else if random.one_in(16) {
        bytes.truncate(random.below(bytes.len()));
    } else {
        whole = true;
    }
    (bytes, whole)
}

/// A compressed bundle, and whether its header and data stayed unchanged.
fn compressed(base: &Base, object: &[u8], random: &mut Random) -> (Vec<u8>, bool) {
    let (method, version) = (*random.pick(&[Method::Zlib, Method::Zstd]), 1 + random.below(3) as u16);
    let (bundle, whole) = bundle(base, object, random);
    let mut bytes = compress_bundle(&bundle, method, version);
    let same = !spoil_compressed(&mut bytes, random);
    (bytes, whole && same)
}

/// Changes the header of a compressed bundle, or its data and then the length of the file, or nothing. Returns whether it
/// changed something.
fn spoil_compressed(bytes: &mut Vec<u8>, random: &mut Random) -> bool {
    match random.below(8) {
        0 => {
            let at = 4 + random.below(28);
            change(bytes, at, random);
        }
        1..5 => {
            let version = bytes[4];
            let mut data = bytes.split_off(32.min(bytes.len()));
            spoil(&mut data, random);
            bytes.extend(data);
            let total = bytes.len() as u64;
            match version {
                2 => bytes[8..12].copy_from_slice(&total.to_le_bytes()[..4]),
                3 => bytes[8..16].copy_from_slice(&total.to_le_bytes()),
                _ => {}
            }
        }
        _ => return false,
    }
    true
}

/// One of the bundles that LLVM made of the object, changed or not.
fn packed<'a>(base: &'a Base, random: &mut Random) -> Input<'a> {
    let Packed { container, bytes } = random.pick(&base.packed);
    let mut bytes = bytes.clone();
    let changed = match container {
        Container::Compressed => spoil_compressed(&mut bytes, random),
        _ if random.one_in(4) => false,
        _ => {
            // The bundle's list is in the first bytes; the object follows.
            let at = if random.one_in(2) { random.below(256) } else { random.below(bytes.len()) };
            change(&mut bytes, at, random);
            true
        }
    };
    let kernels = (!changed).then_some(&base.kernels[..]);
    Input { bytes, arch: &base.arch, container: *container, kernels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unchanged_bundles_of_llvm_must_be_read() {
        let mut base = Base::bare("gfx90a", vec![1; 4096]);
        base.kernels = vec!["k".into()];
        let whole = compress_bundle(&[7; 4096], Method::Zlib, 2);
        base.packed = vec![Packed { container: Container::Compressed, bytes: whole.clone() }];
        let inputs: Vec<Input> = (0..200).map(|i| packed(&base, &mut Random::for_input(1, i))).collect();
        for input in &inputs {
            assert!(input.kernels.is_none() || input.bytes == whole);
        }
        let kept = inputs.iter().filter(|input| input.kernels.is_some()).count();
        assert!((40..120).contains(&kept), "{kept} of 200");
    }
}
