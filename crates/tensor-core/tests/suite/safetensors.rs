//! Safetensors files: against the `safetensors` crate as an independent reader and writer, and against damage.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::OnceLock;

use crate::common::{on_devices, temporary};
use proptest::prelude::*;
use safetensors::tensor::{Dtype, TensorView};
use tensor_core::{DType, Device, Result, Tensor, safetensors as ours};

/// The dtype's name in the other crate.
fn theirs(dtype: DType) -> Dtype {
    match dtype {
        DType::U8 => Dtype::U8,
        DType::U32 => Dtype::U32,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::F8E4M3 => Dtype::F8_E4M3,
        DType::BF16 => Dtype::BF16,
        DType::F16 => Dtype::F16,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
    }
}

/// One tensor of each dtype, one scalar, and one without elements.
fn samples(device: &Device) -> Result<Vec<(String, Tensor)>> {
    let bytes: Vec<u8> = (0..48).map(|i| i * 5 + 1).collect();
    let mut samples = Vec::new();
    for dtype in DType::ALL {
        let count = 48 / dtype.size_in_bytes();
        samples.push((format!("x.{dtype}"), Tensor::from_bytes(&bytes, dtype, [2, count / 2], device)?));
    }
    samples.push(("scalar".to_owned(), Tensor::full(2.5, (), DType::F32, device)?));
    samples.push(("empty".to_owned(), Tensor::zeros([3, 0], DType::F16, device)?));
    Ok(samples)
}

fn write_samples(path: &std::path::Path) -> Vec<u8> {
    let samples = samples(&Device::Cpu).unwrap();
    let metadata = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
    ours::write(path, samples.iter().map(|(name, tensor)| (name.as_str(), tensor)), &metadata).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn written_files_read_back() {
    on_devices(|device| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.safetensors");
        let samples = samples(device)?;
        // Views are written by their elements.
        let transposed = samples[8].1.t()?;
        let metadata = BTreeMap::from([("a".to_owned(), "b \"c\"".to_owned())]);
        let named = samples.iter().map(|(name, tensor)| (name.as_str(), tensor));
        ours::write(&path, named.chain([("view", &transposed)]), &metadata)?;
        let file = ours::File::open(&path)?;
        assert_eq!((file.len(), file.metadata()), (13, &metadata));
        for (name, tensor) in samples.iter().map(|(n, t)| (n.as_str(), t)).chain([("view", &transposed)]) {
            let back = file.load(name, device)?;
            assert_eq!((back.dtype(), back.dims()), (tensor.dtype(), tensor.dims()), "{name}");
            assert_eq!(back.to_bytes()?, tensor.to_bytes()?, "{name}");
            assert!(back.device().same_device(device));
            let info = file.info(name).expect("it is there");
            assert_eq!((info.dtype, &info.shape), (Some(tensor.dtype()), tensor.shape()));
        }
        assert_eq!(file.load_all(device)?.tensors.len(), 13);
        Ok(())
    });
}

#[test]
fn the_other_crate_reads_what_we_write() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = write_samples(&folder.path().join("x"));
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let samples = samples(&Device::Cpu).unwrap();
    assert_eq!(file.len(), samples.len());
    for (name, tensor) in samples {
        let view = file.tensor(&name).unwrap();
        assert_eq!((view.dtype(), view.shape()), (theirs(tensor.dtype()), tensor.dims()));
        assert_eq!(view.data(), tensor.to_bytes().unwrap());
        // Every tensor is aligned to its elements, and the data to eight bytes.
        let offset = view.data().as_ptr().addr() - bytes.as_ptr().addr();
        assert_eq!(offset % tensor.dtype().size_in_bytes(), 0, "{name}");
    }
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    assert_eq!(metadata.metadata(), &Some(HashMap::from([("format".to_owned(), "pt".to_owned())])));
}

#[test]
fn we_read_what_the_other_crate_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.safetensors");
    let samples = samples(&Device::Cpu).unwrap();
    let bytes: Vec<Vec<u8>> = samples.iter().map(|(_, tensor)| tensor.to_bytes().unwrap()).collect();
    let views = samples.iter().zip(&bytes).map(|((name, tensor), bytes)| {
        (name.clone(), TensorView::new(theirs(tensor.dtype()), tensor.dims().to_vec(), bytes).unwrap())
    });
    safetensors::serialize_to_file(views, None, &path).unwrap();
    let loaded = ours::read(&path, &Device::Cpu).unwrap();
    assert!(loaded.left_out.is_empty());
    let read = loaded.tensors;
    assert_eq!(read.len(), samples.len());
    for (name, tensor) in samples {
        assert_eq!(read[&name].to_bytes().unwrap(), tensor.to_bytes().unwrap());
        assert_eq!((read[&name].dtype(), read[&name].dims()), (tensor.dtype(), tensor.dims()));
    }
}

/// A file of this header and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// What opening a file of these bytes says, without the path.
fn refusal(bytes: &[u8]) -> String {
    let bad = temporary(bytes);
    let path = bad.path();
    let message = ours::File::open(path).map(|_| ()).unwrap_err().to_string();
    let prefix = format!("safetensors::open: {}: ", path.display());
    message.strip_prefix(&prefix).unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[test]
fn damaged_files_are_refused_with_a_reason() {
    assert_eq!(refusal(b""), "truncated: it has 0 bytes, and a header's length alone takes 8");
    assert_eq!(refusal(b"1234567"), "truncated: it has 7 bytes, and a header's length alone takes 8");
    assert_eq!(
        refusal(&[9, 0, 0, 0, 0, 0, 0, 0, b'{']),
        "truncated: the header has 9 bytes, 1 are left in the file"
    );
    assert_eq!(
        refusal(&[0xff; 20]),
        "the header would have 18446744073709551615 bytes, more than 100000000: not a safetensors file"
    );
    assert!(refusal(&file("{\"a\":", b"")).starts_with("the header is damaged: in \"a\": EOF"));
    assert!(refusal(&file("[1]", b"")).starts_with("the header is damaged: invalid type: sequence"));
    assert!(
        refusal(&[&3u64.to_le_bytes()[..], &[0xff, 0xfe, 0xfd]].concat())
            .starts_with("the header is damaged")
    );
    assert!(
        refusal(&file("{\"a\":{\"dtype\":\"F32\"}}", b""))
            .starts_with("the header is damaged: in \"a\": missing field `shape` at line 1")
    );
    assert!(refusal(&file("{\"__metadata__\":{\"a\":1}}", b"")).starts_with(
        "the header is damaged: in \"__metadata__\": invalid type: integer `1`, expected a string"
    ));
    let entry = |dtype: &str, shape: &str, offsets: &str| {
        format!("\"a\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{offsets}}}")
    };
    let one = |dtype: &str, shape: &str, offsets: &str, data: &[u8]| {
        refusal(&file(&format!("{{{}}}", entry(dtype, shape, offsets)), data))
    };
    assert_eq!(
        one("F32", "[2]", "[0,8]", b"1234567"),
        "tensor \"a\" lies at bytes 0..8, but the file has 7 bytes of data"
    );
    assert_eq!(
        one("F32", "[2]", "[8,0]", &[0; 8]),
        "tensor \"a\" lies at bytes 8..0, but the file has 8 bytes of data"
    );
    assert_eq!(one("F32", "[3]", "[0,8]", &[0; 8]), "tensor \"a\" is [3] of F32, but has 8 bytes");
    assert_eq!(
        one("U8", "[4294967296,4294967296]", "[0,0]", b""),
        "tensor \"a\": the shape [4294967296, 4294967296] is too large for the address space"
    );
    assert_eq!(
        one("F64", "[2305843009213693952]", "[0,0]", b""),
        "tensor \"a\" is [2305843009213693952] of F64, but has 0 bytes"
    );
    assert!(
        one("F32", "[-1]", "[0,4]", &[0; 4])
            .starts_with("the header is damaged: in \"a\": invalid value: integer `-1`")
    );
    assert_eq!(one("F32", "[1]", "[4,8]", &[0; 8]), "tensor \"a\" leaves a gap before it");
    assert_eq!(one("F32", "[1]", "[0,4]", &[0; 9]), "5 bytes at the end belong to no tensor");
    let twice = format!("{{{0},{0}}}", entry("F32", "[1]", "[0,4]"));
    assert!(
        refusal(&file(&twice, &[0; 4])).starts_with("the header is damaged: two entries \"a\" at line 1")
    );
    let overlap = format!(
        "{{{},{}}}",
        entry("F32", "[1]", "[0,4]"),
        entry("F32", "[1]", "[2,6]").replace("\"a\"", "\"b\"")
    );
    assert_eq!(refusal(&file(&overlap, &[0; 6])), "tensor \"b\" overlaps the tensor before it");
    // Sizes whose sum wraps around 64 bits: each entry is out of range by itself.
    assert!(
        one("U8", "[18446744073709551608]", "[0,18446744073709551608]", b"")
            .contains("but the file has 0 bytes")
    );
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refusal(&file(&deep, b"")).starts_with("the header is damaged: in \"a\": "));
    let deep = deep.replacen("{\"a\":", "{\"a\":{\"dtype\":\"U8\",\"other\":", 1) + "}";
    assert!(refusal(&file(&deep, b"")).starts_with("the header is damaged: in \"a\": "));
}

/// What is there twice has two meanings; the last one would win in silence.
#[test]
fn nothing_is_there_twice() {
    let entry = "\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]";
    let damaged = |header: &str, what: &str| {
        let text = refusal(&file(header, &[0]));
        let expected = format!("the header is damaged: {what} at line 1 column ");
        assert!(text.starts_with(&expected), "{text} / {expected}");
    };
    for (field, value) in [("dtype", "\"I8\""), ("shape", "[1]"), ("data_offsets", "[0,1]")] {
        let header = format!("{{\"a\":{{{entry},\"{field}\":{value}}}}}");
        damaged(&header, &format!("in \"a\": duplicate field `{field}`"));
    }
    let with = |metadata: &str| format!("{{\"a\":{{{entry}}},{metadata}}}");
    let two = "two entries \"__metadata__\"";
    for value in ["{}", "null", "{\"x\":\"y\"}"] {
        damaged(&with(&format!("\"__metadata__\":{{}},\"__metadata__\":{value}")), two);
        damaged(&with(&format!("\"__metadata__\":{value},\"__metadata__\":null")), two);
    }
    damaged(&with("\"__metadata__\":{\"x\":\"y\",\"x\":\"z\"}"), "in \"__metadata__\": two entries \"x\"");
    // Names that differ only in how they are written are one name.
    damaged(&format!("{{\"a\":{{{entry}}},\"\\u0061\":{{{entry}}}}}"), "two entries \"a\"");
    damaged(
        &with("\"__metadata__\":{\"x\":1}"),
        "in \"__metadata__\": invalid type: integer `1`, expected a string",
    );
    // Fields of other names are passed over, as by other readers.
    let other = temporary(&file(&format!("{{\"a\":{{{entry},\"other\":[{{}}]}}}}"), &[5]));
    assert_eq!(ours::read(other.path(), &Device::Cpu).unwrap().tensors["a"].to_vec1::<u8>().unwrap(), [5]);
}

/// Some writers leave metadata empty by a null, and the other crate reads that.
#[test]
fn metadata_may_be_null() {
    let bytes =
        file("{\"__metadata__\":null,\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", &[5]);
    assert!(safetensors::SafeTensors::deserialize(&bytes).is_ok());
    let null = temporary(&bytes);
    let opened = ours::File::open(null.path()).unwrap();
    assert!(opened.metadata().is_empty());
    assert_eq!(opened.load("a", &Device::Cpu).unwrap().to_vec1::<u8>().unwrap(), [5]);
}

/// Whatever is done to the file meanwhile ends in an error or in what it has then; a mapped one would end the process.
#[cfg(unix)]
#[test]
fn a_file_that_is_cut_short_while_it_is_open() {
    on_devices(|device| {
        // More than a page, and more than what goes to a device at once.
        let large = Tensor::full(3, 3 << 20, DType::U8, device)?;
        let small = Tensor::full(5, 4, DType::U8, device)?;
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = || ours::write(file.path(), [("large", &large), ("small", &small)], &BTreeMap::new());
        write()?;
        let opened = ours::File::open(file.path())?;
        assert_eq!(opened.load("large", device)?.to_bytes()?, vec![3; 3 << 20]);
        let length = fs::metadata(file.path()).unwrap().len();
        // What is written in place is read as it is.
        let inside = fs::OpenOptions::new().write(true).open(file.path()).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&inside, &[9; 4], length - 4).unwrap();
        assert_eq!(opened.load("small", device)?.to_vec1::<u8>()?, [9; 4]);
        inside.set_len(length - 5).unwrap();
        for name in ["large", "small"] {
            let error = opened.load(name, device).unwrap_err().to_string();
            let expected = format!("it was cut short while it was open: it had {length} bytes, and bytes ");
            assert!(error.starts_with("safetensors::load: ") && error.contains(&expected), "{error}");
            assert!(error.ends_with(" are not there"), "{error}");
            assert!(opened.bytes(name).is_err());
        }
        // Replaced by a rename it is another file.
        write()?;
        assert!(opened.load("large", device).is_err());
        assert_eq!(ours::read(file.path(), device)?.tensors["small"].to_vec1::<u8>()?, [5; 4]);
        Ok(())
    });
}

#[test]
fn a_mapped_file_lends_its_bytes() {
    on_devices(|device| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        write_samples(&path);
        let opened = ours::File::open(&path)?;
        // SAFETY: S13: nobody else knows of the file.
        let mapped = unsafe { ours::File::map(&path) }?;
        assert!(opened.names().eq(mapped.names()) && opened.len() > 10);
        for name in opened.names() {
            let (read, lent) = (opened.bytes(name)?, mapped.bytes(name)?);
            assert!(matches!((&read, &lent), (Cow::Owned(_), Cow::Borrowed(_))) && read == lent, "{name}");
            for file in [&opened, &mapped] {
                assert_eq!(file.load(name, device)?.to_bytes()?, lent[..]);
            }
        }
        Ok(())
    });
}

#[test]
fn tensors_of_other_dtypes_are_left_out_and_listed() {
    on_devices(|device| {
        let names = ["BOOL", "I8", "U16", "U64", "F8_E5M2", "U8"];
        let sizes = [1, 1, 2, 8, 1, 1];
        let (mut entries, mut end) = (Vec::new(), 0);
        for (name, size) in names.iter().zip(sizes) {
            let offsets = [end, end + 4 * size];
            entries.push(format!(
                "\"x.{name}\":{{\"dtype\":\"{name}\",\"shape\":[2,2],\"data_offsets\":{offsets:?}}}"
            ));
            end += 4 * size;
        }
        let data: Vec<u8> = (0..end as u8).collect();
        let stored = temporary(&file(&format!("{{{}}}", entries.join(",")), &data));
        let loaded = ours::read(stored.path(), device)?;
        assert_eq!(loaded.tensors.keys().collect::<Vec<_>>(), ["x.U8"]);
        assert_eq!(loaded.tensors["x.U8"].to_vec2::<u8>()?, [[52, 53], [54, 55]]);
        let left: Vec<(&str, &str)> =
            loaded.left_out.iter().map(|(name, info)| (&name[..], &info.dtype_name[..])).collect();
        let expected = [
            ("x.BOOL", "BOOL"),
            ("x.F8_E5M2", "F8_E5M2"),
            ("x.I8", "I8"),
            ("x.U16", "U16"),
            ("x.U64", "U64"),
        ];
        assert_eq!(left, expected);
        assert!(loaded.left_out.values().all(|info| info.shape.dims() == [2, 2] && info.dtype.is_none()));

        let opened = ours::File::open(stored.path())?;
        assert_eq!(opened.bytes("x.U16")?[..], data[8..16]);
        assert_eq!(opened.bytes("x.U64")?[..], data[16..48]);
        assert_eq!(opened.bytes("x.U8")?[..], data[52..56]);
        assert_eq!(opened.load_bool("x.BOOL", device)?.to_vec2::<u8>()?, [[0, 1], [1, 1]]);
        let error = opened.load_bool("x.I8", device).unwrap_err().to_string();
        assert!(error.ends_with("tensor \"x.I8\" has dtype I8, not BOOL"), "{error}");
        let error = opened.load("x.BOOL", device).unwrap_err().to_string();
        assert!(
            error.ends_with("F64 are: File::load_bool reads it as u8, File::bytes gives its bytes"),
            "{error}"
        );
        assert!(opened.bytes("y").unwrap_err().to_string().ends_with("there is no tensor \"y\" among its 6"));
        Ok(())
    });
}

#[test]
fn other_dtypes_are_an_error_only_when_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let header = "{\"a\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[8,9]}}";
    fs::write(&path, file(header, &[0, 0, 0, 0, 0, 0, 0, 0, 7])).unwrap();
    let file = ours::File::open(&path).unwrap();
    assert_eq!(file.load("b", &Device::Cpu).unwrap().to_vec1::<u8>().unwrap(), [7]);
    let expected = format!(
        "safetensors::load: {}: tensor \"a\" has dtype C64, which is not supported; U8 U32 I16 I32 I64 F8_E4M3 BF16 F16 F32 F64 are: File::bytes gives its bytes",
        path.display()
    );
    assert_eq!(file.load("a", &Device::Cpu).unwrap_err().to_string(), expected);
    assert_eq!(file.info("a").unwrap().dtype, None);
    let missing = file.load("c", &Device::Cpu).unwrap_err().to_string();
    assert_eq!(
        missing,
        format!("safetensors::load: {}: there is no tensor \"c\" among its 2", path.display())
    );
}

#[test]
fn writing_replaces_the_file_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let (one, two) = (
        Tensor::ones(3, DType::F32, &Device::Cpu).unwrap(),
        Tensor::zeros(3, DType::F32, &Device::Cpu).unwrap(),
    );
    let none = BTreeMap::new();
    ours::write(&path, [("x", &one)], &none).unwrap();
    let before = fs::read(&path).unwrap();
    let error = ours::write(&path, [("x", &one), ("x", &two)], &none).unwrap_err();
    assert_eq!(error.to_string(), "safetensors::write: two tensors are named \"x\"");
    let error = ours::write(&path, [("__metadata__", &one)], &none).unwrap_err();
    assert_eq!(error.to_string(), "safetensors::write: \"__metadata__\" cannot be the name of a tensor");
    assert_eq!(fs::read(&path).unwrap(), before);
    // A folder stands where the file should go: the rename fails, and the temporary file is gone.
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    let error = ours::write(&taken, [("x", &one)], &none).unwrap_err();
    assert!(error.to_string().starts_with(&format!("safetensors::write: {}: ", taken.display())), "{error}");
    let error = ours::write(folder.path().join("no/such/x"), [("x", &one)], &none).unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["taken", "x.safetensors"]);
    ours::write(&path, [("x", &two)], &none).unwrap();
    let read = ours::read(&path, &Device::Cpu).unwrap();
    assert_eq!(read.tensors["x"].to_vec1::<f32>().unwrap(), [0.0; 3]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let plain = folder.path().join("plain");
        fs::write(&plain, b"").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain), "readable by whom any new file is readable");
    }
}

#[test]
fn files_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let error = ours::File::open(folder.path().join("x")).unwrap_err().to_string();
    assert!(error.contains("/x: No such file"), "{error}");
    let error = ours::File::open(folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("is not a regular file"), "{error}");
}

#[test]
fn bytes_in_memory_are_read_as_a_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = write_samples(&folder.path().join("x"));
    on_devices(|device| {
        let file = ours::File::from_bytes(bytes.clone())?;
        let samples = samples(device)?;
        assert_eq!(file.len(), samples.len());
        assert_eq!(file.metadata()["format"], "pt");
        for (name, tensor) in &samples {
            let back = file.load(name, device)?;
            assert_eq!((back.dtype(), back.dims()), (tensor.dtype(), tensor.dims()), "{name}");
            assert_eq!(back.to_bytes()?, tensor.to_bytes()?, "{name}");
            assert!(back.device().same_device(device));
        }
        Ok(())
    });
}

#[test]
fn every_truncation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let bytes = write_samples(&path);
    for length in 0..bytes.len() {
        let what = format!("{length} of {} bytes", bytes.len());
        assert!(ours::File::open(temporary(&bytes[..length]).path()).is_err(), "{what}");
        assert!(ours::File::from_bytes(bytes[..length].to_vec()).is_err(), "{what}, in memory");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Changed bytes give an error or tensors, never a panic, and what is read stays in the file.
    #[test]
    fn mutations_never_panic(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), header_only in any::<bool>()) {
        static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
        let good = GOOD.get_or_init(|| write_samples(&tempfile::tempdir().unwrap().path().join("good")));
        {
            let mut bytes = good.clone();
            let header = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
            for (index, value) in &changes {
                // Digits and brackets of the header are where damage hurts; any byte otherwise.
                let (at, value) = if header_only {
                    (index.index(header), b"0123456789[]{}\",:- \\u"[usize::from(*value) % 21])
                } else {
                    (index.index(bytes.len()), *value)
                };
                bytes[at] = value;
            }
            let mutated = temporary(&bytes);
            if let Ok(file) = ours::File::open(mutated.path()) {
                let read: usize = file.names().filter_map(|name| file.load(name, &Device::Cpu).ok())
                    .map(|tensor| tensor.to_bytes().unwrap().len()).sum();
                assert!(read <= bytes.len());
            }
        }
    }

    #[test]
    fn random_headers_never_panic(text in "[\\[\\]{}\",:0-9a-z_FU ]{0,60}", data in proptest::collection::vec(any::<u8>(), 0..20)) {
        let random = temporary(&file(&text, &data));
        let _ = ours::read(random.path(), &Device::Cpu);
    }
}
