//! Known differences between platforms and the cases' expectations: data with a reason.

use crate::cases::GROUPS;
use crate::filter;
use serde::Deserialize;

/// A known difference.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The list that it belongs to: a platform, or the name passed to `--differences`.
    pub platform: String,
    /// The architectures of the devices, with `*` and `?`; all if omitted.
    #[serde(default = "any")]
    pub arch: String,
    /// The cases, with `*` and `?`. Every one of them has to differ.
    pub case: String,
    /// An environment setting that it is limited to, such as `NAME=1`; everywhere if omitted.
    #[serde(default)]
    pub setting: Option<String>,
    /// A part of the failure message.
    pub seen: String,
    /// The cause.
    pub reason: String,
}

fn any() -> String {
    "*".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<Difference>,
}

impl Difference {
    /// Whether the environment has the setting.
    fn applies(&self) -> bool {
        self.setting.as_deref().is_none_or(|setting| {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            std::env::var(name).is_ok_and(|now| now == value)
        })
    }

    /// Whether it covers this case on a device with this architecture.
    pub(crate) fn covers(&self, case: &str, arch: &str) -> bool {
        filter::matches(&self.case, case) && filter::matches(&self.arch, arch)
    }
}

/// All known differences.
///
/// # Errors
/// The errors in the list.
pub fn known() -> Result<Vec<Difference>, String> {
    read(include_str!("../differences.toml"))
}

/// The differences of one list. A name without entries is an error, unless it is the platform's own.
pub(crate) fn of(list: &str, platform: &str) -> Result<Vec<Difference>, String> {
    let all = known()?;
    let chosen: Vec<Difference> = all.iter().filter(|known| known.platform == list).cloned().collect();
    if chosen.is_empty() && list != platform {
        let mut lists: Vec<&str> = all.iter().map(|known| known.platform.as_str()).collect();
        lists.dedup();
        return Err(format!("differences.toml has no list {list:?}; it has {lists:?}"));
    }
    Ok(chosen.into_iter().filter(Difference::applies).collect())
}

fn read(text: &str) -> Result<Vec<Difference>, String> {
    let file: File = toml::from_str(text).map_err(|error| format!("differences.toml: {error}"))?;
    for known in &file.difference {
        let mut cases = GROUPS.iter().flat_map(|group| group.cases());
        if !cases.any(|case| filter::matches(&known.case, case.name)) {
            return Err(format!("differences.toml: no case is called {:?}", known.case));
        }
        if known.reason.trim().is_empty() || known.seen.trim().is_empty() {
            return Err(format!("differences.toml: {:?} says not what is seen or why", known.case));
        }
        let same = |other: &&Difference| key(other) == key(known);
        if file.difference.iter().filter(same).count() > 1 {
            let Difference { platform, case, .. } = known;
            return Err(format!(
                "differences.toml: {case:?} of {platform:?} is there twice; only one is looked at"
            ));
        }
    }
    Ok(file.difference)
}

/// The fields that identify an entry.
fn key(known: &Difference) -> [&str; 3] {
    [&known.platform, &known.arch, &known.case]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"
        [[difference]]
        platform = "there"
        arch = "gfx9*"
        case = "memory/allocate/*"
        seen = "x"
        reason = "y"
    "#;

    #[test]
    fn an_entry_is_about_cases_and_devices() {
        let known = read(ENTRY).expect("a good list");
        assert!(known[0].covers("memory/allocate/null_output", "gfx90a"));
        assert!(!known[0].covers("memory/allocate/null_output", "gfx1100"));
        assert!(!known[0].covers("memory/copy/null_output", "gfx90a"));
    }

    #[test]
    fn an_entry_may_be_about_a_setting() {
        let with = |setting: &str| read(&format!("{ENTRY}setting = \"{setting}\"\n")).expect("a good list");
        let path = std::env::var("PATH").expect("tests have a PATH");
        assert!(with(&format!("PATH={path}"))[0].applies());
        assert!(!with("PATH=no such value")[0].applies());
        assert!(!with("NO_SUCH_VARIABLE=1")[0].applies());
        assert!(read(ENTRY).expect("a good list")[0].applies());
    }

    #[test]
    fn bad_lists_are_refused() {
        assert!(read(&ENTRY.replace("memory/allocate/*", "memory/none")).is_err());
        assert!(read(&ENTRY.replace("\"y\"", "\"\"")).is_err());
        assert!(read(&ENTRY.replace("reason", "because")).is_err());
        assert!(read(&format!("{ENTRY}{ENTRY}")).is_err());
        assert!(read(&format!("{ENTRY}{}", ENTRY.replace("gfx9*", "gfx11*"))).is_ok());
    }

    #[test]
    fn the_list_that_ships_is_good() {
        known().expect("differences.toml is good");
        assert!(of("no such list", "host").is_err());
        assert!(of("host", "host").is_ok());
    }
}
