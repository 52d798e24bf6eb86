//! Builds the programs of a bundle.

use crate::build_kernels::target::Platform;
use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Scripts and lists to include, relative to the workspace's root.
pub(super) const SCRIPTS: [&str; 10] = [
    "benches/peers/torch_throughput.py",
    "benches/witness/torch_witness.py",
    "benches/witness/chance.py",
    "benches/witness/elementwise.py",
    "benches/witness/moves.py",
    "benches/witness/networks.py",
    "benches/witness/ordering.py",
    "benches/witness/reductions.py",
    "benches/witness/values.py",
    "benches/witness/differences.toml",
];

/// One call of cargo: its arguments, and for each of its programs the target's name and the name in the
/// bundle.
struct Build {
    arguments: &'static str,
    programs: &'static [(&'static str, &'static str)],
}

/// The tests that do not need hip-host are built without it: its kernels are most of a program's size.
fn builds(platform: Platform) -> [Build; 3] {
    let tensor = match platform {
        Platform::Nvidia => {
            "test --no-run -p hipstack-tensor-core --no-default-features --features nvidia --test suite"
        }
        Platform::Amd | Platform::Host => {
            "test --no-run -p hipstack-tensor-core --no-default-features --test suite"
        }
    };
    [
        Build {
            arguments: "build -p xtask -p hipstack-parity -p conformance -p benches --bins",
            programs: &[
                ("xtask", "xtask"),
                ("parity", "parity"),
                ("conformance", "conformance"),
                ("throughput", "throughput"),
                ("quantized", "quantized"),
            ],
        },
        Build {
            arguments: "test --no-run -p hipstack-hip-safe --test suite",
            programs: &[("suite", "test-hip-safe")],
        },
        Build { arguments: tensor, programs: &[("suite", "test-tensor-core")] },
    ]
}

/// Builds all programs. Returns their names in the bundle, and the files that cargo built.
pub(super) fn build(root: &Path, platform: Platform) -> Result<Vec<(&'static str, PathBuf)>, String> {
    let mut files = Vec::new();
    for Build { arguments, programs } in builds(platform) {
        println!("bundle: cargo {arguments} --release");
        let mut cargo = workspace::cargo(root);
        cargo.args(arguments.split(' ')).args(["--release", "--message-format=json-render-diagnostics"]);
        let out = cargo.stderr(Stdio::inherit()).output();
        let out = out.map_err(|error| format!("bundle: cannot start cargo: {error}"))?;
        if !out.status.success() {
            return Err(format!("bundle: cargo {arguments} --release failed; see above"));
        }
        let built = workspace::programs(&String::from_utf8_lossy(&out.stdout));
        for (target, name) in programs {
            let file = built.get(*target).ok_or_else(|| format!("bundle: cargo built no {target}"))?;
            files.push((*name, file.clone()));
        }
    }
    Ok(files)
}
