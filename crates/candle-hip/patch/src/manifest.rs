//! What changes in a manifest: the dependency on tensor-core, and the features that choose its platforms.

use crate::file::{Edit, File};

/// The features, and the dependency of candle-core.
pub fn edit(file: &mut File, tensor_core: &str) -> Edit {
    file.after_line("[features]", FEATURES)?;
    file.append(&format!("\n[dependencies.tensor-core]\npackage = \"hipstack-tensor-core\"\n{tensor_core}\ndefault-features = false\n"));
    Ok(())
}

const FEATURES: &str = "\
hip-host = [\"tensor-core/host\"]
hip-nvidia = [\"tensor-core/nvidia\"]";

/// The version that a manifest gives, or that of the workspace it belongs to.
pub fn version<'a>(manifest: &'a str, workspace: Option<&'a str>) -> Option<&'a str> {
    let package = section(manifest, "[package]")?;
    match value(package, "version") {
        Some(version) => Some(version),
        None => value(section(workspace?, "[workspace.package]")?, "version"),
    }
}

fn section<'a>(manifest: &'a str, head: &str) -> Option<&'a str> {
    let start = manifest.find(&format!("{head}\n"))? + head.len();
    let rest = &manifest[start..];
    Some(&rest[..rest.find("\n[").unwrap_or(rest.len())])
}

fn value<'a>(section: &'a str, key: &str) -> Option<&'a str> {
    section.lines().find_map(|line| {
        let (found, value) = line.split_once('=')?;
        (found.trim() == key).then_some(value.trim())?.strip_prefix('"')?.strip_suffix('"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_packages_and_of_workspaces() {
        let published =
            "[package]\nname = \"a\"\nversion = \"0.11.1\"\n\n[dependencies.b]\nversion = \"2\"\n";
        assert_eq!(version(published, None), Some("0.11.1"));
        let member = "[package]\nname = \"a\"\nversion.workspace = true\n";
        let workspace = "[workspace]\nmembers = []\n\n[workspace.package]\nversion = \"0.11.1\"\n";
        assert_eq!(version(member, Some(workspace)), Some("0.11.1"));
        assert_eq!(version(member, None), None);
    }
}
