//! Where the cache of a process is, by its environment.

use super::CodeCache;
use std::ffi::OsString;
use std::path::PathBuf;

/// The folder, by the variables that `get` gives.
pub(super) fn folder(get: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, &'static str> {
    let set = |name: &str| get(name).filter(|value| !value.is_empty());
    if let Some(named) = set("HIPSTACK_CACHE") {
        return if named == "off" { Err("HIPSTACK_CACHE is off") } else { Ok(named.into()) };
    }
    // A relative path in there is to be ignored, by the specification of that variable.
    let base = set("XDG_CACHE_HOME").map(PathBuf::from).filter(|base| base.is_absolute());
    let base = base.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
    base.map(|base| base.join("hipstack")).ok_or("neither HIPSTACK_CACHE nor XDG_CACHE_HOME nor HOME is set")
}

pub(super) fn from_environment() -> CodeCache {
    let Ok(folder) = CodeCache::default_folder() else { return CodeCache::in_memory() };
    let Some(text) = std::env::var_os("HIPSTACK_CACHE_MB") else {
        return CodeCache::at(folder, CodeCache::DEFAULT_LIMIT);
    };
    let limit = text.to_str().and_then(|text| text.trim().parse::<u64>().ok());
    let cache =
        CodeCache::at(folder, limit.map_or(CodeCache::DEFAULT_LIMIT, |mb| mb.saturating_mul(1 << 20)));
    if let (None, Some(store)) = (limit, &cache.store) {
        store.note(format!("HIPSTACK_CACHE_MB={} is no number: 1024 is used", text.display()));
    }
    cache
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
