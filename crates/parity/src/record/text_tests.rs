//! Tests of the file format: round trips, and errors for damaged files.

use reference::DType;

use super::*;
use crate::random::Stream;

fn record() -> Record {
    let facts = [("name", "a \"card\"\twith\\odd\nname\r"), ("hip version", "6.4.43484"), ("empty", "")];
    let header = Header {
        device: "amd:0".into(),
        description: "amd:0 (gfx1100)".into(),
        facts: facts.map(|(key, value)| (key.to_string(), value.to_string())).into(),
        seed: 7,
        date: "2026-01-31".into(),
        version: "0.1.0".into(),
    };
    let form = |dtype, shape: &[usize]| Form { dtype, shape: shape.to_vec() };
    let entry = |hash, id: &str, found| Entry { hash, id: id.into(), rule: "a rule".into(), found };
    let probe =
        |index, bits, tolerance, overflow| Probe { index, bits, allowed: Allowed { tolerance, overflow } };
    let probes =
        positions(77, 40).into_iter().map(|index| probe(index, 0x3c00 + index as u64, 1.234e-300, false));
    let entries = vec![
        entry(
            1,
            "neg/f32/contiguous/matrix/[3,4]",
            Found::Exact { form: form(DType::F32, &[3, 4]), digest: 5 },
        ),
        entry(
            u128::MAX,
            "neg/f64/empty/[0]",
            Found::Exact { form: form(DType::F64, &[0]), digest: u128::MAX },
        ),
        entry(77, "exp/f16/[40]", Found::Sampled { form: form(DType::F16, &[40]), probes: probes.collect() }),
        entry(
            78,
            "exp/f64/scalar/[]",
            Found::Sampled {
                form: form(DType::F64, &[]),
                probes: vec![probe(0, 0x7ff0_0000_0000_0000, f64::INFINITY, true)],
            },
        ),
        entry(79, "exp/f64/empty/[0]", Found::Sampled { form: form(DType::F64, &[0]), probes: Vec::new() }),
        entry(80, "cast/i32>f16/x", Found::Error("out of\tmemory\nand more\\".into())),
    ];
    Record::new(header, entries).expect("distinct ids")
}

#[test]
fn a_written_record_reads_back() {
    let text = record().to_text();
    assert_eq!(Record::parse(&text), Ok(record()));
    assert_eq!(text.lines().count(), 8 + 3 + 6);
    assert!(text.contains("\nfact\tname\ta \"card\"\\twith\\\\odd\\nname\\r\n"), "{text}");
    assert!(text.contains("\tf32\t[3,4]\ta rule\tdigest 00000000000000000000000000000005\n"), "{text}");
    assert!(text.contains("\tf64\t[]\ta rule\tsamples 0:7ff0000000000000:inf!\n"), "{text}");
    assert!(text.contains(" 39:3c27:1.234e-300\n"), "{text}");
    assert!(text.ends_with("cast/i32>f16/x\t-\t-\ta rule\terror out of\\tmemory\\nand more\\\\\n"), "{text}");
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new").join("amd.tsv");
    record().write(&path).unwrap();
    record().write(&path).unwrap();
    let named = NamedRecord::read(&path).unwrap();
    assert_eq!((named.name.as_str(), &named.record), ("amd", &record()));
    assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(Record::read(&path).unwrap_err().to_string().contains("amd.tsv"));
}

#[test]
fn damage_is_named_with_its_line() {
    let text = record().to_text();
    let damaged = |from: &str, to: &str| {
        assert!(text.contains(from), "{from:?} is not in the text");
        let damage = Record::parse(&text.replacen(from, to, 1)).expect_err(from);
        (damage.line, damage.reason)
    };
    let cases: &[(&str, &str, usize, &str)] = &[
        ("parity-record/1", "parity-record/2", 1, "the first line is not \"parity-record/1\""),
        ("device\tamd:0", "device amd:0", 2, "expected the field \"device\""),
        ("seed\t7", "seed\t-7", 4, "seed \"-7\" is no number"),
        ("cases\t6", "cases\t7", 17, "the file ends after 6 cases; its head says 7"),
        ("fact\tempty", "fict\tempty", 8, "expected a fact or an empty line"),
        ("hip version", "empty", 9, "this fact is there twice"),
        ("with\\\\odd", "with\\odd", 10, "a backslash before Some('o')"),
        ("\n\n", "\n", 11, "expected a fact or an empty line"),
        ("a rule\tdigest", "a rule digest", 12, "5 columns, expected 6"),
        ("digest 0", "digest ", 12, "is not 32 hexadecimal digits"),
        ("digest 0", "digest +", 12, "is not 32 hexadecimal digits"),
        ("f32\t[3,4]", "f33\t[3,4]", 12, "\"f33\" is no dtype"),
        ("[3,4]\ta", "[3,]\ta", 12, "\"[3,]\" is no shape"),
        ("[3,4]\ta", "[18446744073709551615,2]\ta", 12, "is no shape"),
        ("\tdigest", "\tdigests", 12, "the result is \"digests\""),
        (" 0:3c00:", " 1:3c00:", 14, "other elements are sampled"),
        ("[40]\ta", "[41]\ta", 14, "other elements are sampled"),
        (" 0:3c00:", " 0:3c0:", 14, "\"3c0\" is not 4 hexadecimal digits"),
        (" 0:3c00:", " 0:3c00:-", 14, "a tolerance is a number and not negative"),
        (":inf!", ":NaN!", 15, "a tolerance is a number and not negative"),
        (":inf!", ":inf", 15, "a tolerance is infinite only where an overflow is right"),
        (":1.234e-300", ":inf", 14, "a tolerance is infinite only where an overflow is right"),
        (":inf!", "!", 15, "is not index:bits:tolerance"),
        ("-\t-\ta rule", "f16\t-\ta rule", 17, "an error has neither dtype nor shape"),
        ("exp/f16/[40]", "exp/f64/scalar/[]", 15, "case exp/f64/scalar/[] is there twice"),
    ];
    for (from, to, line, reason) in cases {
        let found = damaged(from, to);
        assert!(found.0 == *line && found.1.contains(reason), "{from:?} to {to:?}: {found:?}");
    }
    let cut = &text[..text.len() - 1];
    assert_eq!(Record::parse(cut).unwrap_err().to_string(), "line 17: the last line has no end");
    assert_eq!(Record::parse("").unwrap_err().line, 1);
    assert_eq!(
        Record::parse(&text[..text.find("seed").unwrap()]).unwrap_err().to_string(),
        "line 4: the file ends in its head"
    );
}

#[test]
fn mutated_files_are_refused_or_read_but_never_panic() {
    let text = record().to_text().into_bytes();
    let (mut read, mut refused) = (0, 0);
    for number in 0..20_000 {
        let mut draw = Stream::new(number, "mutation", 0).element(0);
        let mut bytes = text.clone();
        for _ in 0..=draw.below(3) {
            let index = draw.below(bytes.len() as u64) as usize;
            let other = bytes[draw.below(bytes.len() as u64) as usize];
            match draw.below(5) {
                0 => bytes[index] = other,
                1 => bytes[index] ^= 1 << draw.below(7),
                2 => drop(bytes.remove(index)),
                3 => bytes.insert(index, other),
                _ => bytes.truncate(index.max(1)),
            }
        }
        match std::str::from_utf8(&bytes).map(Record::parse) {
            Ok(Ok(record)) => {
                assert_eq!(Record::parse(&record.to_text()), Ok(record));
                read += 1;
            }
            Ok(Err(damage)) => {
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                assert!((1..=lines + 2).contains(&damage.line) && !damage.reason.is_empty(), "{damage}");
                refused += 1;
            }
            Err(_) => {}
        }
    }
    assert!(read > 100 && refused > 10_000, "{read} read, {refused} refused");
}

#[test]
fn entries_are_found_by_hash_then_by_id() {
    let record = record();
    let id = |entry: Option<&Entry>| entry.map(|entry| entry.id.clone());
    assert_eq!(id(record.get(77, "exp/f16/[40]")).as_deref(), Some("exp/f16/[40]"));
    assert_eq!(id(record.get(77, "renamed")).as_deref(), Some("exp/f16/[40]"));
    assert_eq!(id(record.get(1000, "exp/f16/[40]")), None);
    assert_eq!(record.by_id("exp/f16/[40]").map(|entry| entry.hash), Some(77));
    let cast = record.by_id("cast/i32>f16/x").unwrap();
    assert_eq!((cast.operation(), cast.dtype()), ("cast", "i32"));
    assert_eq!(record.header().facts.get("empty"), Some(&String::new()));
}
