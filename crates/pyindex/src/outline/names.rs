//! The names of a file; each has a number.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::Sym;

/// The names of a file, one behind the other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Names {
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
    /// Made when a name is first looked for.
    #[serde(skip)]
    table: OnceLock<HashTable<Sym>>,
}

impl Names {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn text(&self, name: Sym) -> &str {
        text(&self.text, &self.ends, name)
    }

    pub fn get(&self, name: &str) -> Option<Sym> {
        let table = self.table.get_or_init(|| {
            let mut table = HashTable::with_capacity(self.len());
            for one in 0..self.len() as Sym {
                let hash = |one: &Sym| hash(self.text(*one));
                table.insert_unique(hash(&one), one, hash);
            }
            table
        });
        let same = |one: &Sym| self.text(*one) == name;
        table.find(hash(name), same).copied()
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

impl Eq for Names {}

impl Hash for Names {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
        self.ends.hash(state);
    }
}

/// Gives names their numbers.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    text: String,
    ends: Vec<u32>,
    table: HashTable<Sym>,
}

impl Interner {
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.table.clear();
    }

    pub fn intern(&mut self, name: &str) -> Sym {
        if let Some(known) = self.get(name) {
            return known;
        }
        let new = self.ends.len() as Sym;
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        let rehash = |one: &Sym| hash(text(&self.text, &self.ends, *one));
        self.table.insert_unique(hash(name), new, rehash);
        new
    }

    pub fn get(&self, name: &str) -> Option<Sym> {
        let same = |one: &Sym| self.text(*one) == name;
        self.table.find(hash(name), same).copied()
    }

    pub fn text(&self, name: Sym) -> &str {
        text(&self.text, &self.ends, name)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// All names so far.
    pub fn names(&self) -> Names {
        Names {
            text: self.text.clone(),
            ends: self.ends.clone(),
            table: OnceLock::new(),
        }
    }
}

fn text<'t>(texts: &'t str, ends: &[u32], name: Sym) -> &'t str {
    let name = name as usize;
    let start = match name.checked_sub(1) {
        Some(before) => ends.get(before).copied(),
        None => Some(0),
    };
    let (Some(start), Some(end)) = (start, ends.get(name)) else {
        return "";
    };
    texts.get(start as usize..*end as usize).unwrap_or_default()
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_one_number() {
        let mut interner = Interner::default();
        let words = ["a", "", "ab", "b", "ab", "", "é", "a"];
        let numbers = words.map(|word| interner.intern(word));
        assert_eq!(numbers, [0, 1, 2, 3, 2, 1, 4, 0]);
        let names = interner.names();
        for (word, number) in words.into_iter().zip(numbers) {
            assert_eq!(names.text(number), word);
            assert_eq!(names.get(word), Some(number));
        }
        assert_eq!((names.get("c"), names.text(5), names.len()), (None, "", 5));
        interner.clear();
        assert_eq!((interner.intern("c"), interner.get("a")), (0, None));
    }
}
