//! Says what isolation this machine gives, by trying.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::identity::Identity;
use crate::{SandboxError, Spec, Status, supervise};

/// What a trial launch showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The kernel's release.
    pub kernel: String,
    /// The user who runs us.
    pub uid: u32,
    /// The user outside as whom the box runs, if there can be one.
    pub box_uid: Option<u32>,
    /// Whether a program ran in its own namespaces, file system and system-call filter.
    pub isolated: bool,
    /// How the memory limit is kept.
    pub memory_limit: String,
    /// Milliseconds from the request to the outcome of a program that does nothing.
    pub launch_ms: Option<f64>,
    /// Why not, and the way out.
    pub refused: Option<Refusal>,
}

/// Why isolation can't be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What failed.
    pub reason: String,
    /// What to change.
    pub remedy: String,
}

/// Launches a program that does nothing, in a real box.
pub(crate) fn trial() -> Result<(), SandboxError> {
    let program = ["/usr/bin/true", "/bin/true"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
        .ok_or_else(|| refuse("/bin/true is missing".into()))?;
    match supervise::run(&Spec::new(program)) {
        Ok(outcome) if outcome.status == Status::Exited(0) => Ok(()),
        Ok(outcome) => Err(refuse(format!(
            "a trial launch ended with {:?}",
            outcome.status
        ))),
        Err(error @ SandboxError::Refused { .. }) => Err(error),
        Err(error) => Err(refuse(error.to_string())),
    }
}

fn refuse(reason: String) -> SandboxError {
    let remedy = "it takes Linux 5.12 or newer with user namespaces and seccomp, and the usual \
                  programs under /usr";
    SandboxError::Refused {
        reason,
        remedy: remedy.into(),
    }
}

/// Tries to isolate and reports what came of it. Never fails: a refusal is a finding.
pub fn probe() -> Probe {
    let start = Instant::now();
    let trial = trial();
    let launch = start.elapsed().as_secs_f64() * 1000.0;
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Probe {
        kernel: kernel.trim().to_string(),
        uid: nix::unistd::geteuid().as_raw(),
        box_uid: Identity::take().ok().map(|identity| identity.uid),
        isolated: trial.is_ok(),
        memory_limit: "watchdog over resident memory, every 5 ms".into(),
        launch_ms: trial.is_ok().then_some(launch),
        refused: trial.err().map(|error| match error {
            SandboxError::Refused { reason, remedy } => Refusal { reason, remedy },
            other => Refusal {
                reason: other.to_string(),
                remedy: String::new(),
            },
        }),
    }
}
