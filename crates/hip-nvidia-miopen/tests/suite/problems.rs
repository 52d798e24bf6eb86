//! Convolutions whose sums every type holds exactly, for immediate mode.

use crate::bench::{Bench, F32, Memory, ok, set};
use hip_sys::miopen::*;
use std::ffi::c_void;
use std::ptr::null_mut;

pub(crate) const BF16: miopenDataType_t = miopenDataType_t::miopenBFloat16;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Direction {
    Forward,
    BackwardData,
    BackwardWeights,
}
pub(crate) use Direction::{BackwardData, BackwardWeights, Forward};

/// An ordinary convolution of one to three dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) batch: usize,
    pub(crate) groups: usize,
    /// Channels and filters of one group.
    pub(crate) channels: usize,
    pub(crate) filters: usize,
    pub(crate) picture: &'static [usize],
    pub(crate) taps: &'static [usize],
    pub(crate) pad: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) channels_last: bool,
    pub(crate) transposed: bool,
}

pub(crate) const PLAIN: Case = Case {
    batch: 2,
    groups: 1,
    channels: 8,
    filters: 16,
    picture: &[12, 12],
    taps: &[3, 3],
    pad: 1,
    stride: 1,
    dilation: 1,
    channels_last: false,
    transposed: false,
};

pub(crate) const CASES: [Case; 11] = [
    PLAIN,
    Case { channels: 3, filters: 5, picture: &[11, 7], taps: &[3, 2], stride: 2, ..PLAIN },
    Case { channels: 16, filters: 8, taps: &[1, 1], pad: 0, ..PLAIN },
    Case { groups: 2, channels: 4, filters: 6, picture: &[9, 10], ..PLAIN },
    Case { groups: 6, channels: 1, filters: 1, ..PLAIN },
    Case { dilation: 2, pad: 2, picture: &[13, 9], ..PLAIN },
    Case { channels_last: true, ..PLAIN },
    Case { channels_last: true, channels: 5, filters: 3, picture: &[7, 9], stride: 3, ..PLAIN },
    Case { channels: 4, filters: 3, picture: &[5, 6, 7], taps: &[2, 3, 2], ..PLAIN },
    Case { channels: 4, filters: 6, picture: &[17], taps: &[4], ..PLAIN },
    Case { transposed: true, stride: 2, channels: 6, filters: 10, picture: &[9, 9], ..PLAIN },
];

impl Case {
    pub(crate) fn out(&self) -> Vec<usize> {
        let length =
            |(n, k): (&usize, &usize)| (n + 2 * self.pad - (k - 1) * self.dilation - 1) / self.stride + 1;
        self.picture.iter().zip(self.taps).map(length).collect()
    }

    /// The ordinary convolution's input, weights and output.
    pub(crate) fn dims(&self) -> [Vec<usize>; 3] {
        let of = |first: usize, second: usize, rest: &[usize]| [&[first, second], rest].concat();
        let (groups, out) = (self.groups, self.out());
        [
            of(self.batch, groups * self.channels, self.picture),
            of(groups * self.filters, self.channels, self.taps),
            of(self.batch, groups * self.filters, &out),
        ]
    }

    /// -1, 0 and 1 so that sums stay small.
    pub(crate) fn values(&self, which: usize) -> Vec<f64> {
        let count = self.dims()[which].iter().product();
        (0..count)
            .map(|i: usize| [1.0, -1.0, 0.0, 1.0, 0.0, -1.0, 1.0][(i * (which + 3) + i / 7) % 7])
            .collect()
    }

    /// The computed tensor, from the definition. Row-major, whatever the layout is.
    pub(crate) fn expected(&self, direction: Direction) -> Vec<f64> {
        let [x_dims, w_dims, y_dims] = self.dims();
        let [x, w, y] = [0, 1, 2].map(|which| self.values(which));
        let sizes = [&x_dims, &w_dims, &y_dims].map(|dims| dims.iter().product::<usize>());
        let [mut dx, mut dw, mut z] = sizes.map(|size| vec![0.0; size]);
        let (spots, taps): (usize, usize) = (y_dims[2..].iter().product(), self.taps.iter().product());
        for row in 0..y_dims[0] * y_dims[1] {
            let (image, filter) = (row / y_dims[1], row % y_dims[1]);
            let group = filter / self.filters;
            for channel in 0..self.channels {
                for (spot, tap) in (0..spots * taps).map(|i| (i / taps, i % taps)) {
                    let (mut spot_left, mut tap_left, mut pixel, mut scale) = (spot, tap, 0, 1);
                    let mut inside = true;
                    for axis in (0..self.taps.len()).rev() {
                        let (out, taps, length) = (y_dims[axis + 2], self.taps[axis], self.picture[axis]);
                        let at = (spot_left % out * self.stride + tap_left % taps * self.dilation)
                            .wrapping_sub(self.pad);
                        inside &= at < length;
                        pixel = if inside { pixel + at * scale } else { 0 };
                        (spot_left, tap_left, scale) = (spot_left / out, tap_left / taps, scale * length);
                    }
                    if inside {
                        let pixels: usize = self.picture.iter().product();
                        let i = (image * x_dims[1] + group * self.channels + channel) * pixels + pixel;
                        let k = (filter * self.channels + channel) * taps + tap;
                        let o = row * spots + spot;
                        z[o] += x[i] * w[k];
                        dx[i] += y[o] * w[k];
                        dw[k] += y[o] * x[i];
                    }
                }
            }
        }
        match direction {
            Forward => z,
            BackwardData => dx,
            BackwardWeights => dw,
        }
    }

    pub(crate) fn strides(&self, dims: &[usize]) -> Vec<usize> {
        let order: Vec<usize> = match self.channels_last {
            true => std::iter::once(0).chain(2..dims.len()).chain([1]).collect(),
            false => (0..dims.len()).collect(),
        };
        let (mut strides, mut next) = (vec![0; dims.len()], 1);
        for dim in order.into_iter().rev() {
            strides[dim] = next;
            next *= dims[dim];
        }
        strides
    }

    /// The offsets in memory of the elements, in row-major order.
    pub(crate) fn offsets(&self, which: usize) -> Vec<usize> {
        let dims = &self.dims()[which];
        let strides = self.strides(dims);
        let offset = |index: usize| {
            let (mut left, mut offset) = (index, 0);
            for (dim, stride) in dims.iter().zip(&strides).rev() {
                offset += left % dim * stride;
                left /= dim;
            }
            offset
        };
        (0..dims.iter().product()).map(offset).collect()
    }
}

pub(crate) fn bits(kind: miopenDataType_t, value: f64) -> Vec<u8> {
    let single = value as f32;
    match kind {
        F32 => single.to_le_bytes().to_vec(),
        BF16 => ((single.to_bits() >> 16) as u16).to_le_bytes().to_vec(),
        _ => crate::bench::f16(single).to_le_bytes().to_vec(),
    }
}

pub(crate) fn value(kind: miopenDataType_t, bytes: &[u8]) -> f64 {
    let short = || u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    match kind {
        F32 => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        BF16 => f64::from(f32::from_bits(short() << 16)),
        _ => {
            let (sign, exponent, mantissa) =
                (short() >> 15, (short() >> 10 & 31) as i32, f64::from(short() & 1023));
            let size = if exponent == 0 {
                mantissa / 1024.0 * 2_f64.powi(-14)
            } else {
                (1.0 + mantissa / 1024.0) * 2_f64.powi(exponent - 15)
            };
            if sign == 1 { -size } else { size }
        }
    }
}

/// A problem on a handle, in one direction of the ordinary convolution.
pub(crate) struct Problem<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) case: Case,
    pub(crate) kind: miopenDataType_t,
    pub(crate) direction: Direction,
    /// Of `x`, the weights and `y`.
    pub(crate) descs: [miopenTensorDescriptor_t; 3],
    pub(crate) conv: miopenConvolutionDescriptor_t,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(bench: &'a Bench, case: Case, kind: miopenDataType_t, direction: Direction) -> Self {
        let ints = |list: &[usize]| list.iter().map(|n| *n as i32).collect::<Vec<_>>();
        let descs = case.dims().map(|dims| {
            let (mut desc, strides) = (null_mut(), ints(&case.strides(&dims)));
            set!(bench.miopenCreateTensorDescriptor(&mut desc));
            let dims = ints(&dims);
            set!(bench.miopenSetTensorDescriptor(
                desc,
                kind,
                dims.len() as i32,
                dims.as_ptr(),
                strides.as_ptr()
            ));
            desc
        });
        let (mut conv, rank) = (null_mut(), case.taps.len());
        let lists = [case.pad, case.stride, case.dilation].map(|n| vec![n as i32; rank]);
        let mode = match case.transposed {
            true => miopenConvolutionMode_t::miopenTranspose,
            false => miopenConvolutionMode_t::miopenConvolution,
        };
        set!(bench.miopenCreateConvolutionDescriptor(&mut conv));
        set!(bench.miopenInitConvolutionNdDescriptor(
            conv,
            rank as i32,
            lists[0].as_ptr(),
            lists[1].as_ptr(),
            lists[2].as_ptr(),
            mode
        ));
        set!(bench.miopenSetConvolutionGroupCount(conv, case.groups as i32));
        Self { bench, case, kind, direction, descs, conv }
    }

    /// Which of the three is computed.
    pub(crate) fn result(&self) -> usize {
        match self.direction {
            Forward => 2,
            BackwardData => 0,
            BackwardWeights => 1,
        }
    }

    /// The three tensors in MIOpen's order: a transposed convolution's `x` is the ordinary one's `y`.
    pub(crate) fn given<V: Copy>(&self, [x, w, y]: [V; 3]) -> [V; 3] {
        if self.case.transposed { [y, w, x] } else { [x, w, y] }
    }

    /// MIOpen's direction.
    pub(crate) fn asked(&self) -> Direction {
        match (self.case.transposed, self.direction) {
            (true, Forward) => BackwardData,
            (true, BackwardData) => Forward,
            (_, direction) => direction,
        }
    }

    pub(crate) fn solutions(&self) -> Vec<miopenConvSolution_t> {
        let nothing = miopenConvSolution_t {
            time: 0.0,
            workspace_size: 0,
            solution_id: 0,
            algorithm: miopenConvAlgorithm_t(0),
        };
        let (bench, conv, [x, w, y]) = (self.bench, self.conv, self.given(self.descs));
        let (mut list, mut count, mut got) = ([nothing; 32], 0, 0);
        let first = list.as_mut_ptr();
        match self.asked() {
            Forward => {
                ok!(bench.miopenConvolutionForwardGetSolutionCount(w, x, conv, y, &mut count));
                ok!(bench.miopenConvolutionForwardGetSolution(w, x, conv, y, 32, &mut got, first));
            }
            BackwardData => {
                ok!(bench.miopenConvolutionBackwardDataGetSolutionCount(y, w, conv, x, &mut count));
                ok!(bench.miopenConvolutionBackwardDataGetSolution(y, w, conv, x, 32, &mut got, first));
            }
            BackwardWeights => {
                ok!(bench.miopenConvolutionBackwardWeightsGetSolutionCount(y, x, conv, w, &mut count));
                ok!(bench.miopenConvolutionBackwardWeightsGetSolution(y, x, conv, w, 32, &mut got, first));
            }
        }
        assert!(count > 0 && got == count, "{:?} {:?}: {got} of {count}", self.case, self.direction);
        list[..got].to_vec()
    }

    pub(crate) fn compile(&self, id: u64) -> usize {
        let (bench, conv, [x, w, y], mut size) = (self.bench, self.conv, self.given(self.descs), 0);
        match self.asked() {
            Forward => {
                ok!(bench.miopenConvolutionForwardCompileSolution(w, x, conv, y, id));
                ok!(bench.miopenConvolutionForwardGetSolutionWorkspaceSize(w, x, conv, y, id, &mut size));
            }
            BackwardData => {
                ok!(bench.miopenConvolutionBackwardDataCompileSolution(y, w, conv, x, id));
                ok!(bench.miopenConvolutionBackwardDataGetSolutionWorkspaceSize(y, w, conv, x, id, &mut size));
            }
            BackwardWeights => {
                ok!(bench.miopenConvolutionBackwardWeightsCompileSolution(y, x, conv, w, id));
                ok!(bench
                    .miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize(y, x, conv, w, id, &mut size));
            }
        }
        size
    }

    /// Submits it to the handle's stream.
    pub(crate) fn run(
        &self,
        memory: [*mut c_void; 3],
        space: *mut c_void,
        size: usize,
        id: u64,
    ) -> miopenStatus_t {
        let (bench, h, conv, [xd, wd, yd]) =
            (self.bench, self.bench.handle, self.conv, self.given(self.descs));
        let ([x, w, y], dnn) = (self.given(memory), bench.dnn());
        // SAFETY: S1: the test's own memory, as large as the descriptors say.
        unsafe {
            match self.asked() {
                Forward => {
                    (dnn.miopenConvolutionForwardImmediate)(h, wd, w, xd, x, conv, yd, y, space, size, id)
                }
                BackwardData => (dnn.miopenConvolutionBackwardDataImmediate)(
                    h, yd, y, wd, w, conv, xd, x, space, size, id,
                ),
                BackwardWeights => (dnn.miopenConvolutionBackwardWeightsImmediate)(
                    h, yd, y, xd, x, conv, wd, w, space, size, id,
                ),
            }
        }
    }

    /// The two tensors that are read, and memory for the third, which begin at this offset in their memory.
    pub(crate) fn memory(&self, shift: usize) -> [Memory<'a>; 3] {
        [0, 1, 2].map(|which| {
            let (offsets, size) = (self.case.offsets(which), if self.kind == F32 { 4 } else { 2 });
            let mut bytes = vec![0xff; shift + offsets.len() * size];
            if which != self.result() {
                for (index, value) in offsets.into_iter().zip(self.case.values(which)) {
                    let start = shift + index * size;
                    bytes[start..start + size].copy_from_slice(&bits(self.kind, value));
                }
            }
            self.bench.put(&bytes)
        })
    }

    #[track_caller]
    pub(crate) fn check(&self, memory: &Memory<'_>, shift: usize, solution: &miopenConvSolution_t) {
        assert_eq!(self.wrong(memory, shift, solution), None);
    }

    /// A message if the result is wrong.
    pub(crate) fn wrong(
        &self,
        memory: &Memory<'_>,
        shift: usize,
        solution: &miopenConvSolution_t,
    ) -> Option<String> {
        let (offsets, size) = (self.case.offsets(self.result()), if self.kind == F32 { 4 } else { 2 });
        let bytes = memory.read::<u8>(shift + offsets.len() * size);
        // Transforms round, so a tolerance applies.
        let sums = ![2, 3].contains(&solution.algorithm.0);
        let tolerance = match (sums, self.kind) {
            (true, _) => 0.0,
            (_, F32) => 1e-3,
            _ => 0.5,
        };
        let all = offsets.into_iter().zip(self.case.expected(self.direction)).enumerate();
        let mut values = all.map(|(index, (offset, expected))| {
            (index, value(self.kind, &bytes[shift + offset * size..]), expected)
        });
        let (index, got, expected) = values.find(|(_, got, expected)| {
            let error = (got - expected).abs();
            error.is_nan() || error > tolerance
        })?;
        Some(format!(
            "{:?} {:?} {:?} by {:x} of class {}: {got} at {index} is not {expected}",
            self.case, self.kind, self.direction, solution.solution_id, solution.algorithm.0
        ))
    }
}
