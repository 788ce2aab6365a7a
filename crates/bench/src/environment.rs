//! What the tests of a benchmark run in: a Python with the packages that they need, the projects'
//! sources and the recorded outputs.
//!
//! [`build`] makes it in one folder and can be killed and run again: `environment.json` says what
//! is finished, with hashes that are checked before anything is used again.
//!
//! ```text
//! python/            a virtual environment with the lock's packages
//! downloads/         the projects' archives, as published
//! projects/          the projects' sources; the tests see it as /input
//! outputs/           recorded outputs; the tests see it as /output
//! environment.json   what was built from what
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hydra_core::{CoreError, Progress, RepoPath, hash, lock_folder, read_json, write_json};
use serde::{Deserialize, Serialize};

use crate::unpack::unpack;
use crate::{BenchError, Interpreter};

const FETCH: &str = include_str!("fetch_source.py");

/// A project that the benchmark's functions come from. `configs/repoexec-projects.json` is a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its folder below the projects, as the tasks name it.
    pub project: RepoPath,
    /// Its name in the package index.
    pub package: String,
    /// The version whose sources are the benchmark's.
    pub version: String,
    /// Which of its archives holds them.
    pub kind: ArchiveKind,
    /// The archive's SHA-256.
    pub sha256: String,
}

/// The two forms in which a Python project is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveKind {
    /// A built package; the packages are at its top.
    Wheel,
    /// The sources in a folder `name-version`.
    Sdist,
}

impl ArchiveKind {
    fn name(self) -> &'static str {
        match self {
            Self::Wheel => "wheel",
            Self::Sdist => "sdist",
        }
    }
}

/// What to build.
#[derive(Debug, Clone)]
pub struct EnvironmentConfig {
    /// Pythons to choose from, best first: paths, or names on the search path.
    pub pythons: Vec<PathBuf>,
    /// The version that the packages are locked for, such as `(3, 10)`.
    pub version: (u32, u32),
    /// The list of [`Project`]s (JSON).
    pub projects: PathBuf,
    /// The packages, `name==version` lines, all published as wheels: no set-up code runs.
    pub lock: PathBuf,
    /// Modules of packages that are published as sources only, as a list of [`Project`]s whose
    /// `project` is the module's file or folder in the archive. They are put beside the packages
    /// as they are.
    pub modules: PathBuf,
    /// An archive of recorded outputs (`.tar.gz`), if the tests open any.
    pub outputs: Option<PathBuf>,
}

/// A built environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The virtual environment's Python.
    pub python: PathBuf,
    /// The projects' folder, for [`crate::RepoExecConfig::projects`].
    pub projects: PathBuf,
    /// The recorded outputs, for [`crate::RepoExecConfig::outputs`].
    pub outputs: Option<PathBuf>,
}

/// `environment.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Built {
    /// What `python` was built from and holds.
    python: Option<Pythonic>,
    /// By [`Project::project`].
    projects: BTreeMap<RepoPath, Unpacked>,
    outputs: Option<Unpacked>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Pythonic {
    version: String,
    lock_sha256: String,
    modules_sha256: String,
    /// Of what `pip list` says, and of the modules.
    packages_sha256: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Unpacked {
    archive: String,
    archive_sha256: String,
    files_sha256: String,
}

/// Builds the environment in `folder`, or completes and checks what is there.
///
/// # Errors
/// [`BenchError::Python`] if no Python of the version is among the candidates,
/// [`BenchError::Tool`] if pip fails, [`BenchError::Archive`] if an archive is unsafe or not the
/// one that the list names.
pub fn build(
    config: &EnvironmentConfig,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Environment, BenchError> {
    let folder = std::path::absolute(folder).map_err(CoreError::io(folder))?;
    let projects = read_json::<Vec<Project>>(&config.projects)?;
    std::fs::create_dir_all(&folder).map_err(CoreError::io(&folder))?;
    let _lock = lock_folder(&folder)?;
    let staging = folder.join("staging");
    fresh(&staging)?;
    let mut work = Work {
        record: folder.join("environment.json"),
        built: Built::default(),
        staging,
        folder,
    };
    if work.record.exists() {
        work.built = read_json(&work.record)?;
    }
    let bar = progress.start("environment", Some(projects.len() as u64 + 2));
    bar.message("Python and its packages");
    let python = work.python(config)?;
    bar.advance(1);
    for project in &projects {
        bar.message(&project.package);
        work.project(project, &python)?;
        bar.advance(1);
    }
    let outputs = config
        .outputs
        .as_deref()
        .map(|archive| work.outputs(archive))
        .transpose()?;
    bar.advance(1);
    remove(&work.staging)?;
    Ok(Environment {
        python,
        projects: work.folder.join("projects"),
        outputs,
    })
}

/// The first of `candidates` that is a Python for which `fits` holds, given its (major, minor)
/// version. A benchmark without packages needs no more than this.
///
/// # Errors
/// [`BenchError::Python`] with what each candidate is instead.
pub fn find_python(
    candidates: &[PathBuf],
    wanted: &str,
    fits: impl Fn((u32, u32)) -> bool,
) -> Result<Interpreter, BenchError> {
    let mut tried = Vec::new();
    for candidate in candidates {
        match version(candidate) {
            Ok(found) if fits(found) => match Interpreter::find(candidate) {
                Ok(interpreter) => return Ok(interpreter),
                Err(error) => tried.push(format!("{}: {error}", candidate.display())),
            },
            Ok((major, minor)) => {
                tried.push(format!("{} is {major}.{minor}", candidate.display()));
            }
            Err(reason) => tried.push(format!("{}: {reason}", candidate.display())),
        }
    }
    Err(BenchError::Python {
        wanted: wanted.to_owned(),
        tried: if tried.is_empty() {
            "no candidate was given".to_owned()
        } else {
            tried.join("; ")
        },
    })
}

fn version(python: &Path) -> Result<(u32, u32), String> {
    let ask = "import sys; print(sys.version_info[0], sys.version_info[1])";
    let output = Command::new(python)
        .args(["-I", "-c", ask])
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => Err("it is no Python".to_owned()),
    }
}

struct Work {
    folder: PathBuf,
    /// Unfinished things; emptied at the start.
    staging: PathBuf,
    record: PathBuf,
    built: Built,
}

impl Work {
    fn save(&self) -> Result<(), BenchError> {
        Ok(write_json(&self.record, &self.built)?)
    }

    fn python(&mut self, config: &EnvironmentConfig) -> Result<PathBuf, BenchError> {
        let place = self.folder.join("python");
        let python = place.join("bin/python");
        let lock_sha256 = hash::sha256_file(&config.lock)?;
        let modules_sha256 = hash::sha256_file(&config.modules)?;
        let modules = read_json::<Vec<Project>>(&config.modules)?;
        let (major, minor) = config.version;
        let site = place.join(format!("lib/python{major}.{minor}/site-packages"));
        let wanted = format!("{major}.{minor}");
        if let Some(known) = &self.built.python
            && known.version == wanted
            && known.lock_sha256 == lock_sha256
            && known.modules_sha256 == modules_sha256
            && packages(&python, &site, &modules).is_ok_and(|found| found == known.packages_sha256)
        {
            return Ok(python);
        }
        // A half-made or changed one is made anew: pip would keep packages of another lock.
        self.built.python = None;
        self.save()?;
        let base = find_python(&config.pythons, &wanted, |found| found == config.version)?;
        fresh(&place)?;
        let mut venv = Command::new(&base.executable);
        run(venv.args(["-m", "venv"]).arg(&place), "python -m venv")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--no-deps", "--quiet"])
            .args(["--only-binary", ":all:"])
            .args(["--disable-pip-version-check", "--no-input", "-r"])
            .arg(&config.lock);
        run(&mut pip, "pip install")?;
        for module in &modules {
            self.module(module, &python, &site)?;
        }
        self.built.python = Some(Pythonic {
            version: wanted,
            lock_sha256,
            modules_sha256,
            packages_sha256: packages(&python, &site, &modules)?,
        });
        self.save()?;
        Ok(python)
    }

    /// Puts a module of a source archive beside the installed packages.
    fn module(&self, module: &Project, python: &Path, site: &Path) -> Result<(), BenchError> {
        let archive = self.archive(module, python)?;
        let beside = self.staging.join("unpacked");
        remove(&beside)?;
        unpack(&archive, 1, &beside)?;
        let found = module.project.under(&beside);
        if !found.exists() {
            return Err(BenchError::Archive {
                path: archive,
                reason: format!("holds no {}", module.project),
            });
        }
        let place = module.project.under(site);
        std::fs::rename(&found, &place).map_err(CoreError::io(&place))?;
        Ok(())
    }

    fn project(&mut self, project: &Project, python: &Path) -> Result<(), BenchError> {
        let top = top(&project.project);
        let place = top.under(&self.folder.join("projects"));
        if let Some(known) = self.built.projects.get(&project.project)
            && known.archive_sha256 == project.sha256
            && place.is_dir()
            && hash::sha256_folder(&place)? == known.files_sha256
        {
            return Ok(());
        }
        let archive = self.archive(project, python)?;
        let strip = usize::from(project.kind == ArchiveKind::Sdist);
        let unpacked = self.lay(&archive, strip, &place)?;
        if !project
            .project
            .under(&self.folder.join("projects"))
            .is_dir()
        {
            return Err(BenchError::Archive {
                path: archive,
                reason: format!("holds nothing for {}", project.project),
            });
        }
        let key = project.project.clone();
        self.built.projects.insert(key, unpacked);
        self.save()
    }

    /// The archive in `downloads`, fetched if it is missing or not the one that is listed.
    fn archive(&self, project: &Project, python: &Path) -> Result<PathBuf, BenchError> {
        let shelf = self.folder.join("downloads").join(&project.package);
        if let Ok(entries) = std::fs::read_dir(&shelf) {
            for entry in entries.flatten() {
                let path = entry.path();
                if path.is_file() && hash::sha256_file(&path)? == project.sha256 {
                    return Ok(path);
                }
            }
        }
        let script = self.staging.join("fetch_source.py");
        std::fs::write(&script, FETCH).map_err(CoreError::io(&script))?;
        let download = self.staging.join("download");
        fresh(&download)?;
        let mut fetch = Command::new(python);
        fetch
            .arg("-I")
            .arg(&script)
            .args([&project.package, &project.version])
            .arg(project.kind.name())
            .arg(&download);
        let said = run(&mut fetch, &format!("fetching {}", project.package))?;
        let fetched = PathBuf::from(said.lines().next().unwrap_or_default());
        let found = hash::sha256_file(&fetched)?;
        if found != project.sha256 {
            return Err(BenchError::Archive {
                path: fetched,
                reason: format!("SHA-256 is {found}, not {}", project.sha256),
            });
        }
        std::fs::create_dir_all(&shelf).map_err(CoreError::io(&shelf))?;
        let place = shelf.join(fetched.file_name().unwrap_or_default());
        std::fs::rename(&fetched, &place).map_err(CoreError::io(&place))?;
        Ok(place)
    }

    fn outputs(&mut self, archive: &Path) -> Result<PathBuf, BenchError> {
        let place = self.folder.join("outputs");
        let archive_sha256 = hash::sha256_file(archive)?;
        if let Some(known) = &self.built.outputs
            && known.archive_sha256 == archive_sha256
            && place.is_dir()
            && hash::sha256_folder(&place)? == known.files_sha256
        {
            return Ok(place);
        }
        self.built.outputs = Some(self.lay(archive, 0, &place)?);
        self.save()?;
        Ok(place)
    }

    /// Unpacks beside and renames, so that `place` is whole or not there.
    fn lay(&self, archive: &Path, strip: usize, place: &Path) -> Result<Unpacked, BenchError> {
        let beside = self.staging.join("unpacked");
        remove(&beside)?;
        unpack(archive, strip, &beside)?;
        let files_sha256 = hash::sha256_folder(&beside)?;
        remove(place)?;
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(CoreError::io(parent))?;
        }
        std::fs::rename(&beside, place).map_err(CoreError::io(place))?;
        let name = archive.file_name().unwrap_or_default();
        Ok(Unpacked {
            archive: name.to_string_lossy().into_owned(),
            archive_sha256: hash::sha256_file(archive)?,
            files_sha256,
        })
    }
}

/// The folder that a project's archive fills: `test-apps/black` for `test-apps/black/src`.
fn top(project: &RepoPath) -> RepoPath {
    let mut top = project.clone();
    while let Some(parent) = top.parent().filter(|p| p.parent().is_some()) {
        top = parent;
    }
    top
}

/// The hash of the installed packages' names and versions, and of the modules beside them.
fn packages(python: &Path, site: &Path, modules: &[Project]) -> Result<String, BenchError> {
    let mut list = Command::new(python);
    list.args(["-I", "-m", "pip", "list", "--format=freeze"])
        .arg("--disable-pip-version-check");
    let mut all = run(&mut list, "pip list")?;
    for module in modules {
        let place = module.project.under(site);
        let hash = if place.is_dir() {
            // Python writes its bytecode there; only the sources count.
            hash::sha256_file(place.join("__init__.py"))?
        } else {
            hash::sha256_file(&place)?
        };
        all += &format!("{} {hash}\n", module.project);
    }
    Ok(hash::sha256(all))
}

/// Runs to the end and returns what was printed.
fn run(command: &mut Command, what: &str) -> Result<String, BenchError> {
    let failed = |message: String| BenchError::Tool {
        what: what.to_owned(),
        message,
    };
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    // pip's last lines say what is wrong; venv complains on standard output.
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" | ");
    Err(failed(format!("{}: {last}", output.status)))
}

fn fresh(folder: &Path) -> Result<(), BenchError> {
    remove(folder)?;
    std::fs::create_dir_all(folder).map_err(CoreError::io(folder))?;
    Ok(())
}

fn remove(folder: &Path) -> Result<(), BenchError> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(CoreError::io(folder)(e).into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_missing_python_is_named_with_what_was_there_instead() {
        let candidates = [PathBuf::from("no-such-python"), PathBuf::from("true")];
        let error = find_python(&candidates, "3.10", |v| v == (3, 10)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("3.10") && text.contains("no-such-python"),
            "{text}"
        );
        assert!(text.contains("true: it is no Python"), "{text}");
    }

    #[test]
    fn the_source_layout_of_black_lies_below_its_project() {
        let of = |p: &str| top(&RepoPath::new(p).unwrap()).to_string();
        assert_eq!(of("test-apps/black/src"), "test-apps/black");
        assert_eq!(of("test-apps/luigi"), "test-apps/luigi");
        assert_eq!(of("demo"), "demo");
    }
}
