"""Instructions that Python has no words for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from streamproof.checker.native.table import LINE


@intrinsic
def prefetch(_typing: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line that holds an array's element, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(view.data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, number(0), number(3), number(1)])  # to read, soon, data
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def look(_typing: Any, slots: Any, line: Any, tag: Any) -> Any:
    """Look at a line's slots: bits 0 to 7 tell which have the tag, bits 8 to 15 which are free."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        word, bits = ir.IntType(64), ir.IntType(LINE)
        row = ir.VectorType(word, LINE)

        def spread(value: Any) -> Any:
            one = builder.insert_element(row(ir.Undefined), value, ir.IntType(32)(0))
            lanes = ir.VectorType(ir.IntType(32), LINE)
            return builder.shuffle_vector(one, row(ir.Undefined), lanes([0] * LINE))

        first = builder.mul(arguments[1], word(LINE))
        place = builder.bitcast(builder.gep(view.data, [first]), row.as_pointer())
        entries = builder.load(place, align=64)
        is_free = builder.icmp_unsigned("==", entries, row([0] * LINE))
        tags = builder.lshr(entries, row([32] * LINE))
        has_tag = builder.icmp_unsigned("==", tags, spread(arguments[2]))
        has_tag = builder.and_(has_tag, builder.not_(is_free))
        low, high = (builder.zext(builder.bitcast(b, bits), word) for b in (has_tag, is_free))
        return builder.or_(low, builder.shl(high, word(LINE)))

    return types.uint64(slots, line, tag), generate


@intrinsic
def lowest_bit(_typing: Any, bits: Any) -> Any:
    """Return the number of the lowest bit that is set; there must be one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(bits), generate


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return where an array's elements lie."""
    return context.make_array(kind)(context, builder, array).data


def _function(builder: Any, address: Any, result: Any, arguments: Any) -> Any:
    """Return a function of a generated program by where its code is."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic
def expand(
    _typing: Any,
    code: Any,
    states: Any,
    word: Any,
    count: Any,
    first: Any,
    words: Any,
    hashes: Any,
    origins: Any,
    room: Any,
    produced: Any,
    fired: Any,
    event: Any,
    recent: Any,
    recent_count: Any,
) -> Any:
    """Call `expand` of a program, with one partition, on the states from a word on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = dict(enumerate(signature.args))
        given = {
            number: _data(context, builder, kind, arguments[number])
            if isinstance(kind, types.Array)
            else arguments[number]
            for number, kind in kinds.items()
        }
        begin = builder.gep(given[1], [given[2]])
        owners = ir.IntType(64)(1)
        passed = [begin, *(given[n] for n in range(3, 9)), owners]
        passed += [given[n] for n in range(9, 14)]
        builder.call(_function(builder, given[0], ir.VoidType(), passed), passed)
        return context.get_dummy_value()

    given = code, states, word, count, first, words, hashes, origins
    return types.void(*given, room, produced, fired, event, recent, recent_count), generate


@intrinsic
def first_breaking(_typing: Any, code: Any, states: Any, word: Any, count: Any) -> Any:
    """Call `first_breaking` of a program on the states from a word on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        begin = _data(context, builder, signature.args[1], arguments[1])
        begin = builder.gep(begin, [arguments[2]])
        passed = [ir.IntType(64)(0), begin, arguments[3]]
        return builder.call(_function(builder, arguments[0], ir.IntType(64), passed), passed)

    return types.uint64(code, states, word, count), generate
