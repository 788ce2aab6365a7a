//! All that the forked children will need, laid out beforehand: they may not allocate.

use std::cell::Cell;
use std::ffi::{CString, OsStr};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::filter::{Filters, filters};
use crate::identity::Identity;
use crate::{SandboxError, Spec, sys};

/// Parts of the host's root that programs need, as folders or as the links that they are.
const SYSTEM: &[&str] = &["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/// What the dynamic linker and the names in `/usr/bin` need of `/etc`.
const ETC: &[&str] = &["/etc/ld.so.cache", "/etc/alternatives"];
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
const LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];
const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n";
const GROUP: &str = "root:x:0:\nnogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1 localhost hydra\n::1 localhost\n";
/// Inodes of each memory disk: they cost kernel memory that its size doesn't count.
const INODES: u64 = 1 << 16;

/// One part of the host to show inside.
pub(crate) struct Tree {
    pub(crate) source: CString,
    pub(crate) target: CString,
    pub(crate) devices: bool,
    /// The cloned mounts: opened beforehand by root, inside the box by others; -1 before that.
    pub(crate) fd: Cell<RawFd>,
    /// Closes what root opened.
    owner: Option<OwnedFd>,
}

/// One step of furnishing the empty root.
pub(crate) enum Action {
    Folder(CString),
    Link { text: CString, at: CString },
    Touch(CString),
    Tree(usize),
    Disk { at: CString, options: CString },
    Proc,
    File { at: CString, bytes: Vec<u8> },
}

/// The whole plan of one run.
pub(crate) struct Plan {
    pub(crate) drop_to: Option<u32>,
    pub(crate) uid_map: String,
    pub(crate) gid_map: String,
    pub(crate) root_options: CString,
    pub(crate) trees: Vec<Tree>,
    pub(crate) actions: Vec<Action>,
    /// What each action is about, for messages.
    pub(crate) about: Vec<PathBuf>,
    pub(crate) cwd: CString,
    pub(crate) program: CString,
    pub(crate) argv: Vec<*const i8>,
    pub(crate) envp: Vec<*const i8>,
    pub(crate) limits: Vec<(libc::__rlimit_resource_t, u64)>,
    pub(crate) filters: Filters,
    /// Keeps alive what `argv` and `envp` point to.
    _strings: Vec<CString>,
}

pub(crate) fn c_string(bytes: impl AsRef<OsStr>) -> Result<CString, SandboxError> {
    let bytes = bytes.as_ref();
    CString::new(bytes.as_bytes())
        .map_err(|_| SandboxError::Spec(format!("{} holds a NUL byte", bytes.display())))
}

/// The resource limits of any process of the run.
pub(crate) fn rlimits(spec: &Spec) -> Vec<(libc::__rlimit_resource_t, u64)> {
    let limits = &spec.limits;
    let cpu = limits.cpu.as_secs() + u64::from(limits.cpu.subsec_nanos() > 0);
    vec![
        (libc::RLIMIT_CPU, cpu.max(1)),
        (libc::RLIMIT_FSIZE, limits.file_size),
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_NOFILE, 1024),
        (libc::RLIMIT_MSGQUEUE, 0),
        (libc::RLIMIT_MEMLOCK, 64 << 10),
        // Only a backstop behind the watchdog, which has to see the limit crossed.
        (
            libc::RLIMIT_DATA,
            limits.memory.saturating_mul(2).saturating_add(256 << 20),
        ),
    ]
}

impl Plan {
    /// Prepares a run. With root's rights it opens the sources now, while they can be reached.
    pub(crate) fn new(spec: &Spec, identity: &Identity) -> Result<Self, SandboxError> {
        let strings = strings(spec)?;
        let pointers: Vec<_> = strings
            .iter()
            .map(|string| string.as_ptr().cast())
            .collect();
        let (argv, envp) = pointers.split_at(1 + spec.args.len());
        let terminated = |list: &[*const i8]| [list, &[std::ptr::null()]].concat();
        // The box's init counts too.
        let processes = (libc::RLIMIT_NPROC, spec.limits.processes + 1);
        let content: usize = spec
            .files
            .iter()
            .map(|(_, bytes)| bytes.len().next_multiple_of(4096))
            .sum();
        let mut plan = Self {
            drop_to: identity.drop_to,
            uid_map: format!("0 {} 1", identity.uid),
            gid_map: format!("0 {} 1", identity.gid),
            root_options: c_string(format!("mode=755,size={}", content + (4 << 20)))?,
            trees: Vec::new(),
            actions: Vec::new(),
            about: Vec::new(),
            cwd: c_string(&spec.cwd)?,
            program: c_string(&spec.program)?,
            argv: terminated(argv),
            envp: terminated(envp),
            limits: [rlimits(spec), vec![processes]].concat(),
            filters: filters()?,
            _strings: strings,
        };
        plan.furnish(spec)?;
        if plan.drop_to.is_some() {
            plan.open_trees()?;
        }
        Ok(plan)
    }

    fn furnish(&mut self, spec: &Spec) -> Result<(), SandboxError> {
        for name in SYSTEM {
            let path = Path::new("/").join(name);
            match std::fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_symlink() => {
                    let text = std::fs::read_link(&path).map_err(SandboxError::setup(*name))?;
                    self.link(&text, &path)?;
                }
                Ok(_) => self.tree(&path, &path, false)?,
                Err(_) => {}
            }
        }
        for device in DEVICES {
            self.tree(Path::new(device), Path::new(device), true)?;
        }
        for (text, at) in LINKS {
            self.link(Path::new(text), Path::new(at))?;
        }
        for path in ETC.iter().map(Path::new).filter(|path| path.exists()) {
            self.tree(path, path, false)?;
        }
        self.folder(Path::new("/root"))?;
        self.folder(Path::new("/proc"))?;
        self.act(Path::new("/proc"), Action::Proc);
        for (path, mode) in [("/tmp", "1777"), ("/dev/shm", "1777"), ("/scratch", "755")] {
            let options = format!(
                "mode={mode},size={},nr_inodes={INODES}",
                spec.limits.scratch
            );
            self.folder(Path::new(path))?;
            let at = c_string(path)?;
            self.act(
                Path::new(path),
                Action::Disk {
                    at,
                    options: c_string(options)?,
                },
            );
        }
        for bind in &spec.binds {
            self.tree(&bind.source, &bind.target, false)?;
        }
        for (path, text) in [
            ("/etc/passwd", PASSWD),
            ("/etc/group", GROUP),
            ("/etc/hosts", HOSTS),
        ] {
            self.file(Path::new(path), text.as_bytes())?;
        }
        for (path, bytes) in &spec.files {
            self.file(path, bytes)?;
        }
        Ok(())
    }

    fn act(&mut self, about: &Path, action: Action) {
        self.about.push(about.to_path_buf());
        self.actions.push(action);
    }

    fn parents(&mut self, path: &Path) -> Result<(), SandboxError> {
        path.parent().map_or(Ok(()), |parent| self.folder(parent))
    }

    fn folder(&mut self, path: &Path) -> Result<(), SandboxError> {
        if path.parent().is_none() || self.about.iter().any(|done| done == path) {
            return Ok(());
        }
        self.parents(path)?;
        self.act(path, Action::Folder(c_string(path)?));
        Ok(())
    }

    fn link(&mut self, text: &Path, at: &Path) -> Result<(), SandboxError> {
        self.parents(at)?;
        self.act(
            at,
            Action::Link {
                text: c_string(text)?,
                at: c_string(at)?,
            },
        );
        Ok(())
    }

    fn file(&mut self, at: &Path, bytes: &[u8]) -> Result<(), SandboxError> {
        self.parents(at)?;
        self.act(
            at,
            Action::File {
                at: c_string(at)?,
                bytes: bytes.to_vec(),
            },
        );
        Ok(())
    }

    fn tree(&mut self, source: &Path, target: &Path, devices: bool) -> Result<(), SandboxError> {
        let meta = std::fs::metadata(source)
            .map_err(SandboxError::setup(format!("finding {}", source.display())))?;
        if meta.is_dir() {
            self.folder(target)?;
        } else {
            self.parents(target)?;
            self.act(target, Action::Touch(c_string(target)?));
        }
        let (index, fd) = (self.trees.len(), Cell::new(-1));
        let (source, target_c) = (c_string(source)?, c_string(target)?);
        self.trees.push(Tree {
            source,
            target: target_c,
            devices,
            fd,
            owner: None,
        });
        self.act(target, Action::Tree(index));
        Ok(())
    }

    fn open_trees(&mut self) -> Result<(), SandboxError> {
        for tree in &mut self.trees {
            let step = || format!("binding {}", tree.source.to_string_lossy());
            let fd = sys::open_tree(&tree.source)
                .map_err(|error| SandboxError::setup(step())(error.into()))?;
            tree.fd.set(fd);
            // SAFETY: the descriptor was opened just now and has no other owner.
            tree.owner = Some(unsafe { OwnedFd::from_raw_fd(fd) });
            sys::protect(fd, c"", tree.devices)
                .map_err(|error| SandboxError::setup(step())(error.into()))?;
        }
        Ok(())
    }
}

/// Program, arguments and environment, in this order.
fn strings(spec: &Spec) -> Result<Vec<CString>, SandboxError> {
    let program = std::iter::once(c_string(&spec.program));
    let args = spec.args.iter().map(c_string);
    let env = spec
        .env
        .iter()
        .map(|(name, value)| c_string(format!("{name}={value}")));
    program.chain(args).chain(env).collect()
}
