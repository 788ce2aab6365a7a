//! What a program cannot reach, change or leave behind.

use super::*;

#[test]
fn network_is_unreachable_but_loopback_works() {
    let outcome = run!(&python(
        "
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b'hello')).start()
print(socket.create_connection(server.getsockname()).recv(5))
for address in ('1.1.1.1', '10.0.0.1'):
    try: socket.create_connection((address, 53), 3)
    except OSError as error: print(error.errno)
for family in (16, 17, 40):
    try: socket.socket(family, socket.SOCK_DGRAM)
    except OSError as error: print(error.errno)
"
    ));
    // ENETUNREACH twice; EPERM for netlink, packet and vsock.
    assert_eq!(
        text(&outcome),
        "b'hello'\n101\n101\n1\n1\n1\n",
        "{}",
        outcome.stderr.text()
    );
}

#[test]
fn secrets_of_the_host_are_out_of_reach() {
    let outcome = run!(&shell(
        "for f in /etc/shadow /root/.bashrc /home /var /proc/1/environ /proc/1/mem /sys; do
             cat $f >/dev/null 2>&1 && echo read $f; ls $f >/dev/null 2>&1 && echo listed $f
         done; env; id -u; id -un; echo $HOME"
    ));
    let lines = text(&outcome);
    assert!(
        !lines.contains("read") && !lines.contains("listed"),
        "{lines}"
    );
    assert!(lines.contains("0\nroot\n"), "{lines}");
}

#[test]
fn environment_is_the_requested_one_alone() {
    let mut spec = Spec::new("/usr/bin/env");
    spec.env = vec![("ONLY".into(), "this".into())];
    assert_eq!(text(&run!(&spec)), "ONLY=this\n");
}

#[test]
fn only_scratch_and_the_memory_disks_can_be_written() {
    let outcome = run!(&shell(
        "for d in / /usr /etc /bin /dev /root /proc /proc/sys/kernel /scratch /tmp /dev/shm; do
             (echo x >$d/probe) 2>/dev/null && echo $d
         done; (echo x >/proc/sys/kernel/core_pattern) 2>/dev/null && echo core; echo x >/dev/null"
    ));
    assert_eq!(text(&outcome), "/scratch\n/tmp\n/dev/shm\n");
}

#[test]
fn proc_lists_only_own_processes() {
    let outcome = run!(&python(
        "import os; print([p for p in os.listdir('/proc') if p.isdigit()])"
    ));
    assert_eq!(text(&outcome), "['2']\n");
}

#[test]
fn collect_takes_regular_files_only() {
    let mut spec = shell(
        "echo good >good; ln -s /etc/passwd link; mkfifo pipe; mkdir folder; ln -s / up
         head -c 3000 /dev/zero >big; echo x >out; ln out hard",
    );
    spec.limits.file_size = 4000;
    spec.files = vec![("/scratch/given.txt".into(), b"given".to_vec())];
    let names = [
        "good",
        "link",
        "pipe",
        "folder",
        "big",
        "given.txt",
        "missing",
    ];
    spec.collect = names.map(String::from).to_vec();
    let outcome = run!(&spec);
    let found: Vec<_> = outcome.collected.keys().cloned().collect();
    assert_eq!(found, ["big", "given.txt", "good"]);
    assert_eq!(outcome.collected["good"], b"good\n");
    spec.collect = vec!["../etc/passwd".into()];
    assert!(matches!(
        sandbox().unwrap().run(&spec),
        Err(SandboxError::Spec(_))
    ));
}

#[test]
fn kernel_corners_are_closed() {
    let outcome = run!(&python(
        "
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
def errno(call, *args):
    ctypes.set_errno(0); libc.syscall(call, *args); return ctypes.get_errno()
x86 = platform.machine() == 'x86_64'
calls = dict(unshare=(272, 0x10000000), mount=(165, 0, b'/tmp', 0, 0x20, 0), ptrace=(101, 0, 0, 0, 0),
  clone=(56, 0x10000011, 0, 0, 0, 0), clone3=(435, 0, 0), bpf=(321, 0, 0, 0), keyctl=(250, 0),
  io_uring=(425, 1, 0), userfaultfd=(323, 0), setns=(308, 0, 0), pivot_root=(155, b'/', b'/'),
  perf=(298, 0, 0, 0, 0, 0), memfd=(319, b'm', 0), shmget=(29, 0, 4096, 0o1600)) if x86 else {}
for name, call in calls.items(): print(name, errno(*call))
if x86: print('x32', errno(0x40000000 + 39))
status = open('/proc/self/status').read()
for line in status.splitlines():
    if line.startswith(('CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp:')): print(*line.split())
"
    ));
    let lines = text(&outcome);
    for line in lines.lines() {
        let (name, value) = line.split_once(' ').unwrap();
        let expected = match name {
            "clone3" | "x32" => "38",
            "NoNewPrivs:" => "1",
            "Seccomp:" => "2",
            _ if name.starts_with("Cap") => "0000000000000000",
            _ => "1",
        };
        assert_eq!(value, expected, "{name}");
    }
    assert!(
        lines.lines().count() >= 6,
        "{lines} {}",
        outcome.stderr.text()
    );
}

#[test]
fn killing_everything_harms_nobody() {
    let outcome = run!(&shell("trap '' TERM; kill -9 1; kill -TERM -1; echo alive"));
    assert_eq!(
        (outcome.status, text(&outcome)),
        (Status::Exited(0), "alive\n".into())
    );
}

#[test]
fn root_inside_is_nobody_outside() {
    let Some(sandbox) = sandbox() else { return };
    let word = format!("34{:07}", std::process::id());
    let mut spec = shell(&format!("exec sleep {word}"));
    spec.limits.wall = Duration::from_secs(1);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| sandbox.run(&spec).unwrap());
        let start = Instant::now();
        let owner = loop {
            assert!(start.elapsed() < Duration::from_secs(20));
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let line = |process: &std::fs::DirEntry| std::fs::read(process.path().join("cmdline"));
            let sleeper = processes.into_iter().find(|process| {
                line(process).is_ok_and(|line| line == format!("sleep\0{word}\0").as_bytes())
            });
            let owner = sleeper.and_then(|process| process.metadata().ok());
            match owner {
                Some(meta) => break std::os::unix::fs::MetadataExt::uid(&meta),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        assert_ne!(owner, 0);
        assert_eq!(run.join().unwrap().status, Status::TimedOut);
    });
}

#[test]
fn two_runs_share_nothing() {
    let spec = shell("touch /tmp/a /scratch/b /dev/shm/c; ls -A /tmp /scratch /dev/shm | wc -w");
    let first = run!(&spec);
    let mut spec = shell("ls -A /tmp; ls -A /scratch; ls -A /dev/shm; hostname");
    spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    assert_eq!(text(&first).trim(), "6");
    assert_eq!(text(&run!(&spec)), "hydra\n");
}

/// Not a test of its own: the supervisor that the next one kills.
#[test]
#[ignore = "run by killed_supervisor_leaves_nothing"]
fn sleeps_until_killed() {
    let word = std::env::var("HYDRA_TEST_WORD").unwrap();
    let mut spec = shell(&format!("setsid sleep {word} & sleep {word}"));
    spec.limits.wall = Duration::from_secs(60);
    run!(&spec);
}

#[test]
fn killed_supervisor_leaves_nothing() {
    if sandbox().is_none() {
        return;
    }
    let word = format!("33{:07}", std::process::id());
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "walls::sleeps_until_killed", "--ignored"])
        .env("HYDRA_TEST_WORD", &word);
    let mut supervisor = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let within = |wanted: bool| {
        let start = Instant::now();
        while lives(&word) != wanted {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "lives: {}",
                !wanted
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    within(true);
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    within(false);
}
