//! hiprtc's options in NVRTC's spelling.

/// The options for NVRTC, and whether the target is a real architecture (the code is then a cubin) or a
/// virtual one (PTX).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) options: Vec<String>,
    pub(super) cubin: bool,
}

/// Translates options. An unknown option is passed on: NVRTC accepts it or reports it. `device`: the
/// architecture to compile for if no option names one, e.g. `sm_90`.
pub(super) fn translate(given: &[String], device: Option<&str>) -> Translated {
    // hiprtc includes HIP's header implicitly.
    let mut options = vec!["--pre-include=hip/hip_runtime.h".to_owned()];
    let mut arch = None;
    let mut words = given.iter();
    while let Some(option) = words.next() {
        let architecture = ["--offload-arch=", "--gpu-architecture=", "-arch="]
            .iter()
            .find_map(|prefix| option.strip_prefix(prefix));
        if let Some(name) = architecture {
            arch = Some(name.to_owned());
        } else if let Some(mode) = option.strip_prefix("-ffp-contract=") {
            options.push(format!("--fmad={}", mode != "off"));
        } else if let Some(standard) = option.strip_prefix("-std=") {
            options.push(format!("--std={standard}"));
        } else if option == "-include" {
            options.extend(words.next().map(|file| format!("--pre-include={file}")));
        } else if !is_of_other_compilers(option) {
            options.push(option.clone());
        }
    }
    let arch = arch.or_else(|| device.map(str::to_owned));
    let cubin = arch.as_ref().is_some_and(|name| name.starts_with("sm_"));
    options.extend(arch.map(|name| format!("--gpu-architecture={name}")));
    Translated { options, cubin }
}

/// Optimisation levels, and options for what NVRTC does anyway.
fn is_of_other_compilers(option: &str) -> bool {
    let level = option.strip_prefix("-O").is_some_and(|level| level.len() <= 1);
    level || ["-fsigned-char", "-fno-gpu-rdc"].contains(&option)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNTIME: &str = "--pre-include=hip/hip_runtime.h";

    fn translated(given: &[&str]) -> Translated {
        translate(&given.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), Some("sm_90"))
    }

    #[test]
    fn hips_spelling_becomes_cudas() {
        let given =
            ["--offload-arch=sm_80", "-ffp-contract=off", "-std=c++17", "-O3", "-DN=4", "-include", "a.h"];
        let expected = [
            RUNTIME,
            "--fmad=false",
            "--std=c++17",
            "-DN=4",
            "--pre-include=a.h",
            "--gpu-architecture=sm_80",
        ];
        assert_eq!(translated(&given).options, expected);
    }

    #[test]
    fn without_an_architecture_it_is_the_devices() {
        assert_eq!(
            translated(&[]),
            Translated { options: vec![RUNTIME.into(), "--gpu-architecture=sm_90".into()], cubin: true }
        );
        assert!(!translated(&["--gpu-architecture=compute_80"]).cubin);
    }
}
