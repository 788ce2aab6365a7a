//! What happens at each limit.

use super::*;

#[test]
fn huge_output_is_bounded_with_head_and_tail() {
    let mut spec = shell("echo first; head -c 100000000 /dev/zero; echo last");
    spec.limits.output = 1000;
    let outcome = run!(&spec);
    assert_eq!(outcome.status, Status::Exited(0));
    assert!(outcome.stdout.head.starts_with(b"first\n\0"));
    assert!(outcome.stdout.tail.ends_with(b"\0last\n"));
    assert_eq!(outcome.stdout.head.len() + outcome.stdout.tail.len(), 1000);
    assert_eq!(outcome.stdout.dropped, 100_000_011 - 1000);
}

#[test]
fn output_held_open_past_the_exit_does_not_delay() {
    let start = Instant::now();
    let outcome = run!(&shell("(setsid sleep 60 &) ; echo done"));
    assert_eq!(outcome.status, Status::Exited(0));
    assert_eq!(outcome.stdout.head, b"done\n");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn endless_loop_times_out_and_its_daemons_are_gone() {
    let word = format!("31{:07}", std::process::id());
    let mut spec = shell(&format!(
        "(setsid sh -c 'setsid sleep {word} & sleep {word}' &); while :; do :; done"
    ));
    spec.limits.wall = Duration::from_millis(500);
    let outcome = run!(&spec);
    assert_eq!(outcome.status, Status::TimedOut);
    assert!(outcome.wall < Duration::from_secs(3), "{:?}", outcome.wall);
    assert!(outcome.cpu > Duration::from_millis(50), "{:?}", outcome.cpu);
    assert!(!lives(&word));
}

#[test]
fn processor_limit_counts_as_a_timeout() {
    let mut spec = shell("while :; do :; done");
    spec.limits.cpu = Duration::from_secs(1);
    spec.limits.wall = Duration::from_secs(60);
    assert_eq!(run!(&spec).status, Status::TimedOut);
}

#[test]
fn scratch_is_full_at_its_size() {
    let mut spec = shell("head -c 5000000 /dev/zero >/scratch/big; wc -c </scratch/big");
    spec.limits.scratch = 1 << 20;
    assert_eq!(text(&run!(&spec)).trim(), "1048576");
}

#[test]
fn memory_hog_is_reported_as_out_of_memory() {
    for script in [
        "x = [bytearray(b'x' * (1 << 20)) for _ in range(100000)]",
        // Children share the load and the parent ends well.
        "import os
for _ in range(4):
    if os.fork() == 0:
        x = b'x' * (60 << 20); import time; time.sleep(20); os._exit(0)
for _ in range(4): os.wait()",
    ] {
        let mut spec = python(script);
        spec.limits.memory = 100 << 20;
        let outcome = run!(&spec);
        assert_eq!(
            outcome.status,
            Status::OutOfMemory,
            "{}",
            outcome.stderr.text()
        );
        assert!(outcome.peak_memory > 100 << 20);
    }
}

#[test]
fn memory_shared_after_a_fork_counts_once() {
    let mut spec = python(
        "import os, time
x = b'x' * (60 << 20)
for _ in range(4):
    if os.fork() == 0: time.sleep(0.3); os._exit(0)
for _ in range(4): os.wait()",
    );
    spec.limits.memory = 150 << 20;
    let outcome = run!(&spec);
    assert_eq!(
        outcome.status,
        Status::Exited(0),
        "{}",
        outcome.stderr.text()
    );
}

#[test]
fn fork_bomb_is_held_and_gone() {
    let mut spec = python(
        "import os, time
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError as error: print(n, error.errno, flush=True)
while True: time.sleep(1)",
    );
    spec.limits.processes = 20;
    spec.limits.wall = Duration::from_secs(3);
    let outcome = run!(&spec);
    assert_eq!(outcome.status, Status::TimedOut);
    // EAGAIN with the program and 19 children.
    assert_eq!(text(&outcome), "19 11\n");
}

#[test]
fn files_are_collected_after_a_timeout_too() {
    let mut spec = shell("echo part >part; sleep 60");
    spec.limits.wall = Duration::from_millis(500);
    spec.collect = vec!["part".into()];
    let outcome = run!(&spec);
    assert_eq!(
        (outcome.status, &outcome.collected["part"][..]),
        (Status::TimedOut, &b"part\n"[..])
    );
}
