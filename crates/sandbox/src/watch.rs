//! Adds up the memory and the processor time of a box's processes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The memory seen so far of the processes under one `/proc`.
pub(crate) struct Watch {
    proc: PathBuf,
    limit: u64,
    page: u64,
    /// Most resident bytes seen at once.
    pub(crate) peak: u64,
}

impl Watch {
    /// Watches the processes listed in `proc`, which is a box's own.
    pub(crate) fn new(proc: PathBuf, limit: u64) -> Self {
        // SAFETY: asks for a constant.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Self {
            proc,
            limit,
            page: u64::try_from(page).unwrap_or(4096),
            peak: 0,
        }
    }

    /// Looks once at all processes but the box's init: whether they exceed the limit.
    pub(crate) fn exceeded(&mut self) -> bool {
        let mut processes = numbered(&self.proc);
        processes.retain(|process| !process.ends_with("1"));
        self.exceeded_by(&processes)
    }

    /// The processor time so far of all processes and of the children that they waited for.
    pub(crate) fn cpu(&self) -> Duration {
        // SAFETY: asks for a constant.
        let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
        let ticks: u64 = numbered(&self.proc)
            .iter()
            .map(|process| ticks(process))
            .sum();
        Duration::from_secs_f64(ticks as f64 / hertz as f64)
    }

    /// The same for these folders of `/proc`.
    pub(crate) fn exceeded_by(&mut self, processes: &[PathBuf]) -> bool {
        let mut sum: u64 = processes
            .iter()
            .map(|process| resident(process) * self.page)
            .sum();
        if sum > self.limit {
            // Pages shared after a fork count once per process above; the exact share is slow.
            let shares: Option<Vec<u64>> = processes.iter().map(|id| proportional(id)).collect();
            sum = shares.map_or(sum, |shares| shares.iter().sum());
        }
        self.peak = self.peak.max(sum);
        sum > self.limit
    }
}

/// The folders of a `/proc` that stand for processes.
pub(crate) fn numbered(proc: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    let is_number = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    entries
        .filter(|entry| is_number(&entry.file_name()))
        .map(|entry| entry.path())
        .collect()
}

/// A field of a process's stat, counted from 0 at its state, the first after its name (proc(5)).
pub(crate) fn stat(process: &Path, field: usize) -> Option<u64> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(") ")?
        .1
        .split(' ')
        .nth(field)?
        .parse()
        .ok()
}

/// Clock ticks spent: utime, stime and the same of children, cutime and cstime.
fn ticks(process: &Path) -> u64 {
    (11..=14).filter_map(|field| stat(process, field)).sum()
}

/// Resident pages: the second field of statm (proc(5)); none of a process that is gone.
fn resident(process: &Path) -> u64 {
    let statm = std::fs::read_to_string(process.join("statm")).unwrap_or_default();
    statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0)
}

/// Proportional set size in bytes; 0 of a process that is gone, none where we may not look.
fn proportional(process: &Path) -> Option<u64> {
    match std::fs::read_to_string(process.join("smaps_rollup")) {
        Ok(text) => {
            let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
            Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
        }
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::ESRCH) => Some(0),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn this_process_has_resident_memory() {
        let me = vec![PathBuf::from("/proc/self")];
        let mut watch = Watch::new("/proc".into(), u64::MAX);
        assert!(!watch.exceeded_by(&me));
        assert!(watch.peak > 100_000);
        assert!(Watch::new("/proc".into(), 1000).exceeded_by(&me));
    }
}
