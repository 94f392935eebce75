"""The keys of serializers in Spark's shuffle, chosen so that its tasks get equal shares of them.

Spark sends a key to the task `hash(key) mod shuffle partitions`. If serializers' numbers were their
keys, chance would share them out: 0 and 1 go to the same one of two tasks. So the key of a
serializer is the integer whose hash is its number: then task 0 gets 0, n, 2n, ... of n tasks. It
does not depend on n, so each serializer finds its state again when a restart has another n.
"""

from __future__ import annotations

_SEED, _LENGTH = 42, 4  # of a hash, and of an integer in bytes
_WORD = 2**32


def key_of(serializer: int) -> int:
    """Return the integer that Spark hashes to a serializer's number.

    The hash is Murmur3, as org.apache.spark.unsafe.hash.Murmur3_x86_32 has it. For one integer each
    of its steps can be undone: here they are, from the last to the first.
    """
    word = serializer
    word ^= word >> 16
    word = _divided(word, 0xC2B2AE35)
    word ^= word >> 13 ^ word >> 26
    word = _divided(word, 0x85EBCA6B)
    word ^= word >> 16 ^ _LENGTH
    word = _divided(word - 0xE6546B64, 5)
    word = _rotated_right(word, 13) ^ _SEED
    word = _rotated_right(_divided(word, 0x1B873593), 15)
    word = _divided(word, 0xCC9E2D51)
    return word if word < _WORD // 2 else word - _WORD


def _divided(word: int, factor: int) -> int:
    """Undo a multiplication by an odd number."""
    return word * pow(factor, -1, _WORD) % _WORD


def _rotated_right(word: int, count: int) -> int:
    return (word >> count | word << 32 - count) % _WORD
