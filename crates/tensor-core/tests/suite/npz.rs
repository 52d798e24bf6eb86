//! NumPy's archives, as NumPy writes them (`tests/vectors/npz.py`), and damage.

use std::collections::BTreeMap;

use crate::common::{on_devices, temporary, values};
use tensor_core::{DType, ErrorKind, Result, Tensor, npz};

const STORED: &[u8] = include_bytes!("../vectors/npz/stored.npz");
const DEFLATED: &[u8] = include_bytes!("../vectors/npz/deflated.npz");

/// Name, dtype, shape and numbers of the arrays that both archives have.
fn expected() -> [(&'static str, DType, &'static [usize], Vec<f64>); 3] {
    [
        ("layer.0/ids", DType::I64, &[2, 2], vec![1.0, -2.0, 3.0, (1u64 << 40) as f64]),
        ("scale", DType::F16, &[], vec![0.5]),
        ("weight", DType::F32, &[2, 3], vec![0.0, 0.25, 0.5, 0.75, 1.0, 1.25]),
    ]
}

#[track_caller]
fn check(tensor: &Tensor, dtype: DType, dims: &[usize], numbers: &[f64]) -> Result<()> {
    assert_eq!((tensor.dtype(), tensor.dims()), (dtype, dims));
    assert_eq!(values(tensor)?, numbers);
    Ok(())
}

#[test]
fn all_arrays_of_an_archive() {
    let file = temporary(DEFLATED);
    on_devices(|device| {
        let arrays: BTreeMap<String, Tensor> = npz::read(file.path(), device)?;
        assert_eq!(arrays.len(), 4);
        for (name, dtype, dims, numbers) in expected() {
            check(&arrays[name], dtype, dims, &numbers)?;
        }
        check(&arrays["zeros"], DType::U8, &[3000], &[0.0; 3000])
    });
}

#[test]
fn single_arrays() {
    let file = temporary(STORED);
    on_devices(|device| {
        let mut archive = npz::File::open(file.path())?;
        let names: Vec<String> = archive.names().map(str::to_owned).collect();
        assert_eq!(names, ["flags", "weight", "layer.0/ids", "scale"]);
        for (name, dtype, dims, numbers) in expected() {
            check(&archive.load(name, device)?, dtype, dims, &numbers)?;
        }
        let path = file.path().display();
        let error = archive.load("bias", device).unwrap_err().to_string();
        assert_eq!(error, format!("npz::load: {path}: there is no array \"bias\" among its 4"));
        // Booleans are no dtype of tensors; `read` wants all arrays.
        let error = archive.load("flags", device).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("npz::load: {path}/flags.npy: ")) && error.contains("b1"),
            "{error}"
        );
        assert!(matches!(npz::read(file.path(), device).unwrap_err().kind(), ErrorKind::File { .. }));
        Ok(())
    });
}

#[test]
fn damage_is_an_error() {
    let device = tensor_core::Device::Cpu;
    let missing = npz::File::open("no such file.npz").unwrap_err();
    assert!(matches!(missing.kind(), ErrorKind::Io { .. }), "{missing}");
    for bytes in [&b""[..], b"PK", &STORED[..STORED.len() - 30]] {
        let error = npz::File::open(temporary(bytes).path()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::File { .. }), "{error}");
    }
    // A changed byte of the weight: the archive's check sum does not fit.
    let mut bytes = STORED.to_vec();
    let at = bytes.windows(4).rposition(|four| four == 1.25f32.to_le_bytes()).expect("the last weight");
    bytes[at] ^= 1;
    let file = temporary(&bytes);
    let error = npz::File::open(file.path()).unwrap().load("weight", &device).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::File { .. }), "{error}");
    assert!(error.to_string().contains("weight.npy: damaged: "), "{error}");
    // No change of a byte makes it panic.
    for archive in [STORED, DEFLATED] {
        for at in 0..archive.len() {
            let mut bytes = archive.to_vec();
            bytes[at] ^= 0x55;
            let _ = npz::read(temporary(&bytes).path(), &device);
        }
    }
}
