"""The table of visited states: whole states in the order of discovery, found again by hash.

A state is kept once, and the hash only says where to look: what is found is compared word for word.
A slot of the index holds 32 bits of the hash, its tag, and the state's number. Eight slots are a
line of the cache, and are looked at as one. The index is divided into regions by the top bits of
the hash; each grows on its own and in place, so that growing never needs a second copy of more than
one region.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamproof.checker.native.kernels.kernel import Kernel, Links, Numbers, Rows, Words

REGIONS_LOG2 = 4
REGIONS = 1 << REGIONS_LOG2
LINE = 8
"""Slots of a cache line."""
LINES_FIRST = 2048
"""Lines of a region at first."""
FILL_MAX = 0.6
"""The share of a region's slots that may be taken."""
GROWTH = 1.5
BATCH = 256
"""States that are looked up side by side, so that their cache misses overlap."""


class Candidates(NamedTuple):
    """States that may be new: their words, a row each, hashes, and where they come from.

    An origin is the parent's number in the search, and above it the ground action.
    """

    words: Rows
    hashes: Words
    origins: Words


class Kept(NamedTuple):
    """The states that were found: their words, one after the other, and their parents' numbers.

    `count` is a single number: how many there are.
    """

    states: Words
    links: Links
    count: Words


class Index(NamedTuple):
    """Where each state is: the slots, and per region its lines and how many slots are taken.

    `spare` is as large as a region may become; what lies in it is of no account.
    """

    slots: Words
    lines: Words
    used: Words
    spare: Words


_WORD = np.uint64
insert = Kernel("table", "insert", Candidates, _WORD, _WORD, Kept, _WORD, Index, result=_WORD)
"""Keep candidates, from one place to another, that are new, up to so many states in all."""
locate = Kernel("table", "locate", Candidates, _WORD, _WORD, Words, Index, Numbers)
"""Write the numbers of candidates, from one place to another, that are all known to be kept."""
