//! The resources of many kernels as a table, a summary and JSON.

use crate::build_kernels::exceptions::Exceptions;
use crate::table::Table;
use kernel_resources::KernelResources;
use serde::Serialize;
use std::collections::BTreeMap;

/// With fewer waves per SIMD than this, little of the memory latency is hidden.
const FEW_WAVES: u64 = 4;

/// A kernel on an architecture.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) platform: String,
    pub(super) arch: String,
    pub(super) family: String,
    #[serde(flatten)]
    pub(super) resources: KernelResources,
}

impl Row {
    /// Sort key, worst first: few waves, then many registers.
    fn rank(&self) -> (u64, u64, u64) {
        let kernel = &self.resources;
        let registers = kernel.vector_registers;
        (kernel.waves_per_simd, u64::MAX - registers, u64::MAX - kernel.scalar_registers.unwrap_or(0))
    }
}

/// Every kernel, by architecture, worst first.
pub(super) fn table(rows: &[Row]) -> Table {
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|row| (&row.platform, &row.arch, row.rank(), &row.resources.kernel));
    of(sorted)
}

fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Table {
    let mut table = Table::new(&[
        "arch", "kernel", "VGPR", "AGPR", "SGPR", "LDS", "scratch", "spills", "wave", "waves", "limit",
        "16-byte",
    ]);
    for row in rows {
        let kernel = &row.resources;
        let loops = kernel.loops.as_ref();
        table.row(&[
            row.arch.clone(),
            kernel.kernel.clone(),
            kernel.vector_registers.to_string(),
            kernel.accumulation_registers.to_string(),
            kernel.scalar_registers.map_or("-".into(), |n| n.to_string()),
            kernel.shared_bytes.to_string(),
            kernel.scratch_bytes.to_string(),
            format!("{}+{}", kernel.vector_spills, kernel.scalar_spills),
            kernel.wave_size.to_string(),
            kernel.waves_per_simd.to_string(),
            kernel.limit.clone(),
            loops.map_or("-".into(), |loops| format!("{}/{}", loops.wide_loads, loops.wide_stores)),
        ]);
    }
    table
}

/// A remark, and the kernels that it applies to.
type Remark<'a> = (&'static str, &'a dyn Fn(&Row) -> bool);

/// The kernels to look at first.
pub(super) fn summary(rows: &[Row]) -> String {
    let mut text = format!(
        "The kernel with the fewest waves and most registers, by architecture and family\n{}",
        worst(rows)
    );
    let lists: [Remark<'_>; 3] = [
        ("use scratch or spill vector registers", &|row| row.resources.takes_memory()),
        ("spill scalar registers into lanes of vector registers", &|row| row.resources.scalar_spills > 0),
        ("have fewer than 4 waves a SIMD", &|row| row.resources.waves_per_simd < FEW_WAVES),
    ];
    for (what, wanted) in lists {
        let found: Vec<&Row> = rows.iter().filter(|row| wanted(row)).collect();
        text += &format!("\n{} of {} kernels {what}\n", found.len(), rows.len());
        text += &by_kernel(&found);
    }
    let unknown = rows.iter().filter(|row| row.resources.loops.is_none()).count();
    if unknown > 0 {
        text += &format!("\nof {unknown} kernels the loops are not known: there was no disassembler\n");
    }
    text
}

fn worst(rows: &[Row]) -> Table {
    let mut groups = BTreeMap::<(&str, &str, &str), &Row>::new();
    for row in rows {
        let worst = groups.entry((&row.platform, &row.arch, &row.family)).or_insert(row);
        if row.rank() < worst.rank() {
            *worst = row;
        }
    }
    of(groups.into_values())
}

/// One line per group of kernels that have the same architectures, with dtypes merged.
fn by_kernel(rows: &[&Row]) -> String {
    let mut archs = BTreeMap::<&str, Vec<&str>>::new();
    for row in rows {
        archs.entry(&row.resources.kernel).or_default().push(&row.arch);
    }
    let mut kernels = BTreeMap::<Vec<&str>, Vec<&str>>::new();
    for (kernel, archs) in archs {
        kernels.entry(archs).or_default().push(kernel);
    }
    kernels
        .into_iter()
        .map(|(archs, kernels)| format!("  {}: {}\n", archs.join(" "), kernels.join(" ")))
        .collect()
}

/// Everything as JSON.
pub(super) fn json(rows: &[Row]) -> Result<String, String> {
    let exceptions = Exceptions::load()?;
    let names = |wanted: &dyn Fn(&Row) -> bool| -> Vec<String> {
        let name = |row: &Row| format!("{} {}", row.arch, row.resources.kernel);
        rows.iter().filter(|row| wanted(row)).map(name).collect()
    };
    let value = serde_json::json!({
        "kernels": rows,
        "summary": {
            "scratch_or_spills": names(&|row| row.resources.takes_memory()),
            "denied": names(&|row| exceptions.denied(&row.platform, &row.arch, &row.resources).is_some()),
            "fewer_than_4_waves": names(&|row| row.resources.waves_per_simd < FEW_WAVES),
        },
    });
    serde_json::to_string_pretty(&value).map_err(|e| format!("resources: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel_resources::Loops;

    fn row(arch: &str, family: &str, kernel: &str, waves: u64, wide: (u64, u64)) -> Row {
        let (wide_loads, wide_stores) = wide;
        Row {
            platform: "amd".into(),
            arch: arch.into(),
            family: family.into(),
            resources: KernelResources {
                kernel: kernel.into(),
                vector_registers: 512 / waves,
                accumulation_registers: 0,
                scalar_registers: Some(30),
                shared_bytes: 0,
                scratch_bytes: 0,
                vector_spills: 0,
                scalar_spills: 0,
                wave_size: 64,
                waves_per_simd: waves,
                limit: "vector registers".into(),
                loops: Some(Loops {
                    count: 1,
                    wide_loads,
                    wide_stores,
                    innermost_wide_loads: wide_loads,
                    innermost_wide_stores: wide_stores,
                }),
            },
        }
    }

    fn rows() -> Vec<Row> {
        vec![
            row("gfx90a", "elementwise", "elementwise_fill_f32", 8, (0, 1)),
            row("gfx90a", "elementwise", "elementwise_neg_f32", 8, (1, 1)),
            row("gfx90a", "elementwise", "elementwise_cast_f32_f64", 8, (0, 1)),
            row("gfx90a", "elementwise", "elementwise_abs_f32", 8, (0, 1)),
            row("gfx90a", "matmul", "matmul_f32", 3, (0, 0)),
            row("gfx906", "matmul", "matmul_f32", 3, (0, 0)),
        ]
    }

    #[test]
    fn the_worst_stands_first_and_the_summary_names_it() {
        let text = table(&rows()).to_string();
        let second = text.lines().nth(1).expect("a row");
        assert!(second.starts_with("gfx906") && second.contains("170"), "{text}");
        let summary = summary(&rows());
        assert!(
            summary.contains("2 of 6 kernels have fewer than 4 waves a SIMD\n  gfx90a gfx906: matmul_f32\n"),
            "{summary}"
        );
        assert!(summary.contains("0 of 6 kernels use scratch"), "{summary}");
    }

    #[test]
    fn json_has_every_kernel_and_the_lists() {
        let value: serde_json::Value =
            serde_json::from_str(&json(&rows()).expect("it is plain")).expect("just written");
        assert_eq!(value["kernels"].as_array().map(Vec::len), Some(6));
        assert_eq!(value["kernels"][4]["waves_per_simd"], 3);
        assert_eq!(value["kernels"][1]["loops"]["wide_loads"], 1);
        assert_eq!(
            value["summary"]["fewer_than_4_waves"],
            serde_json::json!(["gfx90a matmul_f32", "gfx906 matmul_f32"])
        );
        assert_eq!(value["summary"]["denied"], serde_json::json!([]));
    }
}
