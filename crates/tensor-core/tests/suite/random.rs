//! Random numbers: values worked out from Philox's words outside this program, the same bits on every device, and that they look random.

use crate::common::{FLOATS, INTS, layouts, on_devices, values};
use tensor_core::{DType, Device, Generator, Result, Tensor};

/// A generator whose draw the values below were worked out for.
fn fixed() -> Generator {
    Generator::at(0x1234_5678_9abc_def0, 3)
}

/// Elements too many for one block of the CPU, in number no multiple of a block of words.
const MANY: usize = 20_003;

#[track_caller]
fn says<T>(result: Result<T>, device: &Device, expected: &str) {
    let error = result.err().expect("an error").to_string();
    assert_eq!(error, expected.replace('@', &device.to_string()));
}

#[test]
fn uniform_values() {
    on_devices(|device| {
        let x = fixed().uniform(0, 1, 5, DType::F32, device)?;
        let expected = [0.485_348_17, 0.640_257, 0.481_911_3, 0.752_692_9, 0.550_093_53];
        assert_eq!(x.to_vec::<f32>()?, expected);
        let x = fixed().uniform(0.0, 1.0, 5, DType::F64, device)?;
        let expected = [
            0.640_257_027_578_853_9,
            0.752_692_935_169_188_1,
            0.516_760_005_510_899_5,
            0.275_582_349_930_573_07,
            0.914_548_683_417_731_2,
        ];
        assert_eq!(x.to_vec::<f64>()?, expected);
        let x = fixed().uniform(-1, 3, [2, 3], DType::F16, device)?;
        let expected = [0.94140625, 1.560546875, 0.927734375, 2.01171875, 1.2001953125, 1.0673828125];
        assert_eq!(values(&x)?, expected);
        let x = fixed().uniform(0, 1, 37, DType::F8E4M3, device)?;
        let x = values(&x)?;
        assert_eq!(x[..6], [0.5, 0.625, 0.46875, 0.75, 0.5625, 0.5]);
        // Element 36 would round to 1.
        assert_eq!(x[36], 0.9375);
        // Published for the key 0 and the counter 0.
        let x = Generator::new(0).uniform(0, 1, 1, DType::F64, device)?;
        let word = 0xe169_c58d_6627_e8d5u64;
        assert_eq!(x.to_vec::<f64>()?, [(word >> 11) as f64 / 9_007_199_254_740_992.0]);
        Ok(())
    });
}

#[test]
fn normal_values() {
    on_devices(|device| {
        let x = fixed().normal(0, 1, 7, DType::F32, device)?.to_vec::<f32>()?;
        let expected = [
            -0.764_944_531_886_739_7,
            -0.927_705_460_912_538_2,
            0.020_443_724_826_215_554,
            -1.208_127_667_486_586_6,
            -1.087_256_780_140_937_9,
            -0.114_920_013_595_411_12,
            -0.246_086_284_659_938_45,
        ];
        for (x, expected) in x.iter().zip(expected) {
            // Sine and cosine are within a few units in the last place of 1, times a radius below 7.
            assert!((f64::from(*x) - expected).abs() < 4e-7, "{x} {expected} on {device}");
        }
        let x = fixed().normal(0, 1, 5, DType::F64, device)?.to_vec::<f64>()?;
        let expected = [
            0.015_977_607_716_055_17,
            -0.944_201_181_617_812_7,
            -0.183_905_048_821_553_8,
            1.134_254_102_690_113,
            0.316_027_576_933_852_1,
        ];
        for (x, expected) in x.iter().zip(expected) {
            assert!((x - expected).abs() < 1e-15, "{x} {expected} on {device}");
        }
        // Deviation 0 is the mean.
        assert_eq!(values(&fixed().normal(-2.5, 0, 3, DType::BF16, device)?)?, [-2.5; 3]);
        Ok(())
    });
}

#[test]
fn integer_values() {
    on_devices(|device| {
        let expected = [4.0, 6.0, 2.0, -1.0, 8.0, -4.0, -5.0, 2.0, -5.0];
        for dtype in [DType::I16, DType::I32, DType::I64] {
            assert_eq!(values(&fixed().randint(-5, 10, 9, dtype, device)?)?, expected);
        }
        let x = fixed().randint(i64::MIN, i64::MAX, 3, DType::I64, device)?;
        let expected = [2_587_285_492_286_342_968, 4_661_361_904_300_493_361, 309_167_532_333_526_594];
        assert_eq!(x.to_vec::<i64>()?, expected);
        assert_eq!(values(&fixed().randint(255, 256, 3, DType::U8, device)?)?, [255.0; 3]);
        assert_eq!(fixed().randint(0, 2, [3, 0], DType::U8, device)?.dims(), [3, 0]);
        for dtype in INTS {
            let x = fixed().randperm(10, dtype, device)?;
            assert_eq!(values(&x)?, [6.0, 8.0, 5.0, 3.0, 7.0, 2.0, 0.0, 1.0, 9.0, 4.0]);
        }
        let x = fixed().randperm(1500, DType::U32, device)?.to_vec::<u32>()?;
        assert_eq!(x[1020..1030], [130, 1337, 445, 1136, 1420, 1096, 335, 1111, 848, 491]);
        assert_eq!(fixed().randperm(0, DType::U8, device)?.dims(), [0]);
        assert_eq!(values(&fixed().randperm(256, DType::U8, device)?)?.len(), 256);
        Ok(())
    });
}

#[test]
fn coins_and_dropout() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = fixed().bernoulli(0.3, 11, dtype, device)?;
            assert_eq!(values(&x)?, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
            assert_eq!(values(&fixed().bernoulli(0.0, 9, dtype, device)?)?, [0.0; 9]);
            assert_eq!(values(&fixed().bernoulli(1.0, 9, dtype, device)?)?, [1.0; 9]);
        }
        for dtype in FLOATS {
            let x = Tensor::arange(0f32, 12.0, device)?.to_dtype(dtype)?;
            // Half of them, by the mask of bernoulli; 1 / (1 − 0.5) is 2.
            let mask = values(&fixed().bernoulli(0.5, 12, dtype, device)?)?;
            let expected: Vec<f64> = mask
                .iter()
                .enumerate()
                .map(|(i, gone)| if *gone == 1.0 { 0.0 } else { 2.0 * i as f64 })
                .collect();
            assert_eq!(expected[..4], [0.0, 2.0, 0.0, 6.0]);
            for (name, view) in layouts(&x.reshape([3, 4])?)? {
                let y = fixed().dropout(&view, 0.5)?;
                assert_eq!((y.dims(), values(&y)?), (&[3, 4][..], expected.clone()), "{name} {dtype}");
            }
            assert_eq!(values(&fixed().dropout(&x, 1.0)?)?, [0.0; 12]);
            assert!(fixed().dropout(&x, 0.0)?.shares_storage(&x));
        }
        // What is dropped is not looked at.
        let nan = Tensor::full(f64::NAN, 9, DType::F32, device)?;
        assert_eq!(values(&fixed().dropout(&nan, 1.0)?)?, [0.0; 9]);
        Ok(())
    });
}

#[test]
fn every_device_gives_the_same_bits() {
    let draws = |device: &Device| -> Result<Vec<Tensor>> {
        let mut generator = Generator::at(99, u64::MAX);
        let mut made = Vec::new();
        for count in [1, 2, 3, 5, MANY] {
            for dtype in FLOATS {
                made.push(generator.uniform(-3.3, 7.7, count, dtype, device)?);
                let x = Tensor::full(1.3, count, dtype, device)?;
                made.push(generator.dropout(&x, 0.37)?);
            }
            for dtype in INTS {
                made.push(generator.randint(3, 101, count, dtype, device)?);
            }
            made.push(generator.randperm(count, DType::I64, device)?);
            made.push(generator.bernoulli(0.6, count, DType::U8, device)?);
        }
        assert_eq!(generator.offset(), 84);
        Ok(made)
    };
    alike(draws);
}

#[test]
fn every_device_gives_the_same_bits_of_normal_numbers() {
    alike(|device| {
        let mut generator = Generator::at(99, u64::MAX);
        let counts = [1, 2, 3, 5, MANY].into_iter();
        let each = counts.flat_map(|count| FLOATS.map(|dtype| (count, dtype)));
        each.map(|(count, dtype)| generator.normal(0.3, 1.7, count, dtype, device)).collect()
    });
}

/// Asserts that `draws` gives the CPU's bits on every device.
fn alike(draws: impl Fn(&Device) -> Result<Vec<Tensor>>) {
    let on_cpu = draws(&Device::Cpu).unwrap();
    on_devices(|device| {
        for (x, expected) in draws(device)?.iter().zip(&on_cpu) {
            assert!(x.to_bytes()? == expected.to_bytes()?, "{} {} on {device}", x.dtype(), x.shape());
        }
        Ok(())
    });
}

#[test]
fn devices_have_a_generator_and_calls_differ() {
    on_devices(|device| {
        let x = Tensor::randn(0f32, 1.0, 100, device)?;
        assert_ne!(x.to_vec::<f32>()?, x.randn_like(0, 1)?.to_vec::<f32>()?);
        assert!(values(&x.rand_like(2, 3)?)?.iter().all(|x| (2.0..3.0).contains(x)));
        assert!(values(&Tensor::rand(2f64, 3.0, [4, 5], device)?)?.iter().all(|x| (2.0..3.0).contains(x)));
        assert!(values(&x.bernoulli_like(0.5)?)?.iter().all(|x| [0.0, 1.0].contains(x)));
        assert!(
            values(&Tensor::randint(7, 9, 50, DType::U8, device)?)?.iter().all(|x| [7.0, 8.0].contains(x))
        );
        assert_eq!(Tensor::bernoulli(0.5, (), DType::BF16, device)?.rank(), 0);
        assert!(values(&x.dropout(0.5)?)?.iter().zip(values(&x)?).all(|(y, x)| *y == 0.0 || *y == 2.0 * x));
        let mut order = Tensor::randperm(100, DType::U32, device)?.to_vec::<u32>()?;
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn arguments_without_meaning() {
    on_devices(|device| {
        let mut generator = fixed();
        says(
            generator.uniform(0, 1, [2, 3], DType::I32, device),
            device,
            "uniform: i32 is not supported (shape [2, 3]) on @; draw integers with randint",
        );
        says(
            generator.uniform(2, 1, 3, DType::F16, device),
            device,
            "uniform: 2..1 is no range of f16: it must be finite, and not turned round on @",
        );
        assert!(generator.uniform(0, 1e5, 3, DType::F16, device).is_err());
        assert!(generator.uniform(-3e38, 3e38, 3, DType::F32, device).is_err());
        assert!(generator.uniform(f64::NAN, 1, 3, DType::F32, device).is_err());
        assert_eq!(values(&generator.uniform(0.1, 0.1, 2, DType::F64, device)?)?, [0.1; 2]);
        says(
            generator.normal(0, -1, 3, DType::F32, device),
            device,
            "normal: mean 0 and deviation -1 describe no distribution: they must be finite in f32, and the deviation not negative on @",
        );
        says(
            generator.randint(0, 257, 3, DType::U8, device),
            device,
            "randint: 0..257 is no range of u8: it must not be empty, and all in the dtype on @",
        );
        assert!(generator.randint(5, 5, 3, DType::I64, device).is_err());
        assert!(generator.randint(-1, 5, 3, DType::U32, device).is_err());
        says(
            generator.randint(0, 2, 3, DType::F32, device),
            device,
            "randint: f32 is not supported (shape [3]) on @; draw floats with uniform, or cast the result with to_dtype",
        );
        says(
            generator.randperm(257, DType::U8, device),
            device,
            "randperm: u8 cannot count 257 elements on @",
        );
        says(
            generator.randperm(1 << 32, DType::I64, device),
            device,
            "randperm: 4294967296 elements to search in [4294967296], but positions are u32 on @",
        );
        says(
            generator.bernoulli(1.5, 3, DType::U8, device),
            device,
            "bernoulli: 1.5 is no probability: it must be in 0..=1 on @",
        );
        let x = Tensor::ones(3, DType::I64, device)?;
        says(
            generator.dropout(&x, 0.5),
            device,
            "dropout: i64 is not supported (shape [3]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        assert!(generator.dropout(&Tensor::ones(3, DType::F32, device)?, f64::NAN).is_err());
        Ok(())
    });
}

/// Mean, variance and the mean fourth power about the mean.
fn moments(x: &[f64]) -> [f64; 3] {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let power = |k: i32| x.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    [mean, power(2), power(4)]
}

/// Σ (observed − expected)² / expected for numbers that fall evenly into `classes`.
fn chi_square(numbers: impl Iterator<Item = usize>, classes: usize) -> f64 {
    let mut counts = vec![0u32; classes];
    numbers.for_each(|number| counts[number] += 1);
    let expected = f64::from(counts.iter().sum::<u32>()) / classes as f64;
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

#[test]
fn distributions_have_their_moments() {
    const N: usize = 200_000;
    // Five standard errors of a mean of N numbers of deviation 1.
    let five = 5.0 / (N as f64).sqrt();
    for dtype in [DType::F16, DType::F32, DType::F64] {
        let mut generator = Generator::new(11);
        let x = values(&generator.normal(0, 1, N, dtype, &Device::Cpu).unwrap()).unwrap();
        let [mean, variance, fourth] = moments(&x);
        // The deviation of z² is √2, that of z⁴ is √96.
        assert!(mean.abs() < five && (variance - 1.0).abs() < 1.5 * five, "{dtype} {mean} {variance}");
        assert!((fourth - 3.0).abs() < 10.0 * five, "{dtype} {fourth}");
        // Neighbours come from one pair of words, and do not depend on each other.
        let product = x.chunks_exact(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / (N / 2) as f64;
        assert!(product.abs() < 1.5 * five, "{dtype} {product}");
        let tail = x.iter().filter(|x| x.abs() > 3.0).count() as f64 / N as f64;
        // P(|z| > 3) = 0.0026998; its deviation is 0.052.
        assert!((tail - 0.002_699_8).abs() < 0.052 * five, "{dtype} {tail}");

        let x = values(&generator.uniform(0, 1, N, dtype, &Device::Cpu).unwrap()).unwrap();
        let [mean, variance, _] = moments(&x);
        assert!((mean - 0.5).abs() < 0.29 * five && (variance - 1.0 / 12.0).abs() < 0.075 * five, "{dtype}");
    }
}

#[test]
fn bits_are_even() {
    let mut generator = Generator::new(5);
    // 256 classes: mean 255, deviation √510 = 22.6; five deviations either way.
    let even = |chi: f64| (142.0..368.0).contains(&chi);
    let cpu = Device::Cpu;
    let bytes = generator.randint(0, 256, 100_000, DType::U8, &cpu).unwrap().to_vec::<u8>().unwrap();
    let chi = chi_square(bytes.iter().map(|byte| usize::from(*byte)), 256);
    assert!(even(chi), "{chi}");
    let x = generator.randint(i64::MIN, i64::MAX, 50_000, DType::I64, &cpu).unwrap();
    for byte in 0..8 {
        let chi =
            chi_square(x.to_vec::<i64>().unwrap().iter().map(|x| (x >> (8 * byte)) as usize & 255), 256);
        assert!(even(chi), "byte {byte}: {chi}");
    }
    // 120 orders of five elements: mean 119, deviation √238 = 15.4.
    let orders = (0..12_000).map(|_| {
        let order = generator.randperm(5, DType::U8, &cpu).unwrap().to_vec::<u8>().unwrap();
        (0..5)
            .map(|i| order[i + 1..].iter().filter(|x| **x < order[i]).count())
            .zip([24, 6, 2, 1, 0])
            .map(|(k, f)| k * f)
            .sum()
    });
    let chi = chi_square(orders, 120);
    assert!((42.0..196.0).contains(&chi), "{chi}");
}
