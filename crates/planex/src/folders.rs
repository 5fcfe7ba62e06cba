//! The platform's folders for configuration, data and cache.

use camino::Utf8PathBuf;
use planex_sys::env::Environment;

/// Where planex keeps what belongs to the user and not to a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// The home folder, if there is one.
    pub(crate) home: Option<Utf8PathBuf>,
    /// `…/planex` for configuration.
    pub(crate) config: Option<Utf8PathBuf>,
    /// `…/planex` for data (trust).
    pub(crate) data: Option<Utf8PathBuf>,
    /// `…/planex` for what may be deleted.
    pub(crate) cache: Option<Utf8PathBuf>,
}

impl Folders {
    /// From the environment; nothing is made.
    pub(crate) fn of(env: &Environment) -> Self {
        let home = env.non_empty("HOME").or_else(|| env.non_empty("USERPROFILE")).map(Utf8PathBuf::from);
        // The specification of these variables: a relative path is invalid, and ignored.
        let absolute = |name: &str| env.non_empty(name).map(Utf8PathBuf::from).filter(|path| path.is_absolute());
        let below = |path: &str| home.as_ref().map(|home| home.join(path));
        let (config, data, cache) = if cfg!(target_os = "macos") {
            let support = below("Library/Application Support");
            (support.clone(), support, below("Library/Caches"))
        } else if cfg!(windows) {
            (absolute("APPDATA"), absolute("LOCALAPPDATA"), absolute("LOCALAPPDATA"))
        } else {
            (below(".config"), below(".local/share"), below(".cache"))
        };
        let of = |variable: &str, default: Option<Utf8PathBuf>| {
            absolute(variable).or(default).map(|folder| folder.join("planex"))
        };
        Self {
            config: of("XDG_CONFIG_HOME", config),
            data: of("XDG_DATA_HOME", data),
            cache: of("XDG_CACHE_HOME", cache),
            home,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_move_folders_if_they_are_absolute() {
        let env: Environment =
            [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_CACHE_HOME", "relative")].into_iter().collect();
        let folders = Folders::of(&env);
        assert_eq!(folders.config.as_deref(), Some("/c/planex".into()));
        if cfg!(target_os = "linux") {
            assert_eq!(folders.cache.as_deref(), Some("/h/.cache/planex".into()));
            assert_eq!(folders.data.as_deref(), Some("/h/.local/share/planex".into()));
        }
        assert_eq!(Folders::of(&Environment::default()).config, None);
    }
}
