"""A process whose children use memory wrongly, each in one way, and which searches a model."""

from __future__ import annotations

import gc
import json
import os
import sys

import numpy as np
from llvmlite import ir

from streamproof.checker import check
from streamproof.checker.limits import Limits
from streamproof.checker.native import memory, partition
from streamproof.checker.native.code.block import I64, VOID, WORDS
from streamproof.checker.native.code.machine_code import COUNT, Library, compile_module
from streamproof.checker.native.code.machine_code import WORDS as ARRAY
from streamproof.checker.native.engine import explore
from streamproof.lang import Domain
from tests.checker.native.support.shapes import Deep, One, Promised


def writer():
    """Compile what writes a word of an array, and that of the first call's array again."""
    module = ir.Module("wrong")
    first = ir.GlobalVariable(module, WORDS, "first")
    first.initializer = ir.Constant(WORDS, None)
    made = ir.Function(module, ir.FunctionType(VOID, [WORDS, I64]), "write")
    build = ir.IRBuilder(made.append_basic_block("entry"))
    place, index = made.args
    build.store(I64(7), build.gep(place, [index]))
    known = build.load(first)
    is_known = build.icmp_unsigned("!=", build.ptrtoint(known, I64), I64(0))
    with build.if_then(is_known):
        build.store(I64(7), known)
    build.store(place, first)
    build.ret_void()
    return Library(compile_module(module), ["write"]).function("write", None, ARRAY, COUNT)


def behind():
    writer()(memory.empty((5,), np.uint64), 5)


def in_front():
    writer()(memory.empty((5,), np.uint64), -1)


def in_front_of_a_copy():
    writer()(np.zeros(5, np.uint64), -1)


def kept():
    """An address that outlives the array, as the steps of all states were once counted."""
    write = writer()
    write(np.zeros(5, np.uint64), 0)
    write(np.zeros(5, np.uint64), 0)


def room():
    """A table that takes more states than there is memory for."""
    partition.reserve = lambda count, dtype: memory.reserve(min(count, 50), dtype)
    explore(Deep(100), limits=Limits(states_max=100))


FAULTS = {made.__name__: made for made in (behind, in_front, in_front_of_a_copy, kept, room)}


def signal_of(fault):
    """Give the signal that ends a process in which something goes wrong; 0 if nothing does."""
    child = os.fork()
    if child == 0:
        FAULTS[fault]()
        gc.collect()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    ends = {fault: -signal_of(fault) for fault in FAULTS}
    report = check(Promised(Domain(One, 30)), engine=explore)
    told = {"guarded": memory.IS_GUARDED, "right": report.verdict.status.value, "ends": ends}
    sys.stdout.write(json.dumps(told))
