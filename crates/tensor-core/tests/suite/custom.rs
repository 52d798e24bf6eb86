//! Operations of a user's own, on every device, and numbers as operands.

use std::sync::Arc;

use crate::common::{on_devices, values, vector};
use hip_safe::{Function, LaunchConfig};
use tensor_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType, Device, Error, ErrorKind, HipDevice, HipStorage,
    InplaceOp1, InplaceOp2, InplaceOp3, Layout, Result, Shape, Tensor, copies_on_write,
};

const SOURCE: &str = r#"
extern "C" __global__ void weigh(const float* a, const float* b, const float* c, float* out, float factor, unsigned long long n) {
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = factor * a[i] + b[i] * c[i];
}
"#;

/// factor · a + b · c of tight operands; fewer operands stand for ones.
struct Weigh {
    factor: f32,
}

impl Weigh {
    fn check(layouts: &[&Layout]) -> Result<()> {
        if layouts.iter().all(|layout| layout.is_contiguous() && layout.shape() == layouts[0].shape()) {
            return Ok(());
        }
        Err(Error::new(
            "weigh",
            ErrorKind::Argument { what: "make the operands alike and contiguous".into() },
        ))
    }

    fn cpu(&self, operands: &[(&CpuStorage, &Layout)]) -> Result<(CpuStorage, Shape)> {
        Weigh::check(&operands.iter().map(|operand| operand.1).collect::<Vec<_>>())?;
        let slices: Vec<&[f32]> = operands
            .iter()
            .map(|(storage, layout)| &storage.as_slice::<f32>().expect("f32")[layout.offset()..])
            .collect();
        let at = |operand: usize, i: usize| slices.get(operand).map_or(1.0, |slice| slice[i]);
        let layout = operands[0].1;
        let out = (0..layout.elements()).map(|i| self.factor * at(0, i) + at(1, i) * at(2, i)).collect();
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    fn function(device: &HipDevice) -> Result<Function> {
        Ok(device.compile(SOURCE, "weigh of the tests")?.function("weigh")?)
    }

    fn hip(&self, operands: &[(&HipStorage, &Layout)]) -> Result<(HipStorage, Shape)> {
        Weigh::check(&operands.iter().map(|operand| operand.1).collect::<Vec<_>>())?;
        let (first, layout) = operands[0];
        let (device, count) = (first.device(), layout.elements());
        let ones = device.storage_from_cpu(&CpuStorage::F32(vec![1.0; count]))?;
        let view = |i: usize| match operands.get(i) {
            Some((storage, layout)) => storage.view_from(layout.offset()),
            None => ones.view_from(0),
        };
        let (a, b, c) = (view(0)?, view(1)?, view(2)?);
        let function = Weigh::function(device)?;
        // SAFETY: S15: the kernel writes every element.
        let mut out = unsafe { device.alloc_uninit(DType::F32, count) }?;
        {
            let mut target = out.view_from_mut(0)?;
            let mut launch = device.stream().launch(&function, LaunchConfig::linear(count as u64, 64));
            launch.arg(&a).arg(&b).arg(&c).arg_mut(&mut target).value(&self.factor).value(&(count as u64));
            // SAFETY: S9: the kernel reads and writes `count` elements, which each of the views has.
            unsafe { launch.submit() }?;
        }
        Ok((out, layout.shape().clone()))
    }

    /// `weigh` in place of the first operand.
    fn hip_assign(
        &self,
        storage: &mut HipStorage,
        layout: &Layout,
        others: &[(&HipStorage, &Layout)],
    ) -> Result<()> {
        let operands: Vec<_> = std::iter::once((&*storage, layout)).chain(others.iter().copied()).collect();
        let (result, _) = self.hip(&operands)?;
        let bytes = 4 * layout.elements();
        let stream = storage.device().stream().clone();
        let (from, mut to) = (result.view_from(0)?, storage.view_from_mut(layout.offset())?);
        stream.copy(&from.slice(..bytes)?, &mut to.slice_mut(..bytes)?)?;
        Ok(())
    }

    fn cpu_assign(
        &self,
        storage: &mut CpuStorage,
        layout: &Layout,
        others: &[(&CpuStorage, &Layout)],
    ) -> Result<()> {
        let operands: Vec<_> = std::iter::once((&*storage, layout)).chain(others.iter().copied()).collect();
        let (CpuStorage::F32(result), _) = self.cpu(&operands)? else { unreachable!("it is f32") };
        let CpuStorage::F32(elements) = storage else { unreachable!("it is f32") };
        elements[layout.offset()..][..result.len()].copy_from_slice(&result);
        Ok(())
    }
}

macro_rules! weigh {
    ($op:ident($($storage:ident $layout:ident),+)) => {
        impl $op for Weigh {
            fn name(&self) -> &'static str {
                "weigh"
            }
            fn cpu_fwd(&self, $($storage: &CpuStorage, $layout: &Layout),+) -> Result<(CpuStorage, Shape)> {
                self.cpu(&[$(($storage, $layout)),+])
            }
            fn hip_fwd(&self, $($storage: &HipStorage, $layout: &Layout),+) -> Result<(HipStorage, Shape)> {
                self.hip(&[$(($storage, $layout)),+])
            }
        }
    };
}
macro_rules! weigh_in_place {
    ($op:ident($($storage:ident $layout:ident),*)) => {
        impl $op for Weigh {
            fn name(&self) -> &'static str {
                "weigh"
            }
            fn cpu_fwd(&self, s: &mut CpuStorage, l: &Layout, $($storage: &CpuStorage, $layout: &Layout),*) -> Result<()> {
                self.cpu_assign(s, l, &[$(($storage, $layout)),*])
            }
            fn hip_fwd(&self, s: &mut HipStorage, l: &Layout, $($storage: &HipStorage, $layout: &Layout),*) -> Result<()> {
                self.hip_assign(s, l, &[$(($storage, $layout)),*])
            }
        }
    };
}
weigh!(CustomOp1(a la));
weigh!(CustomOp2(a la, b lb));
weigh!(CustomOp3(a la, b lb, c lc));
weigh_in_place!(InplaceOp1());
weigh_in_place!(InplaceOp2(a la));
weigh_in_place!(InplaceOp3(a la, b lb));

/// Whether a device has a compiler for texts.
fn compiles(device: &Device) -> bool {
    device.as_hip().is_none_or(|hip| hip.device().platform().rtc().is_ok())
}

#[test]
fn operations_of_ones_own() {
    on_devices(|device| {
        if !compiles(device) {
            println!("skipped on {device}: no compiler");
            return Ok(());
        }
        let weigh = Weigh { factor: 2.0 };
        let x = Tensor::arange(0f32, 12.0, device)?.reshape([4, 3])?;
        // A view that begins at an offset.
        let rows = x.narrow(0, 1, 2)?;
        let (y, z) =
            (Tensor::full(10, [2, 3], DType::F32, device)?, Tensor::full(3, [2, 3], DType::F32, device)?);
        assert_eq!(values(&rows.apply_op1_no_bwd(&weigh)?)?, [7.0, 9.0, 11.0, 13.0, 15.0, 17.0]);
        assert_eq!(values(&rows.apply_op2_no_bwd(&y, &weigh)?)?, [16.0, 18.0, 20.0, 22.0, 24.0, 26.0]);
        let all = rows.apply_op3(&y, &z, weigh)?;
        assert_eq!((all.dims(), values(&all)?), (&[2, 3][..], vec![36.0, 38.0, 40.0, 42.0, 44.0, 46.0]));
        let error = x.t()?.apply_op1(Weigh { factor: 1.0 }).unwrap_err();
        assert_eq!(error.to_string(), format!("weigh: make the operands alike and contiguous on {device}"));
        Ok(())
    });
}

#[test]
fn in_place_operations_copy_what_is_shared() {
    on_devices(|device| {
        if !compiles(device) {
            return Ok(());
        }
        let weigh = Weigh { factor: 2.0 };
        let x = vector(&[1f32, 2.0, 3.0], device)?;
        let mut y = x.clone();
        let before = copies_on_write();
        y.inplace_op1(&weigh)?;
        assert_eq!(
            (copies_on_write() - before, values(&x)?, values(&y)?),
            (1, vec![1.0, 2.0, 3.0], vec![3.0, 5.0, 7.0])
        );
        // From now on it is alone.
        y.inplace_op2(&x, &weigh)?;
        assert_eq!((copies_on_write() - before, values(&y)?), (1, vec![7.0, 12.0, 17.0]));
        y.inplace_op3(&x, &x, &weigh)?;
        assert_eq!((copies_on_write() - before, values(&y)?), (1, vec![15.0, 28.0, 43.0]));
        // A view that is the only one left is written where it lies.
        let mut part = { y }.narrow(0, 1, 2)?;
        part.inplace_op1(&weigh)?;
        assert_eq!((part.storage().len(), values(&part)?), (3, vec![57.0, 87.0]));
        Ok(())
    });
}

/// An operation with no implementation, or a wrong one.
struct Wrong;

impl CustomOp1 for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }
}

impl CustomOp2 for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }
    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape)> {
        Ok((CpuStorage::U8(vec![1, 2, 3]), Shape::from([2, 2])))
    }
    fn hip_fwd(&self, a: &HipStorage, _: &Layout, _: &HipStorage, _: &Layout) -> Result<(HipStorage, Shape)> {
        Ok((a.device().alloc_zeros(DType::U8, 3)?, Shape::from([2, 2])))
    }
}

impl InplaceOp1 for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }
    fn cpu_fwd(&self, storage: &mut CpuStorage, _: &Layout) -> Result<()> {
        *storage = CpuStorage::F32(vec![0.0]);
        Ok(())
    }
    fn hip_fwd(&self, storage: &mut HipStorage, _: &Layout) -> Result<()> {
        *storage = storage.device().clone().alloc_zeros(DType::F32, 1)?;
        Ok(())
    }
}

#[test]
fn custom_operations_that_break_their_contract_are_errors() {
    on_devices(|device| {
        let mut x = vector(&[1f32, 2.0, 3.0], device)?;
        let missing = match device {
            Device::Cpu => {
                "it has no implementation for the CPU: write its cpu_fwd, or move the tensors to a HIP device"
            }
            _ => {
                "it has no implementation for HIP devices: write its hip_fwd, or move the tensors to the CPU"
            }
        };
        assert_eq!(x.apply_op1(Wrong).unwrap_err().to_string(), format!("wrong: {missing} on {device}"));
        assert_eq!(
            x.apply_op2(&x, Wrong).unwrap_err().to_string(),
            format!(
                "wrong: a layout of [2, 2] reaches past the end of its storage of 3 elements on {device}"
            )
        );
        let kept = x.clone();
        let error = x.inplace_op1(&Wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "wrong: the operation replaced the tensor's storage by another, and the tensor is now empty on {device}"
            )
        );
        assert_eq!((x.dims(), kept.to_vec::<f32>()?), (&[0][..], vec![1.0, 2.0, 3.0]));
        assert_eq!(x.to_vec::<f32>()?, [0.0; 0]);
        for other in crate::common::devices().iter().filter(|other| !other.same_device(device)) {
            let y = Tensor::ones(3, DType::F32, other)?;
            let error = kept.apply_op2(&y, Wrong).unwrap_err().to_string();
            // Behind a name there may be its stream: two of these devices are the same one, opened twice.
            let names = error.strip_prefix(&format!("wrong: operands lie on two devices, {device}"));
            assert!(names.is_some_and(|rest| rest.contains(&format!(" and {other}"))), "{error}");
        }
        Ok(())
    });
}

#[test]
fn tensors_go_between_any_two_devices() {
    for from in crate::common::devices() {
        let x = Tensor::arange(0i64, 12, from).unwrap().reshape([3, 4]).unwrap().t().unwrap();
        for to in crate::common::devices() {
            let y = x.to_device(to).unwrap();
            assert!(y.device().same_device(to));
            assert_eq!(y.to_vec2::<i64>().unwrap(), [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]);
            assert_eq!(y.to_device(from).unwrap().to_bytes().unwrap(), x.to_bytes().unwrap());
        }
    }
}

#[test]
fn numbers_on_either_side() {
    on_devices(|device| {
        let x = vector(&[1f32, 2.0, 4.0], device)?;
        assert_eq!(values(&(&x * 2)?)?, [2.0, 4.0, 8.0]);
        assert_eq!(values(&(1 - &x)?)?, [0.0, -1.0, -3.0]);
        assert_eq!(values(&(&x + 0.5)?)?, [1.5, 2.5, 4.5]);
        assert_eq!(values(&(8.0 / x.clone())?)?, [8.0, 4.0, 2.0]);
        // An integer is not brought through f64.
        let large = vector(&[1i64], device)?;
        assert_eq!((&large + i64::MAX)?.to_vec::<i64>()?, [i64::MIN]);
        assert_eq!((((1i64 << 53) + 1) * large)?.to_vec::<i64>()?, [(1 << 53) + 1]);
        let shared = Arc::new(x.clone());
        assert_eq!(values(&(&x + Arc::clone(&shared))?)?, [2.0, 4.0, 8.0]);
        assert_eq!(values(&(&*shared * Box::new(x))?)?, [1.0, 4.0, 16.0]);
        Ok(())
    });
}
