//! Misuse that must not compile. Each case stands beside a twin that differs in that one thing and does compile, so that
//! the case cannot fail for another reason. Only documentation tests see this file.

/// A view borrows its buffer.
/// ```
/// fn read(stream: &hip_safe::Stream) {
///     let buffer = stream.upload(&[1_u8, 2, 3]).unwrap();
///     let view = buffer.slice(1..).unwrap();
///     println!("{}", view.len());
/// }
/// ```
/// ```compile_fail,E0597
/// fn read(stream: &hip_safe::Stream) {
///     let view = {
///         let buffer = stream.upload(&[1_u8, 2, 3]).unwrap();
///         buffer.slice(1..).unwrap()
///     };
///     println!("{}", view.len());
/// }
/// ```
struct ViewOutlivesBuffer;

/// Two ranges to write come from `split_at_mut`, as in `std::slice`.
/// ```
/// fn write(stream: &hip_safe::Stream, buffer: &mut hip_safe::DeviceBuffer<u8>) {
///     let (mut first, mut second) = buffer.split_at_mut(2).unwrap();
///     stream.copy(&first, &mut second).unwrap();
///     stream.memset(&mut first, 0).unwrap();
/// }
/// ```
/// ```compile_fail,E0499
/// fn write(stream: &hip_safe::Stream, buffer: &mut hip_safe::DeviceBuffer<u8>) {
///     let (mut first, mut second) = (buffer.slice_mut(..2).unwrap(), buffer.slice_mut(2..).unwrap());
///     stream.copy(&first, &mut second).unwrap();
///     stream.memset(&mut first, 0).unwrap();
/// }
/// ```
struct TwoSlicesToWrite;

/// An argument is for one launch: a buffer is written by one submission at a time.
/// ```
/// fn once(argument: hip_safe::BufferArgument<'_>) -> [hip_safe::BufferArgument<'_>; 1] {
///     [argument]
/// }
/// ```
/// ```compile_fail,E0382
/// fn twice(argument: hip_safe::BufferArgument<'_>) -> [hip_safe::BufferArgument<'_>; 2] {
///     [argument, argument]
/// }
/// ```
struct ArgumentOfTwoLaunches;

/// Only plain data lives in device memory.
/// ```
/// fn send(stream: &hip_safe::Stream) {
///     stream.upload(&["text".as_bytes()[0]]).unwrap();
/// }
/// ```
/// ```compile_fail,E0277
/// fn send(stream: &hip_safe::Stream) {
///     stream.upload(&["text".to_string()]).unwrap();
/// }
/// ```
/// ```compile_fail,E0277
/// fn take(_: hip_safe::DeviceBuffer<String>) {}
/// ```
struct StringsOnADevice;

/// A device can write a 2 where a `bool` is expected: a `bool` goes one way.
/// ```
/// fn read(stream: &hip_safe::Stream) {
///     let buffer = stream.upload(&[true, false]).unwrap();
///     stream.download(&buffer.view().recast::<u8>().unwrap()).unwrap();
/// }
/// ```
/// ```compile_fail,E0277
/// fn read(stream: &hip_safe::Stream) {
///     let buffer = stream.upload(&[true, false]).unwrap();
///     stream.download(&buffer.view()).unwrap();
/// }
/// ```
struct ReadingBoolBack;

/// A launch cannot take one buffer to read and to write.
/// ```
/// fn launch(stream: &hip_safe::Stream, kernel: &hip_safe::Function, mut buffers: [hip_safe::DeviceBuffer<f32>; 2]) {
///     let [a, b] = &mut buffers;
///     let config = hip_safe::LaunchConfig::linear(1, 1);
///     unsafe { stream.launch(kernel, config).arg(a).arg_mut(b).submit() }.unwrap();
/// }
/// ```
/// ```compile_fail,E0502
/// fn launch(stream: &hip_safe::Stream, kernel: &hip_safe::Function, mut buffers: [hip_safe::DeviceBuffer<f32>; 2]) {
///     let [a, b] = &mut buffers;
///     let config = hip_safe::LaunchConfig::linear(1, 1);
///     unsafe { stream.launch(kernel, config).arg(a).arg_mut(a).submit() }.unwrap();
/// }
/// ```
struct OneBufferReadAndWritten;

/// A kernel's body cannot be checked.
/// ```
/// fn launch(stream: &hip_safe::Stream, kernel: &hip_safe::Function) {
///     unsafe { stream.launch(kernel, hip_safe::LaunchConfig::linear(1, 1)).submit() }.unwrap();
/// }
/// ```
/// ```compile_fail,E0133
/// fn launch(stream: &hip_safe::Stream, kernel: &hip_safe::Function) {
///     stream.launch(kernel, hip_safe::LaunchConfig::linear(1, 1)).submit().unwrap();
/// }
/// ```
struct LaunchWithoutUnsafe;

/// A launch borrows its buffers until it is submitted for the last time.
/// ```
/// fn launch(stream: &hip_safe::Stream, kernel: &hip_safe::Function, buffer: hip_safe::DeviceBuffer<f32>) {
///     let mut launch = stream.launch(kernel, hip_safe::LaunchConfig::linear(1, 1));
///     launch.arg(&buffer);
///     unsafe { launch.submit() }.unwrap();
///     drop(buffer);
/// }
/// ```
/// ```compile_fail,E0505
/// fn launch(stream: &hip_safe::Stream, kernel: &hip_safe::Function, buffer: hip_safe::DeviceBuffer<f32>) {
///     let mut launch = stream.launch(kernel, hip_safe::LaunchConfig::linear(1, 1));
///     launch.arg(&buffer);
///     drop(buffer);
///     unsafe { launch.submit() }.unwrap();
/// }
/// ```
struct BufferDroppedBeforeSubmit;

/// Pinned memory cannot be the target of a copy while it is read.
/// ```
/// fn copy(stream: &hip_safe::Stream, buffer: &hip_safe::DeviceBuffer<u8>, pinned: &mut hip_safe::PinnedBuffer<u8>) {
///     stream.copy_to_pinned(buffer, pinned).unwrap();
///     let values = pinned.as_slice().unwrap();
///     println!("{values:?}");
/// }
/// ```
/// ```compile_fail,E0502
/// fn copy(stream: &hip_safe::Stream, buffer: &hip_safe::DeviceBuffer<u8>, pinned: &mut hip_safe::PinnedBuffer<u8>) {
///     let values = pinned.as_slice().unwrap();
///     stream.copy_to_pinned(buffer, pinned).unwrap();
///     println!("{values:?}");
/// }
/// ```
struct PinnedSliceDuringCopy;

/// Copying the elements is `try_clone`.
/// ```
/// fn clone(buffer: &hip_safe::DeviceBuffer<u8>) -> hip_safe::DeviceBuffer<u8> {
///     buffer.try_clone().unwrap()
/// }
/// ```
/// ```compile_fail,E0308
/// fn clone(buffer: &hip_safe::DeviceBuffer<u8>) -> hip_safe::DeviceBuffer<u8> {
///     buffer.clone()
/// }
/// ```
struct BuffersAreNotClone;

/// The current device is a thread's.
/// ```
/// fn stay(device: &hip_safe::Device) {
///     let guard = device.make_current().unwrap();
///     std::thread::scope(|scope| { scope.spawn(|| device.ordinal()); });
///     drop(guard);
/// }
/// ```
/// ```compile_fail,E0277
/// fn stay(device: &hip_safe::Device) {
///     let guard = device.make_current().unwrap();
///     std::thread::scope(|scope| { scope.spawn(|| drop(guard)); });
/// }
/// ```
struct GuardsStayOnTheirThread;

/// A launch function made by `kernel!` takes buffers of the element types that it was declared with.
/// ```
/// # use hip_safe::*;
/// kernel! { kernel Add = "add"(a: &[f32], out: &mut [f32], n: u32) audit unsafe { "it reads and writes n elements" } }
/// fn launch(add: &Add, stream: &Stream, a: &DeviceBuffer<f32>, out: &mut DeviceBuffer<f32>) -> Result<()> {
///     add.launch(stream, LaunchConfig::linear(1, 1), a, out, 1)
/// }
/// ```
/// ```compile_fail,E0271
/// # use hip_safe::*;
/// kernel! { kernel Add = "add"(a: &[f32], out: &mut [f32], n: u32) audit unsafe { "it reads and writes n elements" } }
/// fn launch(add: &Add, stream: &Stream, a: &DeviceBuffer<f64>, out: &mut DeviceBuffer<f32>) -> Result<()> {
///     add.launch(stream, LaunchConfig::linear(1, 1), a, out, 1)
/// }
/// ```
struct KernelOfOtherElements;

/// What a kernel writes is borrowed to be written.
/// ```
/// # use hip_safe::*;
/// kernel! { kernel Add = "add"(a: &[f32], out: &mut [f32], n: u32) audit unsafe { "it reads and writes n elements" } }
/// fn launch(add: &Add, stream: &Stream, a: &DeviceBuffer<f32>, out: &mut DeviceBuffer<f32>) -> Result<()> {
///     add.launch(stream, LaunchConfig::linear(1, 1), a, out, 1)
/// }
/// ```
/// ```compile_fail,E0308
/// # use hip_safe::*;
/// kernel! { kernel Add = "add"(a: &[f32], out: &mut [f32], n: u32) audit unsafe { "it reads and writes n elements" } }
/// fn launch(add: &Add, stream: &Stream, a: &DeviceBuffer<f32>, out: &DeviceBuffer<f32>) -> Result<()> {
///     add.launch(stream, LaunchConfig::linear(1, 1), a, out, 1)
/// }
/// ```
/// A view to read is no way around that, and neither is a shared buffer.
/// ```compile_fail,E0277
/// # use hip_safe::*;
/// kernel! { kernel Add = "add"(a: &[f32], out: &mut [f32], n: u32) audit unsafe { "it reads and writes n elements" } }
/// fn launch(add: &Add, stream: &Stream, a: &DeviceBuffer<f32>, out: &mut SharedBuffer<f32>) -> Result<()> {
///     add.launch(stream, LaunchConfig::linear(1, 1), a, out, 1)
/// }
/// ```
struct KernelWritesWhatIsBorrowedToRead;

/// A kernel does not read what it writes, unless it is one argument.
/// ```compile_fail,E0502
/// # use hip_safe::*;
/// kernel! { kernel Add = "add"(a: &[f32], out: &mut [f32], n: u32) audit unsafe { "it reads and writes n elements" } }
/// fn launch(add: &Add, stream: &Stream, out: &mut DeviceBuffer<f32>) -> Result<()> {
///     add.launch(stream, LaunchConfig::linear(1, 1), &*out, out, 1)
/// }
/// ```
struct KernelOfOneBufferTwice;

/// A value has the declared type, and is plain data.
/// ```
/// # use hip_safe::*;
/// kernel! { kernel Set = "set"(out: &mut [f32], n: u32) audit unsafe { "it writes n elements" } }
/// fn launch(set: &Set, stream: &Stream, out: &mut DeviceBuffer<f32>, n: u32) -> Result<()> {
///     set.launch(stream, LaunchConfig::linear(1, 1), out, n)
/// }
/// ```
/// ```compile_fail,E0308
/// # use hip_safe::*;
/// kernel! { kernel Set = "set"(out: &mut [f32], n: u32) audit unsafe { "it writes n elements" } }
/// fn launch(set: &Set, stream: &Stream, out: &mut DeviceBuffer<f32>, n: u64) -> Result<()> {
///     set.launch(stream, LaunchConfig::linear(1, 1), out, n)
/// }
/// ```
/// ```compile_fail,E0277
/// # use hip_safe::*;
/// kernel! { kernel Set = "set"(out: &mut [f32], n: &'static f32) audit unsafe { "it writes n elements" } }
/// ```
struct KernelValues;

/// Only a module's own code is the kernel that was audited.
/// ```compile_fail,E0308
/// # use hip_safe::*;
/// kernel! { kernel Set = "set"(out: &mut [f32]) audit unsafe { "it writes one element" } }
/// fn forge(function: Function) -> Set {
///     Set { function }
/// }
/// ```
struct KernelOfAnyFunction;

/// Other crates cannot implement the buffer traits: a launch uses the same view that it was checked with.
/// ```compile_fail,E0277
/// # use hip_safe::*;
/// struct Mine(DeviceBuffer<f32>);
/// impl DeviceSlice for Mine {
///     type Item = f32;
///     fn as_view(&self) -> DeviceView<'_, f32> {
///         self.0.view()
///     }
/// }
/// ```
struct BuffersOfOthers;

/// Who makes a launch safe says so, by a block that the compiler knows as unsafe.
/// ```
/// hip_safe::kernel! { kernel Set = "set"(out: &mut [f32]) audit unsafe { "it writes one element" } require { !out.is_empty() } }
/// ```
/// ```compile_fail
/// hip_safe::kernel! { kernel Set = "set"(out: &mut [f32]) audit { "it writes one element" } require { !out.is_empty() } }
/// ```
/// ```compile_fail
/// hip_safe::kernel! { kernel Set = "set"(out: &mut [f32]) require { !out.is_empty() } }
/// ```
/// ```compile_fail
/// #![forbid(unsafe_code)]
/// hip_safe::kernel! { kernel Set = "set"(out: &mut [f32]) audit unsafe { "it writes one element" } require { !out.is_empty() } }
/// ```
struct KernelWithoutUnsafeOrAudit;

/// Without the audited code, the caller of `load` vouches for the module.
/// ```
/// # use hip_safe::*;
/// kernel! { kernel Set = "set"(out: &mut [f32]) audit unsafe { "it writes one element" } }
/// fn load(module: &Module) -> Result<Set> {
///     unsafe { Set::load(module) }
/// }
/// ```
/// ```compile_fail,E0133
/// # use hip_safe::*;
/// kernel! { kernel Set = "set"(out: &mut [f32]) audit unsafe { "it writes one element" } }
/// fn load(module: &Module) -> Result<Set> {
///     Set::load(module)
/// }
/// ```
struct KernelOfAnyModule;

/// What the host reads of managed memory, no work writes meanwhile.
/// ```
/// fn fill(stream: &hip_safe::Stream, numbers: &mut hip_safe::ManagedBuffer<u8>) {
///     println!("{}", numbers.as_slice().unwrap()[0]);
///     stream.memset(numbers, 0).unwrap();
/// }
/// ```
/// ```compile_fail,E0502
/// fn fill(stream: &hip_safe::Stream, numbers: &mut hip_safe::ManagedBuffer<u8>) {
///     let slice = numbers.as_slice().unwrap();
///     stream.memset(numbers, 0).unwrap();
///     println!("{}", slice[0]);
/// }
/// ```
struct ManagedReadWhileWritten;

/// What the host writes of managed memory, no work reads meanwhile.
/// ```
/// fn read(stream: &hip_safe::Stream, numbers: &mut hip_safe::ManagedBuffer<u8>) {
///     numbers.as_mut_slice().unwrap()[0] = 1;
///     stream.clone_of(numbers).unwrap();
/// }
/// ```
/// ```compile_fail,E0502
/// fn read(stream: &hip_safe::Stream, numbers: &mut hip_safe::ManagedBuffer<u8>) {
///     let slice = numbers.as_mut_slice().unwrap();
///     stream.clone_of(numbers).unwrap();
///     slice[0] = 1;
/// }
/// ```
struct ManagedWrittenWhileRead;

/// A stream calls a function when it pleases, so the function borrows nothing.
/// ```
/// fn count(stream: &hip_safe::Stream) {
///     let number = 5;
///     stream.launch_host(move || println!("{number}")).unwrap();
/// }
/// ```
/// ```compile_fail,E0373
/// fn count(stream: &hip_safe::Stream) {
///     let number = 5;
///     stream.launch_host(|| println!("{number}")).unwrap();
/// }
/// ```
struct HostFunctionBorrows;

/// The slice that a host function gets ends with it.
/// ```
/// fn keep(stream: &hip_safe::Stream, pinned: &hip_safe::PinnedBuffer<u8>) {
///     let (sender, receiver) = std::sync::mpsc::channel::<u8>();
///     stream.launch_host_with(pinned, move |values| sender.send(values[0]).unwrap()).unwrap();
///     println!("{:?}", receiver.recv());
/// }
/// ```
/// ```compile_fail
/// fn keep(stream: &hip_safe::Stream, pinned: &hip_safe::PinnedBuffer<u8>) {
///     let (sender, receiver) = std::sync::mpsc::channel::<&[u8]>();
///     stream.launch_host_with(pinned, move |values| sender.send(values).unwrap()).unwrap();
///     println!("{:?}", receiver.recv());
/// }
/// ```
struct SliceOutlivesHostFunction;
