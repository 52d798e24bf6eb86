//! What the GPUs of this machine measure, on one screen. It needs no HIP and no CUDA, and changes nothing.
//!
//! `cargo run -p examples --bin 09_sensors`

use amd_smi_safe::{ClockKind, Gpu, Overview};

fn main() -> amd_smi_safe::Result<()> {
    for found in amd_smi_safe::find() {
        match found.library {
            Ok(library) => println!("{}: {library}, {} GPU(s)", found.vendor, found.gpus.len()),
            Err(missing) => println!("{}: {missing}", found.vendor),
        }
        for gpu in found.gpus {
            show(&*gpu)?;
        }
    }
    Ok(())
}

fn show(gpu: &dyn Gpu) -> amd_smi_safe::Result<()> {
    let overview = Overview::of(gpu)?;
    println!("  {overview}");
    for (name, kind) in [("compute units", ClockKind::Gfx), ("memory", ClockKind::Memory)] {
        match gpu.clock(kind) {
            Ok(clock) => {
                println!("    {name}: {:?} of {:?} MHz", clock.current_megahertz, clock.max_megahertz)
            }
            Err(why) if why.is_absence() => {}
            Err(why) => println!("    {why}"),
        }
    }
    // What a GPU does not have is an error of its own kind, and no reason to stop.
    if let Ok(errors) = gpu.ecc_errors() {
        println!("    memory errors: {} corrected, {} not", errors.correctable, errors.uncorrectable);
    }
    if let Ok(link) = gpu.pcie() {
        println!("    PCIe: {:?} of {:?} lanes", link.lanes, link.max_lanes);
    }
    for process in gpu.processes().unwrap_or_default() {
        println!(
            "    {} {}: {:?} bytes",
            process.pid,
            process.name.unwrap_or_default(),
            process.memory_bytes
        );
    }
    for failure in overview.failures {
        println!("    not read: {failure}");
    }
    Ok(())
}
