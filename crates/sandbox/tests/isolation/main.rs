//! What a program inside can and cannot do, with real programs.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hydra_sandbox::{Bind, Isolation, Outcome, Sandbox, SandboxError, Spec, Status, probe};

/// The sandbox, or none with a printed reason where this machine can't isolate.
fn sandbox() -> Option<&'static Sandbox> {
    static SANDBOX: OnceLock<Option<Sandbox>> = OnceLock::new();
    let make = || match Sandbox::new(Isolation::Required) {
        Ok(sandbox) => Some(sandbox),
        Err(error @ SandboxError::Refused { .. }) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    };
    SANDBOX.get_or_init(make).as_ref()
}

fn shell(script: &str) -> Spec {
    let mut spec = Spec::new("/bin/sh");
    spec.args = vec!["-c".into(), script.into()];
    spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec
}

fn python(script: &str) -> Spec {
    let mut spec = Spec::new("/usr/bin/python3");
    spec.args = vec!["-c".into(), script.into()];
    spec.limits.wall = Duration::from_secs(30);
    spec
}

fn text(outcome: &Outcome) -> String {
    outcome.stdout.text()
}

macro_rules! run {
    ($spec:expr) => {
        match sandbox() {
            Some(sandbox) => sandbox.run($spec).unwrap(),
            None => return,
        }
    };
}

/// Whether a process with this word in its command line lives on this machine.
fn lives(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(word)
    })
}

mod launch;
mod limits;
mod walls;
