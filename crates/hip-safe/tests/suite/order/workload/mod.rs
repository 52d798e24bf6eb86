//! A random program over several streams that uses all operations, compared with a model on the host after every read.
//!
//! On hip-host it runs under its adversary and its checker, a process for each seed. `HIP_SAFE_TEST_SEEDS=200
//! HIP_SAFE_TEST_SECONDS=10` makes more of it than the tests do by themselves.

mod graphs;
mod rest;

use crate::under_test::{is_host, module};
use crate::watched::platform_as_it_is;
use crate::{again, is_child};
use hip_safe::{
    BufferArgument, Device, DeviceBuffer, Event, Function, LaunchConfig, PinnedBuffer, SharedBuffer, Stream,
};
use kernels_hip::args::Map2;
use rest::Rest;
use std::time::{Duration, Instant};

const MOST: usize = 8;

/// SplitMix64: numbers that look random, from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Memory of the device or of the host, and what is in it.
struct Modelled<T> {
    memory: T,
    model: Vec<f32>,
}

/// The state of the program.
struct Program {
    random: Random,
    device: Device,
    add: Function,
    streams: Vec<Stream>,
    buffers: Vec<Modelled<DeviceBuffer<f32>>>,
    shared: Vec<Modelled<SharedBuffer<f32>>>,
    pinned: Vec<Modelled<PinnedBuffer<f32>>>,
    events: Vec<Event>,
    rest: Rest,
    compared: u64,
}

impl Program {
    fn new(device: &Device, seed: u64) -> Self {
        let streams = (0..3).map(|_| device.new_stream().unwrap()).collect();
        let add = module(device).function("elementwise_add_f32").unwrap();
        let mut program = Self {
            random: Random(seed),
            device: device.clone(),
            add,
            streams,
            buffers: Vec::new(),
            shared: Vec::new(),
            pinned: Vec::new(),
            events: Vec::new(),
            rest: Rest::new(device),
            compared: 0,
        };
        for _ in 0..3 {
            program.make_buffer();
            program.make_shared();
            program.make_pinned();
        }
        program
    }

    fn stream(&mut self) -> Stream {
        let index = self.random.below(self.streams.len());
        self.streams[index].clone()
    }

    fn values(&mut self) -> Vec<f32> {
        // Large ones now and then: they come from segments of another kind.
        let len = if self.random.below(20) == 0 { 1 << 19 } else { 1 + self.random.below(5000) };
        let first = self.random.below(1000);
        (first..first + len).map(|value| (value % 977) as f32).collect()
    }

    /// The same range of two lists: where it begins, and how long it is.
    fn range(&mut self, one: usize, other: usize) -> (usize, usize, usize) {
        let len = 1 + self.random.below(one.min(other));
        (self.random.below(one - len + 1), self.random.below(other - len + 1), len)
    }

    fn make_buffer(&mut self) {
        let (stream, model) = (self.stream(), self.values());
        let memory = stream.upload(&model).unwrap();
        self.buffers.push(Modelled { memory, model });
        if self.buffers.len() > MOST {
            let index = self.random.below(MOST);
            self.buffers.swap_remove(index);
        }
    }

    fn make_shared(&mut self) {
        let (stream, model) = (self.stream(), self.values());
        let memory = SharedBuffer::new(stream.upload(&model).unwrap());
        self.shared.push(Modelled { memory, model });
        if self.shared.len() > MOST {
            let index = self.random.below(MOST);
            self.shared.swap_remove(index);
        }
    }

    fn make_pinned(&mut self) {
        let model = self.values();
        let memory = PinnedBuffer::from_slice(&self.device, &model).unwrap();
        self.pinned.push(Modelled { memory, model });
        if self.pinned.len() > 3 {
            let index = self.random.below(3);
            self.pinned.swap_remove(index);
        }
    }

    fn change_streams(&mut self) {
        if self.streams.len() > 2 && self.random.below(2) == 0 {
            let index = self.random.below(self.streams.len());
            self.streams.swap_remove(index);
        } else if self.streams.len() < 6 {
            self.streams.push(self.device.new_stream().unwrap());
        }
    }

    /// Two different buffers, the first to be written.
    fn two(&mut self) -> (usize, usize) {
        let to = self.random.below(self.buffers.len());
        let from = (to + 1 + self.random.below(self.buffers.len() - 1)) % self.buffers.len();
        (to, from)
    }

    fn copy(&mut self) {
        let (stream, (to, from)) = (self.stream(), self.two());
        let (at, begin, len) = self.range(self.buffers[to].model.len(), self.buffers[from].model.len());
        let [target, source] = self.buffers.get_disjoint_mut([to, from]).unwrap();
        let view = source.memory.slice(begin..begin + len).unwrap();
        stream.copy(&view, &mut target.memory.slice_mut(at..at + len).unwrap()).unwrap();
        target.model[at..at + len].copy_from_slice(&source.model[begin..begin + len]);
    }

    fn fill(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.buffers.len()));
        let (at, _, len) = self.range(self.buffers[index].model.len(), self.buffers[index].model.len());
        let target = &mut self.buffers[index];
        stream.memset(&mut target.memory.slice_mut(at..at + len).unwrap(), 0).unwrap();
        target.model[at..at + len].fill(0.0);
    }

    /// A kernel reads a buffer and a shared one, and writes a new buffer.
    fn launch(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.buffers.len()));
        let other = self.random.below(self.shared.len());
        let (a, b) = (&self.buffers[index], &self.shared[other]);
        let count = a.model.len().min(b.model.len());
        let model: Vec<f32> = a.model.iter().zip(&b.model).map(|(a, b)| (a + b) % 4096.0).collect();
        let exact: Vec<f32> = a.model.iter().zip(&b.model).map(|(a, b)| a + b).collect();
        let mut out = if self.random.below(2) == 0 {
            stream.alloc_zeros::<f32>(count).unwrap()
        } else {
            // SAFETY: S15: the kernel writes all of it.
            unsafe { stream.alloc_uninit::<f32>(count) }.unwrap()
        };
        let (dims, flags) = ([count as u64; 8], Map2::A_TIGHT | Map2::B_TIGHT);
        let map = Map2 { count: count as u64, rank: 1, flags, dims, a: [1; 8], b: [1; 8] };
        let config = LaunchConfig::linear(count as u64, 64);
        if self.random.below(2) == 0 {
            let (x, y) = (BufferArgument::read(&a.memory), BufferArgument::read(&b.memory));
            let buffers = [x, y, BufferArgument::write(&mut out)];
            // SAFETY: S9: the kernel reads count elements of both and writes count of the third.
            unsafe { stream.launch_buffers(&self.add, config, buffers, &map) }.unwrap();
        } else {
            let mut launch = stream.launch(&self.add, config);
            launch.arg(&a.memory).arg(&b.memory).arg_mut(&mut out).value(&map);
            // SAFETY: S9: as above.
            unsafe { launch.submit() }.unwrap();
        }
        // Sums stay small, so that they stay exact.
        if exact != model {
            stream.copy_from_host(&model, &mut out).unwrap();
        }
        self.buffers[index] = Modelled { memory: out, model };
    }

    fn share(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.shared.len()));
        let original = &self.shared[index];
        let mut copy = Modelled { memory: original.memory.clone(), model: original.model.clone() };
        if self.random.below(3) == 0 {
            stream.memset(copy.memory.make_mut(&stream).unwrap(), 0).unwrap();
            copy.model.fill(0.0);
        }
        let target = self.random.below(self.shared.len());
        self.shared[target] = copy;
    }

    fn download_to_pinned(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.buffers.len()));
        let source = &self.buffers[index];
        let mut memory = PinnedBuffer::zeroed(&self.device, source.model.len()).unwrap();
        stream.copy_to_pinned(&source.memory, &mut memory).unwrap();
        let target = self.random.below(self.pinned.len());
        self.pinned[target] = Modelled { memory, model: source.model.clone() };
    }

    fn upload_from_pinned(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.pinned.len()));
        let source = &mut self.pinned[index];
        // SAFETY: S15: the copy writes all of it.
        let mut memory = unsafe { stream.alloc_uninit(source.model.len()) }.unwrap();
        stream.copy_from_pinned(&source.memory, &mut memory).unwrap();
        let model = source.model.clone();
        if self.random.below(2) == 0 {
            source.memory.as_mut_slice().unwrap()[0] = -1.0;
            source.model[0] = -1.0;
        }
        let target = self.random.below(self.buffers.len());
        self.buffers[target] = Modelled { memory, model };
    }

    fn compare(&mut self) {
        let stream = self.stream();
        let index = self.random.below(self.buffers.len());
        assert_eq!(stream.download(&self.buffers[index].memory).unwrap(), self.buffers[index].model);
        let index = self.random.below(self.shared.len());
        assert_eq!(stream.download(&self.shared[index].memory).unwrap(), self.shared[index].model);
        let index = self.random.below(self.pinned.len());
        assert_eq!(self.pinned[index].memory.as_slice().unwrap(), self.pinned[index].model);
        self.compared += 3;
    }

    fn events(&mut self) {
        let (producer, consumer) = (self.stream(), self.stream());
        let event = Event::new(&self.device).unwrap();
        producer.record_event(&event).unwrap();
        consumer.wait_event(&event).unwrap();
        self.events.push(event);
        if self.events.len() > 3 {
            self.events.swap_remove(0);
        }
    }

    /// Another thread submits and drops.
    fn elsewhere(&mut self) {
        let (stream, index) = (self.stream(), self.random.below(self.buffers.len()));
        let Modelled { memory, model } = self.buffers.swap_remove(index);
        let other = self.stream();
        let thread = std::thread::spawn(move || {
            let copy = stream.clone_of(&memory).unwrap();
            drop(memory);
            other.clone_of(&copy).unwrap()
        });
        let memory = thread.join().unwrap();
        self.buffers.push(Modelled { memory, model });
    }

    fn step(&mut self) {
        match self.random.below(50) {
            0 => self.change_streams(),
            1..5 => self.make_buffer(),
            5 => self.make_shared(),
            6 => self.make_pinned(),
            7..14 => self.copy(),
            14..18 => self.fill(),
            18..24 => self.launch(),
            24..28 => self.share(),
            28..30 => self.download_to_pinned(),
            30..32 => self.upload_from_pinned(),
            32..35 => self.compare(),
            35..37 => self.events(),
            37 => self.elsewhere(),
            38 => {
                let stream = self.stream();
                let index = self.random.below(self.buffers.len());
                self.buffers[index].memory.rebind(&stream).unwrap();
            }
            39..42 => self.host_function(),
            42..45 => self.managed(),
            45 => self.peer(),
            46..49 => self.graph(),
            _ => _ = self.device.trim_memory(1 << 20).unwrap(),
        }
    }

    /// Compares everything with the model, and checks that nothing leaked.
    fn end(mut self) -> u64 {
        let stream = self.stream();
        for Modelled { memory, model } in &self.buffers {
            assert_eq!(&stream.download(memory).unwrap(), model);
        }
        for Modelled { memory, model } in &self.shared {
            assert_eq!(&stream.download(memory).unwrap(), model);
        }
        for Modelled { memory, model } in &self.pinned {
            assert_eq!(memory.as_slice().unwrap(), model);
        }
        let device = self.device.clone();
        self.rest.end();
        drop(self.buffers);
        drop(self.shared);
        assert_eq!(device.memory_statistics().active, 0);
        device.trim_memory(0).unwrap();
        assert_eq!(device.memory_statistics().reserved, 0);
        self.compared
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The program, once, with the seed and for the time that the variables name.
#[test]
fn program() {
    let seed = number("HIP_SAFE_TEST_SEED", 1);
    let time = Duration::from_millis(number("HIP_SAFE_TEST_MILLISECONDS", 300));
    // A separate device, so that no other test changes the figures of its pool.
    let own = Device::new(&platform_as_it_is(), 0).unwrap();
    let (started, mut steps, mut compared) = (Instant::now(), 0_u64, 0);
    let mut round = 0;
    while started.elapsed() < time {
        let mut program = Program::new(&own, seed.wrapping_mul(1 << 20).wrapping_add(round));
        for _ in 0..200 {
            program.step();
        }
        compared += program.end();
        steps += 200;
        round += 1;
    }
    assert!(compared > 0);
    println!("\nworkload: {steps} steps, {compared} comparisons");
    if is_child() {
        assert_eq!(hip_host::checker::reports(), []);
        assert_eq!(hip_host::checker::unchecked(), 0);
    }
}

#[test]
fn a_random_program_is_right_and_silent_under_every_seed() {
    if !is_host() {
        return;
    }
    let milliseconds = (number("HIP_SAFE_TEST_SECONDS", 0) * 1000).max(300).to_string();
    for seed in 0..number("HIP_SAFE_TEST_SEEDS", 6) {
        let seed = seed.to_string();
        let variables = [
            ("HIPSTACK_HOST_ADVERSARY", seed.as_str()),
            ("HIPSTACK_HOST_CHECK", "abort"),
            ("HIP_SAFE_TEST_SEED", &seed),
            ("HIP_SAFE_TEST_MILLISECONDS", &milliseconds),
        ];
        let output = again("order::workload::program", &variables);
        let text = String::from_utf8_lossy(&output.stdout);
        let end = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("workload:"), "seed {seed}: {text}{end}");
    }
}
