//! Reductions against loops over the elements, over every set of axes and in several layouts.

use crate::common::{layouts, on_devices, tensor, values, vector};
use tensor_core::{DType, ReduceOp, Tensor};

/// Small whole numbers, exact in every dtype, without a pattern that repeats with an axis.
fn numbers(count: usize) -> Vec<i64> {
    (0..count).map(|i| (i * i + 3 * i + i / 7) as i64 % 5).collect()
}

/// What is known of the elements of one result.
#[derive(Clone, Copy)]
struct Group {
    count: u32,
    sum: i64,
    /// The value and its first position.
    least: (i64, u32),
    most: (i64, u32),
}

impl Group {
    fn of(v: i64) -> Group {
        Group { count: 1, sum: v, least: (v, 0), most: (v, 0) }
    }

    fn and(self, v: i64) -> Group {
        Group {
            count: self.count + 1,
            sum: self.sum + v,
            least: if v < self.least.0 { (v, self.count) } else { self.least },
            most: if v > self.most.0 { (v, self.count) } else { self.most },
        }
    }
}

#[test]
fn every_set_of_axes_in_every_layout() {
    on_devices(|device| {
        let dims = [3, 4, 5];
        let numbers = numbers(60);
        for dtype in [DType::U8, DType::I64, DType::BF16, DType::F32, DType::F64] {
            let x = tensor(numbers.clone(), dtype, device)?.reshape(dims)?;
            for (name, x) in layouts(&x)? {
                for set in 0..8usize {
                    let axes: Vec<usize> = (0..3).filter(|axis| set >> axis & 1 == 1).collect();
                    let kept = |axis: usize, index: usize| if axes.contains(&axis) { 0 } else { index };
                    let mut groups = [[[None::<Group>; 5]; 4]; 3];
                    for (position, &v) in numbers.iter().enumerate() {
                        let (i, j, k) = (position / 20, position / 5 % 4, position % 5);
                        let group = &mut groups[kept(0, i)][kept(1, j)][kept(2, k)];
                        *group = Some(group.map_or(Group::of(v), |group| group.and(v)));
                    }
                    let results: Vec<Group> = groups.iter().flatten().flatten().flatten().copied().collect();
                    let float = |pick: fn(&Group) -> f64| results.iter().map(pick).collect::<Vec<_>>();
                    let what = format!("{axes:?} of {dtype} {name}");
                    assert_eq!(values(&x.sum(&axes)?)?, float(|g| g.sum as f64), "sum {what}");
                    assert_eq!(values(&x.min(&axes)?)?, float(|g| g.least.0 as f64), "min {what}");
                    assert_eq!(values(&x.max(&axes)?)?, float(|g| g.most.0 as f64), "max {what}");
                    assert_eq!(values(&x.argmin(&axes)?)?, float(|g| g.least.1.into()), "argmin {what}");
                    assert_eq!(values(&x.argmax(&axes)?)?, float(|g| g.most.1.into()), "argmax {what}");
                    let keepdim: Vec<usize> = (0..3).map(|axis| kept(axis, dims[axis] - 1) + 1).collect();
                    assert_eq!(x.sum_keepdim(&axes)?.dims(), keepdim, "{what}");
                    assert_eq!(x.argmax(&axes)?.dtype(), DType::U32);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn long_reductions_agree_with_exact_integers() {
    on_devices(|device| {
        // Lengths around the sizes of leaves, lanes and blocks, over rows and over columns.
        for length in [1usize, 2, 15, 16, 17, 31, 255, 256, 257, 511, 513, 4096, 70_001] {
            let numbers = numbers(length * 3);
            let x = tensor(numbers.clone(), DType::F32, device)?;
            let rows: Vec<f64> =
                (0..3).map(|r| numbers[r * length..(r + 1) * length].iter().sum::<i64>() as f64).collect();
            assert_eq!(values(&x.reshape([3, length])?.sum(1)?)?, rows, "{length}");
            let columns: Vec<f64> =
                (0..3).map(|c| numbers.iter().skip(c).step_by(3).sum::<i64>() as f64).collect();
            assert_eq!(values(&x.reshape([length, 3])?.sum(0)?)?, columns, "{length}");
            let greatest = *numbers.iter().max().expect("not empty");
            let first = numbers.iter().position(|&v| v == greatest).expect("it is there") as f64;
            assert_eq!(values(&x.argmax_all()?)?, [first], "{length}");
        }
        Ok(())
    });
}

#[test]
fn broadcast_inputs_reduce() {
    on_devices(|device| {
        let x = vector(&[1f32, 2.0, 4.0], device)?.unsqueeze(1)?.expand([3, 1000])?;
        assert_eq!(x.sum(1)?.to_vec::<f32>()?, [1000.0, 2000.0, 4000.0]);
        assert_eq!(x.sum(0)?.to_vec::<f32>()?, [7.0; 1000]);
        assert_eq!(x.sum_all()?.to_vec0::<f32>()?, 7000.0);
        assert_eq!(x.argmax(1)?.to_vec::<u32>()?, [0, 0, 0]);
        Ok(())
    });
}

#[test]
fn products_and_means() {
    on_devices(|device| {
        for dtype in crate::common::FLOATS {
            let x = tensor([[1.0, 2.0, 4.0], [-0.5, 2.0, 3.0]], dtype, device)?;
            assert_eq!(values(&x.prod(1)?)?, [8.0, -3.0]);
            assert_eq!(values(&x.prod(0)?)?, [-0.5, 4.0, 12.0]);
            assert_eq!(
                values(&x.mean(1)?)?,
                [if dtype == DType::F64 { 7.0 / 3.0 } else { mean_of_seven(dtype) }, 1.5]
            );
            assert_eq!(values(&x.mean_keepdim(0)?)?, [0.25, 2.0, 3.5]);
            assert_eq!(x.mean_keepdim(-1)?.dims(), [2, 1]);
        }
        Ok(())
    });
}

/// 7/3 rounded to the dtype: 2.25 with 3 bits after the point, and so on.
fn mean_of_seven(dtype: DType) -> f64 {
    let bits = match dtype {
        DType::F8E4M3 => 2,
        DType::BF16 => 6,
        DType::F16 => 9,
        _ => 22,
    };
    let unit = 2f64.powi(-bits);
    (7.0 / 3.0 / unit).round() * unit
}

#[test]
fn axes_are_checked() {
    on_devices(|device| {
        let x = Tensor::ones([2, 3], DType::F32, device)?;
        let error = x.sum(2).unwrap_err();
        assert_eq!(error.to_string(), format!("sum: axis 2 is out of range for [2, 3] on {device}"));
        let error = x.reduce(ReduceOp::ArgMax, [0, -2], true).unwrap_err();
        assert_eq!(error.to_string(), format!("argmax: axis 0 is given twice for [2, 3] on {device}"));
        let scalar = Tensor::full(3, (), DType::F32, device)?;
        assert_eq!(scalar.sum_all()?.to_vec0::<f32>()?, 3.0);
        assert_eq!(scalar.argmax_all()?.to_vec0::<u32>()?, 0);
        assert!(scalar.sum(0).is_err());
        Ok(())
    });
}

#[test]
fn positions_beyond_u32_are_an_error() {
    let x = Tensor::zeros(1, DType::U8, &tensor_core::Device::Cpu).unwrap();
    let long = x.expand([(1usize << 32) + 1]).unwrap();
    let error = long.argmax(0).unwrap_err();
    let expected = "argmax: 4294967297 elements to search in [4294967297], but positions are u32 on cpu";
    assert_eq!(error.to_string(), expected);
}

/// Nine reduced axes, each between two kept ones: more than a kernel's arguments hold after merging.
#[test]
fn scattered_axes_beyond_rank_eight() {
    on_devices(|device| {
        let count = 1 << 17;
        let bits: Vec<i64> = (0..count).collect();
        let tensor = Tensor::from_vec(bits, vec![2; 17], device)?;
        let axes: [usize; 9] = std::array::from_fn(|i| 2 * i);
        let sums = tensor.sum(axes)?;
        assert_eq!(sums.dims(), [2; 8]);
        // The first output has the kept bits zero: each reduced bit is set in half of the 512 terms.
        let reduced: i64 = axes.iter().map(|axis| 1i64 << (16 - axis)).sum();
        let kept = (count - 1) - reduced;
        let sums = sums.reshape(256)?.to_vec1::<i64>()?;
        assert_eq!((sums[0], sums[255]), (256 * reduced, 256 * reduced + 512 * kept));
        // The last element of each group is its greatest.
        assert_eq!(tensor.argmax(axes)?.reshape(256)?.to_vec1::<u32>()?, [511; 256]);
        Ok(())
    });
}

/// The shape is empty, and the product of the reduced lengths does not fit.
#[test]
fn nothing_to_compute_over_lengths_beyond_counting() {
    on_devices(|device| {
        let tensor = Tensor::zeros([0, 1 << 40, 1 << 40], DType::F32, device)?;
        assert_eq!(tensor.sum([1, 2])?.dims(), [0]);
        Ok(())
    });
}
