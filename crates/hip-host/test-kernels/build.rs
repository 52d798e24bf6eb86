//! Compiles each source of `../tests/kernels` once for each wave size that it is tested at: 0 stands for one build that serves both.

use std::env;
use std::path::Path;

const UNITS: [(&str, u32); 11] = [
    ("plain", 0),
    ("threads", 32),
    ("threads", 64),
    ("faults", 0),
    ("together", 64),
    ("language", 32),
    ("language", 64),
    ("planted", 32),
    ("plain_faults", 0),
    ("warp_faults", 32),
    ("warp_faults", 64),
];

fn main() {
    let include = env::var("DEP_HIPHOST_INCLUDE").expect("hip-host's build script names its headers");
    let flags = env::var("DEP_HIPHOST_FLAGS").expect("hip-host's build script names flags");
    // The whole path, which sanitizers name.
    let sources = Path::new(&include).with_file_name("tests/kernels");
    for read in [Path::new("build.rs"), Path::new(&include), &sources] {
        println!("cargo::rerun-if-changed={}", read.display());
    }
    for (source, wave) in UNITS {
        let mut build = cc::Build::new();
        build.cpp(true).opt_level(3).pic(true).include(&include).flags(flags.split_whitespace());
        build.define("HIPHOST_WAVE_SIZE", wave.to_string().as_str());
        if source.starts_with("plain") {
            build.define("HIPHOST_NO_BARRIERS", None);
        }
        build.file(sources.join(format!("{source}.cpp")));
        build.compile(&format!("hiphost_test_{source}_{wave}"));
    }
}
