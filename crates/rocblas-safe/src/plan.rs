//! One operation before it is submitted: its operands, the memory that it uses, and which form of the C function it takes.

use crate::handle::Uses;
use crate::matrix_batch::{MatrixBatch, MatrixBatchMut};
use crate::raw::{Call, Failure, Form, Operand};
use crate::storage::Storage;
use crate::vector_batch::{VectorBatch, VectorBatchMut};
use crate::{Error, Handle, Result, Scalar, convert};
use hip_safe::{AnyBits, DeviceBuffer, DeviceView, DeviceViewMut, PinnedBuffer, Stream};
use hip_sys::rocblas::rocblas_pointer_mode;
use std::ffi::c_void;

/// What an operation uses. Operands have the numbers in which they were added.
pub(crate) struct Plan<'a> {
    op: &'static str,
    operands: Vec<Spec>,
    reads: Vec<DeviceView<'a, u8>>,
    writes: Vec<DeviceViewMut<'a, u8>>,
    mode: Option<rocblas_pointer_mode>,
    for_host: bool,
    /// Whether the functions with 64-bit sizes are called in any case.
    wide: bool,
    /// Where a reduction's results go, and the size of each.
    results: (*mut c_void, usize),
}

/// Where an operand lies.
struct Spec {
    ld: i64,
    element_bytes: usize,
    written: bool,
    address: Address,
}

enum Address {
    One(*mut c_void),
    Strided { first: *mut c_void, stride: usize, count: usize },
    Many(Vec<*mut c_void>),
}

impl<'a> Plan<'a> {
    pub(crate) fn new(op: &'static str) -> Self {
        Self {
            op,
            operands: Vec::with_capacity(4),
            reads: Vec::with_capacity(4),
            writes: Vec::new(),
            mode: None,
            for_host: false,
            wide: false,
            results: (std::ptr::null_mut(), 0),
        }
    }

    pub(crate) fn read_matrix<T: AnyBits>(&mut self, matrix: MatrixBatch<'a, T>) -> Result<()> {
        self.read(convert::size(matrix.stored.ld), matrix.storage)
    }

    pub(crate) fn write_matrix<T: AnyBits>(&mut self, matrix: MatrixBatchMut<'a, T>) -> Result<()> {
        self.write(convert::size(matrix.stored.ld), matrix.storage)
    }

    pub(crate) fn read_vector<T: AnyBits>(&mut self, vector: VectorBatch<'a, T>) -> Result<()> {
        self.read(vector.line.inc as i64, vector.storage)
    }

    pub(crate) fn write_vector<T: AnyBits>(&mut self, vector: VectorBatchMut<'a, T>) -> Result<()> {
        self.write(vector.line.inc as i64, vector.storage)
    }

    /// An operand that is read.
    pub(crate) fn read<T: AnyBits>(&mut self, ld: i64, storage: Storage<DeviceView<'a, T>>) -> Result<()> {
        let address = match storage {
            Storage::One(view) => Address::One(self.note_read(view)?),
            Storage::Strided { view, stride, count } => {
                Address::Strided { first: self.note_read(view)?, stride, count }
            }
            Storage::Many(views) => {
                Address::Many(views.into_iter().map(|view| self.note_read(view)).collect::<Result<_>>()?)
            }
        };
        self.operands.push(Spec { ld, element_bytes: size_of::<T>(), written: false, address });
        Ok(())
    }

    /// An operand that is written, and perhaps read.
    pub(crate) fn write<T: AnyBits>(
        &mut self,
        ld: i64,
        storage: Storage<DeviceViewMut<'a, T>>,
    ) -> Result<()> {
        let address = match storage {
            Storage::One(view) => Address::One(self.note_write(view)?),
            Storage::Strided { view, stride, count } => {
                Address::Strided { first: self.note_write(view)?, stride, count }
            }
            Storage::Many(views) => {
                Address::Many(views.into_iter().map(|view| self.note_write(view)).collect::<Result<_>>()?)
            }
        };
        self.operands.push(Spec { ld, element_bytes: size_of::<T>(), written: true, address });
        Ok(())
    }

    /// Memory that is read, whose address is given otherwise.
    pub(crate) fn note_read<T: AnyBits>(&mut self, view: DeviceView<'a, T>) -> Result<*mut c_void> {
        self.reads.push(view.recast()?);
        Ok(view.device_ptr().cast_mut().cast())
    }

    /// Memory that is written, whose address is given otherwise.
    pub(crate) fn note_write<T: AnyBits>(&mut self, mut view: DeviceViewMut<'a, T>) -> Result<*mut c_void> {
        let address = view.device_ptr_mut().cast();
        self.writes.push(view.recast()?);
        Ok(address)
    }

    /// The address of a scalar, which stays where it is until the plan is submitted. All of an operation's are of one kind.
    pub(crate) fn scalar<T: AnyBits>(&mut self, scalar: &Scalar<'a, T>) -> Result<*const c_void> {
        let view = scalar.device()?;
        let mode = match view {
            None => rocblas_pointer_mode::rocblas_pointer_mode_host,
            Some(_) => rocblas_pointer_mode::rocblas_pointer_mode_device,
        };
        if self.mode.is_some_and(|known| known != mode) {
            return Err(Error::MixedScalars { op: self.op });
        }
        self.mode = Some(mode);
        view.map_or(Ok(()), |view| self.note_read(view).map(drop))?;
        Ok(scalar.pointer())
    }

    /// Scalars and results are in device memory.
    pub(crate) fn on_device(&mut self) {
        self.mode = Some(rocblas_pointer_mode::rocblas_pointer_mode_device);
    }

    /// Where the results of a reduction go, one for each member.
    pub(crate) fn results<R: AnyBits>(&mut self, results: DeviceViewMut<'a, R>) -> Result<()> {
        self.results = (self.note_write(results)?, size_of::<R>());
        Ok(())
    }

    /// The host waits for the result.
    pub(crate) fn for_host(&mut self) {
        self.for_host = true;
    }

    /// Results are as wide as those of the functions with 64-bit sizes, also of members that are called alone.
    pub(crate) fn wide(&mut self) {
        self.wide = true;
    }

    /// How many members the batches have, all the same; `None` if there are no batches.
    pub(crate) fn batch_count(&self) -> Result<Option<usize>> {
        let mut counts = self.operands.iter().filter_map(|operand| match &operand.address {
            Address::One(_) => None,
            Address::Strided { count, .. } => Some(*count),
            Address::Many(addresses) => Some(addresses.len()),
        });
        let Some(expected) = counts.next() else { return Ok(None) };
        let single_output =
            self.operands.iter().any(|o| o.written && matches!(o.address, Address::One(_)) && expected != 1);
        let other = counts.find(|&count| count != expected).or(single_output.then_some(1));
        match other {
            Some(got) => Err(Error::BatchCount { op: self.op, expected, got }),
            None => Ok(Some(expected)),
        }
    }

    /// Submits it, unless its batches have no members. The call gets the operands in the order in which they were added. If the library has
    /// no function for a batch of that form and size, or might read past the alignment of addresses, it is called for one member after the
    /// other.
    ///
    /// # Safety
    /// The call uses the operands, the scalars and the results that were given to the plan, and nothing else; what it writes was given to be
    /// written.
    pub(crate) unsafe fn submit(
        self,
        handle: &Handle,
        call: impl Fn(&Call<'_>, &[Operand]) -> Result<(), Failure>,
    ) -> Result<()> {
        let count = self.batch_count()?;
        if count == Some(0) {
            return Ok(());
        }
        let members = count.unwrap_or(1);
        let many = self.operands.iter().any(|operand| matches!(operand.address, Address::Many(_)));
        let form = match count {
            None => Form::Single,
            Some(_) if many => Form::Pointers,
            Some(_) => Form::Strided,
        };
        let addresses = if many { Some(self.addresses(&handle.stream(), members)?) } else { None };
        let row =
            |index: usize| addresses.as_ref().map(|list| list.device_ptr().wrapping_add(index * members));
        let of_form =
            |(index, spec): (usize, &Spec)| spec.operand(row(index).map(|row| row.cast_mut().cast()));
        let list: Vec<_> = self.operands.iter().enumerate().map(of_form).collect();
        let Self { op, operands, reads, writes, mode, for_host, wide, results: (result, result_bytes) } =
            self;
        // For a shorter life than the operands'.
        let (mut reads, mut writes): (Vec<DeviceView<'_, u8>>, Vec<DeviceViewMut<'_, u8>>) = (reads, writes);
        if let Some(addresses) = &addresses {
            reads.push(addresses.view().recast()?);
        }
        let uses = Uses { op, reads: &reads, writes: &mut writes, for_host };
        let one_by_one = |whole: &Call<'_>| {
            (0..members).try_for_each(|member| {
                let list: Vec<_> = operands.iter().map(|spec| spec.member_operand(member)).collect();
                let result = result.wrapping_byte_add(member * result_bytes);
                call(&Call { form: Form::Single, count: 1, result, ..*whole }, &list)
            })
        };
        // SAFETY: S2, S5: the caller vouches for the call; the addresses of members are in memory that is given as read.
        unsafe {
            handle.submit(uses, mode, |table, raw| {
                let whole = Call { table, handle: raw, form, count: convert::size(members), wide, result };
                if many && operands.iter().any(Spec::may_fault) {
                    return one_by_one(&whole);
                }
                match call(&whole, &list) {
                    Err(failure) if count.is_some() && failure.is_missing() => one_by_one(&whole),
                    answer => answer,
                }
            })
        }
    }

    /// The addresses of all members of all operands, on the device.
    fn addresses(&self, stream: &Stream, members: usize) -> Result<DeviceBuffer<u64>> {
        let member = |spec: &Spec, member| spec.member(member).expose_provenance() as u64;
        let list: Vec<u64> =
            self.operands.iter().flat_map(|spec| (0..members).map(|m| member(spec, m))).collect();
        match stream.upload(&list) {
            Err(hip_safe::Error::Capturing { .. }) if !self.for_host => {
                // A graph reads them anew at each launch, from memory that it keeps.
                let pinned = PinnedBuffer::from_slice(stream.device(), &list)?;
                let mut buffer = stream.alloc_zeros(list.len())?;
                stream.copy_from_pinned(&pinned, &mut buffer)?;
                Ok(buffer)
            }
            uploaded => Ok(uploaded?),
        }
    }
}

impl Spec {
    /// `row`: where its members' addresses are, in the form on addresses.
    fn operand(&self, row: Option<*mut c_void>) -> Operand {
        let Self { ld, .. } = *self;
        match (row, &self.address) {
            (Some(address), _) => Operand { address, ld, stride: 0 },
            (None, &Address::One(address)) => Operand { address, ld, stride: 0 },
            (None, &Address::Strided { first, stride, .. }) => {
                Operand { address: first, ld, stride: convert::size(stride) }
            }
            // Only the form on addresses has these.
            (None, Address::Many(_)) => Operand { address: std::ptr::null_mut(), ld, stride: 0 },
        }
    }

    /// Whether a function on addresses may fault on them: cuBLAS, which cannot look at addresses in device memory, takes it that narrow
    /// elements begin at multiples of 16 bytes, and complex ones at multiples of all their bytes.
    fn may_fault(&self) -> bool {
        let wanted = if self.element_bytes < 4 { 16 } else { self.element_bytes };
        let off = |address: &*mut c_void| !address.addr().is_multiple_of(wanted);
        match &self.address {
            Address::Many(addresses) => addresses.iter().any(off),
            Address::Strided { first, stride, .. } => {
                off(first) || !stride.wrapping_mul(self.element_bytes).is_multiple_of(wanted)
            }
            Address::One(address) => off(address),
        }
    }

    /// One member alone.
    fn member_operand(&self, member: usize) -> Operand {
        Operand { address: self.member(member), ld: self.ld, stride: 0 }
    }

    fn member(&self, member: usize) -> *mut c_void {
        match &self.address {
            Address::One(address) => *address,
            Address::Strided { first, stride, .. } => {
                first.wrapping_byte_add(member.wrapping_mul(*stride).wrapping_mul(self.element_bytes))
            }
            Address::Many(addresses) => addresses[member],
        }
    }
}
