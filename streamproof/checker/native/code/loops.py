"""What generated functions share: their head, a loop, the reading and writing of states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from streamproof.checker.native.code.block import I64


def function(
    module: ir.Module, name: str, result: ir.Type, arguments: Sequence[ir.Type]
) -> tuple[ir.IRBuilder, tuple[ir.Argument, ...]]:
    """Begin a function; give a builder for its body, and its arguments."""
    made = ir.Function(module, ir.FunctionType(result, arguments), name)
    return ir.IRBuilder(made.append_basic_block("entry")), made.args


@contextmanager
def each(build: ir.IRBuilder, count: ir.Value) -> Iterator[ir.Value]:
    """Write a loop over positions from 0; the builder stands behind it afterwards."""
    entry = build.block
    head, body, done = (build.append_basic_block(name) for name in ("head", "body", "done"))
    build.branch(head)
    build.position_at_end(head)
    position = build.phi(I64, "position")
    position.add_incoming(I64(0), entry)
    build.cbranch(build.icmp_unsigned("<", position, count), body, done)
    build.position_at_end(body)
    yield position
    position.add_incoming(build.add(position, I64(1)), build.block)
    build.branch(head)
    build.position_at_end(done)


def state_at(build: ir.IRBuilder, states: ir.Value, position: ir.Value, width: int) -> ir.Value:
    """Return the address of a state among packed states of so many words."""
    return build.gep(states, [build.mul(position, I64(width))])


def load(build: ir.IRBuilder, place: ir.Value, width: int) -> list[ir.Value]:
    """Read so many words at an address."""
    return [build.load(build.gep(place, [I64(number)])) for number in range(width)]


def store(build: ir.IRBuilder, words: Sequence[ir.Value], place: ir.Value) -> None:
    """Write words at an address."""
    for number, word in enumerate(words):
        build.store(word, build.gep(place, [I64(number)]))
