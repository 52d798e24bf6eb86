//! What is no finding, where findings are, and how they are printed.

use port_check::{Checker, Error, Report, Source};

const KERNEL: &str = "__global__ void f(int* x) { x[0] = __shfl_xor_sync(0xffffffff, x[0], 1); }";

fn check(text: &str) -> Report {
    Checker::new().check(&[Source::new("f.cu", text)])
}

fn lines(report: &Report) -> Vec<usize> {
    report.findings.iter().map(|finding| finding.line).collect()
}

#[test]
fn comments_and_strings_give_no_findings() {
    assert_eq!(lines(&check(KERNEL)), [1]);
    let inside = |before: &str, after: &str| check(&format!("{before}{KERNEL}{after}\n"));
    for report in [
        inside("// ", ""),
        inside("/*\n", "\n*/"),
        inside("auto s = \"", "\";"),
        inside("auto s = R\"(", ")\";"),
    ] {
        assert_eq!(report.findings, []);
    }
    assert_eq!(lines(&inside("// one line \\\n", "")), [] as [usize; 0], "a backslash continues the comment");
    assert_eq!(lines(&inside("/* */ ", "")), [1]);
}

#[test]
fn code_of_one_side_alone_gives_no_findings() {
    let guarded = |open: &str, other: &str| check(&format!("{open}\n{KERNEL}\n{other}\n#endif\n"));
    for open in [
        "#if 0",
        "#ifdef __HIP_PLATFORM_AMD__",
        "#ifndef USE_ROCM",
        "#if defined(__HIPCC__) && X",
        "#if !defined(MYLIB_USE_HIP)",
    ] {
        assert_eq!(lines(&guarded(open, "")), [] as [usize; 0], "{open}");
    }
    assert_eq!(lines(&guarded("#if 0\n#else", "")), [3]);
    assert_eq!(lines(&guarded("#if SOMETHING", "")), [2]);
    assert_eq!(lines(&guarded("#ifdef __HIPCC__\n#elif X", "#else\nint i;")), [] as [usize; 0]);
    // The condition is a finding, the code that HIP leaves out is none.
    let report = guarded("#if __CUDA_ARCH__ >= 800", "");
    assert_eq!((report.findings[0].rule, lines(&report)), ("cuda-macro", vec![1]));
}

#[test]
fn macros_of_the_caller_decide_conditions() {
    let source =
        [Source::new("f.cu", format!("#if __CUDA_ARCH__ >= 800 && defined(ON_MI300)\n{KERNEL}\n#endif\n"))];
    let found = |defines: &[&str]| {
        let defines: Vec<String> = defines.iter().map(ToString::to_string).collect();
        lines(&Checker::new().define(&defines).expect("they are well formed").check(&source))
    };
    assert_eq!(found(&[]), [1]);
    assert_eq!(found(&["__CUDA_ARCH__=900"]), [2]);
    assert_eq!(found(&["__CUDA_ARCH__=900", "ON_MI300"]), [] as [usize; 0], "only AMD's build has it");

    let ported = [Source::new("f.cu", format!("#ifndef USE_HIP\n{KERNEL}\n#endif\n"))];
    assert_eq!(lines(&Checker::new().check(&ported)), [] as [usize; 0]);
    assert_eq!(lines(&Checker::new().undefine(&["USE_HIP".to_string()]).check(&ported)), [2]);
}

#[test]
fn what_a_project_provides_for_amd_is_no_finding() {
    let kernel = Source::new("f.cu", format!("#include \"hip.h\"\n{KERNEL}\n"));
    let provided =
        "#ifdef USE_HIP\n#define __shfl_xor_sync(mask, value, lane) __shfl_xor(value, lane)\n#endif\n";
    assert_eq!(lines(&Checker::new().check(&[kernel.clone(), Source::new("hip.h", "")])), [2]);
    assert_eq!(
        lines(&Checker::new().check(&[kernel.clone(), Source::new("hip.h", provided)])),
        [] as [usize; 0]
    );

    let disabled = |open: &str| format!("{open}\n#define HIP_DISABLE_WARP_SYNC_BUILTINS 1\n#endif\n");
    let reason = |text: String| {
        Checker::new().check(&[kernel.clone(), Source::new("hip.h", text)]).findings[0].reason.clone()
    };
    assert!(
        reason(disabled("#ifdef USE_HIP")).starts_with("These sources define HIP_DISABLE_WARP_SYNC_BUILTINS")
    );
    assert!(reason(disabled("#ifndef USE_HIP")).starts_with("`__shfl_xor_sync` of HIP 7 takes"));
}

#[test]
fn positions_count_lines_and_characters_from_one() {
    let report = check(
        "\n\n  /* ä */ __global__ void f(int* x) {\n\tx[0] = __dp4a(1, 2, 3);\r\n\tx[1] = __dp4a(1, 2, 3); }",
    );
    let positions: Vec<_> = report.findings.iter().map(|finding| (finding.line, finding.column)).collect();
    assert_eq!(positions, [(4, 9), (5, 9)]);
    let macros = check("#define BAD(x) \\\n    __dp4a(x, 1, 2)\n");
    assert_eq!((macros.findings[0].line, macros.findings[0].column), (2, 5));
    assert_eq!(check("auto ä = 1; int y = __dp4a(1, 2, 3);").findings[0].column, 21);
}

#[test]
fn reports_group_by_file_and_count_by_rule() {
    let report = Checker::new().check(&[
        Source::new("a.cu", KERNEL),
        Source::new("b.cu", KERNEL),
        Source::new("c.cu", "int i;"),
    ]);
    let text = report.to_string();
    let first = "a.cu:1:36: breaks: sync-mask: `__shfl_xor_sync` of HIP 7 takes a mask of 64 bits alone";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains(".\n\nb.cu:1:36: "), "an empty line between files: {text}");
    assert!(
        text.ends_with("\n\n3 files: 2 findings, 2 break and 0 are to be checked\nby rule: sync-mask 2"),
        "{text}"
    );
    assert_eq!(check("int i;").to_string(), "1 file: nothing found");

    let json: serde_json::Value = serde_json::from_str(&report.to_json()).expect("it is JSON");
    assert_eq!(json["files"], 3);
    assert_eq!(json["summary"]["sync-mask"], 2);
    let finding = &json["findings"][1];
    assert_eq!(
        (finding["path"].as_str(), finding["line"].as_u64(), finding["column"].as_u64()),
        (Some("b.cu"), Some(1), Some(36))
    );
    assert_eq!((finding["rule"].as_str(), finding["severity"].as_str()), (Some("sync-mask"), Some("breaks")));
}

#[test]
fn folders_are_read_whole_and_errors_name_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("sub/.hidden")).expect("folders");
    std::fs::create_dir(path("none")).expect("a folder");
    for name in ["b.cu", "a.cuh", "sub/c.h", "sub/.hidden/d.cu", "none/notes.txt"] {
        std::fs::write(path(name), b"// \xff\n").expect("a file");
    }
    let names: Vec<_> = Source::read_all(&[folder.path()])
        .expect("it has sources")
        .into_iter()
        .map(|source| source.path)
        .collect();
    assert_eq!(names, [path("a.cuh"), path("b.cu"), path("sub/c.h")]);

    let missing = Source::read_all(&[path("gone.cu")]).expect_err("there is no such file");
    assert!(missing.to_string().contains("gone.cu") && matches!(missing, Error::Read { .. }), "{missing}");
    let empty = Source::read_all(&[path("none")]).expect_err("there is no source");
    assert!(empty.to_string().contains("none has no CUDA source"), "{empty}");
    let unknown = Checker::new().only(&["no-such-rule"]).expect_err("there is no such rule");
    assert_eq!(unknown.to_string(), "no rule is called \"no-such-rule\"; `--list` shows all rules");
}
