//! The records that travel between stages, one JSON object a line.
//!
//! `tasks.jsonl` holds [`Task`]s, `retrieval.jsonl` [`Retrieval`]s, `answers.jsonl` [`Answer`]s,
//! `verdicts.jsonl` [`Judged`]s; `metrics.json` is one [`Metrics`], `threshold.json` one
//! [`ThresholdTable`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Mode, RepoPath, TaskId, UnitId};

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// A function outside any class, nested ones included.
    Function,
    /// A function in a class body.
    Method,
    /// A class.
    Class,
    /// A module-level variable.
    Variable,
    /// An attribute of a class or of its instances: `x = 1` in a class body, `self.x = 1` in a
    /// method. A dependency can lead to one; it is no candidate, as its class holds it.
    Attribute,
}

impl UnitKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Variable,
        Self::Attribute,
    ];

    /// As it is written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Variable => "variable",
            Self::Attribute => "attribute",
        }
    }
}

/// A unit that a retriever chose, and why it is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The unit.
    pub unit: UnitId,
    /// What it is.
    pub kind: UnitKind,
    /// Its bare name.
    pub name: String,
    /// The file that defines it.
    pub path: RepoPath,
    /// The retriever that chose it: `bm25`, `dense`, `dar`.
    pub retriever: String,
    /// That retriever's score; a probability for `dar`.
    pub score: f64,
    /// Its place in the answer, from 1.
    pub rank: usize,
}

/// A dependency that the benchmark names for a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrueDependency {
    /// Its bare name.
    pub name: String,
    /// What it is, as the benchmark says.
    pub kind: UnitKind,
    /// The file that defines it, if known.
    pub path: Option<RepoPath>,
}

/// A benchmark problem as the stages above the index see it: without the target's body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id, such as `repoexec/17`.
    pub id: TaskId,
    /// The project that it belongs to; a folder below the benchmark's sources.
    pub project: String,
    /// The file that holds the target, relative to the project.
    pub path: RepoPath,
    /// The target's qualified name in that file.
    pub target: String,
    /// Signature and docstring: the text that the model completes.
    pub prompt: String,
    /// The signature on one line.
    pub signature: String,
    /// The cleaned docstring.
    pub docstring: Option<String>,
    /// The dependencies that retrieval is measured against.
    pub dependencies: Vec<TrueDependency>,
}

/// What a retriever found for a task, and the prompt made of it. A line of `retrieval.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retrieval {
    /// The task.
    pub task: TaskId,
    /// The retriever: `none`, `bm25`, `dense`, `dar`, `hydra`.
    pub retriever: String,
    /// Whose behaviour this is.
    pub mode: Mode,
    /// How many candidates there were.
    pub pool: usize,
    /// The chosen units, best first.
    pub hits: Vec<Hit>,
    /// The whole prompt for the generator.
    pub prompt: String,
}

/// One completion of a task. A line of `answers.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The task.
    pub task: TaskId,
    /// Which of the n samples, from 0.
    pub sample: usize,
    /// The raw completion.
    pub completion: String,
    /// Why the generator stopped: `stop`, `length`, or what the server said.
    pub finish_reason: Option<String>,
    /// The SHA-256 of the prompt that it answers; empty where the answer was not asked for.
    #[serde(default)]
    pub prompt: String,
}

/// What became of an answer when the tests ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Every test ran and passed.
    Passed,
    /// An exception left the check: its type and message.
    Failed {
        /// `AssertionError`, `pkg.errors.CustomError`.
        exception: String,
        /// The message, shortened.
        message: String,
    },
    /// The wall limit was reached.
    TimedOut,
    /// The memory limit was reached.
    OutOfMemory,
    /// The process ended without the report of a finished test run.
    NoTestRan {
        /// What was seen instead: exit code, signal.
        reason: String,
    },
    /// Hydra or the machine failed, not the answer.
    Infrastructure {
        /// What failed.
        reason: String,
    },
}

impl Verdict {
    /// Only [`Verdict::Passed`] counts.
    pub fn passed(&self) -> bool {
        matches!(self, Self::Passed)
    }
}

/// An answer with its verdict. A line of `verdicts.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The task.
    pub task: TaskId,
    /// Which sample.
    pub sample: usize,
    /// The code that was tested, as extracted from the completion.
    pub code: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Recall, precision and F1 with the counts behind them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// Dependencies that were retrieved.
    pub found: usize,
    /// Dependencies that there are.
    pub wanted: usize,
    /// Units that were retrieved.
    pub retrieved: usize,
}

impl Retrieved {
    /// found / wanted; 0 where nothing was wanted.
    pub fn recall(&self) -> f64 {
        ratio(self.found, self.wanted)
    }

    /// found / retrieved; 0 where nothing was retrieved.
    pub fn precision(&self) -> f64 {
        ratio(self.found, self.retrieved)
    }

    /// Harmonic mean of recall and precision; 0 where both are 0.
    pub fn f1(&self) -> f64 {
        ratio(2 * self.found, self.wanted + self.retrieved)
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Milliseconds around retrieval alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The fastest task.
    pub min: f64,
    /// The slowest task.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
}

/// The scores of one retriever with one generator on one benchmark. The file `metrics.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The benchmark.
    pub benchmark: String,
    /// The retriever.
    pub retriever: String,
    /// The generator.
    pub generator: String,
    /// Whose behaviour this is.
    pub mode: Mode,
    /// Tasks scored.
    pub tasks: usize,
    /// Answers a task.
    pub samples: usize,
    /// pass@k by k.
    pub pass_at: BTreeMap<usize, f64>,
    /// The dependency invocation rate; absent where no task has a dependency.
    pub dir: Option<f64>,
    /// Verdicts by name.
    pub verdicts: BTreeMap<String, usize>,
    /// Failed answers by exception type.
    pub exceptions: BTreeMap<String, usize>,
    /// Retrieval over all kinds, micro-averaged (Table 3).
    pub retrieval: Retrieved,
    /// Retrieval by kind: `function` (methods included), `class`, `variable`.
    pub retrieval_by_kind: BTreeMap<String, Retrieved>,
    /// Retrieval latency, if it was measured.
    pub latency_ms: Option<Latency>,
}

/// A line of the threshold grid (Table 1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThresholdRow {
    /// The threshold T: positive where p1 >= T.
    pub threshold: f64,
    /// Recall of class 1.
    pub recall: f64,
    /// Precision of class 1.
    pub precision: f64,
    /// F1 of class 1.
    pub f1: f64,
    /// The balanced recall-precision score.
    pub brp: f64,
}

/// The BRP grid and the threshold it picks. The file `threshold.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThresholdTable {
    /// The weight of recall, from the class counts.
    pub alpha: f64,
    /// Pairs of class 1.
    pub positives: usize,
    /// Pairs of class 0.
    pub negatives: usize,
    /// The grid.
    pub rows: Vec<ThresholdRow>,
    /// The threshold with the highest BRP; the lower one of a tie.
    pub best: f64,
}
