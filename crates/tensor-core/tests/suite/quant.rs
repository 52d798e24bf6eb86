//! Quantized tensors: shapes, dtypes, rows by ids, experts, and errors.

use std::borrow::Cow;

use tensor_core::{DType, Device, QStorage, QTensor, QuantFormat, Result, Tensor};

const CPU: Device = Device::Cpu;

/// A matrix of numbers from −1 to 1.
fn matrix(rows: usize, columns: usize) -> Tensor {
    let numbers = (0..rows * columns).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
    Tensor::from_vec::<f32>(numbers, [rows, columns], &CPU).unwrap()
}

/// The largest difference of two tensors.
fn difference(a: &Tensor, b: &Tensor) -> f32 {
    let (a, b) = (a.to_dtype(DType::F32).unwrap(), b.to_dtype(DType::F32).unwrap());
    assert_eq!(a.dims(), b.dims());
    let (a, b) = (a.to_vec::<f32>().unwrap(), b.to_vec::<f32>().unwrap());
    a.iter().zip(&b).fold(0.0, |most, (x, y)| (x - y).abs().max(most))
}

fn message<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn the_parts_of_a_tensor_are_read_back() -> Result<()> {
    let weights = matrix(6, 256);
    for format in QuantFormat::ALL.into_iter().filter(|format| format.can_quantize()) {
        let quantized = QTensor::quantize(&weights, format)?;
        assert_eq!(
            (quantized.dtype(), quantized.rank(), quantized.shape().dims()),
            (format, 2, &[6, 256][..])
        );
        let size = 6 * 256 / format.block_size() * format.type_size();
        assert_eq!((quantized.storage_size_in_bytes(), quantized.data()?.len()), (size, size));
        let storage = QStorage::from_data(Cow::Owned(quantized.data()?.into_owned()), &CPU, format)?;
        let again = QTensor::new(storage, (2, 3, 256))?;
        let values = quantized.dequantize(&CPU)?;
        assert_eq!(again.dequantize(&CPU)?.to_vec::<f32>()?, values.to_vec::<f32>()?);
        assert!(difference(&values, &weights) < 0.4, "{format}");
        for dtype in [DType::F16, DType::BF16] {
            let narrow = quantized.dequantize_to(dtype, &CPU)?;
            assert_eq!(narrow.to_bytes()?, values.to_dtype(dtype)?.to_bytes()?);
        }
        assert_eq!(quantized.dequantize_f16(&CPU)?.dtype(), DType::F16);
    }
    Ok(())
}

#[test]
fn a_view_is_quantized_as_its_copy() -> Result<()> {
    let view = matrix(32, 5).t()?;
    let (a, b) =
        (QTensor::quantize(&view, QuantFormat::Q4_1)?, QTensor::quantize(&view.copy()?, QuantFormat::Q4_1)?);
    assert_eq!(a.data()?, b.data()?);
    let x = matrix(32, 3).t()?;
    assert_eq!(a.forward(&x)?.to_vec::<f32>()?, a.forward(&x.copy()?)?.to_vec::<f32>()?);
    Ok(())
}

#[test]
fn activations_may_have_any_rank_and_three_dtypes() -> Result<()> {
    let weights = QTensor::quantize(&matrix(7, 64), QuantFormat::Q8_0)?;
    let exact = weights.dequantize(&CPU)?.t()?;
    for rows in [1, 2, 8, 9, 40] {
        let x = matrix(rows, 64);
        let y = weights.forward(&x)?;
        assert!(difference(&y, &x.matmul(&exact)?) < 64.0 / 254.0, "{rows}");
        assert_eq!(weights.forward(&x.reshape([1, rows, 1, 64])?)?.dims(), [1, rows, 1, 7]);
        for dtype in [DType::F16, DType::BF16] {
            let narrow = x.to_dtype(dtype)?;
            let y = weights.forward(&narrow)?;
            assert_eq!(y.dtype(), dtype);
            let wide = weights.forward(&narrow.to_dtype(DType::F32)?)?;
            assert_eq!(y.to_bytes()?, wide.to_dtype(dtype)?.to_bytes()?);
        }
    }
    assert_eq!(weights.forward(&matrix(1, 64).squeeze(0)?)?.dims(), [7]);
    assert_eq!(weights.forward(&matrix(0, 64))?.dims(), [0, 7]);
    Ok(())
}

#[test]
fn several_cores_give_the_bits_of_one_row() -> Result<()> {
    let weights = QTensor::quantize(&matrix(700, 1024), QuantFormat::Q5_1)?;
    for rows in [3, 8, 20] {
        let x = matrix(rows, 1024);
        let y = weights.forward(&x)?;
        for row in 0..rows {
            let own = weights.forward(&x.narrow(0, row, 1)?)?;
            assert_eq!(y.narrow(0, row, 1)?.to_vec::<f32>()?, own.to_vec::<f32>()?);
        }
    }
    Ok(())
}

#[test]
fn rows_are_those_of_the_dequantized_table() -> Result<()> {
    let table = QTensor::quantize(&matrix(10, 512), QuantFormat::Q6K)?;
    let ids = Tensor::new([[3u32, 0], [9, 3]], &CPU)?;
    let rows = table.embedding(&ids)?;
    assert_eq!(rows.dims(), [2, 2, 512]);
    assert_eq!(rows.to_vec::<f32>()?, table.dequantize(&CPU)?.embedding(&ids)?.to_vec::<f32>()?);
    assert_eq!(
        message(table.embedding(&Tensor::new([10i64], &CPU)?)),
        "embedding: index 10 is out of range for axis 0 of length 10 on cpu"
    );
    assert!(message(table.embedding(&Tensor::new([1f32], &CPU)?)).contains("ids are u8, u32, i32 or i64"));
    Ok(())
}

#[test]
fn experts_are_chosen_by_ids() -> Result<()> {
    let (experts, columns, width) = (4, 5, 256);
    let weights = matrix(experts * columns, width);
    let quantized = QTensor::quantize(&weights.reshape([experts, columns, width])?, QuantFormat::Q4K)?;
    let chosen = [[2u32, 0], [1, 2], [3, 3]];
    let ids = Tensor::new(chosen, &CPU)?;
    for each in [1, 2] {
        let x = matrix(3 * each, width).reshape([3, each, width])?;
        let y = quantized.indexed_moe_forward(&x, &ids)?;
        assert_eq!(y.dims(), [3, 2, columns]);
        for (row, experts) in chosen.iter().enumerate() {
            for (index, expert) in experts.iter().enumerate() {
                let own = weights.narrow(0, *expert as usize * columns, columns)?;
                let own = QTensor::quantize(&own, QuantFormat::Q4K)?;
                let x = x.narrow(0, row, 1)?.narrow(1, index.min(each - 1), 1)?;
                let expected = own.forward(&x)?.to_vec::<f32>()?;
                assert_eq!(y.narrow(0, row, 1)?.narrow(1, index, 1)?.to_vec::<f32>()?, expected);
            }
        }
    }
    let x = matrix(3, width).reshape([3, 1, width])?;
    assert_eq!(
        message(quantized.indexed_moe_forward(&x, &Tensor::new([[4u32], [0], [0]], &CPU)?)),
        "indexed_moe_forward: index 4 is out of range for axis 0 of length 4 on cpu"
    );
    let two = Tensor::new([[0u32], [1]], &CPU)?;
    assert!(
        message(quantized.indexed_moe_forward(&x, &two))
            .contains("[3, 1, 256] and ids of [2, 1] do not match")
    );
    Ok(())
}

#[test]
fn wrong_lengths_and_dtypes_are_errors() -> Result<()> {
    let weights = matrix(3, 64);
    let error = "quantize: rows of 64 numbers are no whole number of q6_k blocks, which have 256 numbers ([3, 64]) on cpu";
    assert_eq!(message(QTensor::quantize(&weights, QuantFormat::Q6K)), error);
    let error = "quantize: there is no quantizer to iq2_s: blocks of this format come from files on cpu";
    assert_eq!(message(QTensor::quantize(&matrix(1, 256), QuantFormat::IQ2S)), error);
    let error = "from_data: 35 bytes are no whole number of q8_0 blocks, which have 34 bytes on cpu";
    assert_eq!(message(QStorage::from_data(Cow::Borrowed(&[0; 35]), &CPU, QuantFormat::Q8_0)), error);
    let block = || QStorage::from_data(Cow::Borrowed(&[0; 34]), &CPU, QuantFormat::Q8_0);
    assert_eq!(
        message(QTensor::new(block()?, [2, 32])),
        "qtensor: 34 bytes given for [2, 32], which needs 68 on cpu"
    );
    assert!(message(QTensor::new(block()?, 33)).contains("rows of 33 numbers"));
    assert!(message(QTensor::new(block()?, ())).contains("rank 0"));
    assert!(message(QTensor::new(block()?, [usize::MAX / 32, 32])).contains("too large"));

    let quantized = QTensor::quantize(&weights, QuantFormat::Q4_0)?;
    let error = "qmatmul: inner dimensions differ: [1, 32] x [3, 64] on cpu";
    assert_eq!(message(quantized.forward(&matrix(1, 32))), error);
    assert!(message(quantized.forward(&weights.to_dtype(DType::F64)?)).contains("use f32, f16 or bf16"));
    assert!(message(quantized.dequantize_to(DType::I32, &CPU)).contains("i32 is not supported"));
    assert!(message(quantized.indexed_moe_forward(&weights, &weights)).contains("expected 3"));
    Ok(())
}
