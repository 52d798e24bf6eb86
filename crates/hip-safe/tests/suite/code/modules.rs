//! A device's modules: equal code is loaded once, as long as somebody uses it, and names stand for one code.

use crate::under_test::{self, image, is_host};
use crate::watched::{calls, device, fail_next, work_calls};
use hip_safe::{CacheAnswer, CodeCache, Device, Error, LaunchConfig, Module, Source};
use std::sync::Barrier;

const ONE: &str = "extern \"C\" __global__ void set(int* a) { *a = 1; }";
const TWO: &str = "extern \"C\" __global__ void set(int* a) { *a = 2; }";

/// What the kernel `set` of a module writes.
fn written(module: &Module) -> i32 {
    let stream = module.device().new_stream().unwrap();
    let set = module.function("set").unwrap();
    let mut out = stream.alloc_zeros::<i32>(1).unwrap();
    // SAFETY: S9: the kernel writes one number.
    unsafe { stream.launch(&set, LaunchConfig::linear(1, 1)).arg_mut(&mut out).submit() }.unwrap();
    stream.download(&out).unwrap()[0]
}

fn loads() -> usize {
    calls().iter().filter(|call| **call == "hipModuleLoadData").count()
}

#[test]
fn equal_code_is_loaded_once_as_long_as_it_is_used() {
    let device = device();
    let image = image(&device);
    calls();
    let first = device.load_module(&image).unwrap();
    let second = device.load_module(image.clone()).unwrap();
    assert_eq!(loads(), 1);
    assert_eq!(first, second);
    let kernel = second.function("elementwise_add_f32").unwrap();
    drop((first, second));
    assert_eq!(*kernel.module(), device.load_module(&image).unwrap(), "the function keeps it");
    calls();
    drop(kernel);
    assert_eq!(work_calls(), ["hipModuleUnload"]);
    device.load_module(&image).unwrap();
    assert_eq!(loads(), 1, "it was forgotten with its last user");
    let own = Module::load(&device, &image).unwrap();
    assert_eq!(loads(), 1);
    assert_ne!(own, device.load_module(&image).unwrap(), "what was loaded for one owner is not shared");
}

#[test]
fn a_failed_load_is_not_remembered() {
    let device = device();
    let image = image(&device);
    fail_next("hipModuleLoadData", 1999);
    assert_eq!(device.load_module(&image).unwrap_err().hip_code(), Some(1999));
    device.load_module(&image).unwrap();
    assert!(matches!(device.load_module(&[1, 0, 2]).unwrap_err(), Error::InvalidImage { .. }));
}

#[test]
fn threads_that_want_the_same_load_it_once() {
    let device = device();
    let image = image(&device);
    let (start, end) = (Barrier::new(8), Barrier::new(8));
    let counts = std::thread::scope(|scope| {
        let load = || {
            start.wait();
            calls();
            let module = device.load_module(&image).unwrap();
            let count = loads();
            // Until every thread has it.
            end.wait();
            (module, count)
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(load)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<usize>(), 1);
    assert!(counts.iter().all(|(module, _)| *module == counts[0].0));
}

#[test]
fn a_source_is_compiled_and_loaded_in_one_call_and_once() {
    let device = device();
    let source = Source::new(ONE).name("one.hip");
    let cache = CodeCache::off();
    calls();
    let (module, origin) = cache.load(&source, &device).unwrap();
    assert_eq!((origin, loads()), (Some(CacheAnswer::Compiled), 1));
    assert_eq!(cache.load(&source, &device).unwrap(), (module.clone(), None));
    assert_eq!(device.compile(&source).unwrap(), module);
    assert_eq!(device.load_module(&source).unwrap(), module);
    assert_eq!((written(&module), loads()), (1, 0));
    // Code with other options is another module.
    assert_eq!(written(&device.compile(&Source::new(TWO).name("one.hip")).unwrap()), 2);
    let (again, origin) = cache.load(&source.clone().option("-DUNUSED=1"), &device).unwrap();
    assert_eq!((origin, written(&again)), (Some(CacheAnswer::Compiled), 1));
    let wrong = device.compile(&Source::new("#error no such thing\n").name("wrong.hip")).unwrap_err();
    assert!(matches!(&wrong, Error::Compilation { log, .. } if log.contains("no such thing")), "{wrong}");
}

#[test]
fn headers_options_expressions_and_the_log_go_with_the_module() {
    let device = under_test::device(0);
    let source = Source::new(
        "#include \"size.h\"\n#warning look here\n\
         template <class T> __global__ void set(T* a) { *a = SIZE * FACTOR; }",
    )
    .name("set.hip")
    .header("size.h", "#define SIZE 4\n")
    .option("-DFACTOR=3")
    .name_expression("set<float>")
    .name_expression("set<int>");
    let module = CodeCache::off().load(&source, &device).unwrap().0;
    let log = module.compile_log().expect("it was compiled");
    assert!(log.contains("look here"), "{log}");
    let stream = device.new_stream().unwrap();
    let mut float = stream.alloc_zeros::<f32>(1).unwrap();
    let set = module.function("set<float>").unwrap();
    // SAFETY: S9: the kernel writes one number.
    unsafe { stream.launch(&set, LaunchConfig::linear(1, 1)).arg_mut(&mut float).submit() }.unwrap();
    assert_eq!(stream.download(&float).unwrap(), [12.0]);
    assert_ne!(module.function("set<int>").unwrap().name(), set.name());
    let missing = module.function("set<double>").unwrap_err();
    assert!(
        matches!(&missing, Error::KernelNotFound { near, .. } if near[..] == ["set<float>", "set<int>"]),
        "{missing}"
    );
    let text = missing.to_string();
    assert!(text.starts_with("\"set.hip\", "), "{text}");
    let end = "has no kernel \"set<double>\"; it has set<float>, set<int>; give the source .name_expression(\"set<double>\"), as set is in the text";
    assert!(text.ends_with(end), "{text}");
    assert_eq!(under_test::module(&device).compile_log(), None);
}

#[test]
fn a_kernel_that_is_not_there_is_looked_for_in_the_text() {
    let device = under_test::device(0);
    let source = Source::new(
        "extern \"C\" __global__ void scale_all(int* a) { *a = 1; }\n\
         // __global__ void scale_some(int*);\n\
         __global__ void plain(int* a) { *a = 2; }",
    )
    .name("mine.hip");
    // Compiled now, and as the cache has it.
    let folder = tempfile::tempdir().unwrap();
    let cache = CodeCache::at(folder.path(), 64 << 20);
    let texts = [(); 2].map(|()| {
        let module = cache.load(&source, &device).unwrap().0;
        ["scale_al", "plain"].map(|name| module.function(name).unwrap_err().to_string())
    });
    for [near, plain] in texts {
        assert!(near.starts_with("\"mine.hip\", ") && near.contains("it has scale_all;"), "{near}");
        assert!(!near.contains("scale_some") && near.contains("Source::name_expression"), "{near}");
        assert!(plain.contains("the text has plain, which is not extern \"C\""), "{plain}");
        assert!(plain.contains(".name_expression(\"plain\")"), "{plain}");
    }
}

/// The source is one module wherever its code comes from, and the cache on disk is asked only if there is none.
#[test]
fn the_cache_on_disk_is_asked_once_and_what_the_device_refuses_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let device = device();
    let cache = CodeCache::at(folder.path(), 64 << 20);
    let source = Source::new(ONE).name("kept.hip");
    assert_eq!(cache.load(&source, &device).unwrap().1, Some(CacheAnswer::Compiled));
    let (module, origin) = cache.load(&source, &device).unwrap();
    assert!(
        matches!(&origin, Some(CacheAnswer::Kept(_))),
        "the module is gone, its code is kept: {origin:?}"
    );
    assert_eq!(cache.load(&source, &device).unwrap(), (module, None));
    assert_eq!((cache.statistics().hits, cache.statistics().misses), (1, 1));
    fail_next("hipModuleLoadData", 1999);
    let (module, origin) = cache.load(&source, &device).unwrap();
    assert_eq!(
        (origin, written(&module)),
        (Some(CacheAnswer::Compiled), 1),
        "the entry was refused, and removed"
    );
}

#[test]
fn a_name_is_bound_to_one_code() {
    let device = device();
    let (one, two) = (Source::new(ONE), Source::new(TWO));
    let module = device.get_or_load_custom("mine", &one).unwrap();
    let raw = module.raw();
    drop(module);
    calls();
    let module = device.get_or_load_custom("mine", &one).unwrap();
    assert_eq!(calls(), [""; 0], "the device keeps it");
    assert_eq!(module.raw(), raw);
    let error = device.get_or_load_custom("mine", &two).unwrap_err();
    let Error::ModuleConflict { name, loaded, given } = &error else { panic!("{error}") };
    assert_eq!((name.as_str(), loaded.len(), given.len()), ("mine", 32, 32));
    assert_ne!(loaded, given);
    let text = error.to_string();
    assert!(text.contains(loaded) && text.contains(given) && text.contains("unload_custom"), "{text}");
    assert_eq!(device.get_or_load_custom("mine", &two).unwrap_err().to_string(), text, "hashes are steady");
    assert_eq!(written(&device.get_or_load_custom("yours", &two).unwrap()), 2);

    let set = device.get_or_load_custom_func("set", "mine", &one).unwrap();
    assert_eq!(*set.module(), module);
    assert_eq!(device.unload_custom("mine"), Some(module));
    assert_eq!(device.unload_custom("mine"), None);
    assert_eq!(written(&device.get_or_load_custom("mine", &two).unwrap()), 2, "the name is free again");
    assert_eq!(written(set.module()), 1, "owners of the former module keep it");
    let missing = device.get_or_load_custom_func("no", "mine", &two).unwrap_err();
    assert!(matches!(missing, Error::KernelNotFound { .. }), "{missing}");
}

#[test]
fn threads_with_different_code_under_one_name_get_their_own() {
    for _ in 0..4 {
        let device = device();
        let start = Barrier::new(4);
        let results = std::thread::scope(|scope| {
            let (device, start) = (&device, &start);
            let load = |text: &'static str| {
                move || {
                    start.wait();
                    device.get_or_load_custom("race", Source::new(text))
                }
            };
            let threads = [ONE, TWO, ONE, TWO].map(|text| scope.spawn(load(text)));
            threads.map(|thread| thread.join().unwrap())
        });
        let mut won = Vec::new();
        for (result, expected) in results.into_iter().zip([1, 2, 1, 2]) {
            match result {
                Ok(module) => {
                    assert_eq!(written(&module), expected);
                    won.push(expected);
                }
                Err(Error::ModuleConflict { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        won.dedup();
        assert!(won == [1] || won == [2], "one code has the name: {won:?}");
    }
}

/// A named module does not keep its device open, and is unloaded with it.
#[test]
fn a_device_unloads_named_modules_when_it_is_closed() {
    let device: Device = device();
    let id = device.id();
    device.get_or_load_custom("mine", Source::new(ONE)).unwrap();
    let platform = device.platform().clone();
    calls();
    drop(device);
    assert_eq!(work_calls(), ["hipModuleUnload"]);
    assert_ne!(Device::new(&platform, 0).unwrap().id(), id, "the device was closed");
}

/// Pending launches complete after the last reference is dropped.
#[test]
fn a_module_that_is_dropped_stays_until_its_launches_are_done() {
    let text = "extern \"C\" __global__ void slow(unsigned* a, unsigned rounds) {
        unsigned x = 1;
        for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
        *a = x;
    }";
    let rounds = if is_host() { 3_000_000_u32 } else { 30_000_000 };
    let expected = (0..rounds).fold(1_u32, |x, _| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let device = under_test::device(0);
    let streams = [(); 2].map(|()| device.new_stream().unwrap());
    let mut outs = [0, 1].map(|i: usize| streams[i].alloc_zeros::<u32>(1).unwrap());
    {
        let module = device.compile(&Source::new(text)).unwrap();
        let slow = module.function("slow").unwrap();
        for (stream, out) in streams.iter().zip(&mut outs) {
            let mut launch = stream.launch(&slow, LaunchConfig::linear(1, 1));
            // SAFETY: S9: the kernel writes one number.
            unsafe { launch.arg_mut(out).value(&rounds).submit() }.unwrap();
        }
    }
    for (stream, out) in streams.iter().zip(&outs) {
        assert_eq!(stream.download(out).unwrap(), [expected]);
    }
}
