"""Objects whose making counts for each model beside it, so that it is made apart from them."""

from __future__ import annotations

import time


class Keeps:
    def keep_a_clock(self) -> None:
        self.kept = lambda: time.time()  # noqa: PLW0108 - a function of ours


class Slotted:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def __eq__(self, _other: object) -> bool:
        self.count += 1
        return self.count > 1_000

    __hash__ = object.__hash__


KEEPS, SLOTTED = Keeps(), Slotted()
