//! Calls in a host function: none waits for a lock that another thread holds during a driver call.
//!
//! A driver may call the function on any thread while another one waits in a call, or on the thread that is in that call. So here the
//! function is called in the middle of a call of the driver, on that thread, whatever that has locked; and in it every method is called
//! that docs/SAFETY.md lists as refusing, and every one that answers.

use crate::alone;
use crate::methods::methods;
use crate::under_test::{is_host, module};
use crate::waiting::in_time;
use crate::watched::{changed_platform, during};
use hip_safe::*;
use hip_sys::hip::{hipError_t, hipHostFn_t, hipStream_t};
use kernels_hip::args::Map2;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::path::Path;
use std::sync::{Arc, mpsc};

const LEN: usize = 64;

thread_local! {
    static PENDING: Cell<Option<(hipHostFn_t, *mut c_void)>> = const { Cell::new(None) };
}

/// A driver that takes its time with host functions.
unsafe extern "C" fn keep(_: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> hipError_t {
    PENDING.set(Some((function, data)));
    hipError_t::hipSuccess
}

fn call_pending() {
    let (function, data) = PENDING.take().expect("there is one");
    // SAFETY: S4: the driver was given both for this one call.
    unsafe { function.expect("it is no null")(data) }
}

/// The values for the calls in the middle of which the host function runs. A graph has references to most of the memory.
struct Bench {
    stream: Stream,
    other: Stream,
    pinned: Arc<PinnedBuffer<f32>>,
    target: DeviceBuffer<f32>,
    module: Module,
    graph: Graph,
    exec: GraphExec,
}

/// What the function has: references to the same, and owners of its own.
struct Things {
    stream: Stream,
    pinned: Arc<PinnedBuffer<f32>>,
    owned_pinned: PinnedBuffer<f32>,
    managed: ManagedBuffer<f32>,
    buffer: DeviceBuffer<f32>,
    shared: SharedBuffer<f32>,
    /// Allocated in the capture.
    piece: DeviceBuffer<f32>,
    graph: Graph,
    exec: GraphExec,
    events: [Event; 2],
    module: Module,
    add: Function,
    compiled: Compiled,
    platform: Arc<Platform>,
    /// To be closed and dropped where that is allowed.
    spare: Vec<DeviceBuffer<u8>>,
    /// Without other references, to be closed: what else is closed is the graph's too, or has clones.
    alone: (PinnedBuffer<f32>, Graph),
}

const TEXT: &str = "extern \"C\" __global__ void one(int* a) { *a = 1; }";

fn bench() -> (Bench, Things) {
    let platform = changed_platform(|table| {
        table.hipLaunchHostFunc = hip_sys::Optional::present(keep, "hipLaunchHostFunc", "5.3");
    });
    let platform = Arc::new(platform);
    let device = Device::new(&platform, 0).unwrap();
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let module = module(&device);
    let add = module.function("elementwise_add_f32").unwrap();
    let mut target = stream.upload(&[1.0; LEN]).unwrap();
    let mut buffer = stream.upload(&[2.0; LEN]).unwrap();
    let mut managed = stream.alloc_managed::<f32>(LEN).unwrap();
    let mut pinned = PinnedBuffer::zeroed(&device, LEN).unwrap();
    let mut owned_pinned = PinnedBuffer::zeroed(&device, LEN).unwrap();
    stream.copy_to_pinned(&target, &mut pinned).unwrap();
    stream.copy(&target, &mut managed).unwrap();
    let pinned = Arc::new(pinned);
    let mut piece = None;
    let graph = stream.capture(|stream| {
        piece = Some(stream.clone_of(&buffer)?);
        stream.copy_from_pinned(&pinned, &mut target)?;
        stream.copy_to_pinned(&target, &mut owned_pinned)?;
        stream.memset(&mut buffer, 0)
    });
    let (graph, piece) = (graph.unwrap(), piece.unwrap());
    let lone_graph = stream.capture(|stream| stream.memset(&mut target, 1)).unwrap();
    let events = [(); 2].map(|()| Event::new(&device).unwrap());
    events.iter().for_each(|event| stream.record_event(event).unwrap());
    let things = Things {
        stream: stream.clone(),
        pinned: Arc::clone(&pinned),
        owned_pinned,
        managed,
        buffer,
        shared: SharedBuffer::new(stream.upload(&[3.0; LEN]).unwrap()),
        piece,
        graph: graph.clone(),
        exec: graph.instantiate().unwrap(),
        events,
        module: crate::under_test::module(&device),
        add,
        compiled: CodeCache::process().compile_for(&Source::new(TEXT), &device).unwrap().0,
        platform,
        spare: [(); 3].map(|()| stream.alloc_zeros(8).unwrap()).into(),
        alone: (PinnedBuffer::zeroed(&device, LEN).unwrap(), lone_graph),
    };
    let exec = graph.instantiate().unwrap();
    (Bench { stream, other, pinned, target, module, graph, exec }, things)
}

type Answers = Vec<(&'static str, Option<Error>)>;

/// The errors of every method that refuses. Some methods consume their value; the others are dropped.
fn refused(things: Things) -> Answers {
    let Things {
        stream,
        pinned,
        mut owned_pinned,
        mut managed,
        mut buffer,
        shared,
        piece,
        graph,
        mut exec,
        events,
        module,
        add,
        compiled,
        platform,
        spare: _spare,
        alone: (pinned_alone, graph_alone),
    } = things;
    let mut answers = Answers::new();
    macro_rules! ask {
        ($($name:literal: $call:expr;)*) => { $( answers.push(($name, ($call).map(drop).err())); )* };
    }
    let device = stream.device().clone();
    let source = Source::new("extern \"C\" __global__ void never_compiled() {}");
    let mut numbers = [0.0; LEN];
    let mut second_owner = shared.clone();
    let image = b"HIPHOSTM\x03\0\0\0abc";
    ask! {
        "Device::new": Device::new(&platform, 1);
        "Device::count": Device::count(&platform);
        "Device::all": Device::all(&platform);
        "Device::new_stream": device.new_stream();
        "Device::new_stream_with_priority": device.new_stream_with_priority(0);
        "Device::stream_priorities": device.stream_priorities();
        "Device::driver_version": device.driver_version();
        "Device::memory_info": device.memory_info();
        "Device::synchronize": device.synchronize();
        "Device::memory_kind": device.memory_kind(pinned.as_ptr().cast());
        "Device::make_current": device.make_current();
        "Device::call_alone": device.call_alone(|| ());
        "Device::check_usable": device.check_usable();
        "Device::set_memory_source": device.set_memory_source(MemorySource::StreamOrdered);
        "Device::trim_memory": device.trim_memory(0);
        "Device::reserve_memory": device.reserve_memory(1);
        "Device::limit": device.limit(Limit::StackSize);
        "Device::set_limit": device.set_limit(Limit::StackSize, 1024);
        "Device::uuid": device.uuid();
        "Device::pci_bus_id": device.pci_bus_id();
        "Device::can_access_peer": device.can_access_peer(&device);
        "Device::enable_peer_access": device.enable_peer_access(&device);
        "Device::disable_peer_access": device.disable_peer_access(&device);
        "Device::load_module": device.load_module(image);
        "Device::compile": device.compile(&source);
        "Device::get_or_load_custom": device.get_or_load_custom("new", image);
        "Device::get_or_load_custom_func": device.get_or_load_custom_func("f", "new", image);
        "CodeCache::load": CodeCache::off().load(&source, &device);
        "Compiled::load": compiled.load(&device);
        "Module::load": Module::load(&device, image);
        "Module::function": module.function("elementwise_mul_f32");
        "Function::occupancy": add.occupancy(64, 0);
        "Function::suggested_block": add.suggested_block(0);
        "Function::attributes": add.attributes();
        "Function::allow_dynamic_shared": add.allow_dynamic_shared(1);
        "Stream::synchronize": stream.synchronize();
        "Stream::is_done": stream.is_done();
        "Stream::record_event": stream.record_event(&events[0]);
        "Stream::wait_event": stream.wait_event(&events[0]);
        "Stream::priority": stream.priority();
        "Stream::alloc_zeros": stream.alloc_zeros::<u8>(1);
        // SAFETY: S15: there is nothing to read.
        "Stream::alloc_uninit": unsafe { stream.alloc_uninit::<u8>(1) };
        "Stream::alloc_managed": stream.alloc_managed::<u8>(1);
        "Stream::upload": stream.upload(&[1_u8]);
        "Stream::download": stream.download(&buffer);
        "Stream::copy_from_host": stream.copy_from_host(&[0.0; LEN], &mut buffer);
        "Stream::copy_to_host": stream.copy_to_host(&buffer, &mut numbers);
        "Stream::memset": stream.memset(&mut buffer, 0);
        "Stream::copy": stream.copy(&*shared, &mut buffer);
        "Stream::clone_of": stream.clone_of(&buffer);
        "Stream::copy_from_pinned": stream.copy_from_pinned(&pinned, &mut buffer);
        "Stream::copy_to_pinned": stream.copy_to_pinned(&*shared, &mut owned_pinned);
        "Stream::copy_from_peer": stream.copy_from_peer(&*shared, &mut buffer);
        "Stream::prefetch": stream.prefetch(&managed, ManagedLocation::Host);
        // SAFETY: S4: nothing is opened.
        "Stream::open_ipc": unsafe { stream.open_ipc::<u8>(&IpcHandle::from_bytes(&[0; IpcHandle::BYTES])) };
        "Stream::capture": stream.capture(|_| Ok(()));
        "Stream::launch_host": stream.launch_host(|| ());
        "Stream::launch_host_with": stream.launch_host_with(&pinned, |_| ());
        "Stream::launch_host_with_mut": stream.launch_host_with_mut(&mut owned_pinned, |_| ());
        // SAFETY: S9: nothing is launched.
        "Stream::launch_buffers": unsafe {
            let map = Map2::flat(LEN as u64, Map2::A_TIGHT | Map2::B_TIGHT);
            let arguments = [BufferArgument::read(&*shared), BufferArgument::read(&piece), BufferArgument::write(&mut buffer)];
            stream.launch_buffers(&add, LaunchConfig::linear(LEN as u64, 64), arguments, &map)
        };
        // SAFETY: S9: as above.
        "Launch::submit": unsafe {
            let map = Map2::flat(LEN as u64, Map2::A_TIGHT | Map2::B_TIGHT);
            let mut launch = stream.launch(&add, LaunchConfig::linear(LEN as u64, 64));
            launch.arg(&*shared).arg(&piece).arg_mut(&mut buffer).value(&map).submit()
        };
        // SAFETY: S5: the call is never made.
        "Submission::submit": unsafe { stream.submission().order_by(&piece).submit::<()>("nothing", |_| unreachable!()) };
        "DeviceBuffer::try_clone": piece.try_clone();
        "DeviceBuffer::ipc_handle": buffer.ipc_handle();
        "SharedBuffer::make_mut": second_owner.make_mut(&stream);
        "SharedBuffer::download": shared.download();
        "PinnedBuffer::zeroed": PinnedBuffer::<u8>::zeroed(&device, 1);
        "PinnedBuffer::from_slice": PinnedBuffer::from_slice(&device, &[1_u8]);
        "PinnedBuffer::as_slice": pinned.as_slice();
        "PinnedBuffer::as_mut_slice": owned_pinned.as_mut_slice();
        "PinnedBuffer::to_vec": pinned.to_vec();
        "PinnedBuffer::copy_from_slice": owned_pinned.copy_from_slice(&[0.0; LEN]);
        "PinnedBuffer::wait": pinned.wait();
        "ManagedBuffer::as_slice": managed.as_slice();
        "ManagedBuffer::as_mut_slice": managed.as_mut_slice();
        "ManagedBuffer::advise": managed.advise(ManagedAdvice::ReadMostly, ManagedLocation::Host);
        "Graph::instantiate": graph.instantiate();
        "GraphExec::launch": exec.launch(&stream);
        "GraphExec::update": exec.update(&graph);
        "Event::new": Event::new(&device);
        "Event::without_timing": Event::without_timing(&device);
        "Event::is_done": events[0].is_done();
        "Event::synchronize": events[0].synchronize();
        "Event::elapsed_since": events[1].elapsed_since(&events[0]);
    }
    let [event, _dropped] = events;
    let clone = stream.clone();
    ask! {
        "Stream::close": clone.close();
        "ManagedBuffer::close": managed.close();
        "PinnedBuffer::close": pinned_alone.close();
        "GraphExec::close": exec.close();
        "Graph::close": graph_alone.close();
        "LibraryHandle::close": LibraryHandle::new(&device, 7, |_, _| Ok(())).close();
        "Event::close": event.close();
        "Module::close": module.close();
    }
    answers
}

/// Calls every method that does not refuse.
fn answered(things: &mut Things) -> Vec<&'static str> {
    let Things { stream, owned_pinned, managed, buffer, module, add, compiled, platform, spare, .. } = things;
    let mut names = Vec::new();
    macro_rules! ask {
        ($($name:literal: $call:expr;)*) => { $( { let _ = $call; names.push($name); } )* };
    }
    let device = stream.device().clone();
    let (cache, source, arch) = (CodeCache::process(), Source::new(TEXT), device.properties().arch.clone());
    // SAFETY: S4: the stream outlives it.
    let mut foreign = Some(unsafe { Stream::from_raw(&device, stream.raw()) });
    let mut next = || spare.pop().expect("there is one more");
    ask! {
        "Device::memory_statistics": device.memory_statistics();
        "Device::live_buffers": device.live_buffers();
        "Device::unload_custom": device.unload_custom("none");
        "Stream::is_capturing": stream.is_capturing();
        "Submission::order_by": stream.submission().order_by(&*buffer);
        "DeviceBuffer::set_name": buffer.set_name("a name");
        "DeviceBuffer::rebind": buffer.rebind(foreign.as_ref().expect("it is there")).unwrap();
        "DeviceBuffer::named": next().named("a name");
        "DeviceBuffer::close": next().close().unwrap();
        // SAFETY: S5: nobody uses it any more.
        "DeviceBuffer::untracked": unsafe { next().untracked() };
        "PinnedBuffer::set_name": owned_pinned.set_name("a name");
        "PinnedBuffer::named": PinnedBuffer::<u8>::zeroed(&device, 0).unwrap().named("a name");
        "ManagedBuffer::set_name": managed.set_name("a name");
        "ManagedBuffer::named": stream.alloc_managed::<u8>(0).unwrap().named("a name");
        "MemoryCheck::start": MemoryCheck::current().start();
        "MemoryReport::now": MemoryReport::now();
        "assert_no_leaks": std::panic::catch_unwind(assert_no_leaks);
        "CodeCache::compile": cache.compile(&source, platform, &arch).unwrap();
        "CodeCache::compile_for": cache.compile_for(&source, &device).unwrap();
        "CodeCache::forget": cache.forget(Path::new("none"));
        "CodeCache::usage": cache.usage();
        "CodeCache::last_failure": cache.last_failure();
        "CodeCache::statistics": cache.statistics();
        "drop_errors": hip_safe::drop_errors();
        "drop_errors_later": hip_safe::drop_errors_later();
        "report_drop_error": report_drop_error(&Error::NotReady);
        "on_drop_error": on_drop_error(|_| ());
        "drop_elsewhere": drop_elsewhere(foreign.take());
    }
    assert_eq!(module.code_object().is_some(), add.module().code_object().is_some());
    assert_eq!(compiled.log(), "");
    names
}

/// Calls of the driver, and what is locked then.
type Act = fn(Bench);
const ACTS: [(&str, Act); 20] = [
    ("hipMemcpyAsync", |mut b| b.other.copy_from_pinned(&b.pinned, &mut b.target).unwrap()),
    ("hipMemcpyWithStream", |b| drop(b.other.download(&b.target).unwrap())),
    ("hipMemcpyWithStream", |mut b| b.other.copy_from_host(&[5.0; LEN], &mut b.target).unwrap()),
    ("hipMemsetAsync", |mut b| b.other.memset(&mut b.target, 1).unwrap()),
    ("hipEventRecord", |mut b| {
        b.stream.memset(&mut b.target, 1).unwrap();
        drop(b.other.clone_of(&b.target).unwrap());
    }),
    ("hipStreamWaitEvent", |b| drop(b.other.clone_of(&b.target).unwrap())),
    ("hipGraphLaunch", |b| b.exec.launch(&b.other).unwrap()),
    ("hipGraphInstantiateWithFlags", |b| drop(b.graph.instantiate().unwrap())),
    ("hipGraphExecUpdate", |mut b| b.exec.update(&b.graph).unwrap()),
    ("hipStreamBeginCapture", capture),
    ("hipMemcpyAsync", capture),
    ("hipStreamEndCapture", capture),
    ("hipStreamSynchronize", |b| b.stream.synchronize().unwrap()),
    ("hipStreamSynchronize", |b| {
        b.exec.launch(&b.other).unwrap();
        drop(b.pinned.to_vec().unwrap());
    }),
    ("hipDeviceSynchronize", |b| b.stream.device().synchronize().unwrap()),
    ("hipStreamDestroy", |b| drop(b.stream.device().new_stream().unwrap())),
    ("hipModuleLoadData", |b| {
        let image = crate::under_test::image(b.stream.device());
        drop(b.stream.device().get_or_load_custom("named", &image).unwrap());
    }),
    ("hipModuleGetFunction", |b| drop(b.module.function("elementwise_mul_f32").unwrap())),
    ("hipMalloc", |b| drop(b.stream.alloc_zeros::<u8>(40 << 20).unwrap())),
    ("hipFree", |b| {
        drop(b.stream.alloc_zeros::<u8>(40 << 20).unwrap());
        b.stream.device().trim_memory(0).unwrap();
    }),
];

fn capture(mut bench: Bench) {
    let Bench { other, target, pinned, .. } = &mut bench;
    drop(other.capture(|stream| stream.copy_from_pinned(pinned, target)).unwrap());
}

/// The names in the row of docs/SAFETY.md that begins with this.
fn listed(row: &str) -> BTreeSet<String> {
    let page = include_str!("../../../../../docs/SAFETY.md");
    let (_, section) = page.split_once("\n## In a host function\n").expect("the page has the section");
    let (section, _) = section.split_once("\n## ").expect("another follows");
    let cells =
        section.lines().find_map(|line| line.strip_prefix(&format!("| {row} |"))).expect("the row is there");
    let mut names = BTreeSet::new();
    for name in cells.trim_end_matches('|').split(',') {
        assert!(names.insert(name.trim().trim_matches('`').to_owned()), "{name} twice");
    }
    names
}

#[test]
fn no_lock_is_waited_for_that_is_held_during_driver_calls() {
    // It sets the hook.
    if !is_host()
        || !alone("stream::in_host_function::no_lock_is_waited_for_that_is_held_during_driver_calls")
    {
        return;
    }
    let refuse = listed("`InHostFunction`");
    let mut answer = listed("as elsewhere");
    COMPILE.iter().for_each(|name| assert!(answer.remove(*name)));
    for (call, act) in ACTS {
        let (sender, receiver) = mpsc::channel();
        in_time(move || {
            let (bench, mut things) = bench();
            let stream = things.stream.clone();
            let function = move || {
                let named = answered(&mut things);
                sender.send((named, refused(things))).unwrap();
            };
            stream.launch_host(function).unwrap();
            during(call, call_pending);
            act(bench);
        });
        let (answered, refused) = receiver.try_recv().unwrap_or_else(|_| panic!("{call} was not called"));
        for (name, error) in &refused {
            assert!(matches!(error, Some(Error::InHostFunction)), "{name} in {call}: {error:?}");
        }
        assert_eq!(refused.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), refuse);
        assert_eq!(answered.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(), answer);
    }
}

/// Methods that compile, which takes too long to be done in every call.
const COMPILE: [&str; 3] = ["Source::compile", "Source::compile_for", "compiler_version"];

#[test]
fn a_source_is_compiled_in_a_host_function() {
    let stream = crate::watched::device().new_stream().unwrap();
    let (device, source) = (stream.device().clone(), Source::new(TEXT));
    let (sender, receiver) = mpsc::channel();
    let function = move || {
        let arch = &device.properties().arch;
        sender.send(source.compile(device.platform(), arch).map(drop)).unwrap();
        sender.send(source.compile_for(&device).map(drop)).unwrap();
        sender.send(compiler_version(device.platform()).map(drop)).unwrap();
    };
    stream.launch_host(function).unwrap();
    for name in COMPILE {
        receiver.recv().unwrap().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// They take no lock, or one that is never held during a call of the driver.
const OTHERS: &str = "
BufferArgument::read BufferArgument::write CodeCache::at CodeCache::folder CodeCache::in_memory CodeCache::limit
CodeCache::off CodeCache::process Compiled::code Compiled::into_code Compiled::log Compiled::lowered_name
Device::check_stream Device::id Device::label Device::ordinal Device::platform Device::poisoned_by Device::properties
Device::raw_ordinal Device::shared_copies DeviceBuffer::byte_len DeviceBuffer::device DeviceBuffer::device_ptr
DeviceBuffer::device_ptr_mut DeviceBuffer::is_empty DeviceBuffer::is_used_by_graphs DeviceBuffer::is_written_by_graphs
DeviceBuffer::len DeviceBuffer::slice
DeviceBuffer::slice_mut DeviceBuffer::split_at DeviceBuffer::split_at_mut DeviceBuffer::stream
DeviceBuffer::view DeviceBuffer::view_mut DeviceView::byte_len DeviceView::device_ptr DeviceView::is_empty
DeviceView::is_written_by_graphs
DeviceView::len DeviceView::recast DeviceView::slice DeviceView::split_at DeviceView::stream
DeviceViewMut::byte_len DeviceViewMut::device_ptr_mut DeviceViewMut::into_slice DeviceViewMut::into_split_at
DeviceViewMut::is_empty DeviceViewMut::len DeviceViewMut::reborrow DeviceViewMut::recast
DeviceViewMut::slice_mut DeviceViewMut::split_at_mut DeviceViewMut::stream DeviceViewMut::view Error::hip_code
Event::device Event::raw Function::device Function::max_threads_per_block Function::module Function::name
Function::params Function::raw Function::required_block Function::shared_bytes Graph::device Graph::node_count
GraphExec::device GraphExec::node_count is_injective IpcHandle::byte_len IpcHandle::from_bytes IpcHandle::to_bytes
Launch::arg Launch::arg_mut Launch::arg_peer Launch::cooperative Launch::pointer Launch::value
LaunchConfig::is_linear LaunchConfig::linear LibraryHandle::device LibraryHandle::get LibraryHandle::get_mut
LibraryHandle::new ManagedBuffer::byte_len ManagedBuffer::device
ManagedBuffer::is_empty ManagedBuffer::len ManagedBuffer::stream ManagedBuffer::view
ManagedBuffer::view_mut Memo::clear Memo::get Memo::keep Memo::new Memo::put Memo::statistics MemoryCheck::current MemoryReport::leaked_bytes Module::code_object Module::compile_log
Module::device Module::raw PinnedBuffer::as_mut_ptr PinnedBuffer::as_ptr PinnedBuffer::device
PinnedBuffer::is_empty PinnedBuffer::len SharedBuffer::new SharedBuffer::same_buffer
SharedBuffer::strong_count SharedBuffer::try_unwrap Source::header Source::headers Source::name
Source::name_expression Source::new Source::option Source::options Stream::device Stream::from_raw Stream::id
Stream::launch Stream::raw Stream::submission Submission::keep Submission::not_captured Submission::read
Submission::read_peer Submission::write waits
";

#[test]
fn every_method_is_listed_once() {
    let (refuse, answer) = (listed("`InHostFunction`"), listed("as elsewhere"));
    let others: BTreeSet<String> = OTHERS.split_whitespace().map(str::to_owned).collect();
    let all: BTreeSet<String> = refuse.iter().chain(&answer).chain(&others).cloned().collect();
    assert_eq!(all.len(), refuse.len() + answer.len() + others.len(), "a name is in two lists");
    // What only stands before a method's own name in the source is not one of ours.
    assert_eq!(methods(), all);
}
