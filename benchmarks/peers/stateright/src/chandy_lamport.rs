//! Chandy-Lamport on a complete graph with FIFO channels: the whole state is one u128.
//!
//! Contents are not kept. Counts tell how many messages are under way, and the marker, once its
//! sender has recorded, comes after as many as had been sent by then.

use stateright::{Model, Property};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Start,
    Send { channel: u8, sender: u8 },
    Message(u8),
    Marker(u8),
}

/// A channel and its two ends.
#[derive(Clone, Copy)]
struct Channel {
    from: u8,
    to: u8,
    shift: u32,
}

pub struct Snapshot {
    channels: Vec<Channel>,
    budgets: Vec<usize>,
    /// Bits of a count.
    width: u32,
}

/* From bit 0: recorded (4 bits), sends left (2 bits a site), then the channels: sent, received,
 * sent_at, received_at, caught (`width` bits each), finished (1 bit). */
const LEFT: u32 = 4;
const CHANNELS: u32 = 12;

fn width(sends: &[usize]) -> u32 {
    if sends.iter().all(|&sent| sent <= 1) { 1 } else { 2 }
}

/// Tell whether the state of such a graph fits into its word.
pub fn fits(sends: &[usize]) -> bool {
    let sites = sends.len() as u32;
    (2..=4).contains(&sites)
        && sends.iter().all(|&sent| sent <= 3)
        && CHANNELS + sites * (sites - 1) * (5 * width(sends) + 1) <= 128
}

impl Snapshot {
    pub fn new(sends: &[usize]) -> Self {
        let (width, sites) = (width(sends), sends.len() as u8);
        let ends = (0..sites).flat_map(|from| (0..sites).map(move |to| (from, to)));
        let channels = ends.filter(|(from, to)| from != to).zip(0..);
        let channels = channels.map(|((from, to), number): ((u8, u8), u32)| Channel {
            from,
            to,
            shift: CHANNELS + number * (5 * width + 1),
        });
        Snapshot { channels: channels.collect(), budgets: sends.to_vec(), width }
    }

    fn count(&self, state: u128, channel: &Channel, field: u32) -> u32 {
        (state >> (channel.shift + field * self.width)) as u32 & ((1 << self.width) - 1)
    }

    fn one(&self, channel: &Channel, field: u32) -> u128 {
        1 << (channel.shift + field * self.width)
    }

    /// Record a site: the counts of its ends of all its channels.
    fn record(&self, state: u128, site: u8) -> u128 {
        let mut recorded = state | 1 << site;
        for channel in &self.channels {
            let field = match site {
                _ if site == channel.from => SENT,
                _ if site == channel.to => RECEIVED,
                _ => continue,
            };
            let count = u128::from(self.count(state, channel, field));
            recorded |= count << (channel.shift + (field + 2) * self.width);
        }
        recorded
    }

    fn consistent(&self, state: u128) -> bool {
        self.channels.iter().all(|channel| {
            let sent = self.count(state, channel, SENT_AT);
            let received = self.count(state, channel, RECEIVED_AT);
            let both = recorded(state, channel.from) && recorded(state, channel.to);
            let finished = state & self.one(channel, FINISHED) != 0;
            (!both || received <= sent)
                && (!finished || sent == received + self.count(state, channel, CAUGHT))
        })
    }
}

const SENT: u32 = 0;
const RECEIVED: u32 = 1;
const SENT_AT: u32 = 2;
const RECEIVED_AT: u32 = 3;
const CAUGHT: u32 = 4;
const FINISHED: u32 = 5;

fn recorded(state: u128, site: u8) -> bool {
    state >> site & 1 == 1
}

impl Model for Snapshot {
    type State = u128;
    type Action = Action;

    fn init_states(&self) -> Vec<u128> {
        let left = self.budgets.iter().zip(0..);
        vec![left.map(|(&left, site): (_, u32)| (left as u128) << (LEFT + 2 * site)).sum()]
    }

    fn actions(&self, &state: &u128, actions: &mut Vec<Action>) {
        if !recorded(state, 0) {
            actions.push(Action::Start);
        }
        for (channel, number) in self.channels.iter().zip(0..) {
            if state >> (LEFT + 2 * u32::from(channel.from)) & 3 != 0 {
                actions.push(Action::Send { channel: number, sender: channel.from });
            }
            let received = self.count(state, channel, RECEIVED);
            let marker = recorded(state, channel.from)
                && state & self.one(channel, FINISHED) == 0
                && received == self.count(state, channel, SENT_AT);
            if marker {
                actions.push(Action::Marker(number));
            } else if received != self.count(state, channel, SENT) {
                actions.push(Action::Message(number));
            }
        }
    }

    fn next_state(&self, &state: &u128, action: Action) -> Option<u128> {
        Some(match action {
            Action::Start => self.record(state, 0),
            Action::Send { channel, sender } => {
                let left = 1 << (LEFT + 2 * u32::from(sender));
                state - left + self.one(&self.channels[usize::from(channel)], SENT)
            }
            Action::Message(number) => {
                let channel = &self.channels[usize::from(number)];
                let open = state & self.one(channel, FINISHED) == 0;
                let caught = recorded(state, channel.to) && open;
                let more = if caught { self.one(channel, CAUGHT) } else { 0 };
                state + self.one(channel, RECEIVED) + more
            }
            Action::Marker(number) => {
                let channel = &self.channels[usize::from(number)];
                let known = recorded(state, channel.to);
                let state = if known { state } else { self.record(state, channel.to) };
                state | self.one(channel, FINISHED)
            }
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("consistent", |model, &state| model.consistent(state))]
    }
}
