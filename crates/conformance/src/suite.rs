//! The suite on one platform: selects and runs cases.

use crate::bench::Bench;
use crate::case::{Case, Failure, Scope};
use crate::cases::GROUPS;
use crate::differences::{self, Difference};
use crate::{compile, filter, isolate};
use hip_sys::Platform;
use hip_sys::hip::{hipDeviceAttribute_t, hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t};
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// The platforms that [`open`] accepts.
pub const PLATFORMS: &[&str] = &["host", "amd", "nvidia"];

/// A case that takes longer counts as hanging. The slowest takes seconds on an emulated device.
pub(crate) const DEADLINE: Duration = Duration::from_secs(600);

/// The suite on one platform.
#[derive(Debug)]
pub struct Suite {
    shared: Arc<Shared>,
    name: String,
    differences: Vec<Difference>,
}

/// Shared by all cases of a suite.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) platform: Arc<Platform>,
    devices: Vec<Device>,
    codes: Mutex<HashMap<(String, &'static str), Compiled>>,
}

/// Code for an architecture, or why it could not be compiled.
type Compiled = Result<Arc<Vec<u8>>, Failure>;

/// A device of the platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its ordinal.
    pub ordinal: i32,
    /// Its name for compilers, such as `gfx90a`.
    pub arch: String,
    /// Wave size.
    pub wave: u32,
}

/// A case on a device.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    /// The case.
    pub case: &'static Case,
    /// The ordinal of the device.
    pub device: i32,
}

/// The result of a job, compared with the known differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As expected.
    Passed,
    /// Not as expected, and not a known difference.
    Failed(String),
    /// Not as expected, as listed in `differences.toml`.
    Known {
        /// What was observed.
        seen: String,
        /// The cause.
        reason: String,
    },
    /// It could not be checked here.
    Skipped(String),
    /// Listed as different, but as expected: the entry must be removed.
    Stale(String),
}

/// Opens a platform of [`PLATFORMS`] by name.
///
/// # Errors
/// Why it cannot be opened, or that there is no platform with this name.
pub fn open(platform: &str) -> Result<Arc<Platform>, String> {
    match platform {
        #[cfg(feature = "host")]
        "host" => Ok(hip_host::platform()),
        #[cfg(feature = "nvidia")]
        "nvidia" => hip_nvidia::platform().map_err(|missing| missing.to_string()),
        "amd" => Platform::load_amd().map(Arc::new).map_err(|missing| missing.to_string()),
        other => {
            let known = PLATFORMS.join(", ");
            Err(format!(
                "no platform is called {other:?} here; there are: {known}. A program that opens one of its own calls \
                 conformance::child_with first of all"
            ))
        }
    }
}

impl Suite {
    /// The suite on a platform of [`PLATFORMS`], with the differences listed under that name or another one.
    ///
    /// # Errors
    /// Why the platform cannot be opened, or what is wrong with the list of differences.
    pub fn new(platform: &str, differences: Option<&str>) -> Result<Self, String> {
        Self::on(open(platform)?, platform, differences.unwrap_or(platform))
    }

    /// The suite on a platform that the caller opened. The name is for messages; `differences` names a list
    /// of differences. Cases in a process of their own start this program again, which has to open the
    /// platform with that name there: see [`child_with`](crate::child_with).
    ///
    /// # Errors
    /// The platform has no device, or the list of differences is invalid.
    pub fn on(platform: Arc<Platform>, name: &str, differences: &str) -> Result<Self, String> {
        let devices = devices(&platform)?;
        let shared = Arc::new(Shared { platform, devices, codes: Mutex::default() });
        let differences = differences::of(differences, name)?;
        Ok(Self { shared, name: name.to_owned(), differences })
    }

    /// The name that the platform was opened with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The platform.
    pub fn platform(&self) -> &Platform {
        &self.shared.platform
    }

    /// Its devices.
    pub fn devices(&self) -> &[Device] {
        &self.shared.devices
    }

    /// The cases selected by a name or pattern, on one device or on all.
    ///
    /// # Errors
    /// No case is selected, or there is no such device.
    pub fn jobs(&self, filter: Option<&str>, device: Option<i32>) -> Result<Vec<Job>, String> {
        let devices: Vec<i32> = self.devices().iter().map(|found| found.ordinal).collect();
        if let Some(device) = device.filter(|device| !devices.contains(device)) {
            return Err(format!("platform {} has no device {device}; it has {devices:?}", self.name));
        }
        let mut jobs = Vec::new();
        for group in GROUPS {
            let wanted = match (device, group.scope) {
                (Some(device), _) => vec![device],
                (None, Scope::Device) => devices.clone(),
                (None, Scope::Process) => vec![devices[0]],
            };
            let chosen = group.cases().filter(|case| filter.is_none_or(|f| filter::selects(f, case.name)));
            jobs.extend(chosen.flat_map(|case| wanted.iter().map(move |&device| Job { case, device })));
        }
        match filter {
            Some(filter) if jobs.is_empty() => Err(format!(
                "no case is called {filter:?}; --list shows the names, and * stands for any text"
            )),
            _ => Ok(jobs),
        }
    }

    /// Runs a case and compares the outcome with the known differences.
    pub fn run(&self, job: &Job) -> Verdict {
        let outcome = if job.case.isolated { isolate::run(&self.name, job) } else { self.run_here(job) };
        let arch = self.arch(job.device);
        let known = self.differences.iter().find(|known| known.covers(job.case.name, arch));
        match (outcome, known) {
            (Ok(()), None) => Verdict::Passed,
            (Ok(()), Some(known)) => Verdict::Stale(known.reason.clone()),
            (Err(Failure::Skipped(why)), _) => Verdict::Skipped(why),
            (Err(Failure::Wrong(seen)), Some(known)) if seen.contains(&known.seen) => {
                Verdict::Known { seen, reason: known.reason.clone() }
            }
            (Err(Failure::Wrong(seen)), Some(known)) => {
                Verdict::Failed(format!("{seen}; known is another difference: {:?}", known.seen))
            }
            (Err(Failure::Wrong(seen)), None) => Verdict::Failed(seen),
        }
    }

    /// Runs a case in this process, on a new thread, so that thread-local state has its defaults.
    pub(crate) fn run_here(&self, job: &Job) -> Result<(), Failure> {
        let (sender, receiver) = mpsc::channel();
        let (shared, job, wave) = (Arc::clone(&self.shared), *job, self.wave(job.device));
        let name = job.case.name.to_owned();
        let body = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| on_bench(shared, &job, wave)));
            let outcome = outcome.unwrap_or_else(|_| Err(Failure::Wrong("the case panicked".into())));
            // The receiver is gone if the deadline has passed.
            let _ = sender.send(outcome);
        };
        if let Err(error) = std::thread::Builder::new().name(name).spawn(body) {
            return Err(Failure::Wrong(format!("no thread to run the case on: {error}")));
        }
        receiver
            .recv_timeout(DEADLINE)
            .unwrap_or_else(|_| Err(Failure::Wrong(format!("still running after {} s", DEADLINE.as_secs()))))
    }

    fn arch(&self, device: i32) -> &str {
        self.devices().iter().find(|found| found.ordinal == device).map_or("", |found| &found.arch)
    }

    fn wave(&self, device: i32) -> u32 {
        self.devices().iter().find(|found| found.ordinal == device).map_or(0, |found| found.wave)
    }
}

/// Runs a case and checks that it leaves the devices usable.
fn on_bench(shared: Arc<Shared>, job: &Job, wave: u32) -> Result<(), Failure> {
    let bench = Bench::new(Arc::clone(&shared), job.device, wave);
    bench.set_device(job.device)?;
    (job.case.run)(&bench)?;
    drop(bench);
    // An isolated case may leave its device broken, since its process ends.
    if job.case.isolated {
        return Ok(());
    }
    for device in &shared.devices {
        let after = Bench::new(Arc::clone(&shared), device.ordinal, device.wave);
        after.set_device(device.ordinal)?;
        after.sync()?;
    }
    Ok(())
}

impl Shared {
    /// The code of `kernels/NAME.hip` for a device; compiled once, and a failure is cached.
    pub(crate) fn code(&self, device: i32, name: &'static str) -> Compiled {
        let arch = &self.devices.iter().find(|found| found.ordinal == device).expect("a known device").arch;
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = || compile::compile(&self.platform, name, arch).map(Arc::new);
        codes.entry((arch.clone(), name)).or_insert_with(compiled).clone()
    }
}

/// The devices of a platform.
fn devices(platform: &Platform) -> Result<Vec<Device>, String> {
    let hip = platform.hip();
    let mut count = 0;
    // SAFETY: S1: the output pointer is live.
    check(unsafe { (hip.hipGetDeviceCount)(&mut count) }, "hipGetDeviceCount")?;
    (0..count)
        .map(|ordinal| {
            let (mut wave, warp) = (0, hipDeviceAttribute_t::hipDeviceAttributeWarpSize);
            // SAFETY: S1: the output pointer is live.
            check(unsafe { (hip.hipDeviceGetAttribute)(&mut wave, warp, ordinal) }, "hipDeviceGetAttribute")?;
            Ok(Device { ordinal, arch: arch(platform, ordinal)?, wave: wave.unsigned_abs() })
        })
        .collect::<Result<Vec<_>, String>>()
        .and_then(|devices| if devices.is_empty() { Err("there is no device".into()) } else { Ok(devices) })
}

/// The architecture name of a device. The properties have two layouts, and old libraries have only the first.
fn arch(platform: &Platform, ordinal: i32) -> Result<String, String> {
    let name: [c_char; 256] = match platform.hip().hipGetDevicePropertiesR0600.get() {
        Ok(function) => {
            let mut properties = hipDeviceProp_tR0600::default();
            // SAFETY: S1: the output pointer is live.
            check(unsafe { function(&mut properties, ordinal) }, "hipGetDeviceProperties")?;
            properties.gcnArchName
        }
        Err(_) => {
            let mut properties = hipDeviceProp_tR0000::default();
            // SAFETY: S1: the output pointer is live.
            let status = unsafe { (platform.hip().hipGetDevicePropertiesR0000)(&mut properties, ordinal) };
            check(status, "hipGetDeviceProperties")?;
            properties.gcnArchName
        }
    };
    let bytes = name.map(|c| c as u8);
    Ok(CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned())
}

fn check(status: hipError_t, call: &str) -> Result<(), String> {
    if status == hipError_t::hipSuccess { Ok(()) } else { Err(format!("{call} answered error {}", status.0)) }
}
