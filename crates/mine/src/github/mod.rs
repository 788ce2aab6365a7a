//! Repositories from GitHub: searched for, checked, cloned at a commit, compared.

mod client;
pub(crate) mod clone;
mod config;
mod search;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hydra_core::{Progress, ProgressTask};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use tempfile::TempDir;

pub use config::GithubConfig;

use crate::error::ItemError;
use crate::records::{GithubPin, MineSummary, Record, Refusal};
use crate::several::several;
use crate::staging::Staging;
use crate::taken::Taken;
use crate::{MineConfig, MineError};
use client::{Client, Reply};
use search::{Candidates, Found};

/// The journal of the search, among what was gathered.
const SEARCH: &str = "search.partial.jsonl";

/// Mines GitHub: all repositories that the configuration asks for, as they are now.
///
/// The search, every repository and every clone are journaled in `out`, so that a run that was
/// stopped goes on without asking or fetching twice. A repository that can't be fetched now is a
/// failure in the summary, and the next run tries it again; one that must not be taken is in the
/// manifest with the reason. `token` is used for the API alone, never for cloning.
///
/// # Errors
/// [`MineError::Github`] when the API can't be talked to, [`MineError::Setting`] for settings
/// that can't be meant; what is done until then is kept.
pub fn mine_github(
    github: &GithubConfig,
    config: &MineConfig,
    seed: u64,
    token: Option<&str>,
    out: &Path,
    progress: &dyn Progress,
) -> Result<MineSummary, MineError> {
    github.check()?;
    if let Some(summary) = Staging::finished(out)? {
        return Ok(summary);
    }
    if token.is_none() {
        progress.warn(
            "no GITHUB_TOKEN: GitHub allows 10 searches a minute and 60 other requests an hour; \
             this will take long",
        );
    }
    let mut staging = Staging::open(out, config)?;
    let mut client = Client::new(github, token)?;
    let journal = staging.folder().join(SEARCH);
    let candidates = search::all(&mut client, github, &journal, progress)?;
    let lost = candidates.lost;
    let chosen = choose(candidates, github.limit, seed, progress);
    let waiting: Vec<Found> = chosen
        .into_iter()
        .filter(|found| !staging.resume(&folder_name(found), |old| same(old, found)))
        .collect();
    let source = Github {
        github,
        config,
        client: Mutex::new(client),
        folder: staging.folder(),
    };
    source.gather(&waiting, &mut staging, progress)?;
    let mut summary = staging.close(progress)?;
    summary.lost = lost;
    Ok(summary)
}

fn same(old: &Record, found: &Found) -> bool {
    old.github.as_ref().is_some_and(|pin| pin.id == found.id)
}

/// The repositories to look at, by name. Names are the folders', and on some systems case doesn't
/// count: of two that collide the older stays.
fn choose(
    candidates: Candidates,
    limit: Option<usize>,
    seed: u64,
    progress: &dyn Progress,
) -> Vec<Found> {
    let mut all: Vec<Found> = candidates.found.into_values().collect();
    if let Some(limit) = limit {
        all.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        all.truncate(limit);
        all.sort_by_key(|found| found.id);
    }
    let mut names = BTreeMap::new();
    for found in all {
        match names.entry(folder_name(&found).to_lowercase()) {
            Entry::Vacant(place) => drop(place.insert(found)),
            Entry::Occupied(older) => progress.warn(&format!(
                "{:?}: found under two numbers, {} is left out for {}",
                found.full_name,
                found.id,
                older.get().id
            )),
        }
    }
    names.into_values().collect()
}

/// `owner__name`; the number where the name is none that GitHub gives.
fn folder_name(found: &Found) -> String {
    match split_name(&found.full_name) {
        Some((owner, name)) => format!("{owner}__{name}"),
        None => format!("id-{}", found.id),
    }
}

/// The parts of `owner/name`, if both are such as GitHub allows: they become a folder and a part
/// of an address.
fn split_name(full: &str) -> Option<(&str, &str)> {
    let (owner, name) = full.split_once('/')?;
    let right = |part: &str, others: &str| {
        !part.is_empty()
            && part.len() <= 100
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    let fits = right(owner, "-_") && right(name, "-_.") && name != "." && name != "..";
    fits.then_some((owner, name))
}

/// What the search doesn't say of a repository.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    full_name: String,
    fork: bool,
    archived: bool,
    is_template: bool,
    mirror_url: Option<String>,
    parent: Option<Named>,
    source: Option<Named>,
    template_repository: Option<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    full_name: String,
}

struct Github<'a> {
    github: &'a GithubConfig,
    config: &'a MineConfig,
    client: Mutex<Client<'a>>,
    folder: PathBuf,
}

type Built = Result<(TempDir, Taken), ItemError>;

impl Github<'_> {
    /// Looks at every repository, several at a time, and records them as they come.
    fn gather(
        &self,
        waiting: &[Found],
        staging: &mut Staging<'_>,
        progress: &dyn Progress,
    ) -> Result<(), MineError> {
        let task = progress.start("repositories", Some(waiting.len() as u64));
        several(
            waiting,
            self.config.jobs,
            |found| self.one(found, &*task),
            |outcome| {
                task.advance(1);
                let (record, built) = outcome?;
                task.message(&record.name);
                staging.finish(record, built, progress)
            },
        )
    }

    /// A repository's record and what was fetched of it. An error ends the run.
    fn one(&self, found: &Found, task: &dyn ProgressTask) -> Result<(Record, Built), MineError> {
        let mut record = Record {
            name: folder_name(found),
            licence: spdx_id(found).map(str::to_owned),
            source: "github".to_owned(),
            github: Some(GithubPin {
                id: found.id,
                full_name: found.full_name.clone(),
                commit: None,
                stars: found.stars,
                forks: found.forks,
                created_at: found.created_at.clone(),
            }),
            ..Record::default()
        };
        if let Err(refused) = self.judge(found) {
            return Ok((record, Err(refused)));
        }
        let path = format!("/repositories/{}", found.id);
        let reply = {
            // One request at a time, as GitHub asks for.
            let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            client.get::<Details>(&path, task)?
        };
        let details = match reply {
            Reply::Found(details) => details,
            Reply::Gone(status) => {
                let gone = ItemError::refused(Refusal::Gone, format!("GitHub answers {status}"));
                return Ok((record, Err(gone)));
            }
        };
        let built = self.judge_details(&details).and_then(|()| {
            let name = match details.full_name.as_str() {
                "" => &found.full_name,
                name => name,
            };
            let settings = (self.github, self.config);
            clone::repository(name, None, BTreeSet::new(), &self.folder, settings)
        });
        let built = built.map(|(folder, taken, commit)| {
            if let Some(pin) = &mut record.github {
                pin.commit = Some(commit);
            }
            (folder, taken)
        });
        Ok((record, built))
    }

    /// What the search says against a repository.
    fn judge(&self, found: &Found) -> Result<(), ItemError> {
        let Some((owner, name)) = split_name(&found.full_name) else {
            let reason = format!("{:?} is no name of a repository", found.full_name);
            return Err(ItemError::refused(Refusal::Unsafe, reason));
        };
        let opted_out = |o: &String| o.eq_ignore_ascii_case(owner);
        if self.github.opted_out.iter().any(opted_out) {
            let reason = format!("the owner {owner} opted out");
            return Err(ItemError::refused(Refusal::OptedOut, reason));
        }
        let overlap = self.config.overlap(&found.full_name);
        if let Some(reason) = overlap.or_else(|| self.config.overlap(name)) {
            return Err(ItemError::refused(Refusal::Benchmark, reason));
        }
        let flags = (
            found.fork,
            found.archived,
            &found.mirror_url,
            found.is_template,
        );
        refuse_flags(flags)?;
        let licence = spdx_id(found);
        if !self.github.allows(licence) {
            let reason = match licence {
                Some(licence) => format!("the licence {licence} is not on the list"),
                None => "no licence that GitHub knows".to_owned(),
            };
            return Err(ItemError::refused(Refusal::Licence, reason));
        }
        if found.stars < self.github.min_stars || found.forks < self.github.min_forks {
            let reason = format!("{} stars and {} forks", found.stars, found.forks);
            return Err(ItemError::refused(Refusal::TooFew, reason));
        }
        Ok(())
    }

    /// What the repository's own page says against it.
    fn judge_details(&self, details: &Details) -> Result<(), ItemError> {
        let relations = [
            ("parent", &details.parent),
            ("source", &details.source),
            ("template", &details.template_repository),
        ];
        for (relation, named) in relations {
            let Some(named) = named else { continue };
            let bare = named.full_name.rsplit('/').next().unwrap_or_default();
            let overlap = self.config.overlap(&named.full_name);
            if let Some(reason) = overlap.or_else(|| self.config.overlap(bare)) {
                let reason = format!("its {relation} {}: {reason}", named.full_name);
                return Err(ItemError::refused(Refusal::Benchmark, reason));
            }
        }
        let flags = (
            details.fork || details.parent.is_some(),
            details.archived,
            &details.mirror_url,
            details.is_template,
        );
        refuse_flags(flags)?;
        if let Some(template) = &details.template_repository {
            let reason = format!("made from the template {}", template.full_name);
            return Err(ItemError::refused(Refusal::Template, reason));
        }
        Ok(())
    }
}

/// The SPDX id; GitHub writes NOASSERTION for a licence that it doesn't know.
fn spdx_id(found: &Found) -> Option<&str> {
    let id = found.license.as_ref()?.spdx_id.as_deref()?;
    (id != "NOASSERTION").then_some(id)
}

fn refuse_flags(
    (fork, archived, mirror, template): (bool, bool, &Option<String>, bool),
) -> Result<(), ItemError> {
    if fork {
        return Err(ItemError::refused(Refusal::Fork, "a fork"));
    }
    if archived {
        return Err(ItemError::refused(Refusal::Archived, "archived"));
    }
    if mirror.as_deref().is_some_and(|m| !m.is_empty()) {
        return Err(ItemError::refused(Refusal::Mirror, "a mirror"));
    }
    if template {
        return Err(ItemError::refused(Refusal::Template, "a template"));
    }
    Ok(())
}
