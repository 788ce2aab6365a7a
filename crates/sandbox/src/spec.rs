//! What to run, within which limits, and what came of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::SandboxError;

/// Whether the program is kept apart from the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Namespaces, system-call filter and limits, or nothing runs.
    Required,
    /// Only limits, a process group and a temporary folder: for code that the user trusts, and
    /// only when they say so.
    ///
    /// Paths are then not mapped: binds must have the same source and target, `/scratch` in
    /// [`Spec::cwd`], [`Spec::files`] and [`Spec::collect`] means the temporary folder, and
    /// arguments should be relative to it. A process that leaves its session escapes.
    Off,
}

/// A read-only view of a file or folder of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// Where it is on the host; links are followed.
    pub source: PathBuf,
    /// Where the program sees it.
    pub target: PathBuf,
}

/// Bounds on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Time on the clock from the program's start.
    pub wall: Duration,
    /// Processor time of any one process, rounded up to seconds.
    pub cpu: Duration,
    /// Resident bytes of all processes together.
    pub memory: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Bytes of any one file written, and of any one file collected.
    pub file_size: u64,
    /// Bytes of each of `/scratch`, `/tmp` and `/dev/shm`.
    pub scratch: u64,
    /// Bytes kept of standard output, and as many of standard error.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(10),
            cpu: Duration::from_secs(10),
            memory: 1 << 30,
            processes: 64,
            file_size: 64 << 20,
            scratch: 64 << 20,
            output: 1 << 20,
        }
    }
}

/// A program to run and all that it gets to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Absolute path of the program, as seen inside.
    pub program: PathBuf,
    /// Its arguments, without its own name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Read-only views of the host, in the order of mounting.
    pub binds: Vec<Bind>,
    /// Files to lay out before the start: target inside, content.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// The folder to start in.
    pub cwd: PathBuf,
    /// What standard input holds.
    pub stdin: Vec<u8>,
    /// Bounds on the run.
    pub limits: Limits,
    /// Names of regular files directly in `/scratch` to read back afterwards. Links, devices
    /// and files beyond [`Limits::file_size`] are left out.
    pub collect: Vec<String>,
}

impl Spec {
    /// A program without arguments, with an empty environment and the default limits.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            binds: Vec::new(),
            files: Vec::new(),
            cwd: PathBuf::from("/scratch"),
            stdin: Vec::new(),
            limits: Limits::default(),
            collect: Vec::new(),
        }
    }

    /// Refuses requests that can't mean anything.
    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        let plain = |what: &str, path: &Path| {
            let normal = |part| matches!(part, Component::RootDir | Component::Normal(_));
            if path.is_absolute() && path.components().all(normal) {
                return Ok(());
            }
            let path = path.display();
            Err(SandboxError::Spec(format!(
                "{what} {path} must be absolute and without `..`"
            )))
        };
        plain("program", &self.program)?;
        plain("working folder", &self.cwd)?;
        for bind in &self.binds {
            plain("bind target", &bind.target)?;
            if bind.target == Path::new("/") {
                return Err(SandboxError::Spec("a bind can't replace `/`".into()));
            }
        }
        for (target, _) in &self.files {
            plain("file", target)?;
        }
        for name in &self.collect {
            if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
                return Err(SandboxError::Spec(format!(
                    "{name:?} is no file name to collect"
                )));
            }
        }
        for (name, _) in &self.env {
            if name.is_empty() || name.contains('=') {
                return Err(SandboxError::Spec(format!(
                    "{name:?} is no environment variable"
                )));
            }
        }
        Ok(())
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// At the wall or processor limit.
    TimedOut,
    /// At the memory limit.
    OutOfMemory,
}

/// The start and the end of an output, as raw bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes: at most half of [`Limits::output`].
    pub head: Vec<u8>,
    /// The last bytes, where they are not in the head: at most the other half.
    pub tail: Vec<u8>,
    /// How many bytes between them were thrown away.
    pub dropped: u64,
}

impl Captured {
    /// Head and tail as text, with a mark where bytes were dropped.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.dropped > 0 {
            text.push_str(&format!("\n[{} bytes dropped]\n", self.dropped));
        }
        text + &String::from_utf8_lossy(&self.tail)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Time on the clock from the program's start to its end.
    pub wall: Duration,
    /// Processor time of all its processes, the box's own few milliseconds included.
    pub cpu: Duration,
    /// Most resident bytes seen at once, sampled every few milliseconds.
    pub peak_memory: u64,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// The files of [`Spec::collect`] that were there.
    pub collected: BTreeMap<String, Vec<u8>>,
}
