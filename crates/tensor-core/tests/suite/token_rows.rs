//! Turning and writing in one launch gives the bits of the separate operations.

use tensor_core::{DType, Device, Result, Tensor, TokenRows};

use crate::common::devices;
use crate::quant_devices::tensor;

const LENGTH: usize = 8;

/// What turning, and writing to rows of caches, gives: query, keys and values.
fn separately(
    tokens: &TokenRows<'_>,
    [query, key, value]: [&Tensor; 3],
    caches: [Tensor; 2],
) -> Result<[Tensor; 3]> {
    let (query, key) = match tokens.interleaved {
        true => query.rope_i_pair(key, tokens.cos, tokens.sin)?,
        false => query.rope_pair(key, tokens.cos, tokens.sin)?,
    };
    let [mut keys, mut values] = caches;
    for (all, vectors) in [(&mut keys, &key), (&mut values, value)] {
        let vectors = vectors.transpose(0, 2)?;
        let ids = tokens.rows.reshape([1, 1, tokens.rows.elements(), 1])?.expand(vectors.shape().clone())?;
        all.scatter_(&ids, &vectors, 2)?;
    }
    Ok([query, keys, values])
}

fn bytes(tensors: &[Tensor; 3]) -> Result<Vec<Vec<u8>>> {
    tensors.iter().map(Tensor::to_bytes).collect()
}

#[test]
fn turning_and_writing_is_both_operations() -> Result<()> {
    for device in devices() {
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64, DType::F8E4M3] {
            for (sequences, heads, kv_heads) in [(1, 4, 2), (3, 6, 1)] {
                let at = |shape: &[usize], seed| tensor(shape, seed, dtype)?.to_device(device);
                let cache = |seed| at(&[1, kv_heads, 16, LENGTH], seed);
                // As products of layers, whose heads are behind their tokens, and a part of a wider result.
                let split = |heads: usize, seed| at(&[sequences, 1, heads, LENGTH], seed)?.transpose(1, 2);
                let wide =
                    at(&[sequences, 1, kv_heads, LENGTH + 3], 4)?.narrow(3, 2, LENGTH)?.transpose(1, 2)?;
                let (query, key) = (split(heads, 2)?, split(kv_heads, 3)?);
                let (cos, sin) = (at(&[sequences, 1, LENGTH / 2], 5)?, at(&[sequences, 1, LENGTH / 2], 6)?);
                // Of equal rows the last is written.
                for (rows_as, of) in
                    [(DType::U32, [11u32, 0, 15]), (DType::U32, [9, 2, 9]), (DType::I64, [11, 0, 15])]
                {
                    let rows = Tensor::from_vec(of[..sequences].to_vec(), sequences, &Device::Cpu)?;
                    let rows = rows.to_dtype(rows_as)?.to_device(device)?;
                    for (interleaved, value) in [(false, split(kv_heads, 4)?), (true, wide.clone())] {
                        let tokens = TokenRows { cos: &cos, sin: &sin, interleaved, rows: &rows };
                        let vectors = [&query, &key, &value];
                        let (mut keys, mut values) = (cache(7)?, cache(8)?);
                        let turned = tokens.turn_and_write(vectors, [&mut keys, &mut values])?;
                        let expected = separately(&tokens, vectors, [cache(7)?, cache(8)?])?;
                        let what = format!("{sequences} sequences, {dtype}, {rows_as} on {device}");
                        assert_eq!(bytes(&[turned, keys, values])?, bytes(&expected)?, "{what}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// A shared cache is copied first, and a wrong row is an error as it is of a scatter.
#[test]
fn shared_caches_stay_and_wrong_rows_are_errors() -> Result<()> {
    for device in devices() {
        // Opened anew: another test that reads from the same device would get the error.
        let device = if device.as_hip().is_some() { &Device::parse(&device.name())? } else { device };
        let at = |shape: &[usize], seed| tensor(shape, seed, DType::F32)?.to_device(device);
        let (vector, angles) = (at(&[1, 1, 1, LENGTH], 1)?, at(&[1, LENGTH / 2], 2)?);
        let old = at(&[1, 1, 4, LENGTH], 3)?;
        let (mut keys, mut values) = (old.clone(), old.clone());
        for (row, wrong) in [(3u32, false), (4, true)] {
            let rows = Tensor::from_vec(vec![row], 1, device)?;
            let tokens = TokenRows { cos: &angles, sin: &angles, interleaved: false, rows: &rows };
            let turned = tokens
                .turn_and_write([&vector; 3], [&mut keys, &mut values])
                .and_then(|query| query.to_bytes());
            match turned {
                Ok(_) => assert!(!wrong, "row {row} on {device}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        wrong && text.contains("scatter_: index 4 is out of range for axis 2 of length 4"),
                        "{text}"
                    );
                }
            }
        }
        assert_eq!(old.to_bytes()?, at(&[1, 1, 4, LENGTH], 3)?.to_bytes()?);
        assert_eq!(values.narrow(2, 3, 1)?.to_bytes()?, vector.to_bytes()?);
        assert_ne!(keys.to_bytes()?, old.to_bytes()?);
    }
    Ok(())
}
