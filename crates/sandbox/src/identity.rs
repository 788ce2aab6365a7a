//! Who the box is, seen from outside.
//!
//! Root's own uid must not enter the box: without capabilities it still opens
//! `/proc/sys/kernel/core_pattern` for writing and reads `/etc/shadow`. So every run by root
//! takes a uid that nobody else uses for as long as it lasts.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::SandboxError;

/// Above the ranges of `/etc/login.defs`, of subordinate ids and of systemd's dynamic users
/// (`systemd.io/UIDS-GIDS`), below 2^31.
const FIRST: u32 = 0x6000_0000;
/// Runs at a time in one process.
const SLOTS: u32 = 1 << 10;

static TAKEN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The ids outside, held for one run.
pub(crate) struct Identity {
    slot: u32,
    /// The id to drop to, when we are root.
    pub(crate) drop_to: Option<u32>,
    /// The uid that is 0 inside.
    pub(crate) uid: u32,
    /// The gid that is 0 inside.
    pub(crate) gid: u32,
}

impl Drop for Identity {
    fn drop(&mut self) {
        TAKEN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.slot);
    }
}

impl Identity {
    /// Picks the ids for one run.
    pub(crate) fn take() -> Result<Self, SandboxError> {
        let uid = nix::unistd::geteuid().as_raw();
        let gid = nix::unistd::getegid().as_raw();
        let slot = {
            let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
            let slot = (0..SLOTS).find(|slot| !taken.contains(slot));
            let slot = slot.ok_or_else(|| SandboxError::Spec("too many runs at once".into()))?;
            taken.insert(slot);
            slot
        };
        let mut identity = Self {
            slot,
            drop_to: None,
            uid,
            gid,
        };
        if uid != 0 {
            return Ok(identity);
        }
        let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        // Two Hydras meet only if their process ids are equal in 18 of at most 22 bits
        // (proc(5)); even then the namespaces keep their boxes apart.
        let wanted = FIRST + ((std::process::id() & 0x3_ffff) << 10) + slot;
        match throwaway(&map, wanted, slot) {
            Throwaway::Id(id) => {
                identity.drop_to = Some(id);
                (identity.uid, identity.gid) = (id, id);
            }
            // We are "root" of a user namespace that knows one id: an ordinary user outside.
            Throwaway::Ordinary => {}
            Throwaway::None => {
                return Err(SandboxError::Refused {
                    reason: "root has no other user id to run the box as".into(),
                    remedy: "run as an ordinary user".into(),
                });
            }
        }
        Ok(identity)
    }
}

#[derive(Debug, PartialEq)]
enum Throwaway {
    Id(u32),
    Ordinary,
    None,
}

/// Chooses an id that this user namespace knows, given its `uid_map`.
fn throwaway(map: &str, wanted: u32, slot: u32) -> Throwaway {
    let rows: Vec<(u64, u64, u64)> = map
        .lines()
        .filter_map(|line| {
            let mut numbers = line.split_whitespace().map(|number| number.parse().ok());
            Some((numbers.next()??, numbers.next()??, numbers.next()??))
        })
        .collect();
    if rows
        .iter()
        .any(|(inside, _, count)| (*inside..inside + count).contains(&u64::from(wanted)))
    {
        return Throwaway::Id(wanted);
    }
    // A container with a range of its own: count down from the range's end, above uid 1000.
    let last = rows
        .iter()
        .map(|(inside, _, count)| inside + count - 1)
        .max()
        .unwrap_or(0);
    match last.checked_sub(u64::from(slot)).map(u32::try_from) {
        Some(Ok(id)) if id > 1000 && id != 65534 => Throwaway::Id(id),
        _ if rows
            .iter()
            .any(|(inside, outside, _)| *inside == 0 && *outside != 0) =>
        {
            Throwaway::Ordinary
        }
        _ => Throwaway::None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn initial_namespace_gives_the_high_id() {
        let map = "         0          0 4294967295\n";
        assert_eq!(throwaway(map, FIRST, 0), Throwaway::Id(FIRST));
    }

    #[test]
    fn container_range_gives_an_id_from_its_end() {
        let map = "0 1000 1\n1 100000 65536\n";
        assert_eq!(throwaway(map, FIRST, 3), Throwaway::Id(65533));
    }

    #[test]
    fn single_mapped_root_counts_as_an_ordinary_user() {
        assert_eq!(throwaway("0 1000 1\n", FIRST, 0), Throwaway::Ordinary);
        assert_eq!(throwaway("0 0 1\n", FIRST, 0), Throwaway::None);
    }

    #[test]
    fn two_runs_never_share_an_identity() {
        let (one, two) = (Identity::take().unwrap(), Identity::take().unwrap());
        assert_ne!(one.slot, two.slot);
    }
}
