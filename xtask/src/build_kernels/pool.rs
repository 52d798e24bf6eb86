//! Runs one job per unit on all cores. After the first failure no further job starts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results in the order of the items, or all errors that occurred.
pub(super) fn run<T: Sync, R: Send>(
    items: &[T],
    job: impl Fn(usize, &T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::default();
    let errors: Mutex<Vec<String>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while lock(&errors).is_empty() {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    match job(i, item) {
                        Ok(result) => lock(&done).push((i, result)),
                        Err(error) => lock(&errors).push(error),
                    }
                }
            });
        }
    });
    let errors = std::mem::take(&mut *lock(&errors));
    if !errors.is_empty() {
        return Err(errors.join("\n"));
    }
    let mut done = std::mem::take(&mut *lock(&done));
    done.sort_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no job panics while it holds a lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(run(&items, |_, x| Ok(x * 2)), Ok((0..100).map(|x| x * 2).collect()));
        assert_eq!(run(&[], |_, (): &()| Ok(())), Ok(vec![]));
    }

    #[test]
    fn a_failure_is_reported_and_stops_the_rest() {
        let started = AtomicUsize::new(0);
        let items = [0; 1000];
        let result = run(&items, |i, _| {
            started.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(1));
            if i == 0 { Err("first".to_string()) } else { Ok(()) }
        });
        assert_eq!(result, Err("first".into()));
        assert!(started.load(Ordering::Relaxed) < items.len());
    }
}
