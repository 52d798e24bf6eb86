//! Handmade files: a valid one, and one for each possible error.

mod common;

use code_object::{CodeObject, Hidden, Param, ValueKind};
use common::*;
use rmpv::Value;

fn refused(bytes: &[u8]) -> (&'static str, String) {
    let error = CodeObject::parse(bytes).expect_err("something is wrong with it");
    (error.stage(), error.to_string())
}

/// The valid file, after a modification of its bytes.
fn changed(change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut file = Hand::new(&metadata(&[kernel(&[])])).bytes();
    change(&mut file);
    file
}

fn with_kernel(changes: &[(&str, Value)]) -> Vec<u8> {
    Hand::new(&metadata(&[kernel(changes)])).bytes()
}

#[test]
fn a_whole_file_is_read() {
    let code = CodeObject::parse(&changed(|_| {})).expect("it is whole").expect("it has metadata");
    assert_eq!((code.version, code.wave_size()), (5, Some(64)));
    assert_eq!(code.target.as_ref().map(ToString::to_string).as_deref(), Some("gfx90a"));
    let kernel = code.kernel("k").expect("it is there");
    assert_eq!(kernel.params, [Param { offset: 0, size: 8 }]);
    assert_eq!(kernel.arguments[1].kind, ValueKind::Hidden(Hidden::BlockCountX));
    assert_eq!((kernel.hidden().count(), kernel.vector_registers, kernel.required_block), (1, 7, None));
    assert!(code.kernel("k.kd").is_none());
}

#[test]
fn every_version_says_what_it_is_for() {
    // The flags of version 3 have one bit for each feature, and its note has no target.
    let old = map(&[("amdhsa.kernels", list(&[kernel(&[])]))]);
    let whole = metadata(&[kernel(&[])]);
    for (abi, flags, note, version, target) in [
        (1, 0x13f, &old, 3, "gfx90a:xnack+"),
        (2, 0x53f, &whole, 4, "gfx90a"),
        (3, 0x53f, &whole, 5, "gfx90a"),
        (4, 0x53f, &whole, 6, "gfx90a"),
    ] {
        let bytes = Hand { abi, flags, ..Hand::new(note) }.bytes();
        let code = CodeObject::parse(&bytes).expect("it is whole").expect("it has metadata");
        let named = code.target.expect("it is known").to_string();
        assert_eq!((code.version, named.as_str()), (version, target));
    }
}

#[test]
fn the_note_is_found_in_segments_and_in_sections() {
    let whole = metadata(&[kernel(&[])]);
    let kernels = |in_segment, in_section, second: Option<&Value>| {
        let second = second.map(packed);
        let bytes = Hand { in_segment, in_section, second, ..Hand::new(&whole) }.bytes();
        CodeObject::parse(&bytes).map(|code| code.map(|code| code.kernels.len()))
    };
    for (in_segment, in_section) in [(true, true), (true, false), (false, true)] {
        assert_eq!(kernels(in_segment, in_section, None), Ok(Some(1)));
        let refused =
            |second: &Value| kernels(in_segment, in_section, Some(second)).expect_err("refused").to_string();
        assert!(refused(&whole).ends_with("there are two kernels k"), "twice the same");
        // Files linked from several objects have one note of each.
        let other = metadata(&[kernel(&[(".name", "other".into())])]);
        assert_eq!(kernels(in_segment, in_section, Some(&other)), Ok(Some(2)));
        assert_eq!(kernels(in_segment, in_section, Some(&metadata(&[]))), Ok(Some(1)));
        let target = ("amdhsa.target", "amdgcn-amd-amdhsa--gfx90a".into());
        let none = ("amdhsa.kernels", list::<Value>(&[]));
        for differs in [
            map(std::slice::from_ref(&none)),
            map(&[("amdhsa.target", "amdgcn-amd-amdhsa--gfx90a:xnack+".into()), none.clone()]),
            map(&[("amdhsa.version", list(&[1, 1])), target, none]),
        ] {
            let text = refused(&differs);
            assert!(text.ends_with("two notes of it, for other targets or versions"), "{text}");
        }
    }
    assert_eq!(kernels(false, false, None), Ok(None));
}

#[test]
fn symbols_are_checked_without_a_note_as_well() {
    let none = Hand { in_segment: false, in_section: false, ..Hand::new(&metadata(&[])) }.bytes();
    assert_eq!(CodeObject::parse(&none), Ok(None));
    for (at, bytes, reason) in [
        (SYMBOLS + 24, &[0xff; 4][..], "symbol name"),
        (SYMBOLS + 24 + 6, &[4, 0], "a symbol is in section 4 of 4"),
    ] {
        let mut file = none.clone();
        put(&mut file, at, bytes);
        let (stage, text) = refused(&file);
        assert!(stage == "ELF" && text.contains(reason), "{text} / {reason}");
    }
    // The first table is valid, and the second refers to a missing name.
    let second = Hand { extra: Some((2, 3, symbol(900, 0, 0), 24)), ..Hand::new(&metadata(&[kernel(&[])])) };
    assert!(refused(&second.bytes()).1.contains("symbol name"));
    let second = Hand { extra: Some((2, 3, symbol(1, 0, 0), 24)), ..second };
    assert!(CodeObject::parse(&second.bytes()).is_ok());
}

#[test]
fn relocations_name_symbols_and_bytes_that_are_there() {
    let with = |address: u64, symbol: u64, kind: u64, link: u32| {
        let entry = [address, symbol << 32 | kind, 0].map(u64::to_le_bytes).concat();
        let hand = Hand { extra: Some((4, link, entry, 24)), ..Hand::new(&metadata(&[kernel(&[])])) };
        CodeObject::parse(&hand.bytes()).map(|code| code.map_or(0, |code| code.kernels.len()))
    };
    let (wide, narrow) = (13, 6);
    assert_eq!(with(0x100, 1, wide, 2), Ok(1));
    assert_eq!(with(0x100, 0, wide, 0), Ok(1), "none of them names a symbol");
    assert_eq!(with(CODE as u64 + 60, 0, narrow, 2), Ok(1));
    for (found, reason) in [
        (with(0x100, 2, wide, 2), "a relocation names symbol 2 of 2"),
        (with(0x100, 1, wide, 0), "a relocation names symbol 1 of 0"),
        (with(CODE as u64 + 60, 0, wide, 2), "a relocation changes bytes at 0x17c, where none are loaded"),
        (with(u64::MAX, 0, narrow, 2), "changes bytes at 0xffffffffffffffff"),
        (with(0x100, 1, wide, 3), "lead to a section that has no symbols"),
        (with(0x100, 1, wide, 9), "Invalid ELF section index"),
    ] {
        let text = found.expect_err("something is wrong with it").to_string();
        assert!(text.contains(reason), "{text} / {reason}");
    }
}

#[test]
fn metadata_may_differ_from_the_descriptor_within_limits() {
    let one = |bytes: &[u8]| {
        let code = CodeObject::parse(bytes).expect("it is whole").expect("it has metadata");
        code.kernel("k").expect("it is there").clone()
    };
    let word = |at: usize, value: u32| changed(|file| put(file, at, &value.to_le_bytes()));
    // The metadata says 256 and 0: the larger size is enough for either.
    assert_eq!(one(&word(DESCRIPTOR, 512)).shared_bytes, 512);
    assert_eq!(one(&word(DESCRIPTOR, 128)).shared_bytes, 256);
    assert_eq!(one(&word(DESCRIPTOR + 4, 16)).private_bytes, 16);
    let args = |list_of: &[Value]| one(&with_kernel(&[(".args", list(list_of))]));
    let turned = args(&[argument(8, 4, "by_value"), argument(0, 8, "by_value")]);
    assert_eq!(turned.params, [Param { offset: 0, size: 8 }, Param { offset: 8, size: 4 }]);
    let Value::Map(mut entries) = argument(0, 8, "by_name") else { panic!("it is a map") };
    for key in [".access", ".actual_access", ".address_space"] {
        entries.push((key.into(), "of_tomorrow".into()));
    }
    let unknown = args(&[Value::Map(entries)]);
    assert_eq!(unknown.params, [Param { offset: 0, size: 8 }]);
    let found = &unknown.arguments[0];
    assert_eq!((found.kind, found.access, found.actual_access), (ValueKind::Other, None, None));
    assert_eq!(found.address_space, None);
}

#[test]
fn the_file_around_it() {
    let word = |at: usize, value: u64| changed(|file| put(file, at, &value.to_le_bytes()));
    let [read, run, note] = SEGMENTS;
    for (bytes, reason) in [
        (Vec::new(), "header size"),
        (changed(|file| file[OS_ABI] = 0), "it is not for ROCm: its OS ABI is 0, not 64"),
        (changed(|file| file[KIND] = 1), "it is not linked"),
        (changed(|file| put(file, 56, &[0xff, 0xff])), "it counts 65535 segments, which are not there"),
        (word(32, 0), "it counts 3 segments, which are not there"),
        (
            changed(|file| {
                let at = file.len() - 72;
                put(file, at, &[1])
            }),
            "entries of other than 24 bytes",
        ),
        (word(40, 0), "it counts section headers and has none"),
        (word(read + 8, 1 << 40), "a segment lies outside the file"),
        (word(note + 8, u64::MAX), "a segment lies outside the file"),
        (word(run + 40, 63), "a segment brings 64 bytes and has room for 63"),
        (word(run + 16, u64::MAX - 60), "a segment ends beyond the last address"),
        (changed(|file| file.truncate(file.len() - 1)), "section"),
        (changed(|file| put(file, NOTE + 4, &[0xff; 4])), "note"),
        (changed(|file| put(file, SYMBOLS + 24, &[0xff; 4])), "symbol name"),
    ] {
        let (stage, text) = refused(&bytes);
        assert!(stage == "ELF" && text.contains(reason), "{text} / {reason}");
    }
    let other_machine = changed(|file| put(file, 18, &[62, 0]));
    assert_eq!(CodeObject::parse(&other_machine), Ok(None));
    assert!(!CodeObject::is_for_amd(&other_machine) && CodeObject::is_for_amd(&changed(|_| {})));
}

#[test]
fn targets_that_contradict_each_other() {
    let target = |text: &str| {
        let note = map(&[("amdhsa.target", text.into()), ("amdhsa.kernels", list::<Value>(&[]))]);
        refused(&Hand::new(&note).bytes())
    };
    let flags = |flags| refused(&Hand { flags, ..Hand::new(&metadata(&[])) }.bytes()).1;
    assert!(flags(0x541).contains("it is gfx1100 by its header and gfx90a by its metadata"));
    assert!(flags(0x73f).contains("it is gfx90a:xnack+ by its header"));
    for (text, reason) in [
        ("amdgcn-amd-amdhsa--gfx90a:xnack-", "gfx90a by its header and gfx90a:xnack- by its metadata"),
        ("amdgcn", "names no GPU"),
        ("amdgcn-amd-amdhsa--gfx90a:xnack", "neither + nor -"),
    ] {
        let (stage, found) = target(text);
        assert!(stage == "target" && found.contains(reason), "{found}");
    }
}

#[test]
fn metadata_that_is_malformed() {
    let raw = |bytes: &[u8]| refused(&Hand::raw(bytes).bytes());
    let whole = |value: Value| refused(&Hand::new(&value).bytes());
    for (found, reason) in [
        (raw(&[0x80]), "it has no amdhsa.kernels"),
        (raw(&[0xc1]), "malformed"),
        (raw(&[]), "malformed"),
        (raw(&[0x91; 4000]), "depth limit"),
        (whole(Value::Nil), "the note is no map"),
        (whole(map(&[("amdhsa.kernels", Value::Nil)])), "amdhsa.kernels of the note is no list"),
        (whole(map(&[("amdhsa.target", 1.into())])), "amdhsa.target of the note is no text"),
        (whole(metadata(&[Value::Nil])), "kernel 0 is no map"),
        (whole(metadata(&[map(&[])])), "a kernel has no name"),
        (whole(metadata(&[kernel(&[]), kernel(&[])])), "there are two kernels k"),
    ] {
        assert!(found.0 == "metadata" && found.1.contains(reason), "{found:?} / {reason}");
    }
}

#[test]
fn kernels_that_are_malformed() {
    let args = |list_of: &[Value]| (".args", list(list_of));
    let key = |key: &'static str, value: Value| (key, value);
    for (change, reason) in [
        (key(".name", "".into()), "a kernel has no name"),
        (key(".args", 1.into()), ".args of kernel k is no list"),
        (key(".wavefront_size", Value::Nil), "kernel k has no .wavefront_size"),
        (key(".wavefront_size", "64".into()), ".wavefront_size of kernel k is no natural number"),
        (key(".wavefront_size", 48.into()), "it has waves of 48, and GPUs have 32 or 64"),
        (key(".vgpr_count", (-1).into()), ".vgpr_count of kernel k is no natural number"),
        (key(".max_flat_workgroup_size", 0.into()), "its blocks may have no threads"),
        (key(".kernarg_segment_align", 12.into()), "aligned to 12, which is no power of two"),
        (key(".reqd_workgroup_size", list(&[8, 8])), "no list of three numbers"),
        (
            key(".reqd_workgroup_size", list(&[8, 8, 4])),
            "it needs blocks of [8, 8, 4], and has 128 threads at most",
        ),
        (key(".reqd_workgroup_size", list(&[0, 8, 4])), "it needs blocks of [0, 8, 4]"),
        (key(".reqd_workgroup_size", list(&[u32::MAX; 3])), "it needs blocks of"),
        (key(".uses_dynamic_stack", "no".into()), "no truth value"),
        (args(&[map(&[])]), "argument 0 of kernel k has no .value_kind"),
        (args(&[argument(0, 49, "by_value")]), "argument 0 has 49 bytes at byte 0, of 48 in all"),
        (args(&[argument(u64::MAX, 2, "by_value")]), "argument 0 has 2 bytes at byte 18446744073709551615"),
        (args(&[argument(0, 8, "by_value"), argument(7, 1, "hidden_none")]), "lies over the one before"),
        (args(&[argument(4, 8, "by_value"), argument(0, 8, "by_value")]), "lies over the one before"),
    ] {
        let (stage, text) = refused(&with_kernel(&[change]));
        assert!(stage == "metadata" && text.contains(reason), "{text} / {reason}");
    }
    let twice = Value::Map(vec![(".name".into(), "a".into()), (".name".into(), "b".into())]);
    assert!(refused(&Hand::new(&metadata(&[twice])).bytes()).1.contains("kernel 0 has .name twice"));
}

#[test]
fn descriptors_that_do_not_belong() {
    let number = |at: usize, value: u64| changed(|file| put(file, at, &value.to_le_bytes()));
    let word = |at: usize, value: u32| changed(|file| put(file, at, &value.to_le_bytes()));
    let address = SYMBOLS + 24 + 8;
    for (bytes, reason) in [
        (with_kernel(&[(".symbol", "other.kd".into())]), "its descriptor other.kd is no symbol of the file"),
        (changed(|file| put(file, SYMBOLS + 24 + 6, &[0, 0])), "is no symbol of the file"),
        (number(address + 8, 32), "has 32 bytes at 0x100, not 64 aligned to 64"),
        (number(address, 260), "has 64 bytes at 0x104"),
        (number(address, 1 << 20), "lies at 0x100000, outside of what is loaded"),
        (number(address, u64::MAX - 63), "outside of what is loaded"),
        (word(DESCRIPTOR + 8, 44), "bytes of arguments are 44 by its descriptor and 48 by the metadata"),
        (number(DESCRIPTOR + 16, 0), "its code would be at 0x100, where none is loaded"),
        (number(DESCRIPTOR + 16, 128), "its code would be at 0x180"),
    ] {
        let (stage, text) = refused(&bytes);
        assert!(stage == "kernel" && text.contains(reason), "{text} / {reason}");
    }
    // Old compilers omitted the size of the arguments.
    assert!(CodeObject::parse(&word(DESCRIPTOR + 8, 0)).is_ok());
}

/// Sets every byte of the file to a few values, and truncates the file to every length.
#[test]
fn no_byte_makes_a_panic() {
    let whole = changed(|_| {});
    for at in 0..whole.len() {
        let _ = CodeObject::parse(&whole[..at]);
        for value in [0, 1, 0x7f, 0x80, 0xff, whole[at] ^ 1] {
            let _ = CodeObject::parse(&changed(|file| file[at] = value));
        }
    }
}
