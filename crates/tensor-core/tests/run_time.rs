//! Every unit of kernels through the run-time compiler of AMD's real library, which needs no GPU. Skipped with a word where no
//! libamdhip64 with hiprtc is installed.

use hip_safe::{CodeObject, Compiled, Error, Platform, Source};
use hip_sys::LoadError;
use kernels_hip::{Unit, options};

/// The architectures that every release since 5.2 knows, with waves of 64, 64 and 32 lanes.
const ARCHITECTURES: [(&str, u32); 3] = [("gfx906", 64), ("gfx90a", 64), ("gfx1030", 32)];

fn real() -> Option<Platform> {
    let platform = match Platform::load_amd() {
        Ok(platform) => platform,
        Err(missing @ LoadError::NotFound { .. }) => {
            println!("skipped: {missing}");
            return None;
        }
        Err(other) => panic!("libamdhip64 is there and does not load: {other}"),
    };
    if let Err(missing) = platform.rtc() {
        println!("skipped: {missing}");
        return None;
    }
    Some(platform)
}

fn source(unit: &Unit, wave_size: u32) -> Source {
    Source::new(unit.family.source)
        .name(unit.family.file)
        .header(kernels_hip::PORTABLE_NAME, kernels_hip::PORTABLE)
        .options(unit.options(options::AMD, wave_size))
}

/// The kernels in what was compiled, and the architecture it says it is for.
fn read(compiled: &Compiled) -> CodeObject {
    CodeObject::parse(compiled.code()).expect("a whole code object").expect("with metadata")
}

fn every_unit_compiles_for(arch: &str) {
    let Some(platform) = real() else { return };
    let (_, wave_size) = ARCHITECTURES.iter().find(|(known, _)| *known == arch).expect("it is listed");
    let (mut units, mut kernels) = (0, 0);
    for unit in kernels_hip::units() {
        let compiled = match source(&unit, *wave_size).compile(&platform, arch) {
            Ok(compiled) => compiled,
            Err(error) => panic!("{} for {arch}: {error}", unit.name()),
        };
        let object = read(&compiled);
        assert_eq!(object.arch.as_deref(), Some(arch), "{}", unit.name());
        let mut found: Vec<&str> = object.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let mut wanted = unit.kernels();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{} for {arch}", unit.name());
        units += 1;
        kernels += found.len();
    }
    assert_eq!(units, kernels_hip::units().count());
    println!("hiprtc of HIP {}: {units} units, {kernels} kernels for {arch}", platform.version());
}

#[test]
fn every_unit_compiles_for_gfx906() {
    every_unit_compiles_for("gfx906");
}

#[test]
fn every_unit_compiles_for_gfx90a() {
    every_unit_compiles_for("gfx90a");
}

#[test]
fn every_unit_compiles_for_gfx1030() {
    every_unit_compiles_for("gfx1030");
}

#[test]
fn a_mistake_in_a_kernel_comes_back_with_the_compilers_words() {
    let Some(platform) = real() else { return };
    let unit = kernels_hip::unit("reduce", "f32").expect("it ships");
    let wrong = source(&unit, 32).header("portable.hpp", "").compile(&platform, "gfx1030");
    // The first header of the name is the one that is read.
    assert!(wrong.is_ok(), "{wrong:?}");
    let text = format!("{}\n__global__ void broken() {{ no_such_function(); }}\n", unit.family.source);
    let wrong = Source::new(text)
        .name("broken.hip")
        .header(kernels_hip::PORTABLE_NAME, kernels_hip::PORTABLE)
        .options(unit.options(options::AMD, 32))
        .compile(&platform, "gfx1030")
        .expect_err("it calls what does not exist");
    let Error::Compilation { name, arch, log } = &wrong else { panic!("{wrong}") };
    assert_eq!((name.as_str(), arch.as_str()), ("broken.hip", "gfx1030"));
    assert!(log.contains("use of undeclared identifier 'no_such_function'"), "{log}");
    assert!(wrong.to_string().contains(log.as_str()));
}
