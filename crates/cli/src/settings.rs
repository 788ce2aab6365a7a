//! The settings file: defaults are the paper's, a TOML file overrides them, flags override that.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// Every setting, one section a stage. Unknown keys are errors.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The seed of everything random.
    pub seed: u64,
    /// Mining.
    pub mine: MineSettings,
    /// Training.
    pub train: hydra_dar::TrainConfig,
    /// Retrieval.
    pub retrieve: RetrieveSettings,
    /// An OpenAI-compatible server.
    pub openai: hydra_generate::OpenAiConfig,
    /// Running tests.
    pub execute: ExecuteSettings,
    /// The mini benchmark, which the repository carries.
    pub mini: BenchmarkSettings,
    /// RepoExec.
    pub repoexec: BenchmarkSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // The released package's seed.
            seed: 42,
            mine: MineSettings::default(),
            train: hydra_dar::TrainConfig::default(),
            retrieve: RetrieveSettings::default(),
            openai: hydra_generate::OpenAiConfig::default(),
            execute: ExecuteSettings::default(),
            mini: BenchmarkSettings {
                tasks: "datasets/mini/benchmark/tasks.jsonl".into(),
                env: None,
            },
            repoexec: BenchmarkSettings {
                tasks: "datasets/repoexec/repoexec.jsonl".into(),
                env: None,
            },
        }
    }
}

/// Mining.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MineSettings {
    /// The names that must not be mined, because a benchmark is made of them.
    pub benchmark_projects: PathBuf,
    /// The interpreter whose pip downloads wheels.
    pub python: PathBuf,
}

impl Default for MineSettings {
    fn default() -> Self {
        Self {
            benchmark_projects: "configs/benchmark-projects.toml".into(),
            python: "python3".into(),
        }
    }
}

/// Retrieval. The defaults are the released package's.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrieveSettings {
    /// How many units BM25 returns.
    pub bm25_top: usize,
    /// How many units dense retrieval returns.
    pub dense_top: usize,
    /// How many units of BM25 Hydra takes before DAR's.
    pub hydra_bm25_top: usize,
}

impl Default for RetrieveSettings {
    fn default() -> Self {
        Self {
            bm25_top: 10,
            dense_top: 10,
            hydra_bm25_top: 5,
        }
    }
}

/// Where a benchmark lies.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkSettings {
    /// Its problems (JSON lines).
    pub tasks: PathBuf,
    /// The environment that `bench-env` made; absent: in the user's cache folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<PathBuf>,
}

/// Running tests.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecuteSettings {
    /// Wall limit of one answer, in seconds.
    pub timeout: u64,
    /// Memory limit of one answer, in bytes.
    pub memory: u64,
}

impl Default for ExecuteSettings {
    fn default() -> Self {
        Self {
            // RepoExec's harness.
            timeout: 120,
            memory: 4 << 30,
        }
    }
}

impl Settings {
    /// Reads a settings file, or takes the defaults.
    pub fn load(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the settings file {}", path.display()))?;
        toml::from_str(&text).map_err(|error| {
            let before = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text[..before].matches('\n').count() + 1;
            anyhow::anyhow!("{}, line {line}: {}", path.display(), error.message())
        })
    }

    /// The settings as a file that [`Settings::load`] reads.
    pub fn to_toml(&self) -> anyhow::Result<String> {
        Ok(toml::to_string(self)?)
    }
}

/// The user's cache folder for Hydra: `$XDG_CACHE_HOME/hydra`, or `~/.cache/hydra`.
pub fn cache_folder() -> anyhow::Result<PathBuf> {
    let from = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    from("XDG_CACHE_HOME")
        .or_else(|| from("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("hydra"))
        .context("neither XDG_CACHE_HOME nor HOME is set")
}
