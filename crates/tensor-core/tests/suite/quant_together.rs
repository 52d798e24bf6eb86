//! Products of the same activations with several quantized matrices, and operations that round their results for them: the bits of
//! the separate operations.

use tensor_core::{BinaryOp, DType, QActivations, QTensor, QuantFormat, Result, Tensor};

use crate::common::devices;
use crate::quant_devices::{FORMATS, tensor};

/// Each product is that of its matrix alone, in their order.
#[test]
fn several_matrices_share_their_activations() -> Result<()> {
    for device in devices() {
        let matrix = |(index, (rows, format)): (usize, (usize, QuantFormat))| {
            QTensor::quantize_onto(&tensor(&[rows, 2304], index as u64, DType::F32)?, format, device)
        };
        // Three, two and one of a format, others between them; then more than fit a launch.
        let some = [
            (5, QuantFormat::Q8_0),
            (64, QuantFormat::Q4K),
            (7, QuantFormat::Q8_0),
            (8, QuantFormat::Q4_1),
            (1, QuantFormat::Q4K),
            (9, QuantFormat::Q8_0),
        ];
        let many = [6, 3, 1, 2, 5, 4, 7].map(|rows| (rows, QuantFormat::Q5_0));
        // Of each format, in front of, between and behind others.
        let each = FORMATS.map(|format| [(3, format), (2, format), (4, format)]).concat();
        for matrices in [&some[..], &many, &each] {
            let matrices: Vec<QTensor> =
                matrices.iter().copied().enumerate().map(matrix).collect::<Result<_>>()?;
            let all: Vec<&QTensor> = matrices.iter().collect();
            for (rows, dtype) in
                [(1, DType::F32), (1, DType::F16), (1, DType::BF16), (3, DType::F32), (9, DType::F32)]
            {
                let xs = tensor(&[rows, 2304], 9, dtype)?.to_device(device)?;
                let together = QTensor::forward_each(&all, &xs)?;
                assert_eq!(together.len(), all.len());
                for (y, matrix) in together.iter().zip(&matrices) {
                    let alone = matrix.forward(&xs)?;
                    assert_eq!((y.dims(), y.dtype()), (alone.dims(), dtype));
                    assert_eq!(
                        y.to_bytes()?,
                        alone.to_bytes()?,
                        "{} of {rows} rows of {dtype} on {device}",
                        matrix.dtype()
                    );
                }
            }
            let wide = tensor(&[1, 2560], 9, DType::F32)?.to_device(device)?;
            assert!(QTensor::forward_each(&all, &wide).is_err());
        }
    }
    Ok(())
}

/// Several teams share a row of few long rows, but not one of many: such matrices have launches of their own.
#[test]
fn matrices_with_few_and_with_many_rows_are_multiplied_together() -> Result<()> {
    for device in devices() {
        let matrices = [3, 4096, 2].map(|rows| {
            QTensor::quantize_onto(
                &tensor(&[rows, 6144], rows as u64, DType::F32)?,
                QuantFormat::Q8_0,
                device,
            )
        });
        let [few, many, fewer] = matrices;
        let all = [&few?, &many?, &fewer?];
        // A view whose axes in front of the last one are lost on the way, from an odd element on.
        let xs =
            tensor(&[6145], 9, DType::F32)?.to_device(device)?.narrow(0, 1, 6144)?.reshape([1, 1, 6144])?;
        for (y, matrix) in QTensor::forward_each(&all, &xs)?.iter().zip(all) {
            assert_eq!(y.dims(), [1, 1, matrix.shape().dims()[0]]);
            assert_eq!(y.to_bytes()?, matrix.forward(&xs)?.to_bytes()?, "on {device}");
        }
    }
    Ok(())
}

/// The products of activations with two matrices whose formats use all that is rounded: bytes, scales and sums.
fn products(activations: &mut QActivations) -> Result<Vec<Vec<u8>>> {
    let (width, device) = (activations.tensor().dims()[1], activations.tensor().device());
    let matrix = |format| QTensor::quantize_onto(&tensor(&[33, width], 4, DType::F32)?, format, &device);
    let matrices = [matrix(QuantFormat::Q8_0)?, matrix(QuantFormat::Q4_1)?];
    let products = activations.products(&matrices.each_ref())?;
    products.iter().map(Tensor::to_bytes).collect()
}

#[test]
fn a_norm_that_rounds_gives_the_bits_of_both_operations() -> Result<()> {
    for device in devices() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            // Short rows and long ones, some that the registers of a block do not hold.
            for (rows, width) in [(1, 64), (1, 1056), (3, 2048), (9, 1056), (1, 8224)] {
                let at = |seed| tensor(&[rows, width], seed, dtype)?.affine(3.0, 0.5)?.to_device(device);
                let weight = tensor(&[width], 3, dtype)?.to_device(device)?;
                let (mut x, mut y, other) = (at(1)?, at(1)?, at(2)?);
                let mut rounded = QActivations::add_rms_norm_(&mut x, &other, &weight, 1e-5)?;
                let normed = y.add_rms_norm_(&other, &weight, 1e-5)?;
                let what = format!("{rows} rows of {width} of {dtype} on {device}");
                assert_eq!(x.to_bytes()?, y.to_bytes()?, "{what}");
                assert_eq!(rounded.tensor().to_bytes()?, normed.to_bytes()?, "{what}");
                assert_eq!(products(&mut rounded)?, products(&mut QActivations::new(normed))?, "{what}");
            }
            // Without a weight, of a broadcast summand, and from an odd element on.
            let wide = tensor(&[2, 1057], 5, dtype)?.to_device(device)?;
            let (mut x, mut y) = (wide.narrow(1, 1, 1056)?.copy()?, wide.narrow(1, 1, 1056)?.copy()?);
            let row = wide.narrow(0, 1, 1)?.narrow(1, 1, 1056)?;
            let mut rounded = QActivations::add_rms_norm_(&mut x, &row, None, 1e-5)?;
            let normed = y.add_rms_norm_(&row, None, 1e-5)?;
            assert_eq!(
                products(&mut rounded)?,
                products(&mut QActivations::new(normed))?,
                "{dtype} on {device}"
            );
        }
        let (mut x, other) = (tensor(&[1, 64], 1, DType::F32)?, tensor(&[1, 65], 2, DType::F32)?);
        x = x.to_device(device)?;
        assert!(QActivations::add_rms_norm_(&mut x, &other.to_device(device)?, None, 1e-5).is_err());
    }
    Ok(())
}

#[test]
fn gates_that_round_give_the_bits_of_both_operations() -> Result<()> {
    for device in devices() {
        for op in [BinaryOp::SiluMul, BinaryOp::GeluMul, BinaryOp::Mul] {
            for dtype in [DType::F32, DType::F16, DType::BF16] {
                for (rows, width) in [(1, 32), (1, 1056), (5, 256), (9, 64)] {
                    let at = |seed| tensor(&[rows, width], seed, dtype)?.affine(9.0, 0.0)?.to_device(device);
                    let (gate, up) = (at(1)?, at(2)?);
                    let mut rounded = QActivations::gated(gate.copy()?, &up, op)?;
                    let gated = gate.binary(&up, op)?;
                    let what = format!("{op:?} of {rows} rows of {width} of {dtype} on {device}");
                    assert_eq!(rounded.tensor().to_bytes()?, gated.to_bytes()?, "{what}");
                    assert_eq!(products(&mut rounded)?, products(&mut QActivations::new(gated))?, "{what}");
                }
                // A broadcast operand, one that is transposed, and one from an odd element on.
                let gate = tensor(&[3, 65], 1, dtype)?.to_device(device)?.narrow(1, 1, 64)?;
                let row = tensor(&[1, 64], 2, dtype)?.to_device(device)?;
                let turned = tensor(&[64, 3], 2, dtype)?.to_device(device)?.t()?;
                for up in [row, turned, gate.clone()] {
                    let mut rounded = QActivations::gated(gate.copy()?, &up, op)?;
                    let gated = gate.binary(&up, op)?;
                    assert_eq!(
                        products(&mut rounded)?,
                        products(&mut QActivations::new(gated))?,
                        "{op:?} on {device}"
                    );
                }
            }
        }
        let gate = tensor(&[1, 64], 1, DType::F32)?.to_device(device)?;
        let narrow = gate.narrow(1, 0, 32)?;
        assert!(QActivations::gated(gate, &narrow, BinaryOp::SiluMul).is_err());
    }
    Ok(())
}

/// With few keys and with many, which blocks share.
#[test]
fn attention_that_rounds_gives_the_bits_of_both_operations() -> Result<()> {
    for device in devices() {
        for dtype in [DType::F32, DType::BF16] {
            for (batch, queries, keys, width) in [
                (1, 1, 40, 32),
                (1, 1, 700, 64),
                (3, 1, 600, 96),
                (1, 2, 600, 32),
                (1, 1, 600, 288),
                (1, 1, 600, 40),
            ] {
                let at = |heads: usize, rows: usize, seed| {
                    tensor(&[batch, heads, rows, width], seed, dtype)?.to_device(device)
                };
                // 8 heads of 40 are whole groups as well, but not each of them.
                let (query, key, value) = (at(8, queries, 1)?, at(2, keys, 2)?, at(2, keys, 3)?);
                let mask = Tensor::ones([queries, keys], DType::U8, device)?;
                let mut rounded =
                    QActivations::attention(&query, [&key, &value], Some(&mask), false, Some(0.3))?;
                let mixed =
                    query.scaled_dot_product_attention(&key, &value, Some(&mask), false, Some(0.3))?;
                let mixed = mixed.transpose(1, 2)?.reshape([batch * queries, 8 * width])?;
                let what = format!("{batch} × {queries} × {keys} × {width} of {dtype} on {device}");
                assert_eq!(rounded.tensor().to_bytes()?, mixed.to_bytes()?, "{what}");
                assert_eq!(products(&mut rounded)?, products(&mut QActivations::new(mixed))?, "{what}");
            }
        }
    }
    Ok(())
}
