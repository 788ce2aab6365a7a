//! The trusted side of a run: starts the box, feeds and watches it, and ends it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SealFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::capture::Capture;
use crate::child::{self, Step, Wires};
use crate::identity::Identity;
use crate::plan::Plan;
use crate::watch::Watch;
use crate::{Outcome, SandboxError, Spec, Status, collect, sys};

/// Between two looks at the memory: a page-touching loop gains some 10 MB in that time.
const TICK: Duration = Duration::from_millis(5);
/// For furnishing the box, on a machine however busy.
const SETUP: Duration = Duration::from_secs(60);

/// Runs a program in a box of its own.
pub(crate) fn run(spec: &Spec) -> Result<Outcome, SandboxError> {
    let identity = Identity::take()?;
    let plan = Plan::new(spec, &identity)?;
    let mut running = Running::launch(spec, &plan)?;
    let end = running.watch(spec);
    // Whatever happened: nothing of the box survives this line, and its uid is free again.
    let waited = running.end();
    let (status, wall, peak, sampled) = end?;
    let cpu = waited.max(sampled);
    let scratch = running.scratch.take();
    let collected = match &scratch {
        Some(scratch) => collect::collect(spec, scratch)?,
        None => Default::default(),
    };
    Ok(Outcome {
        status,
        wall,
        cpu,
        peak_memory: peak,
        stdout: running
            .stdout
            .take()
            .map(Capture::finish)
            .unwrap_or_default(),
        stderr: running
            .stderr
            .take()
            .map(Capture::finish)
            .unwrap_or_default(),
        collected,
    })
}

type End = (Status, Duration, u64, Duration);

/// A box with its init. Dropped, it kills all.
struct Running<'a> {
    plan: &'a Plan,
    pid: i32,
    pidfd: OwnedFd,
    reaped: bool,
    status: File,
    go: File,
    stdout: Option<Capture>,
    stderr: Option<Capture>,
    scratch: Option<File>,
    ready: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// A pipe, its reading end first, that programs started elsewhere don't inherit.
pub(crate) fn pipe() -> Result<(File, File), SandboxError> {
    let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC)
        .map_err(|error| SandboxError::setup("making a pipe")(error.into()))?;
    Ok((read.into(), write.into()))
}

/// Makes reads return at once.
pub(crate) fn non_blocking(file: File) -> Result<File, SandboxError> {
    fcntl(&file, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))
        .map_err(|error| SandboxError::setup("preparing a pipe")(error.into()))?;
    Ok(file)
}

/// Waits until there is something to read, or for so long: whether there is.
pub(crate) fn wait_readable(fd: &OwnedFd, time: Duration) -> Result<bool, SandboxError> {
    let mut fds = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
    match poll(&mut fds, PollTimeout::from(time.as_millis() as u16)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(SandboxError::setup("waiting for it")(error.into())),
    }
}

/// Standard input as a sealed file in memory: no writer to look after, nothing to write back.
pub(crate) fn stdin(bytes: &[u8]) -> Result<File, SandboxError> {
    if bytes.is_empty() {
        return File::open("/dev/null").map_err(SandboxError::setup("opening /dev/null"));
    }
    let make = || -> std::io::Result<File> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string; the new descriptor has no other owner.
        let mut file = unsafe {
            File::from_raw_fd(Errno::result(libc::memfd_create(c"stdin".as_ptr(), flags))?)
        };
        file.write_all(bytes)?;
        std::io::Seek::rewind(&mut file)?;
        fcntl(&file, FcntlArg::F_ADD_SEALS(SealFlag::all()))?;
        Ok(file)
    };
    make().map_err(SandboxError::setup("laying out standard input"))
}

impl<'a> Running<'a> {
    fn launch(spec: &Spec, plan: &'a Plan) -> Result<Self, SandboxError> {
        let (status, status_w) = pipe()?;
        let (go_r, go) = pipe()?;
        let (stdout, stdout_w) = pipe()?;
        let (stderr, stderr_w) = pipe()?;
        let stdin = stdin(&spec.stdin)?;
        let (status, stdout, stderr) = (
            non_blocking(status)?,
            non_blocking(stdout)?,
            non_blocking(stderr)?,
        );
        let stdio = [
            stdin.as_raw_fd(),
            stdout_w.as_raw_fd(),
            stderr_w.as_raw_fd(),
        ];
        let mut keep: Vec<RawFd> = plan.trees.iter().map(|tree| tree.fd.get()).collect();
        keep.extend([status_w.as_raw_fd(), go_r.as_raw_fd()]);
        keep.extend(stdio);
        keep.sort_unstable();
        let wires = Wires {
            status: status_w.as_raw_fd(),
            go: go_r.as_raw_fd(),
            stdio,
            keep,
        };

        // No handler of ours may run in the children.
        let mask = sys::mask_signals(libc::SIG_SETMASK, None);
        let entrant = match sys::clone_process(0) {
            Ok(0) => child::enter(plan, &wires),
            result => result,
        };
        sys::mask_signals(libc::SIG_SETMASK, Some(&mask));
        let system = |error: Errno| SandboxError::setup("making a process")(error.into());
        sys::wait_for(entrant.map_err(system)?).map_err(system)?;
        drop((status_w, go_r, stdout_w, stderr_w, stdin));

        // The entrant is gone, so what it had to say is in the pipe; init's READY may be first.
        let (mut pid, mut ready) = (None, false);
        while pid.is_none() {
            match message(&status) {
                Some([child::BORN, born, ..]) => pid = Some(born),
                Some([child::READY, ..]) => ready = true,
                Some([child::FAILED, step, index, errno]) => {
                    return Err(failure(plan, step, index, errno));
                }
                _ => {
                    return Err(SandboxError::Lost(
                        "it died while entering namespaces".into(),
                    ));
                }
            }
        }
        let pid = pid.unwrap_or_default();
        let pidfd = sys::pidfd_open(pid).map_err(system)?;
        // SAFETY: the descriptor was opened just now and has no other owner.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let (stdout, stderr) = (
            Capture::new(stdout, spec.limits.output),
            Capture::new(stderr, spec.limits.output),
        );
        Ok(Self {
            plan,
            pid,
            pidfd,
            reaped: false,
            status,
            go,
            stdout: Some(stdout),
            stderr: Some(stderr),
            scratch: None,
            ready,
        })
    }

    /// Kills the box and waits until it is gone: its processor time.
    fn end(&mut self) -> Duration {
        if self.reaped {
            return Duration::ZERO;
        }
        self.reaped = true;
        sys::pidfd_kill(self.pidfd.as_raw_fd());
        Duration::from_micros(sys::wait_for(self.pid).map_or(0, |(_, micros)| micros))
    }

    /// Lets the program go and watches it: status, time on the clock, most memory, and the
    /// processor time so far, which is lost to `wait4` when init is killed before the rest.
    fn watch(&mut self, spec: &Spec) -> Result<End, SandboxError> {
        let setup = Instant::now() + SETUP;
        while !self.ready {
            match self.next(setup)? {
                Some([child::READY, ..]) => self.ready = true,
                Some(other) => return Err(self.unexpected(other)),
                None => return Err(SandboxError::Lost("furnishing it took too long".into())),
            }
        }
        let inside = PathBuf::from(format!("/proc/{}/root", self.pid));
        let open = |path: &str| {
            File::open(inside.join(path))
                .map_err(SandboxError::setup(format!("opening its {path}")))
        };
        self.scratch = Some(open("scratch")?);
        let proc = open("proc")?;
        let path = format!("/proc/self/fd/{}", proc.as_raw_fd()).into();
        let mut memory = Watch::new(path, spec.limits.memory);

        let start = Instant::now();
        let deadline = start + spec.limits.wall;
        self.go
            .write_all(b"g")
            .map_err(SandboxError::setup("starting the program"))?;
        let mut started = false;
        loop {
            let next = self.next(deadline.min(Instant::now() + TICK))?;
            let wall = start.elapsed();
            match next {
                Some([child::STARTED, ..]) => started = true,
                Some([child::ENDED, raw, ..]) => {
                    let status = if started && memory.peak > spec.limits.memory {
                        Status::OutOfMemory
                    } else {
                        ended(raw)
                    };
                    return Ok((status, wall, memory.peak, Duration::ZERO));
                }
                Some(other) => return Err(self.unexpected(other)),
                None => {}
            }
            // Before `exec` the payload is a copy of this process and proves nothing.
            if started && memory.exceeded() {
                return Ok((Status::OutOfMemory, wall, memory.peak, memory.cpu()));
            }
            if wall >= spec.limits.wall {
                return Ok((Status::TimedOut, wall, memory.peak, memory.cpu()));
            }
        }
    }

    /// The next message, or none by `deadline`; reads the outputs meanwhile.
    fn next(&mut self, deadline: Instant) -> Result<Option<child::Message>, SandboxError> {
        loop {
            if let Some(message) = message(&self.status) {
                return Ok(Some(message));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let mut fds = vec![
                PollFd::new(self.status.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN),
            ];
            let outputs = [&self.stdout, &self.stderr];
            let pipes = outputs.into_iter().flatten().filter_map(Capture::pipe);
            fds.extend(pipes.map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
            let millis = u16::try_from(left.as_millis().max(1)).unwrap_or(u16::MAX);
            match poll(&mut fds, PollTimeout::from(millis)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(SandboxError::setup("waiting for it")(error.into())),
            }
            let dead = fds[1].any().unwrap_or(false);
            for capture in [&mut self.stdout, &mut self.stderr].into_iter().flatten() {
                capture.drain(4);
            }
            if dead {
                return match message(&self.status) {
                    Some(message) => Ok(Some(message)),
                    None => Err(SandboxError::Lost("its init was killed".into())),
                };
            }
        }
    }

    fn unexpected(&self, message: child::Message) -> SandboxError {
        match message {
            [child::FAILED, step, index, errno] => failure(self.plan, step, index, errno),
            other => SandboxError::Lost(format!("unexpected message {other:?}")),
        }
    }
}

/// One whole message, if there is one now.
fn message(mut status: &File) -> Option<child::Message> {
    let mut bytes = [0; 16];
    if status.read(&mut bytes).ok()? < bytes.len() {
        return None;
    }
    let mut message = [0; 4];
    for (number, part) in message.iter_mut().zip(bytes.chunks_exact(4)) {
        *number = i32::from_ne_bytes(part.try_into().ok()?);
    }
    Some(message)
}

/// A raw wait status as ours. The signal of the processor limit counts as a timeout.
pub(crate) fn ended(raw: i32) -> Status {
    if libc::WIFEXITED(raw) {
        Status::Exited(libc::WEXITSTATUS(raw))
    } else if libc::WTERMSIG(raw) == libc::SIGXCPU {
        Status::TimedOut
    } else {
        Status::Signaled(libc::WTERMSIG(raw))
    }
}

fn failure(plan: &Plan, step: i32, index: i32, errno: i32) -> SandboxError {
    let source = std::io::Error::from_raw_os_error(errno);
    let Some(step) = Step::from_number(step) else {
        return SandboxError::Lost("garbled message".into());
    };
    let index = usize::try_from(index).unwrap_or_default();
    let name = step.name();
    let about = match step {
        Step::Exec => {
            let program = plan.program.to_string_lossy().into_owned().into();
            return SandboxError::Exec { program, source };
        }
        Step::Namespaces | Step::IdMap | Step::Proc => return refused(step, source),
        Step::Tree => plan
            .trees
            .get(index)
            .map(|tree| tree.source.to_string_lossy().into_owned()),
        Step::Furnish => plan.about.get(index).map(|path| path.display().to_string()),
        Step::Folder => Some(plan.cwd.to_string_lossy().into_owned()),
        _ => None,
    };
    let step = about.map_or(name.to_string(), |about| format!("{name} {about}"));
    SandboxError::Setup { step, source }
}

/// The failures that mean "not on this machine", each with its way out.
fn refused(step: Step, source: std::io::Error) -> SandboxError {
    let remedy = match step {
        Step::Proc => {
            "a container masks parts of /proc: start it with \
             `--security-opt systempaths=unconfined`, or run outside of it"
        }
        _ => {
            "allow user namespaces: on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, \
             on Debian `sysctl kernel.unprivileged_userns_clone=1`, anywhere \
             `sysctl user.max_user_namespaces=15000`; in a container, \
             `--security-opt seccomp=unconfined`"
        }
    };
    SandboxError::Refused {
        reason: format!("{}: {source}", step.name()),
        remedy: remedy.into(),
    }
}
