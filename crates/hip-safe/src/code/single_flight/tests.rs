//! The same with real threads, and with every order of two or three of them.

use super::*;

/// With `cargo test`, once, on threads of the system.
#[cfg(not(loom))]
mod threads {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    type Flights = SingleFlight<&'static str, usize, &'static str>;

    #[test]
    fn waiting_threads_share_the_value_or_the_error() {
        for answer in [Ok(7), Err("no")] {
            let (flights, made, start) = (Flights::default(), AtomicUsize::new(0), Barrier::new(4));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        start.wait();
                        let got = flights.get_or_make("a", || {
                            made.fetch_add(1, SeqCst);
                            // Until all have a seat.
                            while flights.flights.lock()["a"].seats < 4 {
                                thread::sleep(Duration::from_millis(1));
                            }
                            answer
                        });
                        assert_eq!(got, answer);
                    });
                }
            });
            assert_eq!(made.load(SeqCst), 1);
            assert!(flights.is_idle());
        }
    }

    #[test]
    fn an_answer_is_not_kept() {
        let flights = Flights::default();
        assert_eq!(flights.get_or_make("a", || Err("no")), Err("no"));
        assert_eq!(flights.get_or_make("a", || Ok(1)), Ok(1));
        assert_eq!(flights.get_or_make("a", || flights.get_or_make("b", || Ok(2))), Ok(2));
        assert!(flights.is_idle());
    }

    #[test]
    fn after_a_panic_a_waiting_thread_makes_the_value() {
        let (flights, start) = (Flights::default(), Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                let panic = catch_unwind(AssertUnwindSafe(|| {
                    flights.get_or_make("a", || {
                        start.wait();
                        while flights.flights.lock()["a"].seats < 2 {
                            thread::sleep(Duration::from_millis(1));
                        }
                        panic!("on purpose")
                    })
                }));
                assert!(panic.is_err());
            });
            start.wait();
            assert_eq!(flights.get_or_make("a", || Ok(3)), Ok(3));
        });
        assert!(flights.is_idle());
    }
}

/// With `--cfg loom`, in every order. A panic is not among them: loom's mutex cannot be used after one.
#[cfg(loom)]
mod loom_models {
    use super::*;
    use loom::sync::Condvar;
    use loom::thread;

    type Flights = SingleFlight<u8, u32, u32>;

    /// What two callers of one key make while it is counted.
    #[derive(Default)]
    struct Shop {
        flights: Flights,
        /// How many are being made now, how many were made, and what is kept.
        state: Mutex<(u32, u32, Option<u32>)>,
    }

    impl Shop {
        /// A cache: what is kept, else what is made and kept.
        fn get(&self) -> Result<u32, u32> {
            self.flights.get_or_make(1, || {
                if let Some(kept) = self.begin() {
                    return Ok(kept);
                }
                self.end(Some(5));
                Ok(5)
            })
        }

        fn begin(&self) -> Option<u32> {
            let mut state = self.state.lock();
            if state.2.is_none() {
                assert_eq!(state.0, 0, "two make the same at once");
                state.0 += 1;
            }
            state.2
        }

        fn end(&self, keep: Option<u32>) {
            let mut state = self.state.lock();
            state.0 -= 1;
            state.1 += 1;
            state.2 = keep;
        }
    }

    #[test]
    fn loom_one_makes_and_all_have_it() {
        loom::model(|| {
            let shop = Arc::new(Shop::default());
            let other = {
                let shop = Arc::clone(&shop);
                thread::spawn(move || shop.get())
            };
            assert_eq!(shop.get(), Ok(5));
            assert_eq!(other.join().unwrap(), Ok(5));
            assert_eq!(*shop.state.lock(), (0, 1, Some(5)), "made once");
            assert!(shop.flights.is_idle());
        });
    }

    #[test]
    fn loom_an_error_reaches_the_waiting_threads_and_is_not_kept() {
        loom::model(|| {
            let shop = Arc::new(Shop::default());
            let fail = |shop: &Shop, code| {
                shop.flights.get_or_make(1, || {
                    assert_eq!(shop.begin(), None);
                    shop.end(None);
                    Err(code)
                })
            };
            let other = {
                let shop = Arc::clone(&shop);
                thread::spawn(move || fail(&shop, 1))
            };
            let got = [fail(&shop, 2), other.join().unwrap()];
            let made = shop.state.lock().1;
            match got {
                [Err(2), Err(1)] => assert_eq!(made, 2, "one after the other"),
                [Err(1), Err(1)] | [Err(2), Err(2)] => assert_eq!(made, 1, "shared"),
                other => panic!("{other:?}"),
            }
            assert!(shop.flights.is_idle());
        });
    }

    #[test]
    fn loom_another_key_does_not_wait() {
        loom::model(|| {
            let shared = Arc::new((Flights::default(), loom::sync::Mutex::new(false), Condvar::new()));
            let other = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (flights, done, wake) = &*shared;
                    let made = flights.get_or_make(2, || {
                        *done.lock().unwrap() = true;
                        wake.notify_one();
                        Ok(2)
                    });
                    assert_eq!(made, Ok(2));
                })
            };
            let (flights, done, wake) = &*shared;
            // It is made only once the other one is: if keys waited for each other, this would hang.
            let made = flights.get_or_make(1, || {
                let mut guard = done.lock().unwrap();
                while !*guard {
                    guard = wake.wait(guard).unwrap();
                }
                Ok(1)
            });
            assert_eq!(made, Ok(1));
            other.join().unwrap();
            assert!(flights.is_idle());
        });
    }
}
