//! `hipstack devices`: the GPUs of this machine, and what they measure.

use amd_smi_safe::{Found, Overview};
use serde_json::{Value, json};

use crate::shown;

/// Options of `hipstack devices`.
#[derive(clap::Args, Debug)]
pub(crate) struct DevicesArguments {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// The GPUs that one vendor's library found.
struct Vendor {
    name: &'static str,
    /// The library and its version, or why it is missing and what to do.
    library: Result<String, String>,
    /// Each GPU, or why it could not be read.
    gpus: Vec<Result<Overview, String>>,
}

pub(crate) fn run(arguments: &DevicesArguments) {
    let vendors: Vec<Vendor> = amd_smi_safe::find().into_iter().map(read).collect();
    if arguments.json {
        println!("{:#}", as_json(&vendors));
    } else {
        print!("{}", as_text(&vendors));
    }
}

fn read(found: Found) -> Vendor {
    Vendor {
        name: found.vendor,
        gpus: found.gpus.iter().map(|gpu| Overview::of(&**gpu).map_err(|why| why.to_string())).collect(),
        library: found.library.map_err(|why| why.to_string()),
    }
}

/// What `--device` calls a GPU, if its vendor's library tells.
fn device(vendor: &str, gpu: &Overview) -> Option<String> {
    gpu.hip_ordinal.map(|ordinal| format!("{}:{ordinal}", vendor.to_lowercase()))
}

fn as_text(vendors: &[Vendor]) -> String {
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for vendor in vendors {
        match &vendor.library {
            Err(why) => notes.push(format!("{}: {why}", vendor.name)),
            Ok(library) if vendor.gpus.is_empty() => {
                notes.push(format!("{}: {library} finds no GPU", vendor.name))
            }
            Ok(_) => {}
        }
        for gpu in &vendor.gpus {
            match gpu {
                Ok(gpu) => {
                    rows.push(row(vendor.name, gpu));
                    notes.extend(gpu.failures.iter().map(|why| format!("{}: {why}", gpu.name)));
                }
                Err(why) => notes.push(format!("{}: {why}", vendor.name)),
            }
        }
    }
    let headings =
        ["name", "device", "bus", " °C", " W", " of W", " busy", " memory", " of", " processes", "driver"];
    let table = if rows.is_empty() { String::new() } else { shown::table(&headings, &rows) };
    table + notes.iter().map(|note| format!("{note}\n")).collect::<String>().as_str()
}

fn row(vendor: &str, gpu: &Overview) -> Vec<String> {
    fn cell<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "-".into(), |value| value.to_string())
    }
    vec![
        shown::name(&gpu.name),
        cell(device(vendor, gpu)),
        cell(gpu.bus_id),
        cell(gpu.temperature_celsius),
        cell(gpu.power_watts),
        cell(gpu.power_cap_watts),
        cell(gpu.busy_percent.map(|busy| format!("{busy} %"))),
        cell(gpu.memory.map(|memory| shown::bytes(memory.used_bytes))),
        cell(gpu.memory.map(|memory| shown::bytes(memory.total_bytes))),
        cell(gpu.processes),
        cell(gpu.driver.as_deref().map(shown::name)),
    ]
}

fn as_json(vendors: &[Vendor]) -> Value {
    let gpu = |vendor: &str, gpu: &Result<Overview, String>| match gpu {
        Err(why) => json!({ "error": why }),
        Ok(gpu) => json!({
            "name": gpu.name,
            "device": device(vendor, gpu),
            "bus_id": gpu.bus_id.map(|id| id.to_string()),
            "driver": gpu.driver,
            "temperature_celsius": gpu.temperature_celsius,
            "power_watts": gpu.power_watts,
            "power_cap_watts": gpu.power_cap_watts,
            "busy_percent": gpu.busy_percent,
            "memory_used_bytes": gpu.memory.map(|memory| memory.used_bytes),
            "memory_total_bytes": gpu.memory.map(|memory| memory.total_bytes),
            "processes": gpu.processes,
            "failures": gpu.failures,
        }),
    };
    let vendor = |vendor: &Vendor| {
        let gpus: Vec<Value> = vendor.gpus.iter().map(|found| gpu(vendor.name, found)).collect();
        json!({
            "vendor": vendor.name,
            "library": vendor.library.as_ref().ok(),
            "missing": vendor.library.as_ref().err(),
            "gpus": gpus,
        })
    };
    vendors.iter().map(vendor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vendors() -> Vec<Vendor> {
        vec![
            Vendor { name: "AMD", library: Ok("AMD SMI 27.1.0".into()), gpus: vec![Err("no name".into())] },
            Vendor { name: "NVIDIA", library: Err("no driver: install it".into()), gpus: Vec::new() },
        ]
    }

    #[test]
    fn what_is_missing_is_said_below_the_table() {
        assert_eq!(as_text(&vendors()), "AMD: no name\nNVIDIA: no driver: install it\n");
        let none = [Vendor { name: "AMD", library: Ok("AMD SMI 27.1.0".into()), gpus: Vec::new() }];
        assert_eq!(as_text(&none), "AMD: AMD SMI 27.1.0 finds no GPU\n");
    }

    #[test]
    fn json_has_every_vendor() {
        let json = as_json(&vendors());
        assert_eq!(json[0]["library"], "AMD SMI 27.1.0");
        assert_eq!(json[0]["gpus"][0]["error"], "no name");
        assert_eq!((&json[1]["library"], &json[1]["gpus"]), (&Value::Null, &json!([])));
        assert_eq!(json[1]["missing"], "no driver: install it");
    }
}
