//! candle's [`BackendStorage`] for [`HipStorage`]: each method calls the function of its name in [`ops`](super::ops).

use candle_core::backend::BackendStorage;
use candle_core::conv::{ParamsConv1D, ParamsConv2D, ParamsConvTranspose1D, ParamsConvTranspose2D};
use candle_core::op::{BinaryOpT, CmpOp, ReduceOp, UnaryOpT};
use candle_core::scalar::Scalar;
use candle_core::{CpuStorage, DType, Layout, Result};

use super::ops::{
    affine, binary, cast, compare, conv, copy, fill, index, matmul, pool, reduce, scatter, select, unary,
    upsample,
};
use super::{HipDevice, HipStorage};

impl BackendStorage for HipStorage {
    type Device = HipDevice;

    /// Takes the same time for any size: both share the memory until either is written.
    fn try_clone(&self, _: &Layout) -> Result<HipStorage> {
        self.shared()
    }

    fn dtype(&self) -> DType {
        self.element_type()
    }

    fn device(&self) -> &HipDevice {
        self.hip_device()
    }

    /// Waits for the device. Returns the error of an id out of range that no reading has returned before.
    fn to_cpu_storage(&self) -> Result<CpuStorage> {
        self.download()
    }

    fn affine(&self, l: &Layout, mul: f64, add: f64) -> Result<HipStorage> {
        affine::affine(self, l, mul, add)
    }

    fn powf(&self, l: &Layout, exponent: f64) -> Result<HipStorage> {
        unary::powf(self, l, exponent)
    }

    fn elu(&self, l: &Layout, alpha: f64) -> Result<HipStorage> {
        unary::elu(self, l, alpha)
    }

    fn reduce_op(&self, op: ReduceOp, l: &Layout, axes: &[usize]) -> Result<HipStorage> {
        reduce::reduce(self, op, l, axes)
    }

    fn cmp(&self, op: CmpOp, rhs: &HipStorage, lhs_l: &Layout, rhs_l: &Layout) -> Result<HipStorage> {
        compare::compare(op, (self, lhs_l), (rhs, rhs_l))
    }

    fn to_dtype(&self, l: &Layout, dtype: DType) -> Result<HipStorage> {
        cast::cast(self, l, dtype)
    }

    fn unary_impl<B: UnaryOpT>(&self, l: &Layout) -> Result<HipStorage> {
        unary::unary::<B>(self, l)
    }

    fn binary_impl<B: BinaryOpT>(
        &self,
        rhs: &HipStorage,
        lhs_l: &Layout,
        rhs_l: &Layout,
    ) -> Result<HipStorage> {
        binary::binary::<B>((self, lhs_l), (rhs, rhs_l))
    }

    fn where_cond(
        &self,
        l: &Layout,
        on_true: &HipStorage,
        true_l: &Layout,
        on_false: &HipStorage,
        false_l: &Layout,
    ) -> Result<HipStorage> {
        select::where_cond((self, l), (on_true, true_l), (on_false, false_l))
    }

    fn conv1d(
        &self,
        l: &Layout,
        kernel: &HipStorage,
        kernel_l: &Layout,
        params: &ParamsConv1D,
    ) -> Result<HipStorage> {
        conv::conv1d((self, l), (kernel, kernel_l), params)
    }

    fn conv_transpose1d(
        &self,
        l: &Layout,
        kernel: &HipStorage,
        kernel_l: &Layout,
        params: &ParamsConvTranspose1D,
    ) -> Result<HipStorage> {
        conv::conv_transpose1d((self, l), (kernel, kernel_l), params)
    }

    fn conv2d(
        &self,
        l: &Layout,
        kernel: &HipStorage,
        kernel_l: &Layout,
        params: &ParamsConv2D,
    ) -> Result<HipStorage> {
        conv::conv2d((self, l), (kernel, kernel_l), params)
    }

    fn conv_transpose2d(
        &self,
        l: &Layout,
        kernel: &HipStorage,
        kernel_l: &Layout,
        params: &ParamsConvTranspose2D,
    ) -> Result<HipStorage> {
        conv::conv_transpose2d((self, l), (kernel, kernel_l), params)
    }

    fn avg_pool2d(&self, l: &Layout, window: (usize, usize), stride: (usize, usize)) -> Result<HipStorage> {
        pool::avg_pool2d(self, l, window, stride)
    }

    fn max_pool2d(&self, l: &Layout, window: (usize, usize), stride: (usize, usize)) -> Result<HipStorage> {
        pool::max_pool2d(self, l, window, stride)
    }

    fn upsample_nearest1d(&self, l: &Layout, size: usize) -> Result<HipStorage> {
        upsample::nearest1d(self, l, size)
    }

    fn upsample_nearest2d(&self, l: &Layout, height: usize, width: usize) -> Result<HipStorage> {
        upsample::nearest2d(self, l, height, width)
    }

    fn upsample_bilinear2d(
        &self,
        l: &Layout,
        height: usize,
        width: usize,
        align_corners: bool,
        scale_h: Option<f64>,
        scale_w: Option<f64>,
    ) -> Result<HipStorage> {
        upsample::bilinear2d(self, l, (height, width), align_corners, (scale_h, scale_w))
    }

    fn gather(&self, l: &Layout, ids: &HipStorage, ids_l: &Layout, axis: usize) -> Result<HipStorage> {
        index::gather((self, l), (ids, ids_l), axis)
    }

    fn scatter_set(
        &mut self,
        l: &Layout,
        ids: &HipStorage,
        ids_l: &Layout,
        source: &HipStorage,
        source_l: &Layout,
        axis: usize,
    ) -> Result<()> {
        scatter::scatter_set(self, l, (ids, ids_l), (source, source_l), axis)
    }

    fn scatter_add_set(
        &mut self,
        l: &Layout,
        ids: &HipStorage,
        ids_l: &Layout,
        source: &HipStorage,
        source_l: &Layout,
        axis: usize,
    ) -> Result<()> {
        scatter::scatter_add_set(self, l, (ids, ids_l), (source, source_l), axis)
    }

    fn index_select(&self, ids: &HipStorage, l: &Layout, ids_l: &Layout, axis: usize) -> Result<HipStorage> {
        index::index_select((self, l), (ids, ids_l), axis)
    }

    fn index_add(
        &self,
        l: &Layout,
        ids: &HipStorage,
        ids_l: &Layout,
        source: &HipStorage,
        source_l: &Layout,
        axis: usize,
    ) -> Result<HipStorage> {
        scatter::index_add((self, l), (ids, ids_l), (source, source_l), axis)
    }

    fn matmul(
        &self,
        rhs: &HipStorage,
        bmnk: (usize, usize, usize, usize),
        lhs_l: &Layout,
        rhs_l: &Layout,
    ) -> Result<HipStorage> {
        matmul::matmul((self, lhs_l), (rhs, rhs_l), bmnk)
    }

    fn copy_strided_src(&self, destination: &mut HipStorage, offset: usize, l: &Layout) -> Result<()> {
        copy::copy_strided_src(self, destination, offset, l)
    }

    fn copy2d(
        &self,
        destination: &mut HipStorage,
        rows: usize,
        columns: usize,
        source_stride: usize,
        destination_stride: usize,
        source_offset: usize,
        destination_offset: usize,
    ) -> Result<()> {
        let from = copy::Rows { offset: source_offset, stride: source_stride };
        let to = copy::Rows { offset: destination_offset, stride: destination_stride };
        copy::copy2d((self, from), (destination, to), (rows, columns))
    }

    fn const_set(&mut self, value: Scalar, l: &Layout) -> Result<()> {
        fill::const_set(self, value, l)
    }
}
