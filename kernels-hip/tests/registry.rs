//! kernels.toml, the compiled host kernels and the sources agree.

mod common;

use common::device::image;
use kernels_hip::{HEADERS, Unit, Waves, families, units};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The compiled host image of each unit with its wave size, or 0 for both. Compiles on all cores.
fn images() -> Vec<(Unit, u32, Vec<u8>)> {
    let waves = |unit: &Unit| if unit.family.waves == Waves::Both { vec![32, 64] } else { vec![0] };
    let wanted: Vec<_> =
        units().flat_map(|unit| waves(&unit).into_iter().map(move |wave| (unit, wave))).collect();
    let (wanted, done) = (Mutex::new(wanted.into_iter()), Mutex::new(Vec::new()));
    let next = || wanted.lock().expect("no thread panics").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((unit, wave)) = next() {
                    let image = image(&unit, if wave == 0 { 32 } else { wave });
                    done.lock().expect("no thread panics").push((unit, wave, image));
                }
            });
        }
    });
    done.into_inner().expect("no thread panics")
}

#[test]
fn every_kernel_listed_is_in_its_host_module_and_no_other_and_loops_where_it_has_no_barriers() {
    for (unit, wave, image) in images() {
        let name = unit.name();
        let listed: BTreeSet<String> = unit.kernels().into_iter().collect();
        assert_eq!(listed.len(), unit.kernels().len(), "{name} lists a name twice");
        let built = hip_host::kernels_of(&image, if wave == 0 { 32 } else { wave }).expect("it loads");
        assert_eq!(built.keys().cloned().collect::<BTreeSet<_>>(), listed, "{name} at wave size {wave}");
        assert!(built.values().all(|plain| *plain != unit.family.barriers), "{name}");
    }
}

#[test]
fn kernels_are_counted() {
    // scatter_add of small floats runs on f32.
    let counts = [
        ("matmul", 5),
        ("matvec", 3),
        ("index", 10 * 2 + 7),
        ("sort", 10 * 2),
        ("radix", 8 * 2),
        ("topk", 10),
        ("buckets", 10 * 2),
        ("scan", 10 * 8),
        ("rope", 5 * 3),
        // The joined and rounded form is f32 alone.
        ("attention", 5 * 4 + 1),
        ("attention_mma", 2 * 2),
        ("select", 10 * 8),
        ("stat", 5 * 4),
        ("conv", 5 * 2),
        ("conv_wide", 4 * 2),
        ("conv_split", 2),
        ("conv_mma", 2),
        ("pool", 5 * 5),
        ("softmax", 5 * 6),
        ("norm", 5 * 9 + 1),
        ("random", 5 * 3 + 5 + 10),
        ("transpose", 4),
        // Five kernels for each of 13 formats, the rounding of activations, and of f32 rows by ids and two gates that round.
        ("quant", 3 * (5 * 13 + 1) + 13 + 2),
        ("quant_mma", 2 * (13 + 1)),
    ];
    let count = |family: &str| -> usize {
        units().filter(|unit| unit.family.name == family).map(|unit| unit.kernels().len()).sum()
    };
    for (family, kernels) in counts {
        assert_eq!(count(family), kernels, "{family}");
    }
    // Their kernels are rows of src/operations.rs.
    let by_tables = ["elementwise", "reduce"];
    let counted: BTreeSet<&str> = counts.iter().map(|(family, _)| *family).chain(by_tables).collect();
    assert_eq!(counted, families().iter().map(|family| family.name).collect());
    assert_eq!(units().count(), 159);
    let names: Vec<String> = units().flat_map(|unit| unit.kernels()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "names are unique across units");
}

#[test]
fn a_family_is_marked_for_barriers_if_its_text_has_any() {
    for family in families() {
        // A barrier in a function that is not listed here would go unnoticed. The host has shuffles only where it has barriers.
        let barriers = [
            "shuffle_xor",
            "block_join",
            "__sync",
            "sync_wave",
            "rows.hpp",
            "conv_tiles.hpp",
            "conv_wide.hpp",
        ];
        let has = barriers.iter().any(|barrier| family.source.contains(barrier));
        assert_eq!(has, family.barriers, "{}", family.name);
    }
}

#[test]
fn a_family_is_marked_for_matrix_units_if_its_text_uses_them() {
    for family in families() {
        assert_eq!(family.source.contains("#include \"mma.hpp\""), family.matrix_units, "{}", family.name);
    }
}

#[test]
fn sources_include_nothing_but_the_headers() {
    for family in families() {
        let includes: Vec<&str> = family.source.lines().filter(|line| line.starts_with("#include")).collect();
        let headers: Vec<String> = HEADERS.iter().map(|(name, _)| format!("#include \"{name}\"")).collect();
        assert_eq!(includes.first(), Some(&"#include \"portable.hpp\""), "{}", family.file);
        assert!(includes.iter().all(|line| headers.iter().any(|header| header == line)), "{}", family.file);
    }
}
