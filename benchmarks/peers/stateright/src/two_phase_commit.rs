//! Two-phase commit: the whole state is one word, so that copying and hashing it cost next to nothing.

use stateright::{Model, Property};

/// N managers, from 1 to 16.
pub struct TwoPhaseCommit {
    pub managers: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Commit,
    Abort,
    Learn(u8),
    Prepare(u8),
    GiveUp(u8),
    ObeyCommit(u8),
    ObeyAbort(u8),
}

/* Sixteen bits each: managers' low bits, their high bits, who sent Prepared, and below those who is
 * known to be prepared. 00 working, 01 prepared, 10 committed, 11 aborted. */
const LOW: u32 = 0;
const HIGH: u32 = 16;
const SENT: u32 = 32;
const KNOWN: u32 = 48;
const COMMITTED: u128 = 1 << 64;
const ABORTED: u128 = 1 << 65;
const COMMIT_SENT: u128 = 1 << 66;
const ABORT_SENT: u128 = 1 << 67;

fn bit(field: u32, manager: u8) -> u128 {
    1 << (field + u32::from(manager))
}

impl TwoPhaseCommit {
    fn all(&self) -> u128 {
        (1 << self.managers) - 1
    }
}

impl Model for TwoPhaseCommit {
    type State = u128;
    type Action = Action;

    fn init_states(&self) -> Vec<u128> {
        vec![0]
    }

    fn actions(&self, &state: &u128, actions: &mut Vec<Action>) {
        let undecided = state & (COMMITTED | ABORTED) == 0;
        if undecided {
            actions.push(Action::Abort);
            if (state >> KNOWN) & self.all() == self.all() {
                actions.push(Action::Commit);
            }
        }
        for m in 0..self.managers as u8 {
            if undecided && state & bit(SENT, m) != 0 {
                actions.push(Action::Learn(m));
            }
            if state & (bit(LOW, m) | bit(HIGH, m)) == 0 {
                actions.extend([Action::Prepare(m), Action::GiveUp(m)]);
            }
            if state & COMMIT_SENT != 0 {
                actions.push(Action::ObeyCommit(m));
            }
            if state & ABORT_SENT != 0 {
                actions.push(Action::ObeyAbort(m));
            }
        }
    }

    fn next_state(&self, &state: &u128, action: Action) -> Option<u128> {
        Some(match action {
            Action::Commit => state | COMMITTED | COMMIT_SENT,
            Action::Abort => state | ABORTED | ABORT_SENT,
            Action::Learn(m) => state | bit(KNOWN, m),
            Action::Prepare(m) => state | bit(LOW, m) | bit(SENT, m),
            Action::GiveUp(m) | Action::ObeyAbort(m) => state | bit(LOW, m) | bit(HIGH, m),
            Action::ObeyCommit(m) => (state | bit(HIGH, m)) & !bit(LOW, m),
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("agreement", |model, &state| {
            let ended = (state >> HIGH) & model.all();
            let aborted = (state >> LOW) & ended;
            aborted == 0 || aborted == ended
        })]
    }
}
