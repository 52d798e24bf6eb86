//! Reading and writing elements by index tensors, and replacing slices.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{ErrorKind, On, Result};
use crate::layout::Layout;
use crate::plan::index::{Indexed, is_id};
use crate::shape::Dims;
use crate::storage::by_device;

/// Reading by ids. The results are contiguous and have the tensor's dtype.
///
/// `ids` are tensors of `u8`, `u32`, `i32` or `i64` on the same device, with any strides. A negative id, or one not
/// less than the length of its axis, is an error: [`ErrorKind::IdOutOfRange`]. The CPU returns it at once. A HIP device
/// does not wait for the kernel: the error is returned once, with the name of the operation, by the next call that
/// reads a tensor of the device back or synchronises it, on any thread and for any tensor. Of several wrong ids it
/// names one. A wrong id reads 0 and writes nothing, and the device stays usable. Replaying a graph submits no
/// operation: its wrong ids are reported only after an operation with ids was submitted outside of graphs.
impl Tensor {
    /// The slices at `ids` along `axis`, concatenated: `[…, n, …]` and ids `[m]` give `[…, m, …]`.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[1f32, 2.0], [3.0, 4.0], [5.0, 6.0]], &Device::Cpu)?;
    /// let rows = x.index_select(&Tensor::new([2u32, 0, 2], &Device::Cpu)?, 0)?;
    /// assert_eq!(rows.to_vec2::<f32>()?, [[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]);
    ///
    /// let error = x.index_select(&Tensor::new([3u32], &Device::Cpu)?, 0).unwrap_err();
    /// assert_eq!(error.to_string(), "index_select: index 3 is out of range for axis 0 of length 3 on cpu");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Moves each element of the result twice, and each id once.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`]; [`ErrorKind::Rank`] unless the ids have rank 1; [`ErrorKind::UnsupportedDType`] for ids of
    /// another type; [`ErrorKind::DeviceMismatch`]; [`ErrorKind::IdOutOfRange`], on HIP devices at the next read; or an
    /// error of the device.
    pub fn index_select(&self, ids: &Tensor, axis: impl Axis) -> Result<Tensor> {
        let name = "index_select";
        let axis = axis.resolve(self.shape(), name).on(self)?;
        self.require_ids(ids, name)?;
        self.require_list(ids, name)?;
        let mut shape = self.shape().clone();
        shape.dims_mut()[axis] = ids.dims()[0];
        let mut strides = Dims::from_elem(0, self.rank());
        strides[axis] = ids.strides()[0];
        let at = Layout::strided(shape, &strides, ids.layout.offset(), name).on(self)?;
        let mut strides = Dims::from_slice(self.strides());
        strides[axis] = 0;
        self.looked_up(&strides, Indexed::new(name, &self.layout, axis), ids, &at)
    }

    /// For each id, the element at that index along `axis` and at the id's own indices along the other axes: for a
    /// matrix `out[i, j] = self[i, ids[i, j]]` along axis 1. The result has the shape of `ids`. `ids` has the tensor's
    /// rank, and is no longer than the tensor along any other axis.
    ///
    /// Moves each element of the result twice, and each id once.
    ///
    /// # Errors
    /// As [`Tensor::index_select`], and [`ErrorKind::Argument`] if the shapes do not match.
    pub fn gather(&self, ids: &Tensor, axis: impl Axis) -> Result<Tensor> {
        let name = "gather";
        let axis = axis.resolve(self.shape(), name).on(self)?;
        self.require_ids(ids, name)?;
        self.require_fit(ids, axis, name)?;
        let mut strides = self.strides().to_vec();
        strides[axis] = 0;
        self.looked_up(&strides, Indexed::new(name, &self.layout, axis), ids, &ids.layout)
    }

    /// The rows at `ids` of a table `[n, d]`, which is this tensor. `ids` may have any shape: `[…]` gives `[…, d]`.
    ///
    /// Moves each element of the result twice, and each id once.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] unless the tensor is a matrix, else as [`Tensor::index_select`].
    pub fn embedding(&self, ids: &Tensor) -> Result<Tensor> {
        let name = "embedding";
        let &[_, width] = self.dims() else {
            return Err(self.error(name, ErrorKind::Rank { shape: self.shape().clone(), expected: "2" }));
        };
        self.require_ids(ids, name)?;
        let dims: Vec<usize> = ids.dims().iter().copied().chain([width]).collect();
        let steps: Vec<usize> = ids.strides().iter().copied().chain([0]).collect();
        let at = Layout::strided(dims, &steps, ids.layout.offset(), name).on(self)?;
        let mut strides = vec![0; ids.rank()];
        strides.push(self.strides()[1]);
        self.looked_up(&strides, Indexed::new(name, &self.layout, 0), ids, &at)
    }

    /// Looks up the ids, which have layout `at`. `strides` are this tensor's along the result's axes.
    fn looked_up(&self, strides: &[usize], axis: Indexed, ids: &Tensor, at: &Layout) -> Result<Tensor> {
        let (name, device) = (axis.operation, self.device());
        let base = Layout::strided(at.shape().clone(), strides, self.layout.offset(), name).on(&device)?;
        let storage =
            by_device!(index::gather(x, &base, &axis, ids, at), x = self.storage(), ids = ids.storage())
                .on(&device)?;
        Tensor::tight(storage, at.shape().clone(), name)
    }
}

/// Writing by ids. Repeated ids are applied in their order along the axis, on every device: the last write stays, and
/// sums have the same bits everywhere. Floats of 16 and 8 bits are accumulated in `f32` and rounded once; integers
/// wrap. For ids out of range see [`Tensor::index_select`] and its siblings.
///
/// Each element is written by one thread, which reads all ids of its line. The time grows with the number of ids even
/// if few elements are written. On a GPU `scatter_add` of 65,536 terms or more first sorts ids and terms into buckets
/// of destination elements, in memory of its own, and so reads each a few times.
impl Tensor {
    /// The tensor with `source` written at `ids`: for a matrix `self[i, ids[i, j]] = source[i, j]` along axis 1. `ids`
    /// and `source` have the same shape. It has the tensor's rank, and is no longer than the tensor along any other
    /// axis.
    ///
    /// Moves each element of the tensor twice, each of `source` twice, and each id at least once.
    ///
    /// # Errors
    /// As [`Tensor::gather`], and [`ErrorKind::DTypeMismatch`].
    pub fn scatter(&self, ids: &Tensor, source: &Tensor, axis: impl Axis) -> Result<Tensor> {
        let mut out = self.copy()?;
        out.scattered(ids, source, axis, "scatter", false)?;
        Ok(out)
    }

    /// [`Tensor::scatter`] in place.
    ///
    /// # Errors
    /// As [`Tensor::scatter`]; on the CPU the tensor is then unchanged.
    #[doc(alias = "scatter_set")]
    pub fn scatter_(&mut self, ids: &Tensor, source: &Tensor, axis: impl Axis) -> Result<()> {
        self.scattered(ids, source, axis, "scatter_", false)
    }

    /// The tensor with `source` added at `ids`: for a matrix `self[i, ids[i, j]] += source[i, j]` along axis 1. The
    /// shapes are those of [`Tensor::scatter`].
    ///
    /// Moves each element of the tensor twice, each of `source` three times, and each id at least once. Buckets move
    /// terms and ids twice more.
    ///
    /// # Errors
    /// As [`Tensor::scatter`].
    pub fn scatter_add(&self, ids: &Tensor, source: &Tensor, axis: impl Axis) -> Result<Tensor> {
        let name = "scatter_add";
        let axis = self.scattering(ids, source, axis, name)?;
        let alike = (0..self.rank()).all(|other| other == axis || ids.dims()[other] == self.dims()[other]);
        if alike {
            let indexed = Indexed::new(name, &self.layout, axis);
            let (layout, at, from) = (&self.layout, &ids.layout, &source.layout);
            let sums = by_device!(
                index::scatter_added(x, layout, &indexed, (ids, at), (source, from)),
                x = self.storage(),
                ids = ids.storage(),
                source = source.storage()
            );
            if let Some(sums) = sums.on(self)? {
                return Tensor::tight(sums, self.shape().clone(), name);
            }
        }
        let mut out = self.copy()?;
        out.put(ids, &ids.layout, source, axis, name, true)?;
        Ok(out)
    }

    /// [`Tensor::scatter_add`] in place.
    ///
    /// # Errors
    /// As [`Tensor::scatter`]; on the CPU the tensor is then unchanged.
    #[doc(alias = "scatter_add_set")]
    pub fn scatter_add_(&mut self, ids: &Tensor, source: &Tensor, axis: impl Axis) -> Result<()> {
        self.scattered(ids, source, axis, "scatter_add_", true)
    }

    /// The tensor with the slices of `source` added to its slices at `ids`, along `axis`: for a matrix and axis 0
    /// `self[ids[i], j] += source[i, j]`. `ids` has rank 1. `source` has the tensor's shape, except for one slice per
    /// id along `axis`.
    ///
    /// Moves as many bytes as [`Tensor::scatter_add`].
    ///
    /// # Errors
    /// As [`Tensor::index_select`], [`ErrorKind::DTypeMismatch`], and [`ErrorKind::Argument`] if the shapes do not
    /// match.
    pub fn index_add(&self, ids: &Tensor, source: &Tensor, axis: impl Axis) -> Result<Tensor> {
        let mut out = self.copy()?;
        out.slices_added(ids, source, axis, "index_add")?;
        Ok(out)
    }

    /// [`Tensor::index_add`] in place.
    ///
    /// # Errors
    /// As [`Tensor::index_add`]; on the CPU the tensor is then unchanged.
    pub fn index_add_(&mut self, ids: &Tensor, source: &Tensor, axis: impl Axis) -> Result<()> {
        self.slices_added(ids, source, axis, "index_add_")
    }

    fn slices_added(
        &mut self,
        ids: &Tensor,
        source: &Tensor,
        axis: impl Axis,
        name: &'static str,
    ) -> Result<()> {
        let axis = axis.resolve(self.shape(), name).on(self)?;
        self.require_alike(source, name)?;
        self.require_ids(ids, name)?;
        self.require_list(ids, name)?;
        let mut dims = self.dims().to_vec();
        dims[axis] = ids.dims()[0];
        if source.dims() != dims {
            let what = format!(
                "a source of {} does not fit {} and {} ids along axis {axis}",
                source.shape(),
                self.shape(),
                ids.elements()
            );
            return Err(self.error(name, ErrorKind::Argument { what }));
        }
        let mut strides = vec![0; self.rank()];
        strides[axis] = ids.strides()[0];
        let at = Layout::strided(dims, &strides, ids.layout.offset(), name).on(self)?;
        self.put(ids, &at, source, axis, name, true)
    }

    pub(super) fn scattered(
        &mut self,
        ids: &Tensor,
        source: &Tensor,
        axis: impl Axis,
        name: &'static str,
        add: bool,
    ) -> Result<()> {
        let axis = self.scattering(ids, source, axis, name)?;
        self.put(ids, &ids.layout, source, axis, name, add)
    }

    /// Checks the operands and resolves the axis.
    fn scattering(
        &self,
        ids: &Tensor,
        source: &Tensor,
        axis: impl Axis,
        name: &'static str,
    ) -> Result<usize> {
        let axis = axis.resolve(self.shape(), name).on(self)?;
        self.require_alike(source, name)?;
        self.require_ids(ids, name)?;
        self.require_fit(ids, axis, name)?;
        if source.dims() != ids.dims() {
            let what = format!("ids of {} and a source of {} differ in shape", ids.shape(), source.shape());
            return Err(self.error(name, ErrorKind::Argument { what }));
        }
        Ok(axis)
    }

    /// Writes each element of `source` at its id, or adds it there. The ids have layout `at`.
    fn put(
        &mut self,
        ids: &Tensor,
        at: &Layout,
        source: &Tensor,
        axis: usize,
        name: &'static str,
        add: bool,
    ) -> Result<()> {
        self.write(|storage, layout| {
            let mut part = layout.clone();
            for other in (0..layout.rank()).filter(|other| *other != axis) {
                part = part.narrow(other, 0, at.dims()[other], name)?;
            }
            let indexed = Indexed::new(name, &part, axis);
            by_device!(
                index::scatter(x, &part, &indexed, (ids, at), (from, &source.layout), add),
                x = storage,
                ids = ids.storage(),
                from = source.storage()
            )
        })
    }
}

/// Replacing slices.
impl Tensor {
    /// Writes `source` to the slices `start..start + source's length` along `axis`, in place. Only this axis may differ
    /// in length.
    ///
    /// ```
    /// use tensor_core::{DType, Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let mut x = Tensor::zeros([2, 3], DType::F32, &Device::Cpu)?;
    /// x.slice_set_(&Tensor::ones([2, 1], DType::F32, &Device::Cpu)?, 1, 2)?;
    /// assert_eq!(x.to_vec2::<f32>()?, [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Moves each element of `source` twice, and nothing else unless the tensor shares its storage.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`]; [`ErrorKind::Range`] if the slices go past the end; [`ErrorKind::Argument`] if the shapes
    /// do not match; [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`], or an error of the device. The tensor
    /// is then unchanged.
    #[doc(alias = "slice_set")]
    pub fn slice_set_(&mut self, source: &Tensor, axis: impl Axis, start: usize) -> Result<()> {
        self.set_slices(source, axis, start, "slice_set_")
    }

    /// The tensor with its slices `start..start + source's length` along `axis` replaced by `source`.
    ///
    /// Moves each element of the tensor and of `source` twice.
    ///
    /// # Errors
    /// As [`Tensor::slice_set_`].
    pub fn slice_scatter(&self, source: &Tensor, axis: impl Axis, start: usize) -> Result<Tensor> {
        let mut out = self.copy()?;
        out.set_slices(source, axis, start, "slice_scatter")?;
        Ok(out)
    }

    fn set_slices(
        &mut self,
        source: &Tensor,
        axis: impl Axis,
        start: usize,
        name: &'static str,
    ) -> Result<()> {
        let axis = axis.resolve(self.shape(), name).on(self)?;
        self.require_alike(source, name)?;
        let others = |shape: &[usize]| [&shape[..axis], &shape[axis + 1..]].concat();
        if source.rank() != self.rank() || others(source.dims()) != others(self.dims()) {
            let what =
                format!("a source of {} does not fit {} along axis {axis}", source.shape(), self.shape());
            return Err(self.error(name, ErrorKind::Argument { what }));
        }
        let length = source.dims()[axis];
        self.layout.narrow(axis, start, length, name).on(self)?;
        self.write(|storage, layout| {
            let part = layout.narrow(axis, start, length, name)?;
            by_device!(copy::copy_from(x, &part, from, &source.layout), x = storage, from = source.storage())
        })
    }
}

/// Checks of ids.
impl Tensor {
    /// An error unless `ids` have an integer type that ids may have, on this tensor's device.
    fn require_ids(&self, ids: &Tensor, name: &'static str) -> Result<()> {
        self.require_same_device(ids, name)?;
        ids.require(name, is_id(ids.dtype()), "ids are u8, u32, i32 or i64: cast them with to_dtype")
    }

    /// An error unless `ids` have rank 1.
    fn require_list(&self, ids: &Tensor, name: &'static str) -> Result<()> {
        if ids.rank() == 1 {
            return Ok(());
        }
        Err(self.error(name, ErrorKind::Rank { shape: ids.shape().clone(), expected: "1 for ids" }))
    }

    /// An error unless `ids` have this tensor's rank and are no longer than it along any axis but `axis`.
    fn require_fit(&self, ids: &Tensor, axis: usize, name: &'static str) -> Result<()> {
        let fits = |other: usize| other == axis || ids.dims()[other] <= self.dims()[other];
        if ids.rank() == self.rank() && (0..self.rank()).all(fits) {
            return Ok(());
        }
        let what = format!(
            "ids of {} do not fit {} along axis {axis}: they need its rank, and no other axis may be longer",
            ids.shape(),
            self.shape()
        );
        Err(self.error(name, ErrorKind::Argument { what }))
    }
}
