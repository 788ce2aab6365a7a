//! One repository's files at one commit, without ever checking anything out.
//!
//! libgit2 fetches a single commit into a bare repository of its own; files are then read from
//! its objects. So neither links, submodules, filters, hooks nor names that a checkout would
//! stumble over come into play. No credentials are offered.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};

use git2::{
    AutotagOption, Direction, ErrorCode, FetchOptions, ObjectType, Oid, RemoteCallbacks,
    RemoteRedirect, Repository,
};
use hydra_core::RepoPath;
use tempfile::TempDir;

use crate::error::ItemError;
use crate::github::{GithubConfig, split_name};
use crate::records::Refusal;
use crate::taken::{Skip, Taken, is_wanted};
use crate::{MineConfig, corpus};

/// Git's modes of what is no file (gitformat-index: 1010 and 1110 of the object type).
const LINK: i32 = 0o120_000;
const SUBMODULE: i32 = 0o160_000;
/// The most entries of all folders that are looked at: a tree may hold itself by the billion.
const MAX_ENTRIES: usize = 1_000_000;

/// Seconds that a server may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// Fetches a repository at a commit, or where its HEAD is, into a new folder below `below`, and
/// takes its files but for those in `without`. Tells which commit it was.
pub(crate) fn repository(
    full_name: &str,
    commit: Option<&str>,
    without: BTreeSet<String>,
    below: &Path,
    (github, config): (&GithubConfig, &MineConfig),
) -> Result<(TempDir, Taken, String), ItemError> {
    if split_name(full_name).is_none() {
        let reason = format!("{full_name:?} is no name of a repository");
        return Err(ItemError::refused(Refusal::Unsafe, reason));
    }
    let url = format!("{}/{full_name}.git", github.git.trim_end_matches('/'));
    let attempts = github.attempts.max(1);
    let mut attempt = 1;
    loop {
        let objects = corpus::unfinished(below)?;
        match fetch(&url, commit, objects.path(), github) {
            Ok((repository, oid)) => {
                let target = corpus::unfinished(below)?;
                let mut taken = Taken::without(without);
                take(&repository, oid, target.path(), config, &mut taken)?;
                return Ok((target, taken, oid.to_string()));
            }
            Err(ItemError::Failed(reason)) if attempt >= attempts => {
                return Err(ItemError::Failed(format!("{reason} ({attempts} attempts)")));
            }
            Err(ItemError::Failed(_)) => std::thread::sleep(github.pause(attempt)),
            Err(refused) => return Err(refused),
        }
        attempt += 1;
    }
}

/// Fetches one commit into a bare repository in `folder`: `commit`, or where the server's HEAD is.
fn fetch(
    url: &str,
    commit: Option<&str>,
    folder: &Path,
    config: &GithubConfig,
) -> Result<(Repository, Oid), ItemError> {
    bound_silence(config);
    let failed = |e: git2::Error| {
        asked(&e).unwrap_or_else(|| ItemError::Failed(format!("{url}: {}", e.message())))
    };
    let repository = Repository::init_bare(folder).map_err(failed)?;
    let mut remote = repository.remote_anonymous(url).map_err(failed)?;
    remote.connect(Direction::Fetch).map_err(failed)?;
    let oid = match commit {
        Some(commit) => Oid::from_str(commit).map_err(failed)?,
        None => head(&remote)
            .map_err(failed)?
            .ok_or_else(|| ItemError::refused(Refusal::TooFew, "an empty repository".to_owned()))?,
    };
    let began = Instant::now();
    let limit = Duration::from_secs(config.clone_timeout_s.max(1));
    let (too_large, too_long) = (Cell::new(false), Cell::new(false));
    let mut callbacks = RemoteCallbacks::new();
    callbacks.transfer_progress(|state| {
        too_large.set(state.received_bytes() as u64 > config.max_clone_bytes);
        too_long.set(began.elapsed() > limit);
        !too_large.get() && !too_long.get()
    });
    let mut options = FetchOptions::new();
    options
        .remote_callbacks(callbacks)
        .depth(1)
        .download_tags(AutotagOption::None)
        .follow_redirects(RemoteRedirect::Initial);
    // Over the connection that told where HEAD is.
    let refspec = format!("+{oid}:refs/hydra/taken");
    let fetched = remote.fetch(&[&refspec], Some(&mut options), None);
    drop(remote);
    drop(options);
    let passed = match (too_large.get(), too_long.get()) {
        (true, _) => format!("{} bytes", config.max_clone_bytes),
        (_, true) => format!("{} s", limit.as_secs()),
        _ => {
            fetched.map_err(failed)?;
            return Ok((repository, oid));
        }
    };
    let reason = format!("a clone of more than {passed}");
    Err(ItemError::refused(Refusal::TooLarge, reason))
}

/// Where the server's HEAD is; nothing in an empty repository.
fn head(remote: &git2::Remote<'_>) -> Result<Option<Oid>, git2::Error> {
    let heads = remote.list()?;
    Ok(heads
        .iter()
        .find(|h| h.name() == "HEAD")
        .map(git2::RemoteHead::oid))
}

/// A server that wants a name and a password, or says that there is nothing, has answered.
fn asked(error: &git2::Error) -> Option<ItemError> {
    let message = error.message();
    let gone = error.code() == ErrorCode::Auth
        || ["401", "403", "404", "410", "451"]
            .iter()
            .any(|status| message.ends_with(&format!("status code: {status}")));
    gone.then(|| ItemError::refused(Refusal::Gone, format!("can't be cloned: {message}")))
}

/// libgit2 waits for a silent server for ever unless it is told not to.
fn bound_silence(config: &GithubConfig) {
    static ONCE: Once = Once::new();
    let silence = SILENCE.min(Duration::from_secs(config.timeout_s.max(1)));
    let milliseconds = i32::try_from(silence.as_millis()).unwrap_or(i32::MAX);
    ONCE.call_once(|| {
        // SAFETY: both write a plain integer that libgit2 reads when it opens a connection. This
        // crate opens none before `ONCE` is done, and nothing else in the program uses libgit2's
        // network.
        let set = unsafe {
            git2::opts::set_server_connect_timeout_in_milliseconds(milliseconds)
                .and(git2::opts::set_server_timeout_in_milliseconds(milliseconds))
        };
        // The options exist in every version that this crate builds with.
        debug_assert!(set.is_ok());
    });
}

/// Writes the wanted files of a commit below `target`.
pub(crate) fn take(
    repository: &Repository,
    commit: Oid,
    target: &Path,
    config: &MineConfig,
    taken: &mut Taken,
) -> Result<(), ItemError> {
    let broken =
        |e: git2::Error| ItemError::refused(Refusal::Unsafe, format!("broken: {}", e.message()));
    let tree = repository
        .find_commit(commit)
        .map(|c| c.tree_id())
        .map_err(broken)?;
    let objects = repository.odb().map_err(broken)?;
    let mut folders = vec![(None::<RepoPath>, tree)];
    let mut looked = 0;
    while let Some((below, oid)) = folders.pop() {
        let tree = repository.find_tree(oid).map_err(broken)?;
        for entry in tree.iter() {
            looked += 1;
            if looked > MAX_ENTRIES {
                return Err(ItemError::refused(
                    Refusal::TooLarge,
                    format!("more than {MAX_ENTRIES} entries"),
                ));
            }
            let Some(path) = path(below.as_ref(), entry.name_bytes(), taken)? else {
                continue;
            };
            match (entry.filemode_raw(), entry.kind()) {
                (LINK, _) => taken.skip(Skip::Link, path.as_str()),
                (SUBMODULE, _) => taken.skip(Skip::Submodule, path.as_str()),
                (_, Some(ObjectType::Tree)) => folders.push((Some(path), entry.id())),
                (_, Some(ObjectType::Blob)) if is_wanted(&path) => {
                    let (size, _) = objects.read_header(entry.id()).map_err(broken)?;
                    if size as u64 > config.max_file_bytes {
                        taken.skip(Skip::TooLarge, path.as_str());
                        continue;
                    }
                    let blob = objects.read(entry.id()).map_err(broken)?;
                    taken.write(target, &path, blob.data(), config)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The path of an entry; nothing for one that is passed over. Hidden ones are, as in a folder.
fn path(
    below: Option<&RepoPath>,
    name: &[u8],
    taken: &mut Taken,
) -> Result<Option<RepoPath>, ItemError> {
    let shown = |name: &str| below.map_or(name.to_owned(), |b| format!("{b}/{name}"));
    let Ok(name) = std::str::from_utf8(name) else {
        taken.skip(Skip::NotUtf8Name, &shown(&String::from_utf8_lossy(name)));
        return Ok(None);
    };
    if name.is_empty() || name == "." || name == ".." || name.contains('/') {
        let reason = format!("a tree with an entry named {name:?}");
        return Err(ItemError::refused(Refusal::Unsafe, reason));
    }
    if name.starts_with('.') {
        return Ok(None);
    }
    let path = match below {
        Some(below) => below.join(name),
        None => RepoPath::new(name),
    };
    if path.is_err() {
        taken.skip(Skip::UnsafeName, &shown(name));
    }
    Ok(path.ok())
}
