//! The cache of a process, configured by environment variables.

use super::CodeCache;

/// The cache of a process.
pub(super) fn cache() -> CodeCache {
    let Ok(folder) = hip_sys::cache_folder() else { return CodeCache::in_memory() };
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
