//! Checks that the results of a set are complete and consistent.

use super::copy::Copy;
use super::host_time;
use super::results::Figures;
use super::rows::{Group, Set};

/// The errors in the rows of a set, one per line: rows of these groups that do not occur exactly once with
/// PyTorch's time, and ratios and shares that do not match the times.
pub fn problems(set: Set, groups: &[Group], rows: &[Figures]) -> Vec<String> {
    let mut problems = Vec::new();
    for group in groups.iter().filter(|group| group.set == set) {
        let shape = group.shape();
        for op in &group.ops {
            let is = |row: &&Figures| {
                [row.op.as_str(), row.dtype.as_str(), row.shape.as_str()] == [*op, group.dtype.name(), &shape]
            };
            match rows.iter().filter(is).collect::<Vec<_>>()[..] {
                [row] if row.torch_us.is_none() => problems.push(format!("{}: no torch_us", group.label(op))),
                [_] => {}
                ref found => problems.push(format!("{}: {} rows", group.label(op), found.len())),
            }
        }
    }
    if set == Set::Host {
        let absent = host_time::NAMES.iter().filter(|name| !rows.iter().any(|row| row.op == **name));
        problems.extend(absent.map(|name| format!("{name}: 0 rows")));
    }
    let copy = rows.iter().find(|row| row.op == Copy::OP).and_then(|row| row.gbps);
    if copy.is_none() && matches!(set, Set::Memory | Set::Select) {
        problems.push(format!("{}: 0 rows with gbps", Copy::OP));
    }
    for row in rows {
        let mut wrong = |what: &str| problems.push(format!("{} {} {}: {what}", row.op, row.shape, row.dtype));
        if row.us <= 0.0 || row.torch_us.is_some_and(|us| us <= 0.0) {
            wrong("a time is not above 0");
        }
        if !follows(row.ratio, row.torch_us.map(|torch| torch / row.us)) {
            wrong("ratio is not torch_us / us");
        }
        if !follows(row.share, row.gbps.zip(copy).map(|(gbps, copy)| gbps / copy)) {
            wrong("share is not gbps by that of the copy");
        }
    }
    problems
}

/// Whether both are absent, or equal up to the decimals written.
fn follows(got: Option<f64>, wanted: Option<f64>) -> bool {
    match (got, wanted) {
        (Some(got), Some(wanted)) => (got - wanted).abs() <= 1e-3 * wanted.abs() + 1e-4,
        (got, wanted) => got.is_none() && wanted.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::from_json;
    use super::super::rows::groups;
    use super::*;
    use tensor_core::DType;

    /// A copy of 2^20 bytes, and another row.
    const FIXTURE: &str = r#"[
{"op":"copy_d2d","dtype":"u8","shape":"1048576","us":200.0,"torch_us":210.0,"ratio":1.05,"gbps":10485.8,"share":1.0},
{"op":"gather","dtype":"f16","shape":"16777216","us":80.0,"torch_us":100.0,"ratio":1.25,"gbps":2516.6,"share":0.24,"kernel_us":79.0}
]"#;

    fn found(text: &str) -> Vec<String> {
        let mut groups = groups(&[Set::Select], &[DType::F16], 1);
        groups.retain(|group| group.ops.contains(&"gather"));
        groups[0].ops.truncate(1);
        problems(Set::Select, &groups, &from_json(text).expect("an array of rows"))
    }

    #[test]
    fn whole_figures_have_no_problems() {
        assert_eq!(found(FIXTURE), [""; 0]);
    }

    #[test]
    fn missing_or_inconsistent_figures_are_named() {
        let row = "gather 16777216 f16";
        assert_eq!(found(&FIXTURE.replace("1.25", "0.8")), [format!("{row}: ratio is not torch_us / us")]);
        let share = found(&FIXTURE.replace("0.24,", "0.25,"));
        assert_eq!(share, [format!("{row}: share is not gbps by that of the copy")]);
        assert_eq!(found(&FIXTURE.replace("f16", "f32")), [format!("{row}: 0 rows")]);
        let alone = FIXTURE.replace("100.0,\"ratio\":1.25", "null,\"ratio\":null");
        assert_eq!(found(&alone), [format!("{row}: no torch_us")]);
        let without = FIXTURE.replace("copy_d2d", "copy");
        assert_eq!(found(&without)[0], "copy_d2d: 0 rows with gbps");
        let host = problems(Set::Host, &[], &[]);
        assert_eq!(host.len(), host_time::NAMES.len());
    }
}
