//! What is looked for on GitHub, and how patiently.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::MineError;

/// The settings of the GitHub source. Those of every source are in [`crate::MineConfig`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GithubConfig {
    /// Where the REST API answers.
    pub api: String,
    /// What stands in front of `/owner/name.git`.
    pub git: String,
    /// The fewest forks (paper, section 4.1).
    pub min_forks: u64,
    /// The fewest stars (paper, section 4.1).
    pub min_stars: u64,
    /// The last moment of a repository's creation (RFC 3339); absent: when the search begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_until: Option<String>,
    /// SPDX ids of the licences that are taken; `any` takes all, and none.
    pub licences: Vec<String>,
    /// Owners whose repositories are left alone.
    pub opted_out: Vec<String>,
    /// Take so many of the repositories found, drawn by the seed; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// How often a request or a clone is tried before it counts as failed.
    pub attempts: usize,
    /// The pause before the second try, in milliseconds; it doubles from try to try.
    pub pause_ms: u64,
    /// Seconds that one request may take.
    pub timeout_s: u64,
    /// Seconds that one clone may take.
    pub clone_timeout_s: u64,
    /// Bytes that one clone may transfer.
    pub max_clone_bytes: u64,
    /// Seconds to wait after a secondary limit that names no time; they double from time to time.
    pub secondary_s: u64,
    /// Seconds to wait for a rate limit to end before the run gives up.
    pub max_wait_s: u64,
}

/// Permissive licences, by their SPDX ids.
const PERMISSIVE: [&str; 17] = [
    "0BSD",
    "AFL-3.0",
    "Apache-2.0",
    "Artistic-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD-3-Clause-Clear",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MulanPSL-2.0",
    "NCSA",
    "PostgreSQL",
    "Unlicense",
    "Zlib",
];

/// The word that stands for all licences.
const ANY: &str = "any";

impl Default for GithubConfig {
    fn default() -> Self {
        Self {
            api: "https://api.github.com".to_owned(),
            git: "https://github.com".to_owned(),
            min_forks: 30,
            min_stars: 10,
            created_until: None,
            licences: PERMISSIVE.map(str::to_owned).to_vec(),
            opted_out: Vec::new(),
            limit: None,
            attempts: 5,
            pause_ms: 1000,
            timeout_s: 60,
            clone_timeout_s: 600,
            max_clone_bytes: 512 << 20,
            // GitHub's documentation ("Best practices for using the REST API").
            secondary_s: 60,
            // An hour is the longest that GitHub's own limits last.
            max_wait_s: 3700,
        }
    }
}

impl GithubConfig {
    /// Refuses what can't be meant: unknown licences, addresses that aren't any, dates that are
    /// none.
    pub(crate) fn check(&self) -> Result<(), MineError> {
        let bad = |message: String| Err(MineError::Setting { message });
        for licence in &self.licences {
            if licence != ANY && spdx::license_id(licence).is_none() {
                return bad(format!(
                    "licences: {licence:?} is no SPDX id (https://spdx.org/licenses)"
                ));
            }
        }
        for (key, address) in [("api", &self.api), ("git", &self.git)] {
            let rest = address
                .strip_prefix("https://")
                .or_else(|| address.strip_prefix("http://"));
            if rest.is_none_or(|rest| rest.is_empty() || rest.contains(['@', ' '])) {
                return bad(format!("{key}: {address:?} is no http(s) address"));
            }
        }
        self.until().map(drop)
    }

    /// The last moment of creation as a Unix time, where one is set.
    pub(crate) fn until(&self) -> Result<Option<i64>, MineError> {
        let Some(text) = &self.created_until else {
            return Ok(None);
        };
        match DateTime::parse_from_rfc3339(text) {
            Ok(moment) => Ok(Some(moment.with_timezone(&Utc).timestamp())),
            Err(e) => Err(MineError::Setting {
                message: format!("created_until: {text:?} is no RFC 3339 time: {e}"),
            }),
        }
    }

    /// Whether a licence is on the list; none is only where all are.
    pub(crate) fn allows(&self, licence: Option<&str>) -> bool {
        self.licences.iter().any(|allowed| {
            allowed == ANY || licence.is_some_and(|l| l.eq_ignore_ascii_case(allowed))
        })
    }

    /// The pause after a number of failed tries.
    pub(crate) fn pause(&self, failed: usize) -> std::time::Duration {
        let doubled = self.pause_ms << failed.saturating_sub(1).min(6);
        std::time::Duration::from_millis(doubled.min(60_000))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_defaults_are_right_and_the_papers() {
        let config = GithubConfig::default();
        config.check().unwrap();
        assert_eq!((config.min_forks, config.min_stars), (30, 10));
        assert!(config.allows(Some("mit")) && !config.allows(Some("GPL-3.0")));
        assert!(!config.allows(None) && !config.allows(Some("NOASSERTION")));
    }

    #[test]
    fn what_cannot_be_meant_is_an_error_that_names_the_setting() {
        let wrong = |change: fn(&mut GithubConfig)| {
            let mut config = GithubConfig::default();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert!(wrong(|c| c.licences = vec!["MITT".into()]).contains("MITT"));
        assert!(wrong(|c| c.api = "ftp://x".into()).contains("api"));
        assert!(wrong(|c| c.git = "https://user@x".into()).contains("git"));
        assert!(wrong(|c| c.created_until = Some("yesterday".into())).contains("created_until"));
    }

    #[test]
    fn any_takes_repositories_without_a_licence() {
        let config = GithubConfig {
            licences: vec!["any".to_owned()],
            ..GithubConfig::default()
        };
        config.check().unwrap();
        assert!(config.allows(None));
    }
}
