//! `cargo xtask bench --instructions`: how many instructions each kernel executes for each element, counted on an emulated device; and
//! `cargo xtask bench --plot`: figures of a GPU, drawn.
//!
//! A count does not depend on the machine: the same code object executes the same instructions everywhere. What else runs faster or
//! slower on a chip it does not say.

mod cases;
mod child;
mod counts;
mod figures;
mod plot;

use crate::workspace;
use cases::Measured;
use child::{Count, Counted};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Options of `cargo xtask bench`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask bench --instructions                                   every counted kernel on gfx1100
  cargo xtask bench --instructions --arch gfx1100,gfx90a --family matmul
  cargo xtask bench --instructions --out benches/instructions        write a file for each architecture
  cargo xtask bench --instructions --compare benches/instructions    show what changed since those were written
  cargo xtask bench --plot                                           draw benches/h200 for docs/BENCHMARKING.md

Counting needs a libamdhip64 whose devices are emulated and that prints the instructions of a launch when AMDEMU_STATS is set: name its folder in
LD_LIBRARY_PATH, and set what else it needs (docs/BENCHMARKING.md). Code objects come from HIPSTACK_KERNELS, else target/kernels;
`cargo xtask build-kernels --platform amd --arch ARCH` makes them.

Counted are the families elementwise, reduce, matmul, index, scan, rope, select, stat, pool, softmax, norm and transpose.
An element is one of the operation's first input, or of its result if it has none; of matmul it is a multiply-add.
--plot reads benches/h200/*.json, which benches/h200/run.sh writes, and writes docs/figures/h200-*.svg, for light and dark pages, and
the part of docs/BENCHMARKING.md between its marks: the drawings, the rows that missed their target with the reasons that
benches/h200/reasons.tsv has, candle's CUDA backend beside ours (benches/h200/candle.tsv), and all rows.

Exit code: 0, or 1 if something could not be counted or, with --compare, a kernel executes over a twentieth more than before; with
--plot, if a row missed its target and has no reason.")]
pub struct BenchArgs {
    /// Count instructions; for times on this machine, `cargo bench -p benches`
    #[arg(long, required_unless_present = "plot")]
    instructions: bool,
    /// Draw what was measured on an H200, and write the tables
    #[arg(long, conflicts_with_all = ["instructions", "family", "json", "out", "compare", "child"])]
    plot: bool,
    /// Architectures
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "gfx1100")]
    arch: Vec<String>,
    /// Only this family of kernels, such as softmax
    #[arg(long, value_name = "NAME")]
    family: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the figures to ARCH.tsv in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compare with ARCH.tsv in this folder
    #[arg(long, value_name = "DIR")]
    compare: Option<PathBuf>,
    /// Run the cases of these kernels: for the process that the command starts
    #[arg(long, value_name = "KERNELS", value_delimiter = ',', hide = true)]
    child: Vec<String>,
}

/// Runs the command; the error is the text to show.
pub fn run(args: &BenchArgs) -> Result<(), String> {
    if !args.child.is_empty() {
        return child::run_cases(&args.child);
    }
    if args.plot {
        return plot::run(&workspace::root()?);
    }
    let objects = match workspace::env("HIPSTACK_KERNELS") {
        Some(folder) => folder,
        None => workspace::root()?.join("target/kernels"),
    };
    let (measured, uncovered) = chosen(args.family.as_deref())?;
    let mut all: Vec<(String, Counted)> = Vec::new();
    for arch in &args.arch {
        all.push((arch.clone(), count(arch, &measured, &objects)?));
    }
    match args.json {
        true => println!("{}", as_json(&all, &uncovered)),
        false => all.iter().for_each(|(arch, counted)| print(arch, counted, &uncovered)),
    }
    let mut grown = Vec::new();
    for (arch, Counted { counts, .. }) in &all {
        if let Some(folder) = &args.compare {
            let (text, has_grown) =
                figures::compare(counts, &figures::from_tsv(&folder.join(figures::file_name(arch)))?);
            eprintln!("{arch} beside {}:\n{text}", folder.display());
            grown.extend(has_grown.then_some(arch.as_str()));
        }
        if let Some(folder) = &args.out {
            std::fs::create_dir_all(folder)
                .map_err(|e| format!("bench: cannot make {}: {e}", folder.display()))?;
            let text = figures::to_tsv(arch, &compiler(&objects, arch), counts);
            workspace::write_whole(&folder.join(figures::file_name(arch)), text.as_bytes())?;
        }
    }
    match grown.as_slice() {
        [] => Ok(()),
        archs => Err(format!("bench: kernels execute more than before on {}", archs.join(", "))),
    }
}

/// Operations with fewer bytes say what a launch costs.
const LEAST_BYTES: u64 = 1 << 16;

/// The lane instructions of each kernel for a byte that its operation reads or writes, from the text of a file that `--out` wrote; none of
/// operations with fewer than [`LEAST_BYTES`].
pub(crate) fn instructions_per_byte(text: &str) -> Result<Vec<(String, f64)>, String> {
    let counts = figures::parse(text)?;
    let large = counts.into_iter().filter(|count| count.bytes >= LEAST_BYTES);
    Ok(large.map(|count| (count.kernel.clone(), count.per_byte())).collect())
}

/// The kernels of a family, or all, and those of them that no case launches.
fn chosen(family: Option<&str>) -> Result<(Vec<Measured>, Vec<String>), String> {
    let names: Vec<&str> = kernels_hip::families().iter().map(|family| family.name).collect();
    if let Some(unknown) = family.filter(|family| !names.contains(family)) {
        return Err(format!("bench: there is no family {unknown:?}; there are {}", names.join(", ")));
    }
    let units = || kernels_hip::units().filter(|unit| family.is_none_or(|family| unit.family.name == family));
    let uncovered = units().flat_map(|unit| cases::uncovered(&unit)).collect();
    Ok((units().flat_map(|unit| cases::of_unit(&unit)).collect(), uncovered))
}

fn count(arch: &str, measured: &[Measured], objects: &Path) -> Result<Counted, String> {
    let folder = objects.join("amd").join(arch);
    if !folder.is_dir() {
        return Err(format!(
            "bench: no code objects in {}; make them with: cargo xtask build-kernels --platform amd --arch {arch}",
            folder.display()
        ));
    }
    let template = "{prefix} {bar:30} {pos}/{len} kernels, {elapsed} gone, {eta} to go: {msg}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    let bar = ProgressBar::new(measured.len() as u64).with_style(style).with_prefix(arch.to_string());
    let counts = child::count(arch, measured, objects, &mut |kernel| {
        bar.set_message(kernel.to_string());
        bar.inc(1);
    });
    bar.finish_and_clear();
    counts
}

/// The compiler that made an architecture's code objects, by their manifest.
fn compiler(objects: &Path, arch: &str) -> String {
    let text =
        std::fs::read_to_string(objects.join("amd").join(arch).join("manifest.json")).unwrap_or_default();
    let manifest: Option<Value> = serde_json::from_str(&text).ok();
    let version =
        manifest.as_ref().and_then(|manifest| manifest.get("compiler_version")).and_then(Value::as_str);
    version.unwrap_or("unknown").to_string()
}

fn print(arch: &str, Counted { counts, refused }: &Counted, uncovered: &[String]) {
    println!(
        "{arch}: lane instructions for each element of the first input, or of the result without one; of matmul, for each multiply-add\n"
    );
    print!("{}", figures::table(counts));
    let named = |kernels: &[String]| {
        if kernels.is_empty() { String::new() } else { format!(": {}", kernels.join(", ")) }
    };
    println!("{} kernels counted", counts.len());
    println!("{} that no case launches{}", uncovered.len(), named(uncovered));
    println!("{} that the device could not run{}\n", refused.len(), named(refused));
}

fn as_json(all: &[(String, Counted)], uncovered: &[String]) -> String {
    let kernel = |count: &Count| {
        json!({
            "kernel": count.kernel,
            "elements": count.elements,
            "bytes": count.bytes,
            "wave_instructions": count.wave,
            "lane_instructions": count.lane,
            "per_element": count.per_element(),
            "per_byte": count.per_byte(),
        })
    };
    let arch = |(arch, counted): &(String, Counted)| {
        let kernels: Vec<Value> = counted.counts.iter().map(kernel).collect();
        json!({ "arch": arch, "kernels": kernels, "refused": counted.refused })
    };
    let archs: Vec<Value> = all.iter().map(arch).collect();
    let all = json!({ "schema": "bench-instructions/1", "archs": archs, "not_counted": uncovered });
    serde_json::to_string_pretty(&all).expect("it has no maps with other keys than strings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_family_is_refused_and_all_are_chosen_without_one() {
        assert!(chosen(Some("fourier")).expect_err("there is none").contains("elementwise, reduce, matmul"));
        let (measured, uncovered) = chosen(None).expect("all");
        let kernels: usize = kernels_hip::units().map(|unit| unit.kernels().len()).sum();
        assert_eq!(measured.len() + uncovered.len(), kernels);
        assert_eq!(chosen(Some("matmul")).expect("it ships").0.len(), 5);
    }

    #[test]
    fn missing_code_objects_name_the_command() {
        let error = count("gfx1100", &[], Path::new("nowhere")).expect_err("there is no such folder");
        assert!(error.contains("build-kernels --platform amd --arch gfx1100"), "{error}");
    }
}
