//! GGUF files: those of llama.cpp's own package, our own, and wrong ones.

mod common;

use common::{Raw, python};
use serde_json::Value as Json;
use tensor_core::{DType, Device, Result, Tensor, Upload};
use weights::gguf::{self, Array, File, Metadata, Planned, Value};
use weights::{Format, QuantFormat, Weight};

fn listing() -> Json {
    serde_json::from_slice(&python("json")).unwrap()
}

/// A value as the package prints it: arrays in arrays are joined.
fn json(value: &Value) -> Json {
    match value {
        Value::U8(value) => (*value).into(),
        Value::I8(value) => (*value).into(),
        Value::U16(value) => (*value).into(),
        Value::I16(value) => (*value).into(),
        Value::U32(value) => (*value).into(),
        Value::I32(value) => (*value).into(),
        Value::U64(value) => (*value).into(),
        Value::I64(value) => (*value).into(),
        Value::F32(value) => (*value).into(),
        Value::F64(value) => (*value).into(),
        Value::Bool(value) => (*value).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(array) => {
            let values = (0..array.len()).map(|index| array.get(index).unwrap());
            let joined = values.flat_map(|value| match (&value, json(&value)) {
                (Value::Array(_), Json::Array(values)) => values,
                (_, one) => vec![one],
            });
            joined.collect()
        }
    }
}

fn types(value: &Value) -> Vec<String> {
    let long = |short: &str| {
        let long = short.replace("str", "string").replace("arr", "array");
        let long = if let Some(bits) = long.strip_prefix('u') { format!("uint{bits}") } else { long };
        let long = if let Some(bits) = long.strip_prefix('f') { format!("float{bits}") } else { long };
        let long = match long.strip_prefix('i') {
            Some(bits) if bits.parse::<u32>().is_ok() => format!("int{bits}"),
            _ => long,
        };
        long.to_uppercase()
    };
    match value {
        Value::Array(array) => {
            let inner = array.get(0).map(|first| types(&first)).unwrap_or_default();
            ["ARRAY".to_owned()].into_iter().chain(inner).collect()
        }
        other => vec![long(&other.type_name())],
    }
}

fn in_order(file: &File) -> Vec<&str> {
    let mut names: Vec<&str> = file.names().collect();
    names.sort_by_key(|name| file.info(name).unwrap().byte_range().start);
    names
}

#[test]
fn what_the_package_wrote_is_read() -> Result<()> {
    let (file, expected) = (File::open(common::data("python.gguf"))?, listing());
    assert_eq!((file.version(), file.alignment()), (3, expected["alignment"].as_u64().unwrap()));
    let metadata: Vec<Json> = file
        .metadata()
        .iter()
        .map(|(key, value)| serde_json::json!([key, types(value), json(value)]))
        .collect();
    assert_eq!(metadata, *expected["metadata"].as_array().unwrap());

    let names = in_order(&file);
    let tensors = expected["tensors"].as_array().unwrap();
    assert_eq!(names.len(), tensors.len());
    for (name, expected) in names.into_iter().zip(tensors) {
        let (info, bytes) = (file.info(name).unwrap(), file.bytes(name)?);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let found = serde_json::json!({
            "name": name,
            "format": info.format_name,
            "shape": info.shape.dims(),
            "offset": info.byte_range().start,
            "bytes": info.byte_len(),
            "hex": hex,
        });
        assert_eq!(found, *expected);
    }
    Ok(())
}

#[test]
fn what_is_written_is_what_the_package_writes() -> Result<()> {
    let file = File::from_bytes(python("gguf"))?;
    for device in Device::all()?.into_iter().take(2) {
        let mut upload = Upload::new(&device)?;
        let mut weights = Vec::new();
        for name in in_order(&file) {
            weights.push((name, file.load(name, &mut upload)?));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ours.gguf");
        gguf::write(&path, file.metadata(), weights.iter().map(|(name, weight)| (*name, weight)))?;
        assert!(std::fs::read(&path).unwrap() == python("gguf"), "{device}");
    }
    Ok(())
}

#[test]
fn dense_tensors_have_their_values() -> Result<()> {
    let file = File::from_bytes(python("gguf"))?;
    let mut upload = Upload::new(&Device::Cpu)?;
    let mut load = |name: &str| file.load(name, &mut upload);
    for name in ["float32", "float16", "float64", "int16", "int32", "int64"] {
        let tensor = load(name)?.tensor()?.to_dtype(DType::F64)?;
        assert_eq!(tensor.to_vec2::<f64>()?, [[-2.0, -1.0, 0.0], [1.0, 2.0, 3.0]], "{name}");
    }
    let tensor = load("bfloat16")?.tensor()?.to_dtype(DType::F32)?;
    assert_eq!(tensor.to_vec2::<f32>()?, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    assert_eq!(load("rank4")?.shape().dims(), [4, 3, 1, 2]);
    let weight = load("q4_k")?;
    let packed = weight.quantized().unwrap();
    assert_eq!(
        (packed.dtype().name(), packed.shape().dims(), packed.storage_size_in_bytes()),
        ("q4_k", &[2, 256][..], 288)
    );
    let error = weight.tensor().unwrap_err().to_string();
    assert!(error.contains("quantized (q4_k)"), "{error}");
    Ok(())
}

#[test]
fn metadata_keep_their_order_and_types() -> Result<()> {
    let nested = Array::Array(vec![
        Box::new(Array::U8(vec![1, 2])),
        Box::new(Array::String(["a", ""].into_iter().collect())),
        Box::new(Array::Array(vec![Box::new(Array::F64(vec![0.5]))])),
    ]);
    let arrays = [
        Array::I8(vec![-1]),
        Array::U16(vec![1]),
        Array::I16(vec![-2]),
        Array::U32(vec![]),
        Array::U64(vec![u64::MAX]),
        Array::I64(vec![i64::MIN]),
        nested,
    ];
    let mut metadata = Metadata::new();
    metadata.insert("z", "last letter, first key");
    for (index, array) in arrays.into_iter().enumerate() {
        metadata.insert(format!("a{index}"), array);
    }
    metadata.insert("nan", f32::from_bits(0x7fc0_1234));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metadata.gguf");
    gguf::write(&path, &metadata, [] as [(&str, &Weight); 0])?;
    let read = File::open(&path)?;
    let text = |metadata: &Metadata| {
        metadata.iter().map(|(key, value)| format!("{key} {} {value}", value.type_name())).collect::<Vec<_>>()
    };
    assert_eq!(text(read.metadata()), text(&metadata));
    assert!(matches!(read.metadata().get("nan"), Some(Value::F32(nan)) if nan.to_bits() == 0x7fc0_1234));
    assert_eq!(read.metadata().get("a6").unwrap().to_string(), r#"[[1, 2], ["a", ""], [[0.5]]]"#);
    assert!(read.is_empty());
    Ok(())
}

#[test]
fn split_models_and_parts_are_read_as_one() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: usize| folder.path().join(format!("m-{number:05}-of-00002.gguf"));
    // Our writer leaves out the keys of split files: what it writes is whole.
    let split = |no: u16, tensor: &str| {
        let raw = Raw::new(1, 3).text("split.no").u32(2);
        let raw = Raw([raw.0, no.to_le_bytes().to_vec()].concat()).text("split.count").u32(2);
        let raw =
            Raw([raw.0, 2u16.to_le_bytes().to_vec()].concat()).text("split.tensors.count").u32(5).u32(2);
        raw.tensor(tensor, &[2], 0, 0).data(8)
    };
    std::fs::write(name(1), split(0, "a")).unwrap();
    let error = File::open(name(1)).unwrap_err().to_string();
    assert!(error.contains("m-00002-of-00002.gguf") && error.contains("No such file"), "{error}");
    std::fs::write(name(2), split(1, "b")).unwrap();
    for number in [1, 2] {
        let file = File::open(name(number))?;
        assert_eq!((file.names().collect::<Vec<_>>(), file.file_count()), (vec!["a", "b"], 2));
        assert_eq!(*file.bytes("b")?, [7; 8]);
    }
    for (number, wrong, says) in [
        (2, split(1, "a"), "tensor \"a\" is also in a file before"),
        (
            2,
            split(0, "b"),
            "it says that it is file 0 of 2 (split.no and split.count), and its name says file 1 of 2",
        ),
    ] {
        std::fs::write(name(number), wrong).unwrap();
        let error = File::open(name(1)).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("m-00002"), "{error}");
    }
    let alone = folder.path().join("alone.gguf");
    std::fs::write(&alone, split(0, "a")).unwrap();
    let error = File::open(&alone).unwrap_err().to_string();
    assert!(error.contains("it is one of 2 files of a model"), "{error}");

    // A file that was cut anywhere.
    let whole = python("gguf");
    let cuts = [0, 1000, 1001, 3000, whole.len()];
    for (part, cut) in cuts.windows(2).enumerate() {
        std::fs::write(folder.path().join(format!("p.gguf.part{part:02}")), &whole[cut[0]..cut[1]]).unwrap();
    }
    let (cut, file) = (File::open(folder.path().join("p.gguf.part00"))?, File::from_bytes(whole)?);
    for name in file.names() {
        assert_eq!(cut.bytes(name)?, file.bytes(name)?, "{name}");
    }
    Ok(())
}

/// The error of a file with these bytes.
fn error(bytes: Vec<u8>) -> String {
    File::from_bytes(bytes).unwrap_err().to_string()
}

#[test]
fn wrong_headers_are_named() {
    let key = |count| Raw::new(0, count).text("k");
    let array = |kind: u32, count: u64| key(1).u32(9).u32(kind).u64(count);
    let deep = |depth: usize| {
        let mut raw = key(1).u32(9);
        for _ in 0..depth {
            raw = raw.u32(9).u64(1);
        }
        raw.u32(0).u64(0).data(0)
    };
    for (bytes, says) in [
        (vec![], "the file ends here, at 0 bytes: it is incomplete"),
        (b"PK\x03\x04".to_vec(), r#"it begins with "PK\x03\x04" and not with "GGUF""#),
        (b"GGUF\x01\0\0\0".to_vec(), "version 1 is not read"),
        (b"GGUF\0\0\0\x03".to_vec(), "the file is big-endian"),
        (b"GGUF\x09\0\0\0".to_vec(), "version 9 is not known"),
        (Raw::new(1 << 63, 0).data(64), "9223372036854775808 tensors do not fit"),
        (Raw::new(0, u64::MAX).data(64), "18446744073709551615 metadata do not fit"),
        (
            Raw::new(0, 1).u64(1 << 63).data(64),
            "the name of metadata 0: 9223372036854775808 bytes of text do not fit",
        ),
        (Raw::new(0, 1).u64(1).data(0), "the file"),
        (key(1).u32(13).data(64), "metadata \"k\": there is no type 13"),
        (key(1).u32(8).u64(1 << 40).data(64), "metadata \"k\": 1099511627776 bytes of text do not fit"),
        (key(1).u32(7).u32(2).data(0), "a truth value is 2"),
        (array(4, u64::MAX).data(64), "18446744073709551615 values do not fit"),
        (array(4, 33).data(32), "33 values do not fit"),
        (array(8, 4).u64(1).data(0), "metadata \"k\":"),
        (array(9, 1 << 62).data(64), "4611686018427387904 values do not fit"),
        (deep(9), "arrays lie in arrays more than 8 deep"),
        (key(2).u32(5).u32(0).text("k").u32(5).u32(1).data(0), "metadata \"k\": two values have this name"),
        (
            Raw::new(0, 1).text("general.alignment").u32(4).u32(48).data(0),
            "general.alignment is 48, which is no power",
        ),
    ] {
        let error = error(bytes);
        assert!(
            error.contains(says) && error.starts_with("gguf::open: bytes in memory: "),
            "{says}: {error}"
        );
    }
    assert!(File::from_bytes(deep(7)).is_ok());
}

#[test]
fn wrong_tensors_are_named() {
    let one = |lengths: &[u64], format, offset| Raw::new(1, 0).tensor("t", lengths, format, offset).data(64);
    let two =
        |first, second| Raw::new(2, 0).tensor("a", &[8], 0, first).tensor("b", &[8], 0, second).data(96);
    for (bytes, says) in [
        (one(&[16], 0, 32), "tensor \"t\": its bytes 32..96 of the data do not lie in the file"),
        (one(&[1], 0, 4), "tensor \"t\": it lies at 4, which is no multiple of 32"),
        (one(&[1], 0, u64::MAX - 31), "tensor \"t\""),
        (one(&[1 << 63, 2], 0, 0), "does not fit the address space"),
        (one(&[u64::MAX], 0, 0), "does not fit the address space"),
        (one(&[1 << 62], 24, 0), "do not lie in the file"),
        (one(&[1, 1, 1, 1, 1], 0, 0), "tensor \"t\": it has 5 dimensions"),
        (one(&[1], 4, 0), "tensor \"t\": its format has number 4, which is not known"),
        (one(&[48], 2, 0), "its rows have 48 elements, which are not whole blocks of 32 (q4_0)"),
        (two(0, 0), "tensors \"a\" and \"b\" lie on the same bytes"),
        (two(32, 0), ""),
        (
            Raw::new(1, 1).text("general.alignment").u32(10).u64(1 << 63).tensor("t", &[1], 0, 0).data(64),
            "tensor \"t\": its bytes 0..4 of the data do not lie in the file",
        ),
        (
            Raw::new(2, 0).tensor("a", &[9], 0, 0).tensor("b", &[1], 0, 32).data(96),
            "tensors \"a\" and \"b\" lie on the same",
        ),
        (
            Raw::new(2, 0).tensor("a", &[8], 0, 0).tensor("a", &[8], 0, 32).data(96),
            "tensor \"a\": two tensors have this name",
        ),
    ] {
        let read = File::from_bytes(bytes);
        match says {
            "" => assert_eq!(read.unwrap().len(), 2),
            says => {
                let error = read.unwrap_err().to_string();
                assert!(error.contains(says), "{says}: {error}");
            }
        }
    }
    // A scalar, and tensors of no elements.
    let file = File::from_bytes(one(&[], 0, 0)).unwrap();
    assert_eq!((file.info("t").unwrap().shape.rank(), file.info("t").unwrap().byte_len()), (0, 4));
    assert!(File::from_bytes(one(&[0, 1 << 40], 0, 0)).is_ok());
    let long = Raw::new(1, 0).tensor(&"n".repeat(10_000), &[1], 4, 0).data(64);
    assert!(error(long).len() < 400);
}

#[test]
fn eight_bit_integers_have_bytes_and_are_no_tensors() -> Result<()> {
    let file = File::from_bytes(Raw::new(1, 0).tensor("t", &[3], 24, 0).data(3))?;
    assert_eq!((file.info("t").unwrap().format, file.info("t").unwrap().format_name), (None, "i8"));
    assert_eq!(*file.bytes("t")?, [7; 3]);
    let error = file.load("t", &mut Upload::new(&Device::Cpu)?).unwrap_err().to_string();
    assert!(error.contains("format i8, which tensors do not have"), "{error}");
    Ok(())
}

#[test]
fn what_cannot_be_written_is_said_before_the_file_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gguf");
    let plan =
        |format: Format, shape: &[usize]| Planned { name: "t".to_owned(), format, shape: shape.into() };
    let q4_0 = QuantFormat::from_ggml_type(2).unwrap();
    let aligned: Metadata = [("general.alignment", 24u32)].into_iter().collect();
    let none = Metadata::new();
    for (metadata, tensors, says) in [
        (&none, vec![plan(DType::U8.into(), &[2])], "GGUF has no u8"),
        (&none, vec![plan(DType::F32.into(), &[1, 1, 1, 1, 1])], "more than 4 dimensions"),
        (&none, vec![plan(q4_0.into(), &[31])], "not whole blocks of 32"),
        (
            &none,
            vec![plan(DType::F32.into(), &[0]), plan(DType::F32.into(), &[0])],
            "two tensors are named \"t\"",
        ),
        (&none, vec![plan(DType::F32.into(), &[2])], "tensor \"t\" takes 8 bytes, and 3 were given"),
        (&aligned, vec![], "general.alignment is 24: it must be a u32 and a power of two"),
    ] {
        let error =
            gguf::write_planned(&path, metadata, &tensors, |_, put| put(&[1, 2, 3])).unwrap_err().to_string();
        assert!(error.contains(says), "{says}: {error}");
        assert!(!path.exists());
    }
}

#[test]
fn a_file_that_is_cut_short_meanwhile_is_an_error() -> Result<()> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), python("gguf")).unwrap();
    let open = File::open(file.path())?;
    file.as_file().set_len(3000).unwrap();
    let error = open.load("mxfp4", &mut Upload::new(&Device::Cpu)?).unwrap_err().to_string();
    assert!(error.contains("it was cut short while it was open"), "{error}");
    assert_eq!(open.load("int16", &mut Upload::new(&Device::Cpu)?)?.byte_len(), 12);
    Ok(())
}

#[test]
fn weights_are_made_of_tensors_too() -> Result<()> {
    let weight = Weight::from(Tensor::new([1f32, 2.0], &Device::Cpu)?);
    assert_eq!((weight.format(), weight.byte_len(), weight.shape().dims()), (DType::F32.into(), 8, &[2][..]));
    Ok(())
}
