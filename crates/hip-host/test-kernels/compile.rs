//! Compiles C++ files with kernels, for build scripts. hip-host's test kernels and the benchmarks share it.

use std::env;
use std::path::Path;

/// Whether there is a C++ compiler. Without one the build prints a short warning instead of everything that
/// the crate cc tried.
pub(crate) fn compiler_is_there() -> bool {
    let mut build = cc::Build::new();
    build.cpp(true).opt_level(0).cargo_output(false);
    let found = build.try_get_compiler().map_err(|error| error.to_string());
    let started = found.and_then(|compiler| {
        let asked = compiler.to_command().arg("--version").output();
        asked.map(drop).map_err(|error| format!("{} cannot be started: {error}", compiler.path().display()))
    });
    if let Err(reason) = &started {
        println!("cargo::error=there is no C++ compiler ({reason}): {}", variable("DEP_HIPHOST_NO_COMPILER"));
    }
    started.is_ok()
}

/// Compiles a file into a static library of that name, for one wave size or for both (0). `plain`: its
/// kernels have no barriers.
pub(crate) fn compile(file: &Path, wave: u32, plain: bool, library: &str) {
    let mut build = cc::Build::new();
    build.cpp(true).opt_level(3).pic(true).include(variable("DEP_HIPHOST_INCLUDE"));
    build.flags(variable("DEP_HIPHOST_FLAGS").split_whitespace());
    build.define("HIPHOST_WAVE_SIZE", wave.to_string().as_str()).file(file);
    if plain {
        build.define("HIPHOST_NO_BARRIERS", None);
    }
    build.compile(library);
}

fn variable(name: &str) -> String {
    env::var(name).expect("hip-host's build script sets it")
}
