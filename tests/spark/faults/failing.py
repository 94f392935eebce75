"""A disk that refuses one operation: it is full, fails, or is slow for once."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from unittest import mock

from tests.spark.faults import engine
from tests.spark.faults.tape import CHANGING, OTHERS

_DELTA = (
    "Generic LocalFileSystem error\n  \x1b[31m↳\x1b[0m Unable to copy data to file\n"
    "   \x1b[31m↳\x1b[0m {} (os error {})\n"
)
"""How delta-rs 1.6 says it, without a number."""
_SLOW_SECONDS = 0.2
NEVER_FAIL = {"sync", "unlink", "remove", "rmdir"}
"""sync tells of no failure, and what takes a name away needs no room."""


class Failure(Enum):
    """What goes wrong.

    The number is what the system says; `is_after` that the operation is done all the same.
    """

    FULL = (errno.ENOSPC, False)
    BROKEN = (errno.EIO, False)
    BROKEN_AFTER = (errno.EIO, True)
    SLOW = (0, True)


@dataclass
class Disk:
    """Counts operations, and refuses one.

    Attributes
    ----------
    at : which; none if there are not so many
    calls : the names of all that were made
    failed : the name of the one that was refused
    """

    at: int
    failure: Failure
    calls: list[str] = field(default_factory=list)
    failed: str | None = None

    def called(self, name: str, make: Callable[[], Any], *arguments: Any) -> Any:
        """Carry out a call, or refuse it."""
        if name in NEVER_FAIL or engine.in_spark():
            return make()
        self.calls.append(name)
        if len(self.calls) - 1 != self.at:
            return make()
        self.failed = name
        number, is_after = self.failure.value
        if self.failure is Failure.SLOW:
            time.sleep(_SLOW_SECONDS)
            return make()
        if is_after and name not in ("fsync", "fdatasync"):
            make()
        elif name == "write":  # a part of it
            os.pwrite(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2], 0)
        words = os.strerror(number)
        if name in ("create_write_transaction", "create_checkpoint"):
            raise OSError(_DELTA.format(words, number))
        raise OSError(number, words)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Let the bindings write to it."""
        with ExitStack() as stack:
            for owner, name in [*((os, name) for name in CHANGING), *OTHERS]:
                stack.enter_context(mock.patch.object(owner, name, self._watched(owner, name)))
            yield

    def _watched(self, owner: Any, name: str) -> Any:
        made = getattr(owner, name)

        def call(*arguments: Any, **more: Any) -> Any:
            if name in ("fsync", "fdatasync", "sync"):
                return self.called(name, lambda: None)
            return self.called(name, lambda: made(*arguments, **more), *arguments)

        return call
