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
    """Give the number of the lowest bit that is set; there must be one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(bits), generate
