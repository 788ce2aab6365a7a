//! Several items at a time, their outcomes one after the other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Works on `items` in `jobs` threads and hands every outcome to `take` on this one, in the order
/// in which they come. After an error of `take` no further item is begun.
pub(crate) fn several<T: Sync, R: Send, E>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // Bounded: what is done waits on disk, not more of it than there are threads.
        let (send, receive) = mpsc::sync_channel(1);
        for _ in 0..jobs.max(1).min(items.len()) {
            let send = send.clone();
            let (next, stop, work) = (&next, &stop, &work);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed))
                    && send.send(work(item)).is_ok()
                {}
            });
        }
        drop(send);
        let mut ended = Ok(());
        for outcome in receive {
            // What was begun before an error is not lost for it.
            let taken = take(outcome);
            if ended.is_ok() {
                stop.store(taken.is_err(), Ordering::Relaxed);
                ended = taken;
            }
        }
        ended
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        let items: Vec<u32> = (0..100).collect();
        let mut seen = Vec::new();
        let done = several(
            &items,
            4,
            |n| n * 2,
            |n| {
                seen.push(n);
                Ok::<(), ()>(())
            },
        );
        seen.sort_unstable();
        assert_eq!(done, Ok(()));
        assert_eq!(seen, (0..100).map(|n| n * 2).collect::<Vec<_>>());
    }

    #[test]
    fn after_an_error_nothing_new_is_begun() {
        let items = [0; 1000];
        let begun = AtomicUsize::new(0);
        let work = |_: &u32| begun.fetch_add(1, Ordering::Relaxed);
        assert_eq!(
            several(&items, 2, work, |_| Err("full disk")),
            Err("full disk")
        );
        assert!(begun.load(Ordering::Relaxed) < 10);
    }
}
