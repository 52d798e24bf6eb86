//! The workspace's location, and helpers that every command needs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the workspace's `Cargo.toml`.
///
/// Searched upwards from the package that cargo runs, or from the current folder.
pub fn root() -> Result<PathBuf, String> {
    let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => std::env::current_dir().map_err(|e| format!("cannot tell the current folder: {e}"))?,
    };
    start
        .ancestors()
        .find(|dir| is_root(dir))
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("no Cargo.toml with a [workspace] in or above {}", start.display()))
}

fn is_root(dir: &Path) -> bool {
    std::fs::read_to_string(dir.join("Cargo.toml")).is_ok_and(|text| text.contains("[workspace]"))
}

/// A command for the cargo that runs this program, in the workspace's root.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// The executables in cargo's messages, by target name.
pub fn programs(messages: &str) -> BTreeMap<String, PathBuf> {
    let program = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let name = message.pointer("/target/name")?.as_str()?.to_owned();
        Some((name, PathBuf::from(message.get("executable")?.as_str()?)))
    };
    messages.lines().filter_map(program).collect()
}

/// The file `name` in a folder of `PATH`, if there is one.
pub fn in_path(name: &str) -> Option<PathBuf> {
    in_folders(name, &std::env::var_os("PATH")?)
}

fn in_folders(name: &str, path: &OsString) -> Option<PathBuf> {
    std::env::split_paths(path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// An environment variable that is set and not empty.
pub fn env(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The program that a variable names, by its path or by its name in `PATH`; `None` if the variable is not
/// set.
///
/// # Errors
/// The variable names no executable program.
pub fn env_program(name: &str) -> Result<Option<PathBuf>, String> {
    env(name).map(|value| program(name, value)).transpose()
}

fn program(variable: &str, value: PathBuf) -> Result<PathBuf, String> {
    let bare = value.components().count() == 1 && !value.is_file();
    let file = if bare { value.to_str().and_then(in_path) } else { Some(value.clone()) };
    let why = match file {
        Some(file) if is_executable(&file) => return Ok(file),
        Some(file) if file.is_file() => "a file that cannot be run",
        Some(_) => "no file",
        None => "no program in PATH",
    };
    Err(format!(
        "${variable} is {:?}, {why}: set it to the file of a compiler, or unset it",
        value.display().to_string()
    ))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The output (both streams) of a command, if it succeeds.
pub fn output_of(command: &mut Command) -> Option<String> {
    let out = command.output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
}

/// The standard output of a command.
///
/// # Errors
/// It cannot be started, or it fails; the error contains its standard error.
pub fn stdout_of(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().display().to_string();
    let out = command.output().map_err(|e| format!("cannot start {program}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{program} failed: {}", String::from_utf8_lossy(&out.stderr).trim_end()));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Writes a file under a temporary name, then renames it, so that a reader never sees a partial file.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(fail)?;
    }
    let temporary = temporary_name(path);
    std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path)).map_err(|e| {
        // The write has already failed; a leftover file only wastes space.
        let _ = std::fs::remove_file(&temporary);
        fail(e)
    })
}

/// Makes a file executable for everybody.
pub fn executable(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
        .map_err(|e| format!("cannot make {} executable: {e}", file.display()))
}

/// A name in the same folder that no other process uses.
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_this_crate() {
        assert!(root().expect("tests run inside the workspace").join("xtask/src/workspace.rs").is_file());
    }

    #[test]
    fn a_program_is_found_in_the_first_folder_that_has_it() {
        let here = root().expect("tests run inside the workspace");
        let path = std::env::join_paths([here.join("no such folder"), here.join("xtask")]).expect("no colon");
        assert_eq!(in_folders("Cargo.toml", &path), Some(here.join("xtask/Cargo.toml")));
        assert_eq!(in_folders("no such file", &path), None);
    }

    #[test]
    fn a_variable_that_names_no_program_is_an_error() {
        let here = root().expect("tests run inside the workspace");
        for (value, why) in [
            (here.join("no such file"), "no file"),
            (here.clone(), "no file"),
            (here.join("Cargo.toml"), "a file that cannot be run"),
            ("no-such-program".into(), "no program in PATH"),
        ] {
            let error = program("HIPCC", value).expect_err(why);
            assert!(error.starts_with("$HIPCC is") && error.contains(why), "{error}");
        }
        assert_eq!(program("CXX", here.join(".ci/run")), Ok(here.join(".ci/run")));
        assert!(program("CXX", "sh".into()).expect("every machine has it").is_absolute());
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let dir = std::env::temp_dir().join(format!("xtask-write-{}", std::process::id()));
        let file = dir.join("a/b.txt");
        write_whole(&file, b"text").expect("the temporary folder is writable");
        assert_eq!(std::fs::read(&file).expect("just written"), b"text");
        let error = write_whole(&file.join("below a file"), b"").expect_err("a file is no folder");
        assert!(error.contains("b.txt"), "{error}");
        assert_eq!(
            std::fs::read_dir(dir.join("a")).expect("made above").count(),
            1,
            "no temporary file stays"
        );
        std::fs::remove_dir_all(&dir).expect("ours");
    }

    #[test]
    fn programs_are_found_among_the_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"libc"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["test"],"name":"matmul"},"executable":"/t/deps/matmul-4f"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(programs(messages), [("matmul".to_owned(), PathBuf::from("/t/deps/matmul-4f"))].into());
    }
}
