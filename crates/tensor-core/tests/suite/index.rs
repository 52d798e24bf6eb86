//! Operations by ids: what they give, what they refuse, and that a device works on after a wrong id.

use crate::common::{on_devices, same, tensor, vector};
use tensor_core::{DType, Device, ErrorKind, Result, Tensor};

const IDS: [DType; 4] = [DType::U8, DType::U32, DType::I32, DType::I64];

/// Asserts a message, in which `@` stands for the device, of an operation or of reading what it gave.
#[track_caller]
fn says(result: Result<Tensor>, device: &Device, expected: &str) {
    let error = result.and_then(|tensor| tensor.to_bytes()).expect_err(expected);
    assert_eq!(error.to_string(), expected.replace('@', &device.to_string()));
}

/// The same device opened again: what goes wrong on it is no other test's to read.
pub(crate) fn apart(device: &Device) -> Result<Device> {
    Device::parse(&device.name())
}

fn ids(numbers: &[i64], dtype: DType, device: &Device) -> Result<Tensor> {
    vector(numbers, device)?.to_dtype(dtype)
}

#[test]
fn index_select_takes_slices_along_any_axis() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[0f32, 1.0, 2.0], [10.0, 11.0, 12.0]], dtype, device)?;
            for id in IDS {
                let rows = x.index_select(&ids(&[1, 0, 1], id, device)?, 0)?;
                assert_eq!((rows.dims(), rows.dtype()), (&[3, 3][..], dtype));
                same(&rows, &[10.0, 11.0, 12.0, 0.0, 1.0, 2.0, 10.0, 11.0, 12.0])?;
                let columns = x.index_select(&ids(&[2, 0], id, device)?, -1)?;
                same(&columns, &[2.0, 0.0, 12.0, 10.0])?;
                let turned = x.t()?.index_select(&ids(&[1], id, device)?, 1)?;
                assert_eq!(turned.dims(), [3, 1]);
                same(&turned, &[10.0, 11.0, 12.0])?;
                let none = x.index_select(&ids(&[], id, device)?, 0)?;
                assert_eq!((none.dims(), none.elements()), (&[0, 3][..], 0));
            }
        }
        Ok(())
    });
}

#[test]
fn rows_of_whole_packs_are_moved_as_they_are() {
    on_devices(|device| {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
            let x = Tensor::arange(0i32, 96, device)?.to_dtype(dtype)?.reshape([3, 32])?;
            let picked = x.index_select(&ids(&[2, 2, 0], DType::U32, device)?, 0)?;
            let expected: Vec<f64> = (64..96).chain(64..96).chain(0..32).map(f64::from).collect();
            same(&picked, &expected)?;
            // From an offset that no pack begins at.
            let part = x.narrow(1, 1, 16)?.index_select(&ids(&[1], DType::U32, device)?, 0)?;
            same(&part, &(33..49).map(f64::from).collect::<Vec<_>>())?;
        }
        Ok(())
    });
}

#[test]
fn ids_may_be_strided_and_repeated_by_a_stride_of_zero() {
    on_devices(|device| {
        let x = vector(&[10f32, 11.0, 12.0, 13.0], device)?;
        let pairs = tensor([[3i32, 0], [1, 0], [2, 0]], DType::I64, device)?;
        let column = pairs.narrow(1, 0, 1)?.squeeze(1)?;
        assert!(!column.is_contiguous());
        same(&x.index_select(&column, 0)?, &[13.0, 11.0, 12.0])?;
        let offset = ids(&[9, 9, 2, 1], DType::U32, device)?.narrow(0, 2, 2)?;
        same(&x.index_select(&offset, 0)?, &[12.0, 11.0])?;
        let repeated = ids(&[3], DType::U8, device)?.expand(5)?;
        same(&x.index_select(&repeated, 0)?, &[13.0; 5])?;
        same(&x.index_add(&repeated, &Tensor::ones(5, DType::F32, device)?, 0)?, &[10.0, 11.0, 12.0, 18.0])?;
        Ok(())
    });
}

#[test]
fn gather_uses_the_strides_of_its_ids() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[0f32, 1.0, 2.0], [10.0, 11.0, 12.0]], dtype, device)?;
            for id in IDS {
                let along = tensor([[2i32, 2, 0, 1], [0, 1, 1, 2]], id, device)?;
                let got = x.gather(&along, 1)?;
                assert_eq!(got.dims(), [2, 4]);
                same(&got, &[2.0, 2.0, 0.0, 1.0, 10.0, 11.0, 11.0, 12.0])?;
                // Fewer columns than the tensor, and strided.
                let down = tensor([[1i32, 0], [0, 1], [1, 1]], id, device)?.t()?.narrow(1, 0, 2)?;
                same(&x.narrow(1, 1, 2)?.gather(&down, 0)?, &[11.0, 2.0, 1.0, 12.0])?;
            }
        }
        let cube = Tensor::arange(0i32, 24, device)?.reshape([2, 3, 4])?;
        let middle = tensor([[[2i32, 0, 1, 2]], [[0, 0, 2, 1]]], DType::I32, device)?;
        same(&cube.gather(&middle, 1)?, &[8.0, 1.0, 6.0, 11.0, 12.0, 13.0, 22.0, 19.0])
    });
}

#[test]
fn embedding_adds_the_rows_axis() {
    on_devices(|device| {
        let table = tensor([[0f32, 0.5], [1.0, 1.5], [2.0, 2.5]], DType::BF16, device)?;
        let words = tensor([[2i32, 0], [1, 2]], DType::I64, device)?;
        let got = table.embedding(&words)?;
        assert_eq!(got.dims(), [2, 2, 2]);
        same(&got, &[2.0, 2.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5])?;
        same(&table.embedding(&words.t()?)?, &[2.0, 2.5, 1.0, 1.5, 0.0, 0.5, 2.0, 2.5])?;
        let one = table.embedding(&Tensor::new(1u32, device)?)?;
        assert_eq!(one.dims(), [2]);
        same(&one, &[1.0, 1.5])?;
        let none = table.embedding(&Tensor::zeros([0, 4], DType::U32, device)?)?;
        assert_eq!(none.dims(), [0, 4, 2]);
        Ok(())
    });
}

#[test]
fn the_last_of_several_scattered_elements_remains() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = Tensor::zeros([2, 4], dtype, device)?;
            let source = tensor([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype, device)?;
            for id in IDS {
                let at = tensor([[1i32, 1, 3], [0, 2, 0]], id, device)?;
                same(&x.scatter(&at, &source, 1)?, &[0.0, 2.0, 0.0, 3.0, 6.0, 0.0, 5.0, 0.0])?;
                // Along axis 0, in fewer columns than the tensor has.
                let at = tensor([[0i32, 1, 1], [0, 0, 1]], id, device)?;
                same(&x.scatter(&at, &source, 0)?, &[4.0, 5.0, 0.0, 0.0, 0.0, 2.0, 6.0, 0.0])?;
            }
            let mut y = x.clone();
            let at = tensor([[0i32], [3]], DType::U32, device)?;
            y.scatter_(&at, &source.narrow(1, 2, 1)?, 1)?;
            same(&y, &[3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0])?;
            same(&x, &[0.0; 8])?;
        }
        Ok(())
    });
}

#[test]
fn sums_are_taken_in_the_order_of_the_ids() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = Tensor::ones([2, 3], dtype, device)?;
            let source = tensor([[1f32, 2.0, 3.0, 4.0], [3.0, 3.0, 3.0, 2.0]], dtype, device)?;
            for id in IDS {
                let at = tensor([[0i32, 2, 0, 0], [1, 1, 1, 1]], id, device)?;
                same(&x.scatter_add(&at, &source, 1)?, &[9.0, 1.0, 3.0, 1.0, 12.0, 1.0])?;
                let rows = x.index_add(&ids(&[1, 1], id, device)?, &source.narrow(1, 0, 3)?, 0)?;
                same(&rows, &[1.0, 1.0, 1.0, 5.0, 6.0, 7.0])?;
                let columns = x.index_add(&ids(&[2, 0, 2, 2], id, device)?, &source, 1)?;
                same(&columns, &[3.0, 1.0, 9.0, 4.0, 1.0, 9.0])?;
            }
        }
        // 2^24 + 1 + 1: each 1 is lost if it is added alone, so the order shows.
        let x = vector(&[0f32], device)?;
        let at = ids(&[0, 0, 0], DType::I64, device)?;
        same(&x.scatter_add(&at, &vector(&[16_777_216f32, 1.0, 1.0], device)?, 0)?, &[16_777_216.0])?;
        same(&x.scatter_add(&at, &vector(&[1f32, 1.0, 16_777_216.0], device)?, 0)?, &[16_777_218.0])?;
        // Small floats are rounded once: 2048 + 1 + 1 in f16, where 2049 is no number.
        for (dtype, large) in [(DType::F16, 2048.0), (DType::BF16, 256.0)] {
            let terms = tensor([large as f32, 1.0, 1.0], dtype, device)?;
            same(&Tensor::zeros(1, dtype, device)?.index_add(&at, &terms, 0)?, &[large + 2.0])?;
        }
        // Integers wrap.
        let full = Tensor::full(255, 1, DType::U8, device)?;
        same(&full.index_add(&at, &Tensor::ones(3, DType::U8, device)?, 0)?, &[2.0])
    });
}

#[test]
fn writing_in_place_reaches_strided_tensors_and_no_other() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::F32, DType::I64] {
            let whole = Tensor::zeros([3, 4], dtype, device)?;
            let mut part = { whole }.narrow(1, 1, 2)?;
            part.index_add_(&ids(&[2, 0, 2], DType::U32, device)?, &Tensor::ones([3, 2], dtype, device)?, 0)?;
            same(&part, &[1.0, 1.0, 0.0, 0.0, 2.0, 2.0])?;
            let mut turned = part.t()?;
            turned.scatter_add_(
                &tensor([[1i32]], DType::I32, device)?,
                &Tensor::ones([1, 1], dtype, device)?,
                1,
            )?;
            same(&turned, &[1.0, 1.0, 2.0, 1.0, 0.0, 2.0])?;
            same(&part, &[1.0, 1.0, 0.0, 0.0, 2.0, 2.0])?;
        }
        Ok(())
    });
}

#[test]
fn sums_along_one_long_line_are_taken_in_order() {
    on_devices(|device| {
        // Term i goes to index i·7 mod 5000, which gets those of i, i + 5000, and so on: 14 terms.
        let at: Vec<i64> = (0..70_000).map(|i| i * 7 % 5000).collect();
        let at = ids(&at, DType::I64, device)?;
        // At index 0 a one is lost in 2^24 each time; the other sums are 14 times a digit.
        let mut terms: Vec<f32> =
            (0..70_000).map(|i| if i % 5000 == 0 { 1.0 } else { (i % 10) as f32 }).collect();
        terms[0] = 16_777_216.0;
        let mut expected: Vec<f64> = vec![0.0; 5000];
        for i in 0..5000 {
            expected[i * 7 % 5000] = 14.0 * (i % 10) as f64;
        }
        expected[0] = 16_777_216.0;
        let sums =
            Tensor::zeros(5000, DType::F32, device)?.scatter_add(&at, &Tensor::new(terms, device)?, 0)?;
        same(&sums, &expected)
    });
}

#[test]
fn many_lines_and_one_long_line() {
    on_devices(|device| {
        // One line: id i·7 mod 5000, each once, so that scattering undoes gathering.
        let order: Vec<i64> = (0..5000).map(|i| i * 7 % 5000).collect();
        let at = ids(&order, DType::I32, device)?;
        let x = Tensor::arange(0i32, 5000, device)?;
        let taken = x.index_select(&at, 0)?;
        same(&taken, &order.iter().map(|i| *i as f64).collect::<Vec<_>>())?;
        let back = Tensor::zeros(5000, DType::I32, device)?.scatter(&at, &taken, 0)?;
        assert_eq!(back.to_vec::<i32>()?, x.to_vec::<i32>()?);
        // 40 000 terms at 3 indices of each of 10 columns: index p gets those i with i mod 3 = p, of which there are 1334 or 1333.
        let thirds: Vec<i64> = (0..4000).map(|i| i % 3).collect();
        let sums = Tensor::zeros([3, 10], DType::F32, device)?.index_add(
            &ids(&thirds, DType::U8, device)?,
            &Tensor::ones([4000, 10], DType::F32, device)?,
            0,
        )?;
        same(&sums, &[[1334.0; 10], [1333.0; 10], [1333.0; 10]].concat())
    });
}

#[test]
fn slices_are_set() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = Tensor::zeros([2, 4], dtype, device)?;
            let source = tensor([[1f32, 2.0], [3.0, 4.0]], dtype, device)?;
            same(&x.slice_scatter(&source.t()?, 1, 1)?, &[0.0, 1.0, 3.0, 0.0, 0.0, 2.0, 4.0, 0.0])?;
            let mut y = x.t()?;
            y.slice_set_(&source, 0, 2)?;
            same(&y, &[0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0])?;
            same(&x, &[0.0; 8])?;
            y.slice_set_(&Tensor::zeros([0, 2], dtype, device)?, 0, 4)?;
        }
        let mut x = Tensor::zeros([2, 4], DType::F32, device)?;
        let two = Tensor::ones([2, 2], DType::F32, device)?;
        let past = "slice_set_: range of 2 from 3 is out of range for axis 1 of [2, 4] on @";
        says(x.slice_set_(&two, 1, 3).map(|()| x.clone()), device, past);
        let shape = "slice_scatter: a source of [2, 2] does not fit [2, 4] along axis 0 on @";
        says(x.slice_scatter(&two, 0, 0), device, shape);
        same(&x, &[0.0; 8])
    });
}

#[test]
fn wrong_ids_are_errors_and_the_device_works_on() {
    on_devices(|device| {
        let device = &apart(device)?;
        let x = tensor([[0f32, 1.0, 2.0], [10.0, 11.0, 12.0]], DType::F32, device)?;
        let ones = Tensor::ones([1, 3], DType::F32, device)?;
        let one = |id: i64, dtype| ids(&[id], dtype, device);
        for (id, dtype) in
            [(3, DType::U8), (u32::MAX.into(), DType::U32), (-1, DType::I32), (i64::MIN, DType::I64)]
        {
            let what = format!("index_select: index {id} is out of range for axis 1 of length 3 on @");
            says(x.index_select(&one(id, dtype)?, 1), device, &what);
            let what = format!("embedding: index {id} is out of range for axis 0 of length 2 on @");
            says(x.embedding(&one(id, dtype)?), device, &what);
            let what = format!("gather: index {id} is out of range for axis 1 of length 3 on @");
            says(x.gather(&one(id, dtype)?.unsqueeze(0)?, 1), device, &what);
            let what = format!("index_add: index {id} is out of range for axis 0 of length 2 on @");
            says(x.index_add(&one(id, dtype)?, &ones, 0), device, &what);
            let at = one(id, dtype)?.unsqueeze(0)?;
            let source = ones.narrow(1, 0, 1)?;
            let what = format!("scatter: index {id} is out of range for axis 0 of length 2 on @");
            says(x.scatter(&at, &source, 0), device, &what);
            let what = format!("scatter_add_: index {id} is out of range for axis 1 of length 3 on @");
            let mut y = x.clone();
            says(y.scatter_add_(&at, &source, 1).map(|()| y), device, &what);
        }
        // Small floats take another way.
        let small = Tensor::zeros([2], DType::F16, device)?;
        let what = "index_add: index 2 is out of range for axis 0 of length 2 on @";
        says(small.index_add(&one(2, DType::U32)?, &small.narrow(0, 0, 1)?, 0), device, what);
        // No element at all is an axis without any right id.
        let what = "index_select: index 0 is out of range for axis 0 of length 0 on @";
        says(Tensor::zeros([0, 2], DType::F32, device)?.index_select(&one(0, DType::U32)?, 0), device, what);
        // The error comes once, and the device works on.
        device.synchronize()?;
        same(&x.index_select(&one(1, DType::I64)?, 0)?, &[10.0, 11.0, 12.0])
    });
}

#[test]
fn an_error_of_a_device_waits_for_the_next_reading() {
    on_devices(|device| {
        let device = &apart(device)?;
        let Some(hip) = device.as_hip() else { return Ok(()) };
        let x = vector(&[1f32, 2.0], device)?;
        let got = x.index_select(&ids(&[1, 9, 0], DType::U32, device)?, 0)?;
        let error = hip.synchronize().expect_err("the id 9");
        assert_eq!((error.operation(), error.device()), ("index_select", Some(&*device.to_string())));
        assert!(matches!(error.kind(), ErrorKind::IdOutOfRange { index: 9, axis: 0, length: 2 }), "{error}");
        // What the wrong id should have brought is 0.
        same(&got, &[2.0, 0.0, 1.0])
    });
}

#[test]
fn arguments_that_do_not_fit() {
    on_devices(|device| {
        let x = Tensor::zeros([2, 3], DType::F32, device)?;
        let row = ids(&[0], DType::U32, device)?;
        says(
            x.index_select(&row.to_dtype(DType::F32)?, 0),
            device,
            "index_select: f32 is not supported (shape [1]) on @; ids are u8, u32, i32 or i64: cast them with to_dtype",
        );
        says(
            x.index_select(&row.unsqueeze(0)?, 0),
            device,
            "index_select: [1, 1] has rank 2, expected 1 for ids on @",
        );
        says(x.index_select(&row, 2), device, "index_select: axis 2 is out of range for [2, 3] on @");
        says(x.get(0)?.embedding(&row), device, "embedding: [3] has rank 1, expected 2 on @");
        let long = Tensor::zeros([3, 1], DType::U32, device)?;
        says(
            x.gather(&long, 1),
            device,
            "gather: ids of [3, 1] do not fit [2, 3] along axis 1: they need its rank, and no other axis may be longer on @",
        );
        says(
            x.gather(&row, 1),
            device,
            "gather: ids of [1] do not fit [2, 3] along axis 1: they need its rank, and no other axis may be longer on @",
        );
        says(
            x.scatter(&long, &Tensor::zeros([3, 2], DType::F32, device)?, 0),
            device,
            "scatter: ids of [3, 1] and a source of [3, 2] differ in shape on @",
        );
        says(
            x.index_add(&row, &x, 0),
            device,
            "index_add: a source of [2, 3] does not fit [2, 3] and 1 ids along axis 0 on @",
        );
        says(
            x.scatter_add(&long, &Tensor::zeros([3, 1], DType::F16, device)?, 0),
            device,
            "scatter_add: dtypes differ: f32 and f16 on @; cast one of them with to_dtype",
        );
        Ok(())
    });
    let devices = crate::common::devices();
    let Some((first, second)) = devices.first().zip(devices.get(1)) else { return };
    let x = Tensor::zeros(3, DType::F32, first).unwrap();
    let error = x.index_select(&Tensor::zeros(1, DType::U32, second).unwrap(), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DeviceMismatch { .. }), "{error}");
}

#[test]
fn threads_that_share_a_device_get_one_error() {
    on_devices(|device| {
        let Device::Hip(_) = device else { return Ok(()) };
        let device = &apart(device)?;
        let x = vector(&[1f32, 2.0], device)?;
        let wrong = ids(&[5], DType::U32, device)?;
        let right = ids(&[1, 0], DType::U32, device)?;
        let errors: usize = std::thread::scope(|scope| {
            let work = |number: usize| {
                let (x, ids) = (&x, if number == 0 { &wrong } else { &right });
                move || (0..50).filter(|_| x.index_select(ids, 0).and_then(|y| y.to_bytes()).is_err()).count()
            };
            let threads: Vec<_> = (0..3).map(|number| scope.spawn(work(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        // Errors that come before somebody looks are one; every error is seen by somebody.
        assert!((1..=50).contains(&errors), "{errors}");
        device.synchronize()?;
        same(&x.index_select(&right, 0)?, &[2.0, 1.0])
    });
}

#[test]
fn ids_and_a_source_at_offsets_are_added_once() {
    on_devices(|device| {
        let which = ids(&[1, 1, 2, 0], DType::U32, device)?.narrow(0, 2, 2)?;
        let source = vector(&[100f32, 200.0, 300.0, 1.0, 2.0], device)?.narrow(0, 3, 2)?;
        let x = Tensor::zeros(4, DType::F32, device)?;
        same(&x.index_add(&which, &source, 0)?, &[2.0, 0.0, 1.0, 0.0])?;
        // Rows 6 7 and 8 9 of five.
        let source = Tensor::arange(0f32, 10.0, device)?.reshape([5, 2])?.narrow(0, 3, 2)?;
        let x = Tensor::zeros([3, 2], DType::F32, device)?;
        same(&x.index_add(&which, &source, 0)?, &[8.0, 9.0, 0.0, 0.0, 6.0, 7.0])?;
        // Columns, into a part that begins at an offset, too.
        let mut part = Tensor::ones([2, 4], DType::F32, device)?.narrow(1, 1, 3)?;
        part.index_add_(&which, &source, 1)?;
        same(&part, &[8.0, 1.0, 7.0, 10.0, 1.0, 9.0])
    });
}
