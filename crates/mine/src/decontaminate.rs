//! What a benchmark asks for must not be learned: repositories that hold its solutions.

use std::collections::BTreeMap;
use std::path::Path;

use hydra_core::{CoreError, RepoPath, jsonl};
use hydra_pyindex::fingerprint::{self, FileTokens};
use serde::{Deserialize, Serialize};

use crate::MineError;

/// Shorter solutions occur everywhere: a property that returns an attribute has some ten tokens.
pub const MIN_SOLUTION_TOKENS: usize = 32;

/// The solution of a benchmark's task: a line of `configs/benchmark-solutions.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Solution {
    /// The benchmark.
    pub benchmark: String,
    /// The task, as the benchmark names it.
    pub task: String,
    /// [`fingerprint::Tokens::hash`] of the function, from `def` on.
    pub hash: String,
    /// How many tokens it has.
    pub tokens: usize,
}

impl Solution {
    /// Fingerprints solutions given as (task, source of the function, decorators and all). A
    /// source without a function, and one shorter than [`MIN_SOLUTION_TOKENS`], gives none.
    ///
    /// # Errors
    /// Only where no thread can be started.
    pub fn of(benchmark: &str, sources: &[(String, String)]) -> Result<Vec<Self>, MineError> {
        let read = fingerprint::read(sources, |(_, source)| source)?;
        let made = sources.iter().zip(read).filter_map(|((task, _), file)| {
            let tokens = file.functions.into_iter().next()?.tokens;
            (tokens.len() >= MIN_SOLUTION_TOKENS).then(|| Self {
                benchmark: benchmark.to_owned(),
                task: task.clone(),
                hash: tokens.hash(),
                tokens: tokens.len(),
            })
        });
        Ok(made.collect())
    }
}

/// Solutions by their hash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Solutions(BTreeMap<String, Solution>);

impl Solutions {
    /// Reads a file of [`Solution`]s.
    pub fn read(path: &Path) -> Result<Self, CoreError> {
        Ok(jsonl::read::<Solution>(path)?.into_iter().collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where the first solution stands among these files, and whose it is, in words.
    pub(crate) fn found<'f>(
        &self,
        files: impl IntoIterator<Item = (&'f RepoPath, &'f FileTokens)>,
    ) -> Option<String> {
        files.into_iter().find_map(|(path, file)| {
            file.functions.iter().find_map(|function| {
                if function.tokens.len() < MIN_SOLUTION_TOKENS {
                    return None;
                }
                let known = self.0.get(&function.tokens.hash())?;
                Some(format!(
                    "holds the solution of {} task {}: {} at {path}:{}",
                    known.benchmark, known.task, function.name, function.line
                ))
            })
        })
    }
}

impl FromIterator<Solution> for Solutions {
    fn from_iter<I: IntoIterator<Item = Solution>>(solutions: I) -> Self {
        Self(solutions.into_iter().map(|s| (s.hash.clone(), s)).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SOLUTION: &str = "def area(points):\n    total = 0\n    for (x1, y1), (x2, y2) in zip(points, points[1:]):\n        total += x1 * y2 - x2 * y1\n    return abs(total) / 2\n";

    fn places(text: &str) -> Option<String> {
        let solutions = Solution::of("repoexec", &[("7".to_owned(), SOLUTION.to_owned())]).unwrap();
        let files = fingerprint::read(&[text], |t| t).unwrap();
        let path = RepoPath::new("geo/shape.py").unwrap();
        Solutions::from_iter(solutions).found([(&path, &files[0])])
    }

    #[test]
    fn a_solution_is_found_in_a_class_with_comments_and_other_layout() {
        let body = SOLUTION
            .replace(
                "total = 0",
                "\"\"\"Shoelace.\"\"\"\n    total = 0  # so far",
            )
            .replace('\n', "\n    ");
        let text = format!("X = 1\n\nclass Shape:\n    @staticmethod\n    {body}\n");
        assert_eq!(
            places(&text).as_deref(),
            Some("holds the solution of repoexec task 7: area at geo/shape.py:4")
        );
    }

    #[test]
    fn another_program_is_no_solution() {
        assert_eq!(places(&SOLUTION.replace("/ 2", "/ 3")), None);
    }

    #[test]
    fn short_solutions_are_not_looked_for() {
        let short = (
            "1".to_owned(),
            "def f(self):\n    return self.x\n".to_owned(),
        );
        assert!(Solution::of("b", &[short]).unwrap().is_empty());
    }
}
