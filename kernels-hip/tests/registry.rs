//! The list in kernels.toml, the host build and the sources say the same.

use hip_host::abi;
use kernels_hip::{HEADERS, Waves, families, units};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char, c_int, c_void};

/// A module as its tables describe it: whether each kernel is a plain loop.
struct Module {
    name: String,
    wave_size: u32,
    kernels: BTreeMap<String, bool>,
}

/// All modules of this build. Nothing is registered or run.
fn modules() -> Vec<Module> {
    kernels_hip::host_entries().iter().map(read).collect()
}

fn read(entry: &hip_host::ModuleEntry) -> Module {
    // SAFETY: S14: the entry was compiled with the headers whose types these are; the table is static.
    let module = unsafe { &*entry(&raw const RUNTIME) };
    assert_eq!(module.abi, abi::ABI);
    let mut kernels = BTreeMap::new();
    let mut next = module.kernels;
    // SAFETY: S14: a list that ends with null and lives as long as the program.
    while let Some(kernel) = unsafe { next.as_ref() } {
        // SAFETY: S14: names in the tables are C strings.
        kernels.insert(unsafe { text(kernel.name) }, kernel.plain.is_some());
        next = kernel.next;
    }
    // SAFETY: S14: as above.
    Module { name: unsafe { text(module.name) }, wave_size: module.wave_size, kernels }
}

/// # Safety
/// `name` is a C string.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: S11: the caller's promise.
    unsafe { CStr::from_ptr(name) }.to_str().expect("names of kernels are ASCII").to_owned()
}

/// Nothing is run, so nothing of it is called.
static RUNTIME: abi::Runtime = abi::Runtime {
    abi: abi::ABI,
    reserved: 0,
    next_thread,
    barrier,
    warp_sync,
    fail,
    print,
    grid_sync,
    clock,
};

unsafe extern "C" fn next_thread(_: *const abi::Block, _: *mut abi::Thread) -> c_int {
    std::process::abort()
}
unsafe extern "C" fn barrier(_: *const abi::Block, _: u32, _: u32) -> u64 {
    std::process::abort()
}
unsafe extern "C" fn warp_sync(
    _: *const abi::Block,
    _: u32,
    _: *const c_void,
    _: u32,
    _: u32,
    _: *mut abi::WarpView,
) {
    std::process::abort()
}
unsafe extern "C" fn fail(
    _: *const abi::Block,
    _: *const u32,
    _: u32,
    _: *const c_char,
    _: *const c_char,
    _: u32,
) {
    std::process::abort()
}
unsafe extern "C" fn print(_: *const abi::Block, _: *const c_char, _: u32) {
    std::process::abort()
}
unsafe extern "C" fn grid_sync(_: *const abi::Block, _: u32) -> u32 {
    std::process::abort()
}
unsafe extern "C" fn clock() -> u64 {
    std::process::abort()
}

#[test]
fn every_kernel_listed_is_in_its_host_module_and_no_other() {
    let mut modules: BTreeMap<(String, u32), BTreeSet<String>> = modules()
        .into_iter()
        .map(|module| ((module.name, module.wave_size), module.kernels.into_keys().collect()))
        .collect();
    for unit in units() {
        let listed: BTreeSet<String> = unit.kernels().into_iter().collect();
        assert_eq!(listed.len(), unit.kernels().len(), "{} lists a name twice", unit.name());
        let waves: &[u32] = if unit.family.waves == Waves::Both { &[32, 64] } else { &[0] };
        for wave in waves {
            let built =
                modules.remove(&(unit.name(), *wave)).unwrap_or_else(|| panic!("no module {}", unit.name()));
            assert_eq!(built, listed, "{} at wave size {wave}", unit.name());
        }
    }
    assert!(modules.is_empty(), "modules that kernels.toml does not list: {:?}", modules.keys());
}

#[test]
fn kernels_are_counted() {
    // Elementwise, 5 integer dtypes: 5 unary, 18 more, 10 casts; 5 float dtypes: 22 more. Sums of small floats by ids go by f32.
    let counts = [
        ("elementwise", 5 * 33 + 5 * 55),
        ("reduce", 10 * 18),
        ("matmul", 5),
        ("index", 10 * 2 + 7),
        ("sort", 10 * 2),
        ("radix", 8 * 2),
        ("topk", 10),
        ("buckets", 10 * 2),
        ("scan", 10 * 8),
        ("rope", 5),
        ("attention", 5 * 2),
        ("attention_mma", 2 * 2),
        ("select", 10 * 8),
        ("stat", 5 * 4),
        ("conv", 5 * 2),
        ("conv_wide", 4 * 2),
        ("conv_split", 2),
        ("conv_mma", 2),
        ("pool", 5 * 5),
        ("softmax", 5 * 6),
        ("norm", 5 * 7),
        ("random", 5 * 3 + 5 + 10),
        ("transpose", 4),
    ];
    let count = |family: &str| -> usize {
        units().filter(|unit| unit.family.name == family).map(|unit| unit.kernels().len()).sum()
    };
    for (family, kernels) in counts {
        assert_eq!(count(family), kernels, "{family}");
    }
    assert_eq!(families().len(), counts.len(), "a family is missing from this test's list");
    assert_eq!(units().count(), 151);
    let names: BTreeSet<String> = units().flat_map(|unit| unit.kernels()).collect();
    assert_eq!(
        names.len(),
        counts.iter().map(|(_, kernels)| kernels).sum::<usize>(),
        "names are unique across units"
    );
}

#[test]
fn families_without_barriers_run_as_plain_loops() {
    for family in families() {
        let prefix = format!("{}_", family.name);
        for module in modules().into_iter().filter(|module| module.name.starts_with(&prefix)) {
            assert!(module.kernels.values().all(|plain| *plain != family.barriers), "{}", module.name);
        }
        // A barrier under another name would escape the mark.
        let barriers = ["block_join", "__sync", "rows.hpp", "conv_tiles.hpp", "conv_wide.hpp"];
        assert_eq!(barriers.iter().any(|barrier| family.source.contains(barrier)), family.barriers);
    }
}

#[test]
fn sources_include_nothing_but_the_headers() {
    for family in families() {
        let includes: Vec<&str> = family.source.lines().filter(|line| line.starts_with("#include")).collect();
        let headers = HEADERS.map(|(name, _)| format!("#include \"{name}\""));
        assert_eq!(includes.first(), Some(&headers[0].as_str()), "{}", family.file);
        assert!(includes.iter().all(|line| headers.iter().any(|header| header == line)), "{}", family.file);
    }
}
