"""Kernels: kept code is used without numba, damaged code is made anew, and threads go on."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from streamproof.checker.native.components import Steps, components
from streamproof.checker.native.kernels.kernel import Halves, Kernel, Kinds

CHECK = """
import sys
from streamproof.checker.engines import explore_natively
from streamproof.models.kit import registry
explore_natively(registry.build("chandy_lamport", "small")).decide_liveness()
print("numba" in sys.modules)
"""


@pytest.fixture
def ring():
    """A hundred states, each with a step to the next."""
    count = 100
    offsets, targets = np.arange(count + 1), np.roll(np.arange(count), -1).astype(np.int32)
    return Steps(offsets, np.zeros(count, np.int32), targets)


def rest():
    """Give the kernel as a process that has not used it does."""
    return Kernel("components", "rest", Steps, Halves, Kinds, result=np.int64)


def test_a_search_whose_kernels_are_kept_does_not_load_numba():
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, check=True)
    assert done.stdout.split() == [b"False"]


def test_a_damaged_kernel_is_made_anew(ring, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    order, fair = np.arange(100, dtype=np.int32), np.ones(1, np.int8)
    assert rest()(ring, order, fair) == -1
    (kept,) = tmp_path.rglob("*.o")
    whole = kept.read_bytes()
    for damage in (b"", whole[:-100], whole.replace(b"symbol", b"cymbal")):
        kept.write_bytes(damage)
        assert rest()(ring, order, fair) == -1
        assert kept.read_bytes() != damage


def test_an_array_of_another_type_is_refused(ring):
    with pytest.raises(TypeError, match="int64"):
        rest()(ring, np.arange(100), np.ones(1, np.int8))


def test_threads_may_use_a_kernel_for_the_first_time_at_once(ring):
    kernel, kinds = rest(), (np.ones(1, np.int8), np.zeros(1, np.int8))
    order = np.arange(99, -1, -1, dtype=np.int32)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: kernel(ring, order, kinds[n % 2]), range(64)))
    assert found == [-1, 99] * 32


def test_another_thread_runs_while_a_kernel_does(ring):
    """Let Python never take the lock away from a thread, so that it has to be given up."""
    kernel, order = rest(), np.zeros(10**6, np.int32)
    begun, ran = Event(), Event()
    thread = Thread(target=lambda: (begun.wait(), ran.set()))
    thread.start()
    kernel(ring, order[:1], np.ones(1, np.int8))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        begun.set()
        calls = 0
        while not ran.is_set() and calls < 1000:
            kernel(ring, order, np.ones(1, np.int8))
            calls += 1
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


@pytest.mark.parametrize("density", [0.2, 0.7, 1.0, 1.5, 3.0])
def test_components_are_those_that_scipy_finds(density):
    random, size = np.random.default_rng(5), 300
    for _ in range(20):
        sources, targets = random.integers(size, size=(2, int(density * size)))
        graph = csr_array((np.ones(len(sources), int), (sources, targets)), shape=(size, size))
        labels = components(graph.indptr.astype(np.int32), graph.indices.astype(np.int32))
        count, expected = connected_components(graph, directed=True, connection="strong")
        pairs = set(zip(labels.tolist(), expected.tolist(), strict=True))
        assert len(pairs) == count == len(set(labels.tolist()))


def test_components_of_no_states_and_of_a_long_ring():
    assert len(components(np.zeros(1, np.int32), np.zeros(0, np.int32))) == 0
    count = 10**6
    targets = np.roll(np.arange(count, dtype=np.int32), -1)
    assert not components(np.arange(count + 1, dtype=np.int32), targets).any()
