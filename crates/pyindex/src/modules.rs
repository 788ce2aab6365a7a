//! Which file a module name means.

use std::collections::{BTreeSet, HashMap, HashSet};

use hydra_core::RepoPath;

use crate::outline::ModuleName;

/// A module's path without `.py` or `/__init__.py`; a namespace package has no file.
pub(crate) type Stem = String;

#[derive(Debug, Default)]
pub(crate) struct Modules {
    files: HashMap<Stem, usize>,
    folders: HashSet<Stem>,
    /// Absolute names, from every package root.
    names: HashMap<String, BTreeSet<Stem>>,
}

/// A file's stem.
pub(crate) fn stem(path: &RepoPath) -> Stem {
    let bare = path.as_str().strip_suffix(".py").unwrap_or(path.as_str());
    match bare.strip_suffix("/__init__") {
        Some(package) => package.to_owned(),
        None if bare == "__init__" => String::new(),
        None => bare.to_owned(),
    }
}

fn parent(stem: &str) -> &str {
    stem.rsplit_once('/').map_or("", |(p, _)| p)
}

impl Modules {
    pub fn new(paths: &[RepoPath]) -> Self {
        let mut modules = Self::default();
        let packages: HashSet<&str> = paths
            .iter()
            .filter(|p| p.file_name() == "__init__.py")
            .map(|p| p.as_str().strip_suffix("/__init__.py").unwrap_or(""))
            .collect();
        for (file, path) in paths.iter().enumerate() {
            let stem = stem(path);
            let is_package = path.file_name() == "__init__.py";
            // A package's `__init__.py` wins over a module beside it, as in Python.
            if is_package || !modules.files.contains_key(&stem) {
                modules.files.insert(stem.clone(), file);
            }
            let mut folder = parent(&stem);
            while !folder.is_empty() {
                modules.folders.insert(folder.to_owned());
                folder = parent(folder);
            }
            // The root of the regular package that holds the file, and the repository's root.
            let mut root = parent(&stem);
            while !root.is_empty() && packages.contains(root) {
                root = parent(root);
            }
            for root in [root, ""] {
                let inside = stem.strip_prefix(root).unwrap_or(&stem);
                let name = inside.trim_start_matches('/').replace('/', ".");
                if !name.is_empty() {
                    modules.add(name, root, &stem);
                }
            }
        }
        modules
    }

    /// Registers a name and those of the packages around it.
    fn add(&mut self, name: String, root: &str, stem: &str) {
        let mut name = name;
        let mut stem = stem.to_owned();
        loop {
            self.names
                .entry(name.clone())
                .or_default()
                .insert(stem.clone());
            match name.rsplit_once('.') {
                Some((outer, _)) if stem.len() > root.len() => {
                    name = outer.to_owned();
                    stem = parent(&stem).to_owned();
                }
                _ => return,
            }
        }
    }

    /// The file of a module; nothing for a namespace package.
    pub fn file(&self, stem: &str) -> Option<usize> {
        self.files.get(stem).copied()
    }

    /// A module inside a package.
    pub fn child(&self, package: &str, name: &str) -> Option<Stem> {
        let stem = if package.is_empty() {
            name.to_owned()
        } else {
            format!("{package}/{name}")
        };
        (self.files.contains_key(&stem) || self.folders.contains(&stem)).then_some(stem)
    }

    /// The module that `name` means in the file at `from`; nothing if it is not in the repository.
    pub fn resolve(&self, from: &RepoPath, name: &ModuleName) -> Option<Stem> {
        if name.level == 0 {
            let stems = self.names.get(&name.parts.join("."))?;
            // The nearest, where several packages of a repository share a name.
            let here = from.as_str();
            let near = |stem: &str| {
                let same = stem.bytes().zip(here.bytes()).take_while(|(a, b)| a == b);
                same.count()
            };
            return stems
                .iter()
                .min_by_key(|stem| (std::cmp::Reverse(near(stem)), (*stem).clone()))
                .cloned();
        }
        let own = stem(from);
        let mut package = if from.file_name() == "__init__.py" {
            own.as_str()
        } else {
            parent(&own)
        };
        for _ in 1..name.level {
            if package.is_empty() {
                return None;
            }
            package = parent(package);
        }
        let mut found = package.to_owned();
        for part in &name.parts {
            found = self.child(&found, part)?;
        }
        Some(found)
    }
}
