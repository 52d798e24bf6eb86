//! A generator of the library, bound to a stream.

use crate::convert::status_name;
use crate::raw::{self, Failure};
use crate::{Error, Kind, Ordering, Result, convert, library};
use hip_safe::{Device, DeviceBuffer, DeviceSliceMut, LibraryHandle, Stream, drop_errors_later};
use hip_sys::RocrandTable;
use hip_sys::rocrand::{rocrand_generator, rocrand_status};
use std::fmt;

/// A generator of the library, bound to a stream: operations are its methods, and are submitted to that stream.
///
/// Operations are asynchronous, as launches are. The memory that they fill is ordered with all other uses, on any stream and thread. In a host
/// function ([`Stream::launch_host`]) they return [`InHostFunction`](hip_safe::Error::InHostFunction).
///
/// Dropping it waits for the device. In a host function, and on a thread that captures, another thread does that.
pub struct Generator {
    handle: LibraryHandle<Raw>,
    kind: Kind,
    dimensions: u32,
    /// The offset, and how many points of a quasi-random sequence were drawn since.
    position: u64,
    offset: u64,
    /// The library keeps the generator's state in memory of its own, which all its work uses: this orders the work, on whichever stream.
    state: DeviceBuffer<u8>,
}

/// C's generator, and the stream that it submits to.
struct Raw {
    generator: rocrand_generator,
    stream: Stream,
}

// SAFETY: S8: it is an address; calls with it are made by the single owner of a `Generator`, borrowed exclusively.
unsafe impl Send for Raw {}
// SAFETY: S8: as above.
unsafe impl Sync for Raw {}

/// The points of a quasi-random sequence.
const POINTS: u64 = 1 << 32;

/// The most dimensions of a quasi-random sequence.
const DIMENSIONS: u32 = 20_000;

impl Generator {
    /// A generator that submits to `stream`, with the library's default seed.
    ///
    /// # Errors
    /// [`Error::NoLibrary`] if the platform has no rocRAND; [`Error::NoKind`] if that has no such generators; [`Error::Status`] if it refuses.
    #[doc(alias = "rocrand_create_generator")]
    pub fn new(stream: &Stream, kind: Kind) -> Result<Self> {
        let device = stream.device().clone();
        let table = table(&device)?;
        // Allocated while nobody captures: a capture would make it its graph's.
        let (state, generator) = device.call_alone(|| {
            let state = stream.alloc_zeros(1)?;
            // SAFETY: S1, S3: the device is current.
            let generator = unsafe { raw::create_generator(table, convert::kind(kind)) }
                .map_err(|failure| without_kind(failure, kind, &device))?;
            Ok::<_, Error>((state, generator))
        })??;
        let raw = Raw { generator, stream: stream.clone() };
        let handle = LibraryHandle::new(&device, raw, destroy);
        let mut made = Self { handle, kind, dimensions: 1, position: 0, offset: 0, state };
        made.bind(stream)?;
        Ok(made)
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The device that it belongs to.
    pub fn device(&self) -> &Device {
        self.handle.device()
    }

    /// The stream that it submits to.
    pub fn stream(&self) -> &Stream {
        &self.handle.get().stream
    }

    /// The dimensions of its points; 1 for pseudo-random kinds.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Submits to another stream of its device from now on. Its later work comes after its earlier work. Like all calls that change how it
    /// draws, it waits for the end of other threads' captures.
    ///
    /// # Errors
    /// [`Error::Hip`] with [`WrongDevice`](hip_safe::Error::WrongDevice) for a stream of another device; [`Error::Status`].
    #[doc(alias = "rocrand_set_stream")]
    pub fn set_stream(&mut self, stream: &Stream) -> Result<()> {
        self.device().check_stream(stream)?;
        self.bind(stream)
    }

    fn bind(&mut self, stream: &Stream) -> Result<()> {
        let table = table(self.device())?;
        let generator = self.handle.get().generator;
        // SAFETY: S1, S3: both are live and of one device, which is current.
        self.device().call_alone(|| unsafe { raw::set_stream(table, generator, stream.raw()) })??;
        self.handle.get_mut().stream = stream.clone();
        Ok(())
    }

    /// Starts the sequence of another seed. [`Kind::Lfsr113`] does not use all bits: rocRAND gives seeds 1 and 2 the same sequence.
    ///
    /// # Errors
    /// [`Error::NotOfKind`] for a quasi-random kind; [`Error::Status`].
    #[doc(alias = "rocrand_set_seed")]
    pub fn set_seed(&mut self, seed: u64) -> Result<()> {
        if self.kind.is_quasi() {
            return Err(
                self.lacks("seed", "its sequence is always the same; set_offset takes another part of it")
            );
        }
        // SAFETY: S1, S3: the generator is live and its device current.
        self.configure(|table, generator| unsafe { raw::set_seed(table, generator, seed) })
    }

    /// Starts the sequence after so many of its elements: words for kinds with a counter, turns of the library's threads for others, points for
    /// quasi-random ones.
    ///
    /// # Errors
    /// [`Error::NotOfKind`] for a kind that starts only at the beginning; [`Error::Exhausted`] for an offset behind the last point;
    /// [`Error::Status`].
    #[doc(alias = "rocrand_set_offset")]
    pub fn set_offset(&mut self, offset: u64) -> Result<()> {
        if !self.kind.has_offset() {
            return Err(self.lacks("offset", "draw numbers and leave them, or take another kind"));
        }
        if self.kind.is_quasi() && offset >= POINTS {
            return Err(Error::Exhausted { position: offset, wanted: 1 });
        }
        // SAFETY: S1, S3: the generator is live and its device current.
        self.configure(|table, generator| unsafe { raw::set_offset(table, generator, offset) })?;
        (self.offset, self.position) = (offset, offset);
        Ok(())
    }

    /// Starts the sequence in another ordering.
    ///
    /// # Errors
    /// [`Error::NotOfKind`] for a quasi-random kind; [`Error::Unsupported`] if the library is too old to have others than the default;
    /// [`Error::Status`] if it has not this one.
    #[doc(alias = "rocrand_set_ordering")]
    pub fn set_ordering(&mut self, ordering: Ordering) -> Result<()> {
        if self.kind.is_quasi() {
            return Err(self.lacks("ordering", "its points are in one order"));
        }
        let ordering = convert::ordering(ordering);
        // SAFETY: S1, S3: the generator is live and its device current.
        self.configure(|table, generator| unsafe { raw::set_ordering(table, generator, ordering) })
    }

    /// Starts the sequence of points with so many coordinates, from 1 to 20000.
    ///
    /// # Errors
    /// [`Error::NotOfKind`] for a pseudo-random kind; [`Error::Argument`]; [`Error::Status`].
    #[doc(alias = "rocrand_set_quasi_random_generator_dimensions")]
    pub fn set_dimensions(&mut self, dimensions: u32) -> Result<()> {
        if !self.kind.is_quasi() {
            return Err(self.lacks("dimensions", "only the points of quasi-random kinds have them"));
        }
        if !(1..=DIMENSIONS).contains(&dimensions) {
            let value = dimensions.into();
            return Err(Error::Argument {
                what: "the number of dimensions",
                value,
                wanted: "from 1 to 20000",
            });
        }
        self.configure(|table, generator| {
            // SAFETY: S1, S3: the generator is live and its device current.
            unsafe { raw::set_quasi_random_generator_dimensions(table, generator, dimensions) }
        })?;
        self.dimensions = dimensions;
        self.position = self.offset;
        Ok(())
    }

    /// Prepares the generator's state now, so that the next operation need not.
    ///
    /// # Errors
    /// [`Error::Status`]; [`Error::Hip`] while this thread captures.
    #[doc(alias = "rocrand_initialize_generator")]
    pub fn initialize(&mut self) -> Result<()> {
        let generator = self.handle.get().generator;
        let table = table(self.device())?;
        let stream = self.handle.get().stream.clone();
        let mut submission = stream.submission();
        submission.order_by(&self.state).not_captured(WHAT, REMEDY);
        // SAFETY: S1, S5, S23: the library submits to the generator's stream alone, and uses its own memory, whose uses `state` orders.
        let answer =
            unsafe { submission.submit("initialize", |_| raw::initialize_generator(table, generator)) }?;
        Ok(answer?)
    }

    /// Destroys it and returns any error.
    ///
    /// # Errors
    /// [`Error::Hip`]: the library refuses, or the work cannot be waited for. In a host function and while this thread captures another thread
    /// destroys it.
    #[doc(alias = "rocrand_destroy_generator")]
    pub fn close(self) -> Result<()> {
        Ok(self.handle.close()?)
    }

    pub(crate) fn lacks(&self, what: &'static str, remedy: &'static str) -> Error {
        Error::NotOfKind { kind: self.kind, what, remedy }
    }

    fn configure(
        &mut self,
        call: impl FnOnce(&RocrandTable, rocrand_generator) -> raw::Result,
    ) -> Result<()> {
        let table = table(self.device())?;
        let generator = self.handle.get().generator;
        // The library may allocate memory here.
        Ok(self.device().call_alone(|| call(table, generator))??)
    }

    /// Submits one call that fills all of the output. An empty one makes no call.
    ///
    /// # Safety
    /// The call is one of the library's with this generator, and writes so many numbers from that address on.
    pub(crate) unsafe fn submit<S: DeviceSliceMut + ?Sized>(
        &mut self,
        op: &'static str,
        output: &mut S,
        call: impl FnOnce(&RocrandTable, rocrand_generator, *mut S::Item, usize) -> raw::Result,
    ) -> Result<()> {
        let mut view = output.as_view_mut();
        let (len, address) = (view.len(), view.device_ptr_mut());
        let points = self.points(len)?;
        if len == 0 {
            return Ok(());
        }
        let table = table(self.device())?;
        // A hook for errors may use what the caller holds.
        let _later = drop_errors_later();
        let Raw { generator, stream } = self.handle.get();
        let mut submission = stream.submission();
        submission.write(&mut view).order_by(&self.state).not_captured(WHAT, REMEDY);
        // SAFETY: S5, S23: the library submits to the generator's stream alone; beside what the caller vouches for, its work uses its own
        // memory, whose uses `state` orders.
        let answer = unsafe { submission.submit(op, |_| call(table, *generator, address, len)) }?;
        answer?;
        self.position += points;
        Ok(())
    }

    /// The points of an output. For pseudo-random kinds they are not counted.
    fn points(&self, len: usize) -> Result<u64> {
        if !self.kind.is_quasi() {
            return Ok(0);
        }
        if !len.is_multiple_of(self.dimensions as usize) {
            return Err(Error::Length { len, dimensions: self.dimensions });
        }
        let wanted = len as u64 / u64::from(self.dimensions);
        match self.position.checked_add(wanted) {
            Some(end) if end <= POINTS => Ok(wanted),
            _ => Err(Error::Exhausted { position: self.position, wanted }),
        }
    }
}

const WHAT: &str = "a call of a generator";
const REMEDY: &str = "draw the numbers before, into memory that the graph reads";

/// The library's functions.
fn table(device: &Device) -> Result<&RocrandTable> {
    match library(device.platform()) {
        Ok(library) => Ok(library.table()),
        Err(error) => Err(Error::NoLibrary(error.clone())),
    }
}

fn without_kind(failure: Failure, kind: Kind, device: &Device) -> Error {
    match (failure, library(device.platform())) {
        (Failure::Status { status: rocrand_status::ROCRAND_STATUS_TYPE_ERROR, .. }, Ok(library)) => {
            Error::NoKind { kind, library: library.library().display().to_string() }
        }
        (failure, _) => failure.into(),
    }
}

fn destroy(device: &Device, raw: &mut Raw) -> hip_safe::Result<()> {
    // The generator was made by it.
    let Ok(library) = library(device.platform()) else { return Ok(()) };
    // SAFETY: S1, S3, S4: this is the only reference, and all work is complete.
    let answer = unsafe { raw::destroy_generator(library.table(), raw.generator) };
    answer.map_err(|failure| {
        let (function, code, name) = match failure {
            Failure::Status { function, status } => (function, status.0, status_name(status)),
            Failure::Absent(absent) => (absent.symbol, 0, "absent"),
        };
        hip_safe::Error::Hip {
            call: function,
            code,
            name: name.into(),
            doing: "destroying a generator".into(),
            cause: None,
        }
    })
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Generator {:?} on {}", self.kind, self.stream())
    }
}
