//! NumPy files: bytes as NumPy writes them, and damage.

use std::fs;

use crate::common::{on_devices, temporary, values};
use proptest::prelude::*;
use tensor_core::{DType, Device, Tensor, npy};

/// A file of this version, header and data, padded as NumPy does.
fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let prefix = if version == 1 { 10 } else { 12 };
    let padding = 64 - (prefix + header.len() + 1) % 64;
    let text = format!("{header}{}\n", " ".repeat(padding));
    let length = (text.len() as u32).to_le_bytes();
    [b"\x93NUMPY", &[version, 0][..], &length[..prefix - 8], text.as_bytes(), data].concat()
}

fn read(bytes: &[u8], device: &Device) -> tensor_core::Result<Tensor> {
    npy::read(temporary(bytes).path(), device)
}

#[test]
fn written_files_read_back() {
    on_devices(|device| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let bytes: Vec<u8> = (0..48).map(|i| i * 3 + 2).collect();
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.npy_name().is_some()) {
            let count = 48 / dtype.size_in_bytes();
            let flat = Tensor::from_bytes(&bytes, dtype, count, device)?;
            for tensor in [flat.clone(), flat.reshape([2, count / 2])?, flat.reshape([2, 1, count / 2])?.t()?]
            {
                npy::write(&path, &tensor)?;
                let back = npy::read(&path, device)?;
                assert_eq!((back.dtype(), back.dims()), (dtype, tensor.dims()));
                assert_eq!(back.to_bytes()?, tensor.to_bytes()?);
            }
        }
        for dims in [&[][..], &[0], &[2, 0, 3], &[1; 40]] {
            npy::write(&path, &Tensor::ones(dims, DType::F64, device)?)?;
            assert_eq!(npy::read(&path, device)?.dims(), dims);
        }
        Ok(())
    });
}

#[test]
fn files_are_those_that_numpy_writes() {
    // numpy.save of arange(6, dtype=float32).reshape(2, 3), and of array(7, dtype=uint8).
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let data: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_le_bytes()).collect();
    npy::write(&path, &Tensor::arange(0f32, 6.0, &Device::Cpu).unwrap().reshape([2, 3]).unwrap()).unwrap();
    let expected = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", &data);
    assert_eq!(fs::read(&path).unwrap(), expected);
    assert_eq!(expected.len(), 128 + 24);
    npy::write(&path, &Tensor::new(7u8, &Device::Cpu).unwrap()).unwrap();
    assert_eq!(
        fs::read(&path).unwrap(),
        file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", &[7])
    );
    npy::write(&path, &Tensor::new([1i16, -2], &Device::Cpu).unwrap()).unwrap();
    let expected = file(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", &[1, 0, 0xfe, 0xff]);
    assert_eq!(fs::read(&path).unwrap(), expected);
}

#[test]
fn all_versions_orders_and_byte_orders() {
    on_devices(|device| {
        for version in [1, 2, 3] {
            let c = file(
                version,
                "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
                &[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0],
            );
            assert_eq!(read(&c, device)?.to_vec2::<i16>()?, [[1, 2, 3], [4, 5, 6]]);
        }
        let fortran = file(
            1,
            "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
            &[1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0],
        );
        assert_eq!(read(&fortran, device)?.to_vec2::<i16>()?, [[1, 2, 3], [4, 5, 6]]);
        let big: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
        let big = file(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }", &big);
        assert_eq!(read(&big, device)?.to_vec1::<f64>()?, [1.5, -2.0]);
        let cube: Vec<u8> = (0..24).collect();
        let cube = file(2, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", &cube);
        // In Fortran order element (i, j, k) lies at i + 2j + 6k.
        let expected: Vec<f64> = (0..24).map(|p| f64::from(p / 12 + 2 * (p / 4 % 3) + 6 * (p % 4))).collect();
        assert_eq!(values(&read(&cube, device)?)?, expected);
        Ok(())
    });
}

#[test]
fn damaged_files_are_refused_with_a_reason() {
    let refusal = |bytes: &[u8]| {
        let message = read(bytes, &Device::Cpu).unwrap_err().to_string();
        // The operation, the path, and then the reason.
        message.splitn(3, ": ").nth(2).unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    assert_eq!(refusal(b""), "not an .npy file: it does not start with \\x93NUMPY");
    assert_eq!(
        refusal(b"PK\x03\x04 a zip, so an .npz"),
        "not an .npy file: it does not start with \\x93NUMPY"
    );
    assert_eq!(refusal(b"\x93NUMPY\x01"), "truncated: it ends before the version");
    assert_eq!(refusal(b"\x93NUMPY\x01\x00\x10"), "truncated: it ends before the header's length");
    assert_eq!(refusal(b"\x93NUMPY\x02\x00\x10\x00\x00"), "truncated: it ends before the header's length");
    assert_eq!(refusal(b"\x93NUMPY\x04\x00\x00\x00\x00\x00"), "version 4.0 is not known; 1, 2 and 3 are");
    assert_eq!(
        refusal(b"\x93NUMPY\x01\x00\x10\x00{}"),
        "truncated: the header has 16 bytes, 2 are left in the file"
    );
    assert_eq!(
        refusal(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"),
        "truncated: the header has 4294967295 bytes, 2 are left in the file"
    );
    assert!(refusal(b"\x93NUMPY\x01\x00\x02\x00\xff\xfe").starts_with("the header is not text"));
    let header = |descr: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
    };
    let with = |descr: &str, shape: &str, data: &[u8]| refusal(&file(1, &header(descr, shape), data));
    assert_eq!(with("<f4", "(2,)", &[0; 7]), "7 bytes of data, but [2] of f32 needs 8");
    assert_eq!(with("<f4", "(2,)", &[0; 9]), "9 bytes of data, but [2] of f32 needs 8");
    assert_eq!(
        with("<f4", "(4294967296, 4294967296)", b""),
        "the shape [4294967296, 4294967296] is too large for the address space"
    );
    assert_eq!(
        with("<f8", "(4611686018427387904,)", b""),
        "the shape [4611686018427387904] is too large for the address space"
    );
    let unsupported = "is not supported; u1 u4 i2 i4 i8 f2 f4 f8 are: convert the array with astype";
    for descr in ["|O", "", "<M8[ns]"] {
        assert_eq!(with(descr, "(1,)", &[0; 8]), format!("dtype {descr:?} {unsupported}"));
    }
    for descr in ["|i1", "<u2", "<u8", "<c8", "<U5", "|V2", "<f16"] {
        let expected = format!("dtype {descr:?} {unsupported}, or take its bytes with npy::read_raw");
        assert_eq!(with(descr, "(1,)", &[0; 8]), expected);
    }
    let expected = format!("dtype \"|b1\" {unsupported}, or read it as u8 with npy::read_bool");
    assert_eq!(with("|b1", "(1,)", &[1]), expected);
    let many = format!("({})", "1, ".repeat(65));
    assert_eq!(with("<f4", &many, &[0; 4]), "the array has more than 64 axes, which no array of NumPy has");
    let long = file(2, &header("<f4", &format!("({}1,)", " ".repeat(1 << 20))), &[0; 4]);
    assert!(refusal(&long).ends_with("bytes, more than 1048576"));
}

/// Longer than it may be, and of an order that turns the axes round: 100,000 of them once took seconds.
#[test]
fn many_axes_are_refused_at_once() {
    let header = format!("{{'descr': '|u1', 'fortran_order': True, 'shape': ({})}}", "1,".repeat(100_000));
    let error = read(&file(2, &header, &[7]), &Device::Cpu).unwrap_err().to_string();
    assert!(error.ends_with("the array has more than 64 axes, which no array of NumPy has"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let most = Tensor::ones([1; 64], DType::F32, &Device::Cpu).unwrap();
    npy::write(&path, &most).unwrap();
    assert_eq!(npy::read(&path, &Device::Cpu).unwrap().dims(), [1; 64]);
    let error = npy::write(&path, &most.unsqueeze(0).unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("has rank 65, expected at most 64, as NumPy's arrays have"), "{error}");
}

/// A small file that asks for 2^40 rows without elements.
#[test]
fn rows_without_elements_are_read() {
    on_devices(|device| {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (8796093022208, 0)}";
        let tensor = read(&file(1, header, &[]), device)?;
        assert_eq!((tensor.dims(), tensor.elements()), (&[1 << 43, 0][..], 0));
        let error = tensor.to_vec2::<f32>().unwrap_err().to_string();
        assert!(error.contains("out of memory: 211106232532992 bytes asked for"), "{error}");
        assert_eq!(tensor.to_string().split(',').next(), Some("tensor([]"));
        Ok(())
    });
}

#[test]
fn truth_values_are_read_as_u8() {
    on_devices(|device| {
        let header = |order| format!("{{'descr': '|b1', 'fortran_order': {order}, 'shape': (2, 2), }}");
        let bool = |header: &str| npy::read_bool(temporary(&file(1, header, &[0, 1, 7, 255])).path(), device);
        assert_eq!(bool(&header("False"))?.to_vec2::<u8>()?, [[0, 1], [1, 1]]);
        assert_eq!(bool(&header("True"))?.to_vec2::<u8>()?, [[0, 1], [1, 1]]);
        let error = bool("{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}").unwrap_err().to_string();
        assert!(error.ends_with("its dtype is \"|u1\", not \"|b1\""), "{error}");
        Ok(())
    });
}

#[test]
fn arrays_without_a_tensor_dtype_are_returned_as_bytes() {
    let raw = |descr: &str, order: &str, shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        npy::read_raw(temporary(&file(1, &header, data)).path())
    };
    let data: Vec<u8> = (0..16).collect();
    for (descr, shape) in [("|b1", vec![16]), ("|i1", vec![2, 8]), ("<u2", vec![8]), (">u8", vec![2])] {
        let text = format!("{shape:?},").replace('[', "(").replace("],", ",)");
        let found = raw(descr, "True", &text, &data).unwrap();
        assert_eq!((&found.descr[..], found.fortran_order, &found.bytes), (descr, true, &data));
        assert_eq!(found.shape.dims(), shape);
    }
    assert!(!raw("<c16", "False", "(1,)", &data).unwrap().fortran_order);
    let says = |result: tensor_core::Result<npy::Raw>, what: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("npy::read_raw: ") && error.ends_with(what), "{error}");
    };
    says(raw("<u2", "False", "(9,)", &data), "16 bytes of data, but [9] of <u2 needs 18");
    says(raw("<u8", "False", "(2305843009213693952,)", b""), "too large for the address space");
    says(raw("|O", "False", "(2,)", &data), "convert the array with astype");
}

/// Opening a FIFO waits for somebody who writes to it: what lies there is looked at before.
#[cfg(unix)]
#[test]
fn a_fifo_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let error = npy::read(&path, &Device::Cpu).unwrap_err().to_string();
    assert_eq!(error, format!("npy::read: {}: is not a regular file", path.display()));
    for device in ["/dev/null", "/dev/zero"] {
        let error = npy::read(device, &Device::Cpu).unwrap_err().to_string();
        assert_eq!(error, format!("npy::read: {device}: is not a regular file"));
    }
}

/// Both formats are written by one piece, whose own tests have the rest.
#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
    fs::write(&file, b"old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();
    let x = Tensor::new([1u8, 2], &Device::Cpu).unwrap();
    let array = || npy::write(&link, &x);
    let named = || tensor_core::safetensors::write(&link, [("x", &x)], &std::collections::BTreeMap::new());
    let both: [&dyn Fn() -> tensor_core::Result<()>; 2] = [&array, &named];
    for write in both {
        write().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read(&file).unwrap().ends_with(&[1, 2]));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }
}

#[test]
fn bf16_and_f8_cannot_be_written_for_numpy() {
    for dtype in [DType::BF16, DType::F8E4M3] {
        let folder = tempfile::tempdir().unwrap();
        let error = npy::write(folder.path().join("x.npy"), &Tensor::ones(2, dtype, &Device::Cpu).unwrap())
            .unwrap_err();
        let expected = format!(
            "npy::write: {dtype} is not supported (shape [2]); NumPy has no such type: cast it with to_dtype, or write a safetensors file"
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    }
}

#[test]
fn every_truncation_is_refused() {
    let data: Vec<u8> = (0..24).collect();
    let whole = file(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", &data);
    assert!(read(&whole, &Device::Cpu).is_ok());
    for length in 0..whole.len() {
        assert!(read(&whole[..length], &Device::Cpu).is_err(), "{length} of {} bytes", whole.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Changed bytes give an error or a tensor, never a panic.
    #[test]
    fn mutations_never_panic(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..5)) {
        let mut bytes = file(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", &[7; 24]);
        for (index, value, syntax) in changes {
            let index = index.index(bytes.len());
            bytes[index] = if syntax { b"0123456789(){},:' <>|TF"[usize::from(value) % 23] } else { value };
        }
        if let Ok(tensor) = read(&bytes, &Device::Cpu) {
            prop_assert!(tensor.to_bytes().unwrap().len() <= bytes.len());
        }
    }

    #[test]
    fn random_headers_never_panic(text in "[{}():,' <>|a-zTF0-9_L]{0,80}") {
        let _ = read(&file(2, &text, &[0; 8]), &Device::Cpu);
    }
}
