//! Vector clocks: for each actor, which of its moments happen before. Actors are streams and host threads.

/// For each actor, the tick of its last moment that happens before. Actors beyond the end have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<u64>);

/// One moment of one actor. An actor's ticks start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) actor: usize,
    pub(crate) tick: u64,
}

impl Clock {
    /// The tick of the actor's last moment that is covered; 0 for none.
    pub(crate) fn tick(&self, actor: usize) -> u64 {
        self.0.get(actor).copied().unwrap_or(0)
    }

    /// Whether the clock covers the moment.
    pub(crate) fn covers(&self, moment: Moment) -> bool {
        self.tick(moment.actor) >= moment.tick
    }

    /// Makes the clock cover the moment.
    pub(crate) fn reach(&mut self, moment: Moment) {
        if self.0.len() <= moment.actor {
            self.0.resize(moment.actor + 1, 0);
        }
        let tick = &mut self.0[moment.actor];
        *tick = moment.tick.max(*tick);
    }

    /// Makes the clock cover what the other clock covers.
    pub(crate) fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_covers_what_it_has_reached_or_joined() {
        let (early, late) = (Moment { actor: 2, tick: 3 }, Moment { actor: 2, tick: 4 });
        let (mut a, mut b) = (Clock::default(), Clock::default());
        assert!(!a.covers(early));
        a.reach(early);
        assert!(a.covers(early) && !a.covers(late));
        b.reach(Moment { actor: 0, tick: 1 });
        b.join(&a);
        assert!(b.covers(early) && b.covers(Moment { actor: 0, tick: 1 }) && !b.covers(late));
        // Reaching an earlier moment changes nothing.
        b.reach(Moment { actor: 2, tick: 1 });
        assert!(b.covers(early));
    }
}
