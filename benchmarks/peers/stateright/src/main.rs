//! Explore 2PC(N) or CL(b1,...,bn) breadth first with stateright and print the counts as JSON.
//!
//!     peers two_phase_commit THREADS N
//!     peers chandy_lamport THREADS b1 b2 b3 [b4]

mod chandy_lamport;
mod two_phase_commit;

use stateright::{Checker, Model};
use std::{env, fmt::Debug, hash::Hash, process::exit, time::Instant};

/// The most memory that this process has held, in MiB; zero where the system does not tell.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

fn explore<M>(model: M, threads: usize)
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let began = Instant::now();
    let found = model.checker().threads(threads).spawn_bfs().join();
    let seconds = began.elapsed().as_secs_f64();
    let broken = found.discoveries().len();
    println!(
        r#"{{"distinct": {}, "generated": {}, "seconds": {seconds:.6}, "broken": {broken}, "peak_mb": {}}}"#,
        found.unique_state_count(),
        found.state_count(),
        peak_mb(),
    );
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let numbers: Option<Vec<usize>> =
        arguments.iter().skip(1).map(|text| text.parse().ok()).collect();
    match (arguments.first().map(String::as_str), numbers.as_deref()) {
        (Some("two_phase_commit"), Some(&[threads @ (1..), managers @ 1..=16])) => {
            explore(two_phase_commit::TwoPhaseCommit { managers }, threads)
        }
        (Some("chandy_lamport"), Some([threads @ (1..), sends @ ..]))
            if chandy_lamport::fits(sends) =>
        {
            explore(chandy_lamport::Snapshot::new(sends), *threads)
        }
        _ => {
            eprintln!("usage: peers two_phase_commit THREADS N | chandy_lamport THREADS b1 b2 b3 [b4]");
            exit(2)
        }
    }
}
