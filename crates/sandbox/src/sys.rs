//! System calls in the form that a forked child may use: no allocation, no locks.

use std::ffi::{CStr, c_int, c_long};
use std::os::fd::RawFd;

use nix::errno::Errno;

/// `struct mount_attr` of linux/mount.h.
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

/// `struct open_how` of linux/openat2.h.
#[repr(C)]
struct OpenHow {
    flags: u64,
    mode: u64,
    resolve: u64,
}

// linux/mount.h
const OPEN_TREE_CLONE: c_int = 1;
const MOVE_MOUNT_F_EMPTY_PATH: c_int = 4;
const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NOSUID: u64 = 2;
const MOUNT_ATTR_NODEV: u64 = 4;

/// Highest signal number, real-time ones included (signal(7)).
const LAST_SIGNAL: c_int = 64;

/// Makes a process that goes on from here with a copy of memory: 0 in the child, else its id.
///
/// Unlike `fork` it runs no handlers of the C library, which could wait for locks that other
/// threads held. The child must stick to async-signal-safe calls.
pub(crate) fn clone_process(flags: c_int) -> Result<i32, Errno> {
    // SAFETY: without CLONE_VM and a stack this is fork(2); all pointers are null. The callers'
    // children touch prepared memory only.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD, 0, 0, 0, 0) };
    Errno::result(pid).map(|pid| pid as i32)
}

/// Ends this process at once.
pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: _exit takes any number and runs nothing of ours.
    unsafe { libc::_exit(code) }
}

/// Clones the mounts at and below a path into a tree of their own.
pub(crate) fn open_tree(path: &CStr) -> Result<RawFd, Errno> {
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE;
    // SAFETY: the path is a C string that outlives the call.
    let fd = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    Errno::result(fd).map(|fd| fd as RawFd)
}

/// Makes a tree read-only, without set-uid programs, unrelated to where it was cloned from.
pub(crate) fn protect(tree: RawFd, path: &CStr, devices: bool) -> Result<(), Errno> {
    let mut set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
    if !devices {
        set |= MOUNT_ATTR_NODEV;
    }
    let attr = MountAttr {
        set,
        clear: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    // With a path it is a single mount of ours, with a tree all below it too.
    let recursive = if path.is_empty() {
        libc::AT_RECURSIVE
    } else {
        0
    };
    let flags = libc::AT_EMPTY_PATH | recursive;
    // SAFETY: path and attribute outlive the call and the size is the attribute's.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree,
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    };
    Errno::result(done).map(drop)
}

/// Mounts a tree at a path.
pub(crate) fn move_mount(tree: RawFd, target: &CStr) -> Result<(), Errno> {
    // SAFETY: both paths are C strings that outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree,
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    Errno::result(done).map(drop)
}

/// Opens a file below a folder for reading, through no link and no other mount.
pub(crate) fn open_beneath(folder: RawFd, name: &CStr) -> Result<RawFd, Errno> {
    let how = OpenHow {
        // Non-blocking, or a FIFO would hold us.
        flags: (libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK) as u64,
        mode: 0,
        resolve: libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_XDEV,
    };
    // SAFETY: name and `how` outlive the call and the size is that of `how`.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            folder,
            name.as_ptr(),
            &raw const how,
            size_of::<OpenHow>(),
        )
    };
    Errno::result(fd).map(|fd| fd as RawFd)
}

/// Closes every descriptor from 3 up that isn't in `keep`, which is sorted.
pub(crate) fn close_all_but(keep: &[RawFd]) -> Result<(), Errno> {
    let mut first = 3;
    for fd in keep.iter().copied().filter(|fd| *fd >= 3) {
        if fd > first {
            close_range(first as u32, fd as u32 - 1, 0)?;
        }
        first = fd + 1;
    }
    close_range(first as u32, u32::MAX, 0)
}

/// `close_range`: with flags 0 closes, with `CLOSE_RANGE_CLOEXEC` marks.
pub(crate) fn close_range(first: u32, last: u32, flags: u32) -> Result<(), Errno> {
    // SAFETY: only numbers; the callers, forked children, own all their descriptors.
    Errno::result(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) }).map(drop)
}

/// Gives every signal its default action again.
pub(crate) fn reset_signals() {
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: SIG_DFL is always a valid action; the kernel refuses what can't be set.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Blocks or unblocks all signals; gives the mask before.
pub(crate) fn mask_signals(how: c_int, set: Option<&libc::sigset_t>) -> libc::sigset_t {
    // SAFETY: zeroed bytes are a valid (empty) set; the calls only fill or read live sets.
    unsafe {
        let mut full: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut full);
        libc::pthread_sigmask(how, set.unwrap_or(&full), &mut before);
        before
    }
}

/// `prctl` with plain numbers.
pub(crate) fn prctl(option: c_int, argument: u64) -> Result<(), Errno> {
    // SAFETY: the options used here take a number and no pointer.
    Errno::result(unsafe { libc::prctl(option, argument, 0u64, 0u64, 0u64) }).map(drop)
}

/// Sets a resource limit, soft and hard.
pub(crate) fn rlimit(resource: libc::__rlimit_resource_t, value: u64) -> Result<(), Errno> {
    // The processor limit sends SIGXCPU at the soft value, a plain SIGKILL at the hard one.
    let hard = value.saturating_add(u64::from(resource == libc::RLIMIT_CPU));
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: hard,
    };
    // SAFETY: the limit outlives the call.
    Errno::result(unsafe { libc::setrlimit(resource, &limit) }).map(drop)
}

/// Becomes another user and group for good, without supplementary groups.
///
/// Raw calls: the C library's wrappers would ask all threads that the parent had to follow.
pub(crate) fn become_user(id: u32) -> Result<(), Errno> {
    let call = |number: c_long, a: usize, b: usize, c: usize| {
        // SAFETY: the three calls used below take numbers, or no list when its length is 0.
        Errno::result(unsafe { libc::syscall(number, a, b, c) }).map(drop)
    };
    let id = id as usize;
    call(libc::SYS_setgroups, 0, 0, 0)?;
    call(libc::SYS_setresgid, id, id, id)?;
    call(libc::SYS_setresuid, id, id, id)
}

/// Gives up all capabilities, also those that a program run by uid 0 would gain.
pub(crate) fn drop_capabilities() -> Result<(), Errno> {
    // SECBIT_NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE with their locks, and the lock of
    // KEEP_CAPS: linux/securebits.h.
    const SECUREBITS: u64 = 0b1110_1111;
    for capability in 0..64 {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            Ok(()) | Err(Errno::EINVAL) => {}
            Err(error) => return Err(error),
        }
    }
    prctl(libc::PR_SET_SECUREBITS, SECUREBITS)?;
    // _LINUX_CAPABILITY_VERSION_3 of linux/capability.h, this process; then three empty sets
    // in two halves.
    let header = [0x2008_0522u32, 0];
    let sets = [0u32; 6];
    // SAFETY: header and sets have the layout of that version and outlive the call.
    let done = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) };
    Errno::result(done).map(drop)
}

/// Installs a system-call filter.
pub(crate) fn install(filter: &[seccompiler::sock_filter]) -> Result<(), Errno> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the program points to `len` instructions, which the kernel copies and checks.
    let done = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
            0,
            0,
        )
    };
    Errno::result(done).map(drop)
}

/// Replaces this process; comes back only with an error. Both lists end with a null pointer.
pub(crate) fn exec(program: &CStr, argv: &[*const i8], envp: &[*const i8]) -> Errno {
    // SAFETY: the lists are null-terminated and point to C strings that outlive the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr().cast(), envp.as_ptr().cast()) };
    Errno::last()
}

/// Brings up the network namespace's own loopback.
pub(crate) fn loopback_up() -> Result<(), Errno> {
    // SAFETY: a plain socket call; then the request is a zeroed (valid) structure with a short
    // name, which the kernel reads and fills within its size.
    unsafe {
        let socket = Errno::result(libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0))?;
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as _;
        request.ifr_name[1] = b'o' as _;
        Errno::result(libc::ioctl(socket, libc::SIOCGIFFLAGS, &mut request))?;
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as i16;
        let done = libc::ioctl(socket, libc::SIOCSIFFLAGS, &request);
        libc::close(socket);
        Errno::result(done).map(drop)
    }
}

/// Reads into a buffer, going on after interruptions.
pub(crate) fn read(fd: RawFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    loop {
        // SAFETY: the buffer is ours for its whole length.
        let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
        match Errno::result(count) {
            Err(Errno::EINTR) => {}
            result => return result.map(|count| count as usize),
        }
    }
}

/// Writes all bytes.
pub(crate) fn write_all(fd: RawFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        // SAFETY: the bytes are readable for their whole length.
        let count = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        match Errno::result(count) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
            Ok(count) => bytes = &bytes[count as usize..],
        }
    }
    Ok(())
}

/// Opens a file, with `mode` if it is made.
pub(crate) fn open(path: &CStr, flags: c_int, mode: u32) -> Result<RawFd, Errno> {
    // SAFETY: the path is a C string that outlives the call.
    Errno::result(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) })
}

/// Closes a descriptor that nothing else owns.
pub(crate) fn close(fd: RawFd) {
    // SAFETY: closing a number at worst fails; the callers own it.
    unsafe { libc::close(fd) };
}

/// Puts a descriptor at another number, where it survives `exec`.
pub(crate) fn dup2(from: RawFd, to: RawFd) -> Result<(), Errno> {
    // SAFETY: only numbers; 0, 1 and 2 are the forked child's own.
    Errno::result(unsafe { libc::dup2(from, to) }).map(drop)
}

/// Waits for any child: its id and raw status.
pub(crate) fn wait_any() -> Result<(i32, c_int), Errno> {
    let mut status = 0;
    // SAFETY: the status is ours.
    let pid = Errno::result(unsafe { libc::waitpid(-1, &mut status, 0) })?;
    Ok((pid, status))
}

/// Waits for one child: its raw status and the processor time of it and its children, in µs.
pub(crate) fn wait_for(pid: i32) -> Result<(c_int, u64), Errno> {
    loop {
        let mut status = 0;
        // SAFETY: zeroed bytes are a valid rusage; both it and the status are ours.
        let (done, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid, &mut status, 0, &mut usage), usage)
        };
        match Errno::result(done) {
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => {
                let micros =
                    |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
                return Ok((status, micros(usage.ru_utime) + micros(usage.ru_stime)));
            }
        }
    }
}

/// For process 1 of a process namespace: kills all other processes in it.
pub(crate) fn kill_others() {
    // SAFETY: only numbers; only ever called by a box's init, to which -1 means its namespace.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// A descriptor for a child of ours.
pub(crate) fn pidfd_open(pid: i32) -> Result<RawFd, Errno> {
    // SAFETY: only numbers.
    Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) }).map(|fd| fd as RawFd)
}

/// Kills what a process descriptor stands for; a dead process is fine.
pub(crate) fn pidfd_kill(pidfd: RawFd) {
    // SAFETY: only numbers and a null pointer, which means default information.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd, libc::SIGKILL, 0, 0) };
}
