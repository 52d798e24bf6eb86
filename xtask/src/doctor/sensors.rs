//! What the GPUs measure, where AMD SMI or NVML answers.

use super::Item;
use amd_smi_safe::{Error, Found, Gpu, Overview};
use hip_sys::LoadError;

const SECTION: &str = "Sensors";

pub(super) fn look() -> Vec<Item> {
    amd_smi_safe::find().iter().flat_map(items).collect()
}

/// A GPU a line, or why there is none.
fn items(found: &Found) -> Vec<Item> {
    let vendor = found.vendor;
    let library = match &found.library {
        Ok(library) => library,
        Err(why) => return vec![missing(vendor, why)],
    };
    if found.gpus.is_empty() {
        let remedy = "check that the GPU is in `lspci`";
        return vec![Item::absent(SECTION, vendor, format!("{library} finds no GPU"), remedy)];
    }
    found.gpus.iter().enumerate().map(|(number, gpu)| item(format!("{vendor} {number}"), &**gpu)).collect()
}

fn item(name: String, gpu: &dyn Gpu) -> Item {
    match Overview::of(gpu) {
        Ok(overview) if overview.failures.is_empty() => Item::found(SECTION, name, overview.to_string()),
        Ok(overview) => Item::bad(SECTION, name, overview.to_string(), overview.failures.join("; ")),
        Err(why) => Item::bad(SECTION, name, why.to_string(), "check the driver's messages in `dmesg`"),
    }
}

fn missing(vendor: &str, why: &Error) -> Item {
    match why {
        // The list of libraries has the names that were tried, and the remedy.
        Error::NoLibrary(LoadError::NotFound { .. }) => {
            Item::absent(SECTION, vendor, "AMD SMI is absent", "see AMD SMI")
        }
        Error::NoDriver => Item::absent(
            SECTION,
            vendor,
            "AMD SMI is there, the kernel driver amdgpu is not loaded",
            "`modprobe amdgpu`, or install AMD's driver; give a container /dev/kfd, /dev/dri and /sys",
        ),
        Error::Nvml { why, .. } => {
            Item::absent(SECTION, vendor, format!("no NVML: {why}"), "only NVIDIA's driver has it")
        }
        other => Item::bad(SECTION, vendor, other.to_string(), "see AMD SMI"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn what_is_missing_has_a_remedy() {
        let not_found = LoadError::NotFound { library: "AMD SMI", remedy: "Install it", tried: Vec::new() };
        for (why, state) in [
            (Error::NoLibrary(not_found), State::Absent),
            (Error::NoDriver, State::Absent),
            (Error::EventsTaken, State::Bad),
        ] {
            let found = Found { vendor: "AMD", library: Err(why), gpus: Vec::new() };
            let [item] = &items(&found)[..] else { panic!("one item") };
            assert_eq!((&*item.name, item.state), ("AMD", state));
            assert!(item.remedy.is_some());
        }
    }
}
