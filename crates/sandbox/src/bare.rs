//! Runs trusted code with limits but without isolation.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::capture::Capture;
use crate::watch::{self, Watch};
use crate::{Outcome, SandboxError, Spec, Status, collect, plan, supervise, sys};

const TICK: Duration = Duration::from_millis(5);

/// Where a path of the box is without one: below the temporary folder, or nowhere.
fn unmapped(path: &Path, scratch: &Path) -> Result<PathBuf, SandboxError> {
    let inner = path.strip_prefix("/scratch").map_err(|_| {
        let path = path.display();
        SandboxError::Spec(format!(
            "{path} is not below /scratch, which needs isolation"
        ))
    })?;
    Ok(scratch.join(inner))
}

/// Runs a program in a temporary folder and its own session.
pub(crate) fn run(spec: &Spec) -> Result<Outcome, SandboxError> {
    for bind in &spec.binds {
        if bind.source != bind.target {
            let target = bind.target.display();
            return Err(SandboxError::Spec(format!(
                "a bind at {target} needs isolation"
            )));
        }
    }
    let folder = tempfile::tempdir().map_err(SandboxError::setup("making a temporary folder"))?;
    for (target, bytes) in &spec.files {
        let path = unmapped(target, folder.path())?;
        let step = || SandboxError::setup(format!("placing {}", path.display()));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(step())?;
        }
        File::create(&path)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(step())?;
    }
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).env_clear();
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(unmapped(&spec.cwd, folder.path()).or_else(|error| {
        if spec.cwd.is_dir() {
            Ok(spec.cwd.clone())
        } else {
            Err(error)
        }
    })?);
    let limits = plan::rlimits(spec);
    // SAFETY: between fork and exec only raw system calls on prepared memory.
    unsafe {
        command.pre_exec(move || {
            nix::unistd::setsid()?;
            sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64)?;
            for (resource, value) in &limits {
                sys::rlimit(*resource, *value)?;
            }
            Ok(())
        })
    };
    watch(spec, command, folder.path())
}

fn watch(spec: &Spec, mut command: Command, folder: &Path) -> Result<Outcome, SandboxError> {
    command.stdin(Stdio::from(supervise::stdin(&spec.stdin)?));
    let (stdout, stdout_w) = supervise::pipe()?;
    let (stderr, stderr_w) = supervise::pipe()?;
    command.stdout(stdout_w).stderr(stderr_w);
    let mut stdout = Capture::new(supervise::non_blocking(stdout)?, spec.limits.output);
    let mut stderr = Capture::new(supervise::non_blocking(stderr)?, spec.limits.output);
    let start = Instant::now();
    let exec = |source| SandboxError::Exec {
        program: spec.program.clone(),
        source,
    };
    let child = command.spawn().map_err(exec)?;
    drop(command);
    let pid = child.id() as i32;
    let system = |error: nix::errno::Errno| SandboxError::setup("watching it")(error.into());
    // SAFETY: the descriptor was opened just now and has no other owner.
    let pidfd = unsafe { OwnedFd::from_raw_fd(sys::pidfd_open(pid).map_err(system)?) };
    let mut memory = Watch::new("/proc".into(), spec.limits.memory);
    let limit = loop {
        let over = supervise::wait_readable(&pidfd, TICK)?;
        stdout.drain(4);
        stderr.drain(4);
        if over {
            break None;
        }
        if memory.exceeded_by(&session(pid)) {
            break Some(Status::OutOfMemory);
        }
        if start.elapsed() >= spec.limits.wall {
            break Some(Status::TimedOut);
        }
    };
    let wall = start.elapsed();
    sys::pidfd_kill(pidfd.as_raw_fd());
    end_session(pid);
    let (raw, micros) = sys::wait_for(pid).map_err(system)?;
    let scratch = File::open(folder).map_err(SandboxError::setup("opening the folder"))?;
    Ok(Outcome {
        status: limit.unwrap_or_else(|| supervise::ended(raw)),
        wall,
        cpu: Duration::from_micros(micros),
        peak_memory: memory.peak,
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        collected: collect::collect(spec, &scratch)?,
    })
}

/// Kills what a dead leader left in its session, which may still be forking, and waits for it.
fn end_session(leader: i32) {
    for _ in 0..200 {
        let id = |path: PathBuf| path.file_name()?.to_str()?.parse().ok();
        let others = session(leader)
            .into_iter()
            .filter_map(id)
            .filter(|id| *id != leader);
        let others: Vec<i32> = others.collect();
        if others.is_empty() {
            return;
        }
        for id in others {
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
        }
        std::thread::sleep(TICK);
    }
}

/// The folders in `/proc` of the processes of a session.
fn session(leader: i32) -> Vec<PathBuf> {
    let mut processes = watch::numbered(Path::new("/proc"));
    processes.retain(|process| watch::stat(process, 3) == u64::try_from(leader).ok());
    processes
}
