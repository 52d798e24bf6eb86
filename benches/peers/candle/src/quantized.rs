//! Rows of products with quantized matrices.

use candle_core as candle;
use candle_core::Module;
use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use tensor_core as tc;

use crate::rows::{Row, floats};

const FORMATS: [(&str, tc::QuantFormat, GgmlDType); 8] = [
    ("q4_0", tc::QuantFormat::Q4_0, GgmlDType::Q4_0),
    ("q5_0", tc::QuantFormat::Q5_0, GgmlDType::Q5_0),
    ("q8_0", tc::QuantFormat::Q8_0, GgmlDType::Q8_0),
    ("q2_k", tc::QuantFormat::Q2K, GgmlDType::Q2K),
    ("q3_k", tc::QuantFormat::Q3K, GgmlDType::Q3K),
    ("q4_k", tc::QuantFormat::Q4K, GgmlDType::Q4K),
    ("q5_k", tc::QuantFormat::Q5K, GgmlDType::Q5K),
    ("q6_k", tc::QuantFormat::Q6K, GgmlDType::Q6K),
];
/// Rows and columns of the matrix.
const MATRIX: [usize; 2] = [4096, 4096];

/// Each format with one, four and 64 rows of activations in `f32`. Both libraries read the blocks that ours quantized.
pub fn rows() -> Vec<Row> {
    let floats = |shape: &[usize], seed| floats(shape, seed, ("f32", tc::DType::F32, candle::DType::F32));
    let matrix = floats(&MATRIX, 12);
    let mut rows = Vec::new();
    for (name, format, theirs) in FORMATS {
        let ours = tc::QTensor::quantize(&matrix.ours, format).expect("blocks");
        let blocks = ours.data().expect("blocks in host memory").into_owned();
        let storage = candle::quantized::QStorage::from_data(blocks.into(), &candle::Device::Cpu, theirs);
        let theirs = storage.and_then(|storage| QTensor::new(storage, (MATRIX[0], MATRIX[1])));
        let theirs = std::sync::Arc::new(theirs.expect("candle's matrix"));
        for count in [1, 4, 64] {
            let x = floats(&[count, MATRIX[1]], 13);
            let (ours, there) = (ours.clone(), QMatMul::from_arc(theirs.clone()).expect("candle's product"));
            let product = move || ours.forward(&x.ours).expect("our product");
            let x = floats(&[count, MATRIX[1]], 13).theirs;
            let their_product = move || there.forward(&x);
            let (product2, their_product2) = (product.clone(), their_product.clone());
            rows.push(Row {
                operation: "qmatmul",
                dtype: name,
                shape: format!("[{count},{}]x[{},{}]", MATRIX[1], MATRIX[0], MATRIX[1]),
                ours: Box::new(move || drop(std::hint::black_box(product()))),
                theirs: Box::new(move || drop(std::hint::black_box(their_product().expect("candle's product")))),
                results: Box::new(move || {
                    let theirs = their_product2().and_then(|y| y.flatten_all()?.to_vec1());
                    (product2().to_vec().expect("numbers"), theirs)
                }),
                truth: None,
            });
        }
    }
    rows
}
