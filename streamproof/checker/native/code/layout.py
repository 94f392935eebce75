"""Layout: where in 64-bit words each cell of a state lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.code.cells import Cell, Keys

WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class Field:
    """A cell's bits: its value less `low`, shifted left by `shift`, in word `word`."""

    word: int
    shift: int
    bits: int
    low: int

    def __post_init__(self) -> None:
        assert 0 <= self.bits <= WORD_BITS
        assert 0 <= self.shift < WORD_BITS
        assert self.shift + self.bits <= WORD_BITS

    @property
    def mask(self) -> int:
        """The bits of the field within its word."""
        return ((1 << self.bits) - 1) << self.shift


@dataclass(frozen=True, slots=True)
class Layout:
    """How states are packed.

    Attributes
    ----------
    words : 64-bit words of a state, at least 1
    fields : of the cells that change, by the cell's number
    fixed : values of the cells that do not
    """

    words: int
    fields: Mapping[int, Field]
    fixed: Mapping[int, int]

    @staticmethod
    def of(cells: Sequence[Cell], fixed: Mapping[int, int], order: Iterable[int]) -> Layout:
        """Lay out the cells that change, in the given order."""
        changing = [number for number in order if number not in fixed]
        sizes = [
            Field(0, 0, (cell.high - cell.low).bit_length(), cell.low)
            for cell in map(cells.__getitem__, changing)
        ]
        places = placed(sizes)
        words = places[-1].word + 1 if places else 1
        return Layout(words, dict(zip(changing, places, strict=True)), fixed)

    def pack(self, states: Sequence[Keys]) -> NDArray[np.uint64]:
        """Pack states into rows of words."""
        packed = np.zeros((len(states), self.words), np.uint64)
        for row, values in enumerate(states):
            words = [0] * self.words
            for number, place in self.fields.items():
                words[place.word] |= (values[number] - place.low) << place.shift
            packed[row] = words
        return packed

    def unpack(self, row: NDArray[np.uint64]) -> Keys:
        """Return a packed state's number for each cell."""
        words = row.tolist()
        values = {
            number: ((words[place.word] & place.mask) >> place.shift) + place.low
            for number, place in self.fields.items()
        }
        values.update(self.fixed)
        return tuple(values[number] for number in range(len(values)))


def placed(fields: Iterable[Field]) -> list[Field]:
    """Place fields one behind the other, wherever they are; none lies in two words.

    A field without bits lies at the beginning of a word, since behind 64 bits nothing can lie: to
    shift a word by 64 has no meaning.
    """
    found, word, shift = [], 0, 0
    for field in fields:
        if shift + field.bits > WORD_BITS:
            word, shift = word + 1, 0
        found.append(replace(field, word=word, shift=shift if field.bits else 0))
        shift += field.bits
    return found
