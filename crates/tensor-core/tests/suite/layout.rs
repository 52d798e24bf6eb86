//! Layouts against a naive model: a shape and the list of offsets, element by element.

use proptest::collection::vec;
use proptest::prelude::*;
use tensor_core::{DType, Device, Layout, Tensor, collapse};

use crate::common::on_devices;

/// Elements in row-major order, each with its first offset.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    dims: Vec<usize>,
    offsets: Vec<usize>,
}

impl Model {
    fn new(dims: &[usize]) -> Model {
        Model { dims: dims.to_vec(), offsets: (0..dims.iter().product()).collect() }
    }

    fn at(&self, index: &[usize]) -> usize {
        let position = index.iter().zip(&self.dims).fold(0, |position, (i, length)| position * length + i);
        self.offsets[position]
    }

    /// The model of shape `dims` whose element at each index is the one that `from` names.
    fn build(&self, dims: Vec<usize>, from: impl Fn(&[usize]) -> Vec<usize>) -> Model {
        let count: usize = dims.iter().product();
        let offsets = (0..count).map(|position| {
            let mut rest = position;
            let mut index = vec![0; dims.len()];
            for axis in (0..dims.len()).rev() {
                index[axis] = rest % dims[axis];
                rest /= dims[axis];
            }
            self.at(&from(&index))
        });
        Model { offsets: offsets.collect(), dims: dims.clone() }
    }
}

/// A step that makes one view of another. Numbers are taken modulo what fits.
#[derive(Clone, Debug)]
enum Step {
    Transpose(usize, usize),
    Rotate(usize),
    Narrow(usize, usize, usize),
    Squeeze(usize),
    Unsqueeze(usize),
    Expand(usize, usize),
    Reshape(Vec<usize>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..9usize, 0..9usize).prop_map(|(a, b)| Step::Transpose(a, b)),
        (0..9usize).prop_map(Step::Rotate),
        (0..9usize, 0..9usize, 0..9usize).prop_map(|(a, b, c)| Step::Narrow(a, b, c)),
        (0..9usize).prop_map(Step::Squeeze),
        (0..9usize).prop_map(Step::Unsqueeze),
        (0..9usize, 1..4usize).prop_map(|(a, b)| Step::Expand(a, b)),
        vec(1..5usize, 0..4).prop_map(Step::Reshape),
    ]
}

/// Takes the step on both, where it is possible, and says whether the tensor's storage must still be the same.
fn apply(tensor: &Tensor, model: &Model, step: &Step) -> (Tensor, Model, bool) {
    let rank = tensor.rank();
    match step {
        Step::Transpose(a, b) if rank > 0 => {
            let (a, b) = (a % rank, b % rank);
            let mut dims = model.dims.clone();
            dims.swap(a, b);
            let model = model.build(dims, |index| {
                let mut index = index.to_vec();
                index.swap(a, b);
                index
            });
            (tensor.transpose(a, b).unwrap(), model, true)
        }
        Step::Rotate(by) if rank > 0 => {
            let axes: Vec<usize> = (0..rank).map(|axis| (axis + by) % rank).collect();
            let dims = axes.iter().map(|&axis| model.dims[axis]).collect();
            let model = model.build(dims, |index| {
                let mut from = vec![0; rank];
                axes.iter().zip(index).for_each(|(&axis, &i)| from[axis] = i);
                from
            });
            (tensor.permute(&axes).unwrap(), model, true)
        }
        Step::Narrow(axis, start, length) if rank > 0 => {
            let axis = axis % rank;
            let start = start % (model.dims[axis] + 1);
            let length = length % (model.dims[axis] - start + 1);
            let mut dims = model.dims.clone();
            dims[axis] = length;
            let model = model.build(dims, |index| {
                let mut index = index.to_vec();
                index[axis] += start;
                index
            });
            (tensor.narrow(axis, start, length).unwrap(), model, true)
        }
        Step::Squeeze(axis) if rank > 0 => {
            let axis = axis % rank;
            let mut dims = model.dims.clone();
            if dims[axis] == 1 {
                dims.remove(axis);
            }
            (tensor.squeeze(axis).unwrap(), Model { dims, ..model.clone() }, true)
        }
        Step::Unsqueeze(axis) => {
            let axis = axis % (rank + 1);
            let mut dims = model.dims.clone();
            dims.insert(axis, 1);
            (tensor.unsqueeze(axis).unwrap(), Model { dims, ..model.clone() }, true)
        }
        Step::Expand(axis, times) if rank > 0 && model.dims[axis % rank] == 1 => {
            let axis = axis % rank;
            let mut dims = model.dims.clone();
            dims[axis] = *times;
            dims.insert(0, 2);
            let expanded = tensor.expand(&dims).unwrap();
            let model = model.build(dims, |index| {
                let mut index = index[1..].to_vec();
                index[axis] = 0;
                index
            });
            (expanded, model, true)
        }
        Step::Reshape(factors) => {
            // A shape of the same count: as many of the factors as divide it, then the rest.
            let mut rest = tensor.elements();
            let mut dims = Vec::new();
            for &factor in factors {
                if rest.is_multiple_of(factor) {
                    dims.push(factor);
                    rest /= factor;
                }
            }
            dims.push(rest);
            let reshaped = tensor.reshape(&dims).unwrap();
            let copied = tensor.view(&dims).is_err();
            (reshaped, Model { dims, ..model.clone() }, !copied)
        }
        _ => (tensor.clone(), model.clone(), true),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn views_show_the_elements_of_the_model(dims in vec(0..5usize, 0..5), steps in vec(step(), 0..7)) {
        let count: usize = dims.iter().product();
        let mut tensor = Tensor::arange(0i32, count as i32, &Device::Cpu).unwrap().reshape(&dims).unwrap();
        let mut model = Model::new(&dims);
        for step in &steps {
            // Expanding doubles the elements; a few thousand are enough.
            if tensor.elements() > 3000 {
                break;
            }
            let (next, next_model, same_storage) = apply(&tensor, &model, step);
            prop_assert_eq!(next.shares_storage(&tensor), same_storage, "{:?} of {:?}", step, tensor.layout());
            (tensor, model) = (next, next_model);
            prop_assert_eq!(tensor.dims(), &model.dims[..]);
            let expected: Vec<i32> = model.offsets.iter().map(|&offset| offset as i32).collect();
            prop_assert_eq!(tensor.to_vec::<i32>().unwrap(), expected.clone(), "{:?} of {:?}", step, tensor.layout());
            // Tight exactly if the elements lie one behind the other.
            let layout = tensor.layout();
            let offsets: Vec<usize> = (0..layout.elements()).map(|i| layout.offset_of(i)).collect();
            let tight = offsets.windows(2).all(|pair| pair[1] == pair[0] + 1);
            prop_assert_eq!(tensor.is_contiguous(), tight, "{:?}", layout);
            prop_assert!(layout.end() <= tensor.storage().len());
            prop_assert!(offsets.iter().all(|&offset| offset < layout.end()));
            // No overlap is claimed only where offsets are distinct.
            let mut sorted = offsets.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert!(layout.may_overlap() || sorted.len() == offsets.len());
            // Collapsing keeps the order of offsets, and leaves nothing to merge.
            let collapsed = layout.collapsed();
            prop_assert_eq!((0..collapsed.elements()).map(|i| collapsed.offset_of(i)).collect::<Vec<_>>(), offsets);
            prop_assert!(collapsed.dims().iter().all(|&length| length != 1));
            prop_assert!(collapsed.rank() <= 1 || !collapsed.is_contiguous());
            prop_assert_eq!(collapsed.collapsed(), collapsed);
        }
    }

    #[test]
    fn collapsing_two_layouts_keeps_both_orders(dims in vec(1..4usize, 1..6), swap in (0..6usize, 0..6usize), broadcast in 0..6usize) {
        let rank = dims.len();
        let (a, b) = (swap.0 % rank, swap.1 % rank);
        let mut swapped = dims.clone();
        swapped.swap(a, b);
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(a, b);
        let first = Layout::contiguous(swapped, "test").unwrap().permute(&axes, "test").unwrap();
        let mut narrow = dims.clone();
        narrow[broadcast % rank] = 1;
        let second = Layout::contiguous(narrow, "test").unwrap().expand(&(&dims).into(), "test").unwrap();
        let collapsed = collapse(&[&first, &second]);
        for (layout, strides) in [&first, &second].into_iter().zip(&collapsed.strides) {
            let merged = Layout::strided(&collapsed.dims[..], strides, layout.offset(), "test").unwrap();
            prop_assert_eq!(merged.elements(), layout.elements());
            prop_assert!((0..merged.elements()).all(|i| merged.offset_of(i) == layout.offset_of(i)));
        }
        prop_assert!(collapsed.dims.len() <= rank);
    }

    #[test]
    fn split_layouts_meet_again(dims in vec(1..4usize, 1..5), chosen in vec(any::<bool>(), 5)) {
        let layout = Layout::contiguous(&dims, "test").unwrap();
        let axes: Vec<usize> = (0..dims.len()).filter(|&axis| chosen[axis]).collect();
        let (kept, reduced) = layout.split(&axes);
        prop_assert_eq!(kept.elements() * reduced.elements(), layout.elements());
        let mut offsets: Vec<usize> = (0..kept.elements())
            .flat_map(|i| (0..reduced.elements()).map(move |j| (i, j)))
            .map(|(i, j)| kept.offset_of(i) + reduced.offset_of(j))
            .collect();
        offsets.sort_unstable();
        prop_assert_eq!(offsets, (0..layout.elements()).collect::<Vec<_>>());
    }
}

#[test]
fn large_transposes_move_every_element() {
    crate::common::on_devices(|device| {
        // Sizes around the tiles and chunks of a blocked transpose, alone and inside a batch.
        for (batch, rows, columns) in [(1, 32, 32), (3, 33, 65), (2, 100, 37), (1, 1000, 40), (5, 64, 32)] {
            let count = batch * rows * columns;
            let x = Tensor::arange(0i32, count as i32, device)?.reshape([batch, rows, columns])?;
            let got = x.t()?.contiguous()?.to_vec::<i32>()?;
            let expected = (0..count).map(|p| {
                let (b, c, r) = (p / (rows * columns), p / rows % columns, p % rows);
                (b * rows * columns + r * columns + c) as i32
            });
            assert!(got.into_iter().eq(expected), "{batch} of {rows} x {columns}");
            let part = x.narrow(1, 1, rows - 1)?.narrow(2, 0, columns - 1)?.t()?;
            let offset = |b, c, r| (b * rows * columns + (r + 1) * columns + c) as i32;
            for (b, plane) in part.contiguous()?.to_vec3::<i32>()?.into_iter().enumerate() {
                for (c, row) in plane.into_iter().enumerate() {
                    assert!(row.into_iter().eq((0..rows - 1).map(|r| offset(b, c, r))));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn ranks_beyond_eight_work() {
    crate::common::on_devices(|device| {
        let dims = [2, 1, 2, 1, 2, 1, 2, 1, 2, 2, 3];
        let count = dims.iter().product::<usize>();
        let x = Tensor::arange(0f32, count as f32, device)?.reshape(dims)?;
        let axes: Vec<usize> = (0..dims.len()).rev().collect();
        let reversed = x.permute(&axes)?;
        assert_eq!(reversed.rank(), 11);
        let back = reversed.contiguous()?.permute(&axes)?;
        assert_eq!(back.to_vec::<f32>()?, x.to_vec::<f32>()?);
        let doubled = reversed.add(&reversed.contiguous()?)?;
        assert_eq!(doubled.permute(&axes)?.to_vec::<f32>()?, x.affine(2.0, 0.0)?.to_vec::<f32>()?);
        // Every second axis of the reversed tensor: sums of interleaved indices, one by one.
        let sums = reversed.sum([0, 2, 4, 6, 8, 10])?;
        assert_eq!(sums.dims(), [2, 1, 1, 1, 1]);
        let all = x.to_vec::<f32>()?;
        let half = |which: usize| -> f32 { (0..count).filter(|i| i / 3 % 2 == which).map(|i| all[i]).sum() };
        assert_eq!(sums.to_vec::<f32>()?, [half(0), half(1)]);
        Ok(())
    });
}

#[test]
fn small_layouts_allocate_nothing() {
    // The inline forms hold eight dimensions; the size shows that they are inline at all.
    assert!(size_of::<Layout>() >= 16 * size_of::<usize>());
    let layout = Layout::contiguous([1, 2, 3, 4, 5, 6, 7, 8], "test").unwrap();
    let inside = |address: *const usize| {
        let start = (&raw const layout).addr();
        (start..start + size_of::<Layout>()).contains(&address.addr())
    };
    assert!(inside(layout.dims().as_ptr()) && inside(layout.strides().as_ptr()));
    let nine = Layout::contiguous([1; 9], "test").unwrap();
    assert_eq!(nine.rank(), 9);
    assert_eq!(Tensor::ones([1; 9], DType::F32, &Device::Cpu).unwrap().rank(), 9);
}

/// As in PyTorch and candle.
#[test]
fn only_axes_of_length_one_are_squeezed() {
    on_devices(|device| {
        let x = Tensor::arange(0i32, 6, device)?.reshape([2, 1, 3])?;
        assert_eq!(x.squeeze(1)?.dims(), [2, 3]);
        for axis in [0, 2, -1, -3] {
            let same_shape = x.squeeze(axis)?;
            assert_eq!(same_shape.dims(), [2, 1, 3]);
            assert!(same_shape.shares_storage(&x));
        }
        assert_eq!(Tensor::zeros([0, 1], DType::F32, device)?.squeeze(0)?.dims(), [0, 1]);
        Ok(())
    });
}

#[test]
fn invalid_layouts_are_errors() {
    let layout = Layout::contiguous([2, 3], "test").unwrap();
    let says = |result: tensor_core::Result<Layout>| result.unwrap_err().to_string();
    assert_eq!(says(layout.permute(&[0, 2], "test")), "test: axis 2 is out of range for [2, 3]");
    assert_eq!(says(layout.narrow(2, 0, 1, "test")), "test: axis 2 is out of range for [2, 3]");
    assert_eq!(says(layout.squeeze(9, "test")), "test: axis 9 is out of range for [2, 3]");
    assert_eq!(says(layout.squeeze(0, "test")), "test: axis 0 of [2, 3] is longer than 1");
    assert_eq!(
        says(Layout::strided([2, 3], &[1], 0, "test")),
        "test: [2, 3] has rank 2, expected one dimension per stride"
    );
    let far = "test: [2, 3] is too large: its size does not fit the 64-bit address space";
    assert_eq!(says(Layout::strided([2, 3], &[usize::MAX, 1], 0, "test")), far);
    assert_eq!(says(Layout::strided([2, 3], &[3, 1], usize::MAX - 4, "test")), far);
    assert_eq!(layout.view(&[7].into()), None);
    assert_eq!(layout.split(&[5]).0, layout);
    assert_eq!(Layout::contiguous([0, 3], "test").unwrap().offset_of(4), 4 % 3);
}
