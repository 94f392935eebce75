"""What is impure is found wherever it is kept: in tables, partial calls, objects, classes.

Each way here was EXHAUSTED by the reference engine, though it ends otherwise now and then.
"""

# ruff: noqa: PLW0108 - that a lambda calls it is what is tried

from __future__ import annotations

import builtins
import codecs
import contextvars
import ctypes
import email.utils
import functools
import gc
import importlib
import io
import itertools
import linecache
import logging
import operator
import platform
import queue
import sys
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.lang.impure import ImpureModel, require_pure
from streamproof.lang.model import action
from tests.checker.support.counts import Count, Counts

TABLE = {"clock": time.time}
LISTED = [lambda: time.time()]
PARTIAL = functools.partial(time.time)
VARIABLE = contextvars.ContextVar("variable", default=0)
NUMBER = ctypes.c_int(0)
QUEUE: Any = queue.SimpleQueue()
VIEW = memoryview(bytearray(1))
ERROR = ValueError()
KEYS = {"a": 1, "b": 2}


class Timed:
    clock = time.time

    @property
    def moment(self) -> float:
        return time.time()

    def __bool__(self) -> bool:
        return time.time() < 0


class Descriptor:
    def __get__(self, _instance: object, _owner: object = None) -> float:
        return time.time()


class Described:
    field = Descriptor()


class AnyName:
    def __getattr__(self, _name: str) -> float:
        return time.time()


class Sized(type):
    def __len__(cls) -> int:
        return int(time.time()) % 2


class OfSize(metaclass=Sized): ...


class ByHash:
    def __index__(self) -> int:
        return hash("a") % 2


TIMED, DESCRIBED, ANY_NAME = Timed(), Described(), AnyName()
APART = importlib.import_module("tests.checker.made_apart")
SLOTTED, KEEPS = APART.SLOTTED, APART.KEEPS


@functools.cache
def remembered(n: int) -> int:
    return n


def hits() -> int:
    remembered(0)
    return remembered.cache_info().hits


def counted_number() -> int:
    NUMBER.value += 1
    return NUMBER.value


def counted_byte() -> bool:
    VIEW[0] = (VIEW[0] + 1) % 200
    return VIEW[0] == 199


def noted_error() -> int:
    ERROR.args += (1,)
    return len(ERROR.args)


def queued() -> int:
    QUEUE.put(1)
    return QUEUE.qsize()


WAYS: dict[str, Callable[[], Any]] = {
    "a table": lambda: TABLE["clock"](),
    "a list": lambda: LISTED[0](),
    "a partial call": lambda: PARTIAL(),
    "an attribute of a class": lambda: Timed.clock(),
    "a property of an object": lambda: TIMED.moment,
    "the truth of an object": lambda: bool(TIMED),
    "a descriptor": lambda: DESCRIBED.field,
    "any attribute": lambda: ANY_NAME.whatever,
    "a metaclass": lambda: len(OfSize),
    "an index": lambda: [0, 1][ByHash()],
    "a function in an object": lambda: KEEPS.kept(),
    "a counter in a slot": lambda: SLOTTED == 1,
    "an import": lambda: __import__("time").time(),
    "text that is run": lambda: eval("__import__('time').time()"),
    "a cache": hits,
    "who calls": lambda: sys._getframe(1).f_code.co_name,
    "the stack": lambda: traceback.extract_stack(),
    "a profiler": lambda: sys.getprofile() is None,
    "references": lambda: sys.getrefcount(KEYS),
    "the collector": lambda: gc.isenabled(),
    "a variable of a context": lambda: VARIABLE.get(),
    "a number of C": counted_number,
    "bytes": counted_byte,
    "an error": noted_error,
    "a queue": queued,
    "keys joined": lambda: list(KEYS.keys() | {"c": 1}.keys()),
    "a reduced set": lambda: functools.reduce(lambda a, _: a, {"a", "b"}),
    "a counted set": lambda: Counter({"a", "b"}),
    "a sliced set": lambda: [*itertools.islice({"a", "b"}, 1)],
}


@pytest.fixture(autouse=True)
def _kept() -> None:
    KEEPS.keep_a_clock()  # after the file was loaded


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_impure_is_found_wherever_it_is_kept(way):
    class Impure(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(1 - s.n) if way() is not None else s

    with pytest.raises(ImpureModel, match="when it is asked again|what was asked before"):
        check(Impure(), engine=plain.explore)


class Silent:
    """Does not say what it is, so that Python writes its address."""


SILENT, HASH, HASH_OF_TEXTS, ARGUMENTS = Silent(), "x".__hash__, str.__hash__, sys.argv
HASHES = {"h": hash}
SILENT_ROWS = [("a", SILENT)]


def simple() -> int:
    return 1


def depth() -> int:
    try:
        return 1 + depth()
    except RecursionError:
        return 0


OF_THE_PROCESS: dict[str, Callable[[], Any]] = {
    "a hash by its module": lambda: builtins.hash("x"),
    "a hash in a table": lambda: HASHES["h"]("x"),
    "a bound hash": lambda: HASH(),
    "the hash of a class": lambda: HASH_OF_TEXTS("x"),
    "a hash by its name": lambda: operator.methodcaller("__hash__")("x"),
    "the text of an object": lambda: repr(SILENT)[-4:],
    "the text of a table": lambda: str(SILENT_ROWS)[-4:],
    "the text of a function": lambda: str(simple)[-4:],
    "a formatted object": lambda: f"{SILENT}"[-4:],
    "an object that is asked for its text": lambda: SILENT.__repr__()[-4:],
    "the arguments": lambda: tuple(sys.argv),
    "the arguments by another name": lambda: len(ARGUMENTS),
    "the flags": lambda: sys.flags.hash_randomization,
    "the machine": lambda: platform.node(),
    "a file": lambda: io.open("/proc/self/stat").read(),  # noqa: SIM115, UP020
    "a file that is decoded": lambda: codecs.open("/proc/self/stat").read(),  # noqa: SIM115
    "a line of a file": lambda: linecache.getline("/etc/hostname", 1),
    "the local time": lambda: email.utils.localtime().second,
    "numpy's time": lambda: np.datetime64("now"),
    "a record of a log": lambda: logging.LogRecord("a", 1, "b", 1, "", (), None).msecs,
    "how deep it may go": lambda: depth(),
    "an identifier by chance": lambda: uuid.uuid4(),
    "an identifier by a text": lambda: getattr(uuid, "uuid4")(),  # noqa: B009
}


@pytest.mark.parametrize("way", OF_THE_PROCESS.values(), ids=OF_THE_PROCESS)
def test_what_is_another_one_in_each_process_is_found_in_the_code(way):
    class Impure(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(1 - s.n) if way() is not None else s

    with pytest.raises(ImpureModel, match=r"test_impure_ways.py:\d+\).* when it is asked again"):
        require_pure(Impure)
