//! From files to an index: what is known from before is taken from the cache, the rest is parsed
//! and resolved.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use hydra_core::{Progress, RepoPath};
use rayon::prelude::*;
use thread_local::ThreadLocal;

use super::fresh::{Before, Content, Fresh, Refused, read, refresh};
use super::{File, Options, RepoIndex, Work};
use crate::cache::{Cache, Identity, Resolved, Snapshot, SnapshotFile, unpack_snapshot};
use crate::lower::Scratch;
use crate::modules::Modules;
use crate::parse::outline;
use crate::resolve::{Loaded, Memos, Resolver, World};
use crate::unit::Skipped;
use crate::{IndexError, Parser, load};

/// Files as resolution sees them: an outline that isn't there is fetched, or made again.
pub(super) struct Repository<'a> {
    pub files: &'a [File],
    pub modules: &'a Modules,
    pub parser: Parser,
    pub cache: Option<&'a Cache>,
}

impl World for Repository<'_> {
    fn modules(&self) -> &Modules {
        self.modules
    }

    fn path(&self, file: u32) -> RepoPath {
        self.files[file as usize].path.clone()
    }

    fn outline(&self, file: u32) -> &Loaded {
        let file = &self.files[file as usize];
        file.loaded.get_or_init(|| {
            let stored = self
                .cache
                .and_then(|cache| cache.outline(self.parser, &file.identity.hash));
            // It was parsed before, or there would be no facts of it.
            let outline = stored
                .or_else(|| outline(self.parser, &file.text, &mut Scratch::default()).ok())
                .unwrap_or_default();
            Box::new(Loaded::with_facts(file.facts.clone(), outline.body))
        })
    }
}

/// Works on items one by one, side by side, in memory that each thread uses again. Files differ
/// much in size: a thread that has nothing left to do takes over single ones.
fn each<I: Send, M: Default + Send, O: Send>(
    items: Vec<I>,
    work: impl Fn(&mut M, I) -> O + Sync,
) -> Vec<O> {
    let memory: ThreadLocal<RefCell<M>> = ThreadLocal::new();
    items
        .into_par_iter()
        .with_max_len(1)
        .map(|item| work(&mut memory.get_or_default().borrow_mut(), item))
        .collect()
}

impl RepoIndex {
    /// Indexes the Python files below `root`. Links are not followed; a file that can't be read
    /// is left out, with the reason in [`RepoIndex::skipped`]; of a file with syntax errors what
    /// parses is kept ([`RepoIndex::broken`]).
    ///
    /// # Errors
    /// [`IndexError::NoPython`] if nothing is left, and what the file system refuses.
    pub fn build(root: &Path, progress: &dyn Progress) -> Result<Self, IndexError> {
        Self::build_with(root, &Options::default(), None, progress)
    }

    /// [`RepoIndex::build`] with options and a cache. A cache that fails is reported through
    /// `progress`, and the index is made without it.
    ///
    /// # Errors
    /// As for [`RepoIndex::build`].
    pub fn build_with(
        root: &Path,
        options: &Options,
        cache: Option<&Cache>,
        progress: &dyn Progress,
    ) -> Result<Self, IndexError> {
        let name = cache.and_then(|_| fs::canonicalize(root).ok());
        let kept = cache.zip(name.map(|name| name.to_string_lossy().into_owned()));
        let (tree, last) = load::with_room(options.jobs, || {
            rayon::join(
                || load::walk(root),
                || {
                    let (cache, name) = kept.as_ref()?;
                    Some(cache.snapshot(options.parser, name))
                },
            )
        })?;
        let tree = tree?;
        let (last, store) = match last.transpose() {
            Ok(last) => (last.flatten().unwrap_or_default(), kept),
            Err(e) => {
                progress.warn(&format!("the index is made without the cache: {e}"));
                (Vec::new(), None)
            }
        };
        let folder = load::open(root)?;
        let bar = progress.start("index", Some(tree.files.len() as u64));
        let (index, stored) = load::with_room(options.jobs, || {
            let cache = store.as_ref().map(|(cache, _)| *cache);
            let before = store.as_ref().and_then(|(_, name)| {
                let snapshot = unpack_snapshot(options.parser, name, &last)?;
                Some(Before::new(snapshot))
            });
            let mut before = before.unwrap_or_default();
            let known: Vec<_> = tree
                .files
                .into_iter()
                .map(|path| (before.take(&path), path))
                .collect();
            let fresh = each(known, |scratch, (known, path)| {
                let fresh = refresh(&folder, path, known, options, cache, scratch);
                bar.advance(1);
                fresh
            });
            let (skipped, metadata) = (tree.skipped, &tree.metadata);
            let (index, stored) = Self::assemble(fresh, skipped, metadata, options, cache, &before);
            let changed = index.work != Work::default() || before.count != index.files.len();
            let stored = match &store {
                Some((cache, name)) if changed && !index.files.is_empty() => stored
                    .and_then(|()| cache.store_snapshot(options.parser, name, &index.snapshot())),
                _ => stored,
            };
            (index, stored)
        })?;
        if index.files.is_empty() {
            return Err(IndexError::NoPython {
                root: root.to_path_buf(),
                skipped: index.skipped.len(),
            });
        }
        if let Err(e) = stored {
            progress.warn(&format!("the index could not be kept: {e}"));
        }
        Ok(index)
    }

    /// Indexes files that are in memory.
    ///
    /// # Errors
    /// Only if no thread can be started.
    pub fn from_sources(
        sources: impl IntoIterator<Item = (RepoPath, String)>,
    ) -> Result<Self, IndexError> {
        Self::from_sources_with(sources, &Options::default())
    }

    /// [`RepoIndex::from_sources`] with options.
    ///
    /// # Errors
    /// Only if no thread can be started.
    pub fn from_sources_with(
        sources: impl IntoIterator<Item = (RepoPath, String)>,
        options: &Options,
    ) -> Result<Self, IndexError> {
        let sources: BTreeMap<RepoPath, String> = sources.into_iter().collect();
        load::with_room(options.jobs, || {
            let fresh = each(sources.into_iter().collect(), |scratch, (path, text)| {
                let text = load::decode(text.into_bytes());
                read(
                    path,
                    Identity::default(),
                    text,
                    None,
                    options,
                    None,
                    scratch,
                )
            });
            let metadata = BTreeSet::new();
            Self::assemble(
                fresh,
                Vec::new(),
                &metadata,
                options,
                None,
                &Before::default(),
            )
            .0
        })
    }

    /// Puts the files together and resolves what is not known from before, while a cache stores
    /// the outlines that it has not; also says how that went.
    fn assemble(
        fresh: Vec<Result<Fresh, Refused>>,
        mut skipped: Vec<Skipped>,
        metadata: &BTreeSet<String>,
        options: &Options,
        cache: Option<&Cache>,
        before: &Before<'_>,
    ) -> (Self, Result<(), IndexError>) {
        let mut read = Vec::with_capacity(fresh.len());
        let mut refused = Vec::new();
        let mut parsed = 0;
        for file in fresh {
            match file {
                Ok(file) => {
                    parsed += usize::from(file.parsed);
                    read.push(file);
                }
                Err(one) => {
                    parsed += usize::from(one.parsed);
                    skipped.push(Skipped {
                        path: one.kept.path.clone(),
                        reason: one.kept.reason.clone(),
                    });
                    refused.push(one.kept);
                }
            }
        }
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        // The numbers of other files hold only while the list of files is the same.
        let comparable =
            read.len() == before.count && read.iter().all(|file| file.interface_before.is_some());
        let mut unchanged = Vec::with_capacity(read.len());
        // What other files can see of it is what it was.
        let mut alike = Vec::with_capacity(read.len());
        let mut files: Vec<File> = Vec::with_capacity(read.len());
        let mut new = Vec::new();
        for mut file in read {
            unchanged.push(matches!(file.content, Content::Known(..)));
            alike.push(file.interface_before == Some(file.interface));
            if let Content::New(_, packed) = &mut file.content {
                new.extend(packed.take().map(|packed| (file.identity.hash, packed)));
            }
            files.push(File::new(file));
        }
        let paths = files.iter().map(|f| &f.path);
        let imports = files.iter().flat_map(|f| {
            let absolute = f.facts.absolute.iter();
            absolute.map(|name| f.facts.piece(*name))
        });
        let modules = Modules::new(paths, metadata, imports);
        let same_modules = comparable && modules.roots().eq(before.roots.iter().copied());
        let stale: Vec<bool> = (0..files.len())
            .map(|number| {
                let consulted = &files[number].resolved.consulted;
                let holds = |other: &u32| alike.get(*other as usize) == Some(&true);
                !(same_modules && unchanged[number] && consulted.iter().all(holds))
            })
            .collect();
        let repository = Repository {
            files: &files,
            modules: &modules,
            parser: options.parser,
            cache,
        };
        let resolve_all = || {
            let stale = stale.iter().enumerate().collect();
            each(stale, |memos, (number, stale)| {
                stale.then(|| resolve(&repository, number as u32, memos))
            })
        };
        let store = || match cache {
            Some(cache) => cache.store_outlines(options.parser, &new),
            None => Ok(()),
        };
        let (resolved, stored) = rayon::join(resolve_all, store);
        let work = Work {
            parsed,
            resolved: stale.iter().filter(|s| **s).count(),
        };
        // The outlines are most of what there is in memory, and have been used.
        let done = files.par_iter_mut().with_max_len(8).zip(resolved);
        done.for_each(|(file, resolved)| {
            file.loaded.take();
            if let Some(resolved) = resolved {
                file.resolved = resolved;
            }
        });
        let index = Self {
            files,
            modules,
            skipped,
            refused,
            parser: options.parser,
            jobs: options.jobs,
            work,
        };
        (index, stored)
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            files: self
                .files
                .par_iter()
                .map(|file| {
                    SnapshotFile::new(
                        file.path.as_str(),
                        file.identity,
                        file.interface,
                        &file.facts,
                        &file.resolved,
                    )
                })
                .collect(),
            refused: Cow::Borrowed(&self.refused),
            roots: self.modules.roots().collect(),
        }
    }
}

impl File {
    fn new(file: Fresh) -> Self {
        let loaded = OnceLock::new();
        let (facts, resolved) = match file.content {
            Content::New(outline, _) => {
                let facts = outline.facts.clone();
                let _ = loaded.set(outline);
                (facts, Resolved::default())
            }
            Content::Known(facts, resolved) => (Arc::new(facts), resolved),
        };
        Self {
            path: file.path,
            text: file.text,
            identity: file.identity,
            interface: file.interface,
            facts,
            loaded,
            resolved,
            units: OnceLock::new(),
        }
    }
}

fn resolve(repository: &Repository<'_>, file: u32, memos: &mut Memos) -> Resolved {
    let mut resolver = Resolver::new(repository, file, memos);
    let edges = resolver.edges();
    let imported = resolver.imported_files().into_iter().collect();
    Resolved {
        edges,
        imported,
        consulted: resolver.consulted(),
    }
}
