//! The forked side: from the supervisor's child to the program's `exec`.
//!
//! The supervisor has many threads, so nothing here may allocate, lock or unwind: prepared
//! memory and raw system calls only. Three processes follow one another: the *entrant* gives up
//! root and enters the namespaces, then makes the *init* (process 1 inside, a child of the
//! supervisor), which furnishes the box and makes the *payload* (process 2).

use std::ffi::{CStr, c_int};
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::Mode;
use nix::unistd::{chdir, mkdir, pivot_root, sethostname, setsid, symlinkat};

use crate::plan::{Action, Plan};
use crate::sys;

/// What the children tell the supervisor: a kind and two or three numbers.
pub(crate) type Message = [i32; 4];

/// Init's process id outside.
pub(crate) const BORN: i32 = 1;
/// A step, the index of its tree or action, and errno.
pub(crate) const FAILED: i32 = 2;
/// The box is furnished; init waits for a byte.
pub(crate) const READY: i32 = 3;
/// The program runs.
pub(crate) const STARTED: i32 = 4;
/// The program ended, with this raw wait status.
pub(crate) const ENDED: i32 = 5;

/// The steps that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Step {
    Descriptors,
    DropUser,
    Namespaces,
    IdMap,
    Fork,
    Tree,
    Root,
    Furnish,
    Proc,
    Seal,
    Network,
    Restrict,
    Folder,
    Exec,
}

impl Step {
    /// The step of a message.
    pub(crate) fn from_number(number: i32) -> Option<Self> {
        use Step::*;
        [
            Descriptors,
            DropUser,
            Namespaces,
            IdMap,
            Fork,
            Tree,
            Root,
            Furnish,
            Proc,
            Seal,
            Network,
            Restrict,
            Folder,
            Exec,
        ]
        .into_iter()
        .find(|step| *step as i32 == number)
    }

    /// The step in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Descriptors => "closing descriptors",
            Self::DropUser => "giving up root",
            Self::Namespaces => "making namespaces",
            Self::IdMap => "mapping user ids",
            Self::Fork => "making a process",
            Self::Tree => "binding",
            Self::Root => "making the root",
            Self::Furnish => "placing",
            Self::Proc => "mounting",
            Self::Seal => "sealing the root",
            Self::Network => "bringing loopback up",
            Self::Restrict => "giving up rights",
            Self::Folder => "entering the working folder",
            Self::Exec => "starting the program",
        }
    }
}

/// The children's ends of the pipes.
pub(crate) struct Wires {
    pub(crate) status: RawFd,
    pub(crate) go: RawFd,
    pub(crate) stdio: [RawFd; 3],
    /// All of them and the trees', sorted.
    pub(crate) keep: Vec<RawFd>,
}

type Stop = (Step, usize, Errno);

/// Names the step in an error.
fn at(step: Step) -> impl Fn(Errno) -> Stop {
    move |errno| (step, 0, errno)
}

fn send(fd: RawFd, message: Message) -> Result<(), Errno> {
    let mut bytes = [0; 16];
    for (place, number) in bytes.chunks_exact_mut(4).zip(message) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    // At most PIPE_BUF bytes: whole or not at all (pipe(7)).
    sys::write_all(fd, &bytes)
}

fn give_up(fd: RawFd, (step, index, errno): Stop) -> ! {
    let _ = send(fd, [FAILED, step as i32, index as i32, errno as i32]);
    sys::exit(1)
}

/// The entrant: never comes back.
pub(crate) fn enter(plan: &Plan, wires: &Wires) -> ! {
    sys::reset_signals();
    let born = enter_namespaces(plan, wires)
        .and_then(|()| sys::clone_process(libc::CLONE_PARENT).map_err(at(Step::Fork)));
    match born {
        Ok(0) => init(plan, wires),
        Ok(pid) => sys::exit(i32::from(send(wires.status, [BORN, pid, 0, 0]).is_err())),
        Err(stop) => give_up(wires.status, stop),
    }
}

fn enter_namespaces(plan: &Plan, wires: &Wires) -> Result<(), Stop> {
    const NAMESPACES: c_int = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    sys::close_all_but(&wires.keep).map_err(at(Step::Descriptors))?;
    if let Some(id) = plan.drop_to {
        sys::become_user(id).map_err(at(Step::DropUser))?;
        // Or /proc/self would belong to root and the maps could not be written.
        sys::prctl(libc::PR_SET_DUMPABLE, 1).map_err(at(Step::DropUser))?;
    }
    // SAFETY: only numbers; this process has a single thread.
    Errno::result(unsafe { libc::unshare(NAMESPACES) }).map_err(at(Step::Namespaces))?;
    // Without "deny" the group map is refused to ordinary users (user_namespaces(7)).
    let maps: [(&CStr, &[u8]); 3] = [
        (c"/proc/self/setgroups", b"deny"),
        (c"/proc/self/uid_map", plan.uid_map.as_bytes()),
        (c"/proc/self/gid_map", plan.gid_map.as_bytes()),
    ];
    for (path, content) in maps {
        write_file(path, content, libc::O_WRONLY).map_err(at(Step::IdMap))?;
    }
    Ok(())
}

fn write_file(path: &CStr, content: &[u8], flags: c_int) -> Result<(), Errno> {
    let file = sys::open(path, flags, 0o644)?;
    let written = sys::write_all(file, content);
    sys::close(file);
    written
}

/// Process 1 of the box. Its end is the end of everything in it.
fn init(plan: &Plan, wires: &Wires) -> ! {
    let ready = sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64)
        .map_err(at(Step::Restrict))
        .and_then(|()| furnish(plan));
    if let Err(stop) = ready {
        give_up(wires.status, stop);
    }
    // A supervisor that died before PDEATHSIG was set shows here as a broken pipe or an end.
    let mut byte = [0];
    if send(wires.status, [READY, 0, 0, 0]).is_err() || sys::read(wires.go, &mut byte) != Ok(1) {
        sys::exit(1);
    }
    let mut pipe = [0; 2];
    // SAFETY: the pipe's two numbers are ours.
    let made = Errno::result(unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) });
    let payload = match made.and_then(|_| sys::clone_process(0)) {
        Ok(0) => payload(plan, wires, pipe[1]),
        Ok(pid) => pid,
        Err(errno) => give_up(wires.status, at(Step::Fork)(errno)),
    };
    sys::close(pipe[1]);
    for fd in wires.stdio {
        sys::close(fd);
    }
    let mut failure = [0; 16];
    match sys::read(pipe[0], &mut failure) {
        Ok(0) => {}
        _ => {
            let _ = sys::write_all(wires.status, &failure);
            sys::exit(1);
        }
    }
    let _ = send(wires.status, [STARTED, 0, 0, 0]);
    let ended = loop {
        match sys::wait_any() {
            Ok((pid, status)) if pid == payload => break status,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => sys::exit(1),
        }
    };
    // The kernel would end the others with us, but not add up their processor time.
    sys::kill_others();
    while !matches!(sys::wait_any(), Err(Errno::ECHILD)) {}
    let _ = send(wires.status, [ENDED, ended, 0, 0]);
    sys::exit(0);
}

/// Makes the root file system, the network and the names of the box.
fn furnish(plan: &Plan) -> Result<(), Stop> {
    const NONE: Option<&CStr> = None;
    for (index, tree) in plan
        .trees
        .iter()
        .enumerate()
        .filter(|(_, tree)| tree.fd.get() < 0)
    {
        let fd = sys::open_tree(&tree.source)
            .and_then(|fd| sys::protect(fd, c"", tree.devices).map(|()| fd))
            .map_err(|errno| (Step::Tree, index, errno))?;
        tree.fd.set(fd);
    }
    let root = at(Step::Root);
    mount(
        NONE,
        c"/",
        NONE,
        MsFlags::MS_REC | MsFlags::MS_PRIVATE,
        NONE,
    )
    .map_err(&root)?;
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let options = Some(plan.root_options.as_c_str());
    mount(Some(c"tmpfs"), c"/tmp", Some(c"tmpfs"), safe, options).map_err(&root)?;
    mkdir(c"/tmp/.host", Mode::S_IRWXU).map_err(&root)?;
    pivot_root(c"/tmp", c"/tmp/.host").map_err(&root)?;
    chdir(c"/").map_err(&root)?;
    for (index, action) in plan.actions.iter().enumerate() {
        let step = if matches!(action, Action::Proc) {
            Step::Proc
        } else {
            Step::Furnish
        };
        act(plan, action).map_err(|errno| (step, index, errno))?;
    }
    let seal = at(Step::Seal);
    umount2(c"/.host", MntFlags::MNT_DETACH).map_err(&seal)?;
    // SAFETY: the path is a C string that outlives the call.
    Errno::result(unsafe { libc::rmdir(c"/.host".as_ptr()) }).map_err(&seal)?;
    sys::protect(libc::AT_FDCWD, c"/", false).map_err(&seal)?;
    sethostname("hydra").map_err(&seal)?;
    sys::loopback_up().map_err(at(Step::Network))?;
    setsid().map(drop).map_err(&seal)
}

fn act(plan: &Plan, action: &Action) -> Result<(), Errno> {
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    match action {
        Action::Folder(at) => match mkdir(at.as_c_str(), Mode::from_bits_truncate(0o755)) {
            Err(Errno::EEXIST) => Ok(()),
            result => result,
        },
        Action::Link { text, at } => {
            symlinkat(text.as_c_str(), nix::fcntl::AT_FDCWD, at.as_c_str())
        }
        Action::Touch(at) => {
            // What is there already, even in a read-only bind, will do to mount on.
            let exists = sys::open(at, libc::O_PATH | libc::O_NOFOLLOW, 0);
            exists
                .or_else(|_| sys::open(at, libc::O_CREAT | libc::O_WRONLY, 0o644))
                .map(sys::close)
        }
        Action::Tree(index) => {
            let tree = &plan.trees[*index];
            sys::move_mount(tree.fd.get(), &tree.target)?;
            sys::close(tree.fd.get());
            Ok(())
        }
        Action::Disk { at, options } => {
            let options = Some(options.as_c_str());
            mount(Some(c"tmpfs"), at.as_c_str(), Some(c"tmpfs"), safe, options)
        }
        Action::Proc => {
            let flags = safe | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
            // Only what the program could trace is listed: not init, whose command line is the
            // supervisor's. Kernels before 5.8 don't know the option.
            let hidden: [&CStr; 2] = [c"hidepid=4", c"hidepid=2"];
            let mut result = Err(Errno::EINVAL);
            for options in hidden {
                if result == Err(Errno::EINVAL) {
                    result = mount(Some(c"proc"), c"/proc", Some(c"proc"), flags, Some(options));
                }
            }
            result
        }
        Action::File { at, bytes } => {
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC | libc::O_NOFOLLOW;
            write_file(at, bytes, flags)
        }
    }
}

/// Process 2 of the box: becomes the program, or reports through `pipe` why not.
fn payload(plan: &Plan, wires: &Wires, pipe: RawFd) -> ! {
    let Err(stop) = become_program(plan, wires);
    give_up(pipe, stop)
}

fn become_program(plan: &Plan, wires: &Wires) -> Result<std::convert::Infallible, Stop> {
    let restrict = at(Step::Restrict);
    for (number, fd) in wires.stdio.iter().enumerate() {
        sys::dup2(*fd, number as RawFd).map_err(at(Step::Descriptors))?;
    }
    sys::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC).map_err(at(Step::Descriptors))?;
    setsid().map_err(&restrict)?;
    chdir(plan.cwd.as_c_str()).map_err(at(Step::Folder))?;
    for (resource, value) in &plan.limits {
        sys::rlimit(*resource, *value).map_err(&restrict)?;
    }
    sys::drop_capabilities().map_err(&restrict)?;
    sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(&restrict)?;
    sys::mask_signals(libc::SIG_UNBLOCK, None);
    sys::install(&plan.filters.absent).map_err(&restrict)?;
    sys::install(&plan.filters.denied).map_err(&restrict)?;
    Err(at(Step::Exec)(sys::exec(
        &plan.program,
        &plan.argv,
        &plan.envp,
    )))
}
