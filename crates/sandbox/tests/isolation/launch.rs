//! Starting programs, and what is reported of them.

use super::*;

#[test]
fn exit_code_and_output_are_reported() {
    let outcome = run!(&shell("echo out; echo err >&2; exit 7"));
    assert_eq!(outcome.status, Status::Exited(7));
    assert_eq!(outcome.stdout.head, b"out\n");
    assert_eq!(outcome.stderr.head, b"err\n");
}

#[test]
fn signals_are_reported_exactly() {
    for (name, number) in [("SEGV", 11), ("ABRT", 6), ("TERM", 15), ("KILL", 9)] {
        let outcome = run!(&shell(&format!("kill -{name} $$")));
        assert_eq!(outcome.status, Status::Signaled(number), "{name}");
    }
}

#[test]
fn ordinary_python_needs_are_met() {
    let script = "
import multiprocessing, os, pwd, socket, subprocess, tempfile, threading, time
from multiprocessing import shared_memory
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))
    memory = shared_memory.SharedMemory(create=True, size=4096); memory.close(); memory.unlink()
    print(subprocess.check_output(['/bin/echo', 'sub']))
    print(socket.getaddrinfo('localhost', 80, socket.AF_INET)[0][4])
    threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
    [thread.start() for thread in threads]; [thread.join() for thread in threads]
    print(pwd.getpwuid(os.getuid()).pw_name, tempfile.gettempdir(), os.getcwd(), time.tzname[0])
    print(len(os.urandom(8)), open('/etc/mime.types').read())
";
    let mut spec = python("");
    spec.args = vec!["/scratch/needs.py".into()];
    spec.files = vec![
        ("/scratch/needs.py".into(), script.into()),
        ("/etc/mime.types".into(), b"text/x".to_vec()),
    ];
    let outcome = run!(&spec);
    let expected = "[1, 2]\nb'sub\\n'\n('127.0.0.1', 80)\nroot /tmp /scratch UTC\n8 text/x\n";
    assert_eq!(text(&outcome), expected, "{}", outcome.stderr.text());
}

#[test]
fn standard_input_reaches_the_program() {
    let mut spec = shell("cat; cat");
    spec.stdin = b"a\0b\xff".to_vec();
    assert_eq!(run!(&spec).stdout.head, b"a\0b\xff");
}

#[test]
fn program_that_is_missing_is_an_error_with_its_name() {
    let Some(sandbox) = sandbox() else { return };
    let error = sandbox.run(&Spec::new("/no/such")).unwrap_err();
    assert!(
        matches!(&error, SandboxError::Exec { program, .. } if program == Path::new("/no/such"))
    );
}

#[test]
fn eight_threads_run_at_once() {
    let Some(sandbox) = sandbox() else { return };
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for turn in 0..6 {
                    let word = format!("{thread}-{turn}");
                    let spec = shell(&format!("echo {word}; [ ! -e /tmp/x ] && touch /tmp/x"));
                    let outcome = sandbox.run(&spec).unwrap();
                    assert_eq!(outcome.status, Status::Exited(0));
                    assert_eq!(text(&outcome), format!("{word}\n"));
                }
            });
        }
    });
}

#[test]
fn launches_take_milliseconds() {
    let Some(sandbox) = sandbox() else { return };
    let mut times: Vec<_> = (0..20)
        .map(|_| {
            let start = Instant::now();
            sandbox.run(&Spec::new("/bin/true")).unwrap();
            start.elapsed()
        })
        .collect();
    times.sort();
    eprintln!("median launch: {:?}", times[10]);
    // Far above the measured time, for machines under load.
    assert!(times[10] < Duration::from_millis(500), "{times:?}");
}

/// An interpreter of pyenv, usually under a home that others may not enter.
fn pyenv_python() -> Option<(PathBuf, PathBuf)> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pyenv"));
    let root = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(home)?;
    let versions = std::fs::read_dir(root.join("versions")).ok()?.flatten();
    let mut versions: Vec<_> = versions.map(|version| version.path()).collect();
    versions.sort();
    let found = |version: PathBuf| {
        let python = version.join("bin/python3.10");
        python.exists().then_some((version, python))
    };
    versions.into_iter().find_map(found)
}

#[test]
fn interpreter_under_a_private_home_runs_from_a_bind() {
    let Some((version, program)) = pyenv_python() else {
        eprintln!("skipped: no python3.10 of pyenv");
        return;
    };
    let mut spec = python("import ssl, sqlite3, sys; print(sys.version_info[:2])");
    spec.program = program;
    spec.binds = vec![Bind {
        source: version.clone(),
        target: version.clone(),
    }];
    let outcome = run!(&spec);
    assert_eq!(text(&outcome), "(3, 10)\n", "{}", outcome.stderr.text());
    spec.program = "/bin/sh".into();
    let script = format!("touch {0}/x; ls {0}/../..", version.display());
    spec.args = vec!["-c".into(), script.into()];
    let outcome = run!(&spec);
    assert_eq!(text(&outcome), "versions\n");
    assert!(outcome.stderr.text().contains("Read-only file system"));
}

#[test]
fn probe_reports_the_trial() {
    let probe = probe();
    assert_eq!(probe.isolated, sandbox().is_some());
    assert_eq!(probe.isolated, probe.refused.is_none());
    if probe.uid == 0 && probe.isolated {
        assert_ne!(probe.box_uid, None);
    }
}

#[test]
fn without_isolation_limits_still_hold() {
    let sandbox = Sandbox::new(Isolation::Off).unwrap();
    let mut spec = shell("cat given; echo out >result; exit 3");
    spec.files = vec![("/scratch/given".into(), b"here".to_vec())];
    spec.collect = vec!["result".into()];
    let outcome = sandbox.run(&spec).unwrap();
    assert_eq!(
        (outcome.status, text(&outcome)),
        (Status::Exited(3), "here".into())
    );
    assert_eq!(outcome.collected["result"], b"out\n");

    let word = format!("32{:07}", std::process::id());
    let mut spec = shell(&format!("sleep {word} & sleep {word}"));
    spec.limits.wall = Duration::from_millis(300);
    assert_eq!(sandbox.run(&spec).unwrap().status, Status::TimedOut);
    assert!(!lives(&word));

    spec.binds = vec![Bind {
        source: "/usr".into(),
        target: "/input".into(),
    }];
    assert!(matches!(sandbox.run(&spec), Err(SandboxError::Spec(_))));
}

/// Runs this test file again as an ordinary user, where we are root.
#[test]
fn works_as_an_ordinary_user() {
    use std::os::unix::process::CommandExt;
    if !nix::unistd::geteuid().is_root() || sandbox().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut command = std::process::Command::new(&copy);
    command
        .current_dir("/")
        .env_remove("PYENV_ROOT")
        .env("HOME", "/nonexistent");
    command
        .args(["--nocapture", "--test-threads", "2"])
        .uid(54321)
        .gid(54321);
    let output = command.output().unwrap();
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}{errors}");
    assert!(!errors.contains("skipped: cannot isolate"), "{errors}");
    assert!(
        log.contains("test launch::exit_code_and_output_are_reported ... ok"),
        "{log}"
    );
}
