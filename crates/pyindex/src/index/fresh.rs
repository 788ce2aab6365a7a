//! One file: read, and taken from the last index or lowered.

use std::borrow::Cow;
use std::fs;

use hydra_core::RepoPath;
use rustc_hash::FxHashMap;

use super::Options;
use crate::cache::{
    Cache, ContentHash, Identity, Resolved, Snapshot, SnapshotFile, SnapshotSkip, Sum, pack_outline,
};
use crate::load;
use crate::lower::Scratch;
use crate::outline::Facts;
use crate::parse::outline;
use crate::resolve::Loaded;

/// A file that was read.
pub(super) struct Fresh {
    pub path: RepoPath,
    pub text: String,
    /// Of its bytes, where there is a cache.
    pub identity: Identity,
    /// [`Outline::interface`](crate::outline::Outline::interface), where there is a cache.
    pub interface: u64,
    /// That of before, if the file was in the last index.
    pub interface_before: Option<u64>,
    pub content: Content,
    pub parsed: bool,
}

/// What is in a file.
pub(super) enum Content {
    /// What the last index says of it.
    Known(Facts, Resolved),
    /// Its outline; and as a cache stores it, if the cache has not got it.
    New(Box<Loaded>, Option<Vec<u8>>),
}

/// A file that can't be indexed.
pub(super) struct Refused {
    pub kept: SnapshotSkip,
    /// Whether a parser said so, and not the last index.
    pub parsed: bool,
}

/// The last index of the repository, taken apart.
#[derive(Default)]
pub(super) struct Before<'a> {
    files: FxHashMap<Cow<'a, str>, Known<'a>>,
    /// How many files were in it.
    pub count: usize,
    pub roots: Vec<(u32, bool)>,
}

/// What the last index said of a file.
pub(super) enum Known<'a> {
    Indexed(SnapshotFile<'a>),
    Refused(SnapshotSkip),
}

impl<'a> Before<'a> {
    pub fn new(snapshot: Snapshot<'a>) -> Self {
        let count = snapshot.files.len();
        let indexed = snapshot.files.into_iter();
        let indexed = indexed.map(|file| (Cow::Borrowed(file.path), Known::Indexed(file)));
        let refused = snapshot.refused.into_owned().into_iter();
        let refused = refused.map(|file| (Cow::Owned(file.path.clone()), Known::Refused(file)));
        Self {
            files: indexed.chain(refused).collect(),
            count,
            roots: snapshot.roots,
        }
    }

    pub fn take(&mut self, path: &RepoPath) -> Option<Known<'a>> {
        self.files.remove(path.as_str())
    }
}

impl Known<'_> {
    fn identity(&self) -> Identity {
        match self {
            Self::Indexed(file) => file.identity,
            Self::Refused(file) => Identity {
                sum: file.sum,
                hash: ContentHash::default(),
            },
        }
    }
}

/// Reads a file from disk, and lowers it unless it is known.
pub(super) fn refresh(
    root: &fs::File,
    path: RepoPath,
    known: Option<Known<'_>>,
    options: &Options,
    cache: Option<&Cache>,
    scratch: &mut Scratch,
) -> Result<Fresh, Refused> {
    match load::read(root, &path, options.max_bytes) {
        Ok(bytes) => {
            let before = known.as_ref().map(Known::identity);
            let identity = cache.map(|_| Identity::of(&bytes, before));
            read(
                path,
                identity.unwrap_or_default(),
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
                sum: Sum::default(),
                reason,
            },
            parsed: false,
        }),
    }
}

/// A text, lowered unless it is known.
pub(super) fn read(
    path: RepoPath,
    identity: Identity,
    text: Result<String, String>,
    known: Option<Known<'_>>,
    options: &Options,
    cache: Option<&Cache>,
    scratch: &mut Scratch,
) -> Result<Fresh, Refused> {
    let refused = |reason, parsed| Refused {
        kept: SnapshotSkip {
            path: path.to_string(),
            sum: identity.sum,
            reason,
        },
        parsed,
    };
    let text = text.map_err(|reason| refused(reason, false))?;
    let known = match known {
        Some(Known::Refused(kept)) if kept.sum == identity.sum => {
            return Err(Refused {
                kept,
                parsed: false,
            });
        }
        Some(Known::Indexed(known)) => Some(known),
        _ => None,
    };
    let interface_before = known.as_ref().map(|known| known.interface);
    if let Some(same) = known.filter(|known| known.identity.sum == identity.sum)
        && let Some((facts, resolved)) = same.body()
    {
        return Ok(Fresh {
            path,
            text,
            identity,
            interface: same.interface,
            interface_before,
            content: Content::Known(facts, resolved),
            parsed: false,
        });
    }
    let stored = cache.and_then(|cache| cache.outline(options.parser, &identity.hash));
    let parsed = stored.is_none();
    let outline = match stored {
        Some(outline) => outline,
        None => outline(options.parser, &text, scratch).map_err(|reason| refused(reason, true))?,
    };
    let interface = cache.map(|_| outline.interface());
    let packed = cache
        .filter(|_| parsed)
        .map(|_| pack_outline(options.parser, &identity.hash, &outline));
    Ok(Fresh {
        path,
        text,
        identity,
        interface: interface.unwrap_or_default(),
        interface_before,
        content: Content::New(Box::new(Loaded::new(outline)), packed),
        parsed,
    })
}
