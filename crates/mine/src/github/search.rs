//! Finding every repository through a search that shows a thousand results at most.
//!
//! The results are cut into slices by stars and, where all have the same, by the moment of
//! creation, until each slice is small enough. A slice that is done is journaled; repositories are
//! known by their number, so that one that moves between slices is not taken twice.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use hydra_core::jsonl::Journal;
use hydra_core::{Progress, ProgressTask};
use serde::{Deserialize, Serialize};

use crate::MineError;
use crate::github::GithubConfig;
use crate::github::client::{Client, Reply};

/// The most results that GitHub shows of one search.
const CAP: u64 = 1000;
/// The most results to a page.
const PAGE: u64 = 100;
/// No repository is older: GitHub's own first one is of October 2007.
const FIRST: i64 = 1_167_609_600;

/// A repository as the search describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Found {
    pub id: u64,
    pub full_name: String,
    #[serde(rename = "stargazers_count")]
    pub stars: u64,
    #[serde(rename = "forks_count")]
    pub forks: u64,
    pub created_at: String,
    #[serde(default)]
    pub fork: bool,
    #[serde(default)]
    pub archived: bool,
    #[serde(default)]
    pub mirror_url: Option<String>,
    #[serde(default)]
    pub is_template: bool,
    #[serde(default)]
    pub license: Option<Licence>,
}

/// A licence as GitHub found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Licence {
    #[serde(default)]
    pub spdx_id: Option<String>,
}

/// A page of results.
#[derive(Deserialize)]
struct Page {
    total_count: u64,
    incomplete_results: bool,
    items: Vec<Found>,
}

/// A part of all results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Slice {
    stars: u64,
    /// Inclusive; nothing is no bound.
    stars_to: Option<u64>,
    /// Unix times, inclusive.
    created: i64,
    created_to: i64,
}

/// What is known of a search: a line of its journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Known {
    /// The search began, for what was created until then.
    Begun { until: i64 },
    /// There is too much in this slice.
    Split { slice: Slice },
    /// All that this slice shows, and how much it doesn't.
    Done {
        slice: Slice,
        lost: u64,
        found: Vec<Found>,
    },
}

/// The outcome of a search.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// By number.
    pub found: BTreeMap<u64, Found>,
    /// Results that GitHub counted and did not show.
    pub lost: u64,
}

impl Slice {
    fn whole(config: &GithubConfig, until: i64) -> Self {
        Self {
            stars: config.min_stars,
            stars_to: None,
            created: FIRST,
            created_to: until.max(FIRST),
        }
    }

    /// Two that hold the same together; nothing where it can't be made smaller.
    fn split(self) -> Option<[Self; 2]> {
        match self.stars_to {
            // Most repositories have few stars.
            None => Some(self.at_stars(self.stars.saturating_mul(2).saturating_add(1))),
            Some(to) if to > self.stars => Some(self.at_stars(middle(self.stars, to))),
            Some(_) if self.created_to > self.created => {
                let half = self.created + (self.created_to - self.created) / 2;
                let (mut low, mut high) = (self, self);
                low.created_to = half;
                high.created = half + 1;
                Some([low, high])
            }
            Some(_) => None,
        }
    }

    fn at_stars(self, last: u64) -> [Self; 2] {
        let (mut low, mut high) = (self, self);
        low.stars_to = Some(last);
        high.stars = last.saturating_add(1);
        [low, high]
    }

    /// The search's words for it.
    fn query(self, config: &GithubConfig) -> String {
        let stars = match self.stars_to {
            None => format!(">={}", self.stars),
            Some(to) => format!("{}..{to}", self.stars),
        };
        let [created, created_to] = [self.created, self.created_to].map(moment);
        format!(
            "language:python forks:>={} stars:{stars} created:{created}..{created_to} \
             archived:false mirror:false template:false is:public",
            config.min_forks
        )
    }
}

/// The geometric middle, below the upper end: numbers of stars are spread so.
fn middle(low: u64, high: u64) -> u64 {
    let middle = ((low.max(1) as f64) * (high as f64)).sqrt() as u64;
    middle.clamp(low, high - 1)
}

fn moment(time: i64) -> String {
    DateTime::<Utc>::from_timestamp(time, 0)
        .unwrap_or_default()
        .format("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// Finds all repositories that the configuration asks for. What earlier runs found is in the
/// journal at `path`, and is not asked again.
pub(crate) fn all(
    client: &mut Client<'_>,
    config: &GithubConfig,
    path: &Path,
    progress: &dyn Progress,
) -> Result<Candidates, MineError> {
    let (mut journal, known) = Journal::open::<Known>(path)?;
    let mut begun = None;
    let mut answers = BTreeMap::new();
    for line in known {
        match line {
            Known::Begun { until } => begun = Some(until),
            Known::Split { slice } => drop(answers.insert(slice, None)),
            Known::Done { slice, lost, found } => drop(answers.insert(slice, Some((lost, found)))),
        }
    }
    let until = match begun {
        Some(until) => until,
        None => {
            let until = config.until()?.unwrap_or_else(|| Utc::now().timestamp());
            journal.append(&Known::Begun { until })?;
            until
        }
    };
    let task = progress.start("search", None);
    let mut candidates = Candidates::default();
    let mut waiting = vec![Slice::whole(config, until)];
    while let Some(slice) = waiting.pop() {
        let answer = match answers.remove(&slice) {
            Some(answer) => answer,
            None => {
                let answer = ask(client, config, slice, progress, &*task)?;
                journal.append(&match &answer {
                    None => Known::Split { slice },
                    Some((lost, found)) => Known::Done {
                        slice,
                        lost: *lost,
                        found: found.clone(),
                    },
                })?;
                answer
            }
        };
        match (answer, slice.split()) {
            (Some((lost, found)), _) => {
                task.advance(found.len() as u64);
                candidates.lost += lost;
                candidates
                    .found
                    .extend(found.into_iter().map(|f| (f.id, f)));
            }
            (None, Some(parts)) => waiting.extend(parts),
            (None, None) => {}
        }
    }
    Ok(candidates)
}

type Answer = Option<(u64, Vec<Found>)>;

/// Everything in a slice, or nothing if it has to be split.
fn ask(
    client: &mut Client<'_>,
    config: &GithubConfig,
    slice: Slice,
    progress: &dyn Progress,
    task: &dyn ProgressTask,
) -> Result<Answer, MineError> {
    let mut best: Option<(u64, Vec<Found>)> = None;
    for attempt in 1..=config.attempts.max(1) {
        let first = page(client, config, slice, 1, task)?;
        if first.total_count > CAP && slice.split().is_some() {
            return Ok(None);
        }
        let total = first.total_count;
        let mut incomplete = first.incomplete_results;
        let mut found: BTreeMap<u64, Found> = BTreeMap::new();
        found.extend(first.items.into_iter().map(|f| (f.id, f)));
        for number in 2..=total.min(CAP).div_ceil(PAGE) {
            let page = page(client, config, slice, number, task)?;
            incomplete |= page.incomplete_results;
            found.extend(page.items.into_iter().map(|f| (f.id, f)));
        }
        let lost = total.saturating_sub(found.len() as u64);
        let found: Vec<Found> = found.into_values().collect();
        if best.as_ref().is_none_or(|(_, b)| found.len() > b.len()) {
            best = Some((lost, found));
        }
        // A search that ran out of time on GitHub's side, or shifted between two pages, may do
        // better the next time. What is above the cap never shows.
        if !incomplete && (lost == 0 || total > CAP) {
            break;
        }
        if attempt < config.attempts.max(1) {
            std::thread::sleep(config.pause(attempt));
        }
    }
    if let Some((lost @ 1.., _)) = &best {
        progress.warn(&format!(
            "search: {lost} results of `{}` can't be had",
            slice.query(config)
        ));
    }
    Ok(best)
}

fn page(
    client: &mut Client<'_>,
    config: &GithubConfig,
    slice: Slice,
    number: u64,
    task: &dyn ProgressTask,
) -> Result<Page, MineError> {
    let query: String = slice
        .query(config)
        .chars()
        .map(|c| match c {
            ' ' => "+".to_owned(),
            '>' => "%3E".to_owned(),
            '=' => "%3D".to_owned(),
            ':' => "%3A".to_owned(),
            other => other.to_string(),
        })
        .collect();
    let path = format!("/search/repositories?q={query}&per_page={PAGE}&page={number}");
    match client.get::<Page>(&path, task)? {
        Reply::Found(page) => Ok(page),
        Reply::Gone(status) => Err(MineError::Github {
            message: format!(
                "the search answers {status}; is {} GitHub's API?",
                config.api
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_query_says_what_is_asked_for() {
        let slice = Slice {
            stars: 10,
            stars_to: Some(20),
            created: FIRST,
            created_to: 1_767_225_599,
        };
        assert_eq!(
            slice.query(&GithubConfig::default()),
            "language:python forks:>=30 stars:10..20 \
             created:2007-01-01T00:00:00Z..2025-12-31T23:59:59Z \
             archived:false mirror:false template:false is:public"
        );
    }

    fn holds(slice: &Slice, stars: u64, created: i64) -> bool {
        stars >= slice.stars
            && slice.stars_to.is_none_or(|to| stars <= to)
            && (slice.created..=slice.created_to).contains(&created)
    }

    proptest! {
        /// However a slice is split, a repository is in exactly one part, and splitting ends.
        #[test]
        fn parts_hold_every_repository_once(
            stars in 0u64..500_000,
            created in FIRST..2_000_000_000i64,
            low in 0u64..50,
        ) {
            let config = GithubConfig { min_stars: low, ..GithubConfig::default() };
            let stars = stars.max(low);
            let mut slice = Slice::whole(&config, 2_000_000_000);
            let mut steps = 0;
            while let Some(parts) = slice.split() {
                let inside: Vec<_> = parts.iter().filter(|p| holds(p, stars, created)).collect();
                prop_assert_eq!(inside.len(), 1);
                slice = *inside[0];
                steps += 1;
                prop_assert!(steps < 200);
            }
            prop_assert_eq!((slice.stars, slice.created), (stars, created));
        }
    }
}
