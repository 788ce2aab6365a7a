//! The system calls that the program may not make.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use crate::SandboxError;

/// The same number on every architecture (asm-generic/unistd.h); libc lacks it on some.
const MEMFD_SECRET: i64 = 447;

/// Always refused with EPERM. They reach into the kernel's rarely used corners, other processes
/// or other namespaces; `memfd_create` and `shmget` make memory that no limit here counts.
const DENIED: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_memfd_create,
    MEMFD_SECRET,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// `clone` flags that make a namespace. `CLONE_NEWTIME` overlaps the exit signal and exists
/// for `unshare` and `clone3` only, which are refused whole.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The two programs to install, in this order.
pub(crate) struct Filters {
    pub(crate) absent: BpfProgram,
    pub(crate) denied: BpfProgram,
}

/// Compiles the filters for this processor.
pub(crate) fn filters() -> Result<Filters, SandboxError> {
    let denied =
        denied().map_err(|error| SandboxError::Spec(format!("system-call filter: {error}")))?;
    Ok(Filters {
        absent: absent(),
        denied,
    })
}

fn denied() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().map(|call| (*call, Vec::new())).collect();
    let clone = NAMESPACES
        .iter()
        .map(|flag| {
            let flag = *flag as u32 as u64;
            let op = Op::MaskedEq(flag);
            SeccompRule::new(vec![SeccompCondition::new(0, Len::Dword, op, flag)?])
        })
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_clone, clone);
    // Not all families know network namespaces: vsock reaches the hypervisor.
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6]
        .iter()
        .map(|family| SeccompCondition::new(0, Len::Dword, Op::Ne, *family as u64))
        .collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(families)?]);
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
}

/// Answers ENOSYS to `clone3`, whose flags a filter can't read, so that the C library falls back
/// to `clone`; and to x32 calls, whose numbers would slip past the other filter.
fn absent() -> BpfProgram {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    // __X32_SYSCALL_BIT of asm/unistd.h; no other architecture has numbers this high.
    const X32: u32 = 0x4000_0000;
    let op = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        op(LOAD, 0, 0, 0),
        op(EQUAL, 1, 0, libc::SYS_clone3 as u32),
        op(AT_LEAST, 0, 1, X32),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        op(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn filters_compile_within_the_kernels_instruction_limit() {
        let filters = filters().unwrap();
        // BPF_MAXINSNS of linux/bpf_common.h.
        assert!(filters.denied.len() < 4096 && filters.denied.len() > DENIED.len());
        assert_eq!(filters.absent.len(), 5);
    }
}
