"""Progress: the rate of a search, by a clock that the test turns."""

from streamproof.checker.progress import Meter, Progress, ignore


def test_the_rate_is_states_per_second_since_the_start():
    now = [10.0]
    meter = Meter(clock=lambda: now[0])
    assert meter.rate(5) == 0
    now[0] = 12.0
    assert meter.rate(500) == 250
    assert meter.seconds == 2.0


def test_the_queue_is_what_was_found_and_not_expanded():
    progress = Progress(expanded=3, distinct=10, depth=2)
    assert progress.queue == 7
    assert ignore(progress) is None
