//! Where what programs compiled is kept, by the environment.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder of code that was compiled while programs ran: `HIPSTACK_CACHE`, else `hipstack` in the user's cache folder.
///
/// # Errors
/// Why there is none: `HIPSTACK_CACHE` is `off`, or nothing says where it should be.
pub fn cache_folder() -> Result<PathBuf, &'static str> {
    folder(|name| std::env::var_os(name))
}

/// The folder, by the variables that `get` gives.
fn folder(get: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, &'static str> {
    let set = |name: &str| get(name).filter(|value| !value.is_empty());
    if let Some(named) = set("HIPSTACK_CACHE") {
        return if named == "off" { Err("HIPSTACK_CACHE is off") } else { Ok(named.into()) };
    }
    // A relative path in there is to be ignored, by the specification of that variable.
    let base = set("XDG_CACHE_HOME").map(PathBuf::from).filter(|base| base.is_absolute());
    let base = base.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
    base.map(|base| base.join("hipstack")).ok_or("neither HIPSTACK_CACHE nor XDG_CACHE_HOME nor HOME is set")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Result<PathBuf, &'static str> {
        folder(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_nearest_variable_names_the_folder() {
        let home = ("HOME", "/a");
        assert_eq!(found(&[home]), Ok("/a/.cache/hipstack".into()));
        assert_eq!(found(&[home, ("XDG_CACHE_HOME", "/var/c")]), Ok("/var/c/hipstack".into()));
        assert_eq!(found(&[home, ("XDG_CACHE_HOME", "c")]), Ok("/a/.cache/hipstack".into()));
        assert_eq!(found(&[home, ("HIPSTACK_CACHE", "/mine")]), Ok("/mine".into()));
        assert_eq!(found(&[home, ("HIPSTACK_CACHE", "off")]), Err("HIPSTACK_CACHE is off"));
        assert!(found(&[]).is_err());
    }
}
