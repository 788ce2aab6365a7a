//! Runs untrusted programs, such as generated Python, in a box of their own.
//!
//! A [`Spec`] says what to run and what it may see; [`Sandbox::run`] answers with an
//! [`Outcome`]. With [`Isolation::Required`] the program gets its own user, mount, process,
//! network, IPC and host name namespaces: an empty file system with read-only binds and small
//! memory disks, no network but its own loopback, no capabilities, a system-call filter and
//! resource limits. It sees itself as uid 0; outside it is a throwaway or an ordinary user.
//! [`Sandbox::new`] makes a trial launch and refuses, with the remedy, where that can't be had.
//!
//! Inside, `/scratch`, `/tmp` and `/dev/shm` are writable and empty; `/usr` and its kin are the
//! host's, read-only; everything else comes from [`Spec::binds`] and [`Spec::files`]. Files that
//! only their owner may read stay unreadable inside, also when the host's root runs the box.
//!
//! The memory limit is a watchdog that adds up the resident memory of all processes every
//! few milliseconds, not a cgroup; the memory disks are bounded by their size and not counted.
//!
//! ```no_run
//! use hydra_sandbox::{Isolation, Sandbox, Spec, Status};
//! let sandbox = Sandbox::new(Isolation::Required)?;
//! let mut spec = Spec::new("/usr/bin/python3");
//! spec.args = vec!["-c".into(), "print(6 * 7)".into()];
//! let outcome = sandbox.run(&spec)?;
//! assert_eq!(outcome.status, Status::Exited(0));
//! assert_eq!(outcome.stdout.head, b"42\n");
//! # Ok::<(), hydra_sandbox::SandboxError>(())
//! ```

#[cfg(not(target_os = "linux"))]
compile_error!("hydra-sandbox needs Linux namespaces");

mod bare;
mod capture;
mod child;
mod collect;
mod error;
mod filter;
mod identity;
mod plan;
mod probe;
mod spec;
mod supervise;
mod sys;
mod watch;

pub use error::SandboxError;
pub use probe::{Probe, Refusal, probe};
pub use spec::{Bind, Captured, Isolation, Limits, Outcome, Spec, Status};

/// Runs [`Spec`]s. Cheap to share: `run` may be called from many threads at once.
#[derive(Debug)]
pub struct Sandbox {
    isolation: Isolation,
}

impl Sandbox {
    /// Makes sure, by a trial launch, that the isolation asked for can be had on this machine.
    ///
    /// With [`Isolation::Off`] there is nothing to try.
    pub fn new(isolation: Isolation) -> Result<Self, SandboxError> {
        if isolation == Isolation::Required {
            probe::trial()?;
        }
        Ok(Self { isolation })
    }

    /// Runs one program to its end or to a limit. Nothing of it is left running afterwards.
    ///
    /// An error means that the program could not be run as asked; whatever the program itself
    /// does is an [`Outcome`].
    pub fn run(&self, spec: &Spec) -> Result<Outcome, SandboxError> {
        spec.check()?;
        match self.isolation {
            Isolation::Required => supervise::run(spec),
            Isolation::Off => bare::run(spec),
        }
    }
}
