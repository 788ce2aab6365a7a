//! From files to an index: what is known from before is taken from the cache, the rest is parsed
//! and resolved.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use hydra_core::{Progress, RepoPath};
use rayon::prelude::*;
use thread_local::ThreadLocal;

use super::{File, Options, RepoIndex, Work};
use crate::cache::{
    Cache, ContentHash, Resolved, Snapshot, SnapshotFile, SnapshotSkip, pack_outline,
};
use crate::lower::Scratch;
use crate::modules::Modules;
use crate::parse::outline;
use crate::resolve::{Loaded, Memos, Resolver, World};
use crate::unit::Skipped;
use crate::{IndexError, Parser, load};

/// A file that was read, and its outline if it isn't known from before.
struct Fresh {
    path: RepoPath,
    text: String,
    /// Of its bytes, where there is a cache.
    hash: ContentHash,
    known: Option<SnapshotFile<'static>>,
    outline: Option<Loaded>,
    /// The outline as a cache that has not got it stores it.
    packed: Option<Vec<u8>>,
    /// [`Outline::interface`](crate::outline::Outline::interface), where there is a cache.
    interface: u64,
    parsed: bool,
}

/// A file that can't be indexed.
struct Refused {
    kept: SnapshotSkip,
    /// Whether a parser said so, and not the last index.
    parsed: bool,
}

/// The last index of the repository, taken apart.
#[derive(Default)]
struct Before {
    files: HashMap<String, Known>,
    /// How many files were in it.
    count: usize,
    roots: Vec<(u32, bool)>,
}

/// What the last index said of a file.
enum Known {
    Indexed(SnapshotFile<'static>),
    Refused(SnapshotSkip),
}

impl Before {
    fn new(snapshot: Snapshot<'static>) -> Self {
        let count = snapshot.files.len();
        let indexed = snapshot.files.into_iter();
        let indexed = indexed.map(|file| (file.path.to_string(), Known::Indexed(file)));
        let refused = snapshot.refused.into_owned().into_iter();
        let refused = refused.map(|file| (file.path.clone(), Known::Refused(file)));
        Self {
            files: indexed.chain(refused).collect(),
            count,
            roots: snapshot.roots,
        }
    }

    fn take(&mut self, path: &RepoPath) -> Option<Known> {
        self.files.remove(path.as_str())
    }
}

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
                .and_then(|cache| cache.outline(self.parser, &file.hash).ok().flatten());
            // It was parsed before, or there would be no facts of it.
            let outline = stored
                .or_else(|| outline(self.parser, &file.text, &mut Scratch::default()).ok())
                .unwrap_or_default();
            Loaded::with_facts(file.facts.clone(), outline.body)
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
        let name = cache.and_then(|_| std::fs::canonicalize(root).ok());
        let kept = cache.zip(name.map(|name| name.to_string_lossy().into_owned()));
        let (tree, last) = load::with_room(options.jobs, || {
            rayon::join(
                || load::walk(root),
                || {
                    let (cache, name) = kept.as_ref()?;
                    let snapshot = cache.snapshot(options.parser, name);
                    Some(snapshot.map(|snapshot| Before::new(snapshot.unwrap_or_default())))
                },
            )
        })?;
        let tree = tree?;
        let (mut before, store) = match last.transpose() {
            Ok(before) => (before.unwrap_or_default(), kept),
            Err(e) => {
                progress.warn(&format!("the index is made without the cache: {e}"));
                (Before::default(), None)
            }
        };
        let cache = store.as_ref().map(|(cache, _)| *cache);
        let bar = progress.start("index", Some(tree.files.len() as u64));
        let (index, stored) = load::with_room(options.jobs, || {
            let known: Vec<_> = tree
                .files
                .into_iter()
                .map(|path| (before.take(&path), path))
                .collect();
            let fresh = each(known, |scratch, (known, path)| {
                let fresh = refresh(root, path, known, options, cache, scratch);
                bar.advance(1);
                fresh
            });
            let (skipped, metadata) = (tree.skipped, &tree.metadata);
            Self::assemble(fresh, skipped, metadata, options, cache, &before)
        })?;
        if index.files.is_empty() {
            return Err(IndexError::NoPython {
                root: root.to_path_buf(),
                skipped: index.skipped.len(),
            });
        }
        if let Some((cache, name)) = store
            && (index.work != Work::default() || before.count != index.files.len())
            && let Err(e) =
                stored.and_then(|()| cache.store_snapshot(options.parser, &name, &index.snapshot()))
        {
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
                    ContentHash::default(),
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
        before: &Before,
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
        let comparable = read.len() == before.count && read.iter().all(|file| file.known.is_some());
        let mut unchanged = Vec::with_capacity(read.len());
        // What other files can see of it is what it was.
        let mut alike = Vec::with_capacity(read.len());
        let mut files: Vec<File> = Vec::with_capacity(read.len());
        let mut new = Vec::new();
        for mut file in read {
            unchanged.push(file.outline.is_none());
            new.extend(file.packed.take().map(|packed| (file.hash, packed)));
            let known = file.known.as_ref();
            alike.push(known.is_some_and(|known| known.interface == file.interface));
            files.push(File::new(file));
        }
        let paths: Vec<RepoPath> = files.iter().map(|f| f.path.clone()).collect();
        let imports = files.iter().flat_map(|f| {
            let absolute = f.facts.absolute.iter();
            absolute.map(|name| f.facts.piece(*name))
        });
        let modules = Modules::new(&paths, metadata, imports);
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
        let done = files.par_iter_mut().zip(resolved);
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
                .iter()
                .map(|file| SnapshotFile {
                    path: Cow::Borrowed(file.path.as_str()),
                    hash: file.hash,
                    interface: file.interface,
                    facts: Cow::Borrowed(&*file.facts),
                    resolved: Cow::Borrowed(&file.resolved),
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
        let (facts, resolved) = match (file.outline, file.known) {
            (Some(outline), _) => {
                let facts = outline.facts.clone();
                let _ = loaded.set(outline);
                (facts, Resolved::default())
            }
            (None, Some(known)) => (
                Arc::new(known.facts.into_owned()),
                known.resolved.into_owned(),
            ),
            (None, None) => Default::default(),
        };
        Self {
            path: file.path,
            text: file.text,
            hash: file.hash,
            interface: file.interface,
            facts,
            loaded,
            resolved,
            units: OnceLock::new(),
        }
    }
}

/// Reads a file from disk, and lowers it unless it is known.
fn refresh(
    root: &Path,
    path: RepoPath,
    known: Option<Known>,
    options: &Options,
    cache: Option<&Cache>,
    scratch: &mut Scratch,
) -> Result<Fresh, Refused> {
    match load::read(root, &path, options.max_bytes) {
        Ok(bytes) => {
            let hash = cache.map_or_else(ContentHash::default, |_| blake3::hash(&bytes).into());
            read(
                path,
                hash,
                load::decode(bytes),
                known,
                options,
                cache,
                scratch,
            )
        }
        Err(reason) => Err(Refused {
            kept: SnapshotSkip {
                path: path.to_string(),
                hash: ContentHash::default(),
                reason,
            },
            parsed: false,
        }),
    }
}

fn read(
    path: RepoPath,
    hash: ContentHash,
    text: Result<String, String>,
    known: Option<Known>,
    options: &Options,
    cache: Option<&Cache>,
    scratch: &mut Scratch,
) -> Result<Fresh, Refused> {
    let refused = |reason, parsed| Refused {
        kept: SnapshotSkip {
            path: path.to_string(),
            hash,
            reason,
        },
        parsed,
    };
    let text = text.map_err(|reason| refused(reason, false))?;
    let known = match known {
        Some(Known::Refused(kept)) if kept.hash == hash => {
            return Err(Refused {
                kept,
                parsed: false,
            });
        }
        Some(Known::Indexed(known)) => Some(known),
        _ => None,
    };
    let mut fresh = Fresh {
        path: path.clone(),
        text,
        hash,
        known,
        outline: None,
        packed: None,
        interface: 0,
        parsed: false,
    };
    if let Some(known) = &fresh.known
        && known.hash == hash
    {
        fresh.interface = known.interface;
        return Ok(fresh);
    }
    // A store that fails now has been reported, or will be when it is written to.
    let stored = cache.and_then(|cache| cache.outline(options.parser, &hash).ok().flatten());
    fresh.parsed = stored.is_none();
    let outline = match stored {
        Some(outline) => outline,
        None => {
            outline(options.parser, &fresh.text, scratch).map_err(|reason| refused(reason, true))?
        }
    };
    if cache.is_some() {
        fresh.interface = outline.interface();
        fresh.packed = (fresh.parsed).then(|| pack_outline(options.parser, &hash, &outline));
    }
    fresh.outline = Some(Loaded::new(outline));
    Ok(fresh)
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
