"""Memory beside a state is found wherever an object can keep it, and no object is asked for it.

A way changes something; what was written down before must differ from what is written down then.
"""

import collections
import functools
import io
import itertools
import operator
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

import numpy as np
import pytest

from streamproof.lang import Domain, Map, Model, action, init
from streamproof.lang.surroundings import changed, surroundings
from tests.lang.keepers import (
    Alike,
    Bytes,
    Computes,
    Covered,
    Dunder,
    Failed,
    Hidden,
    Kept,
    Level,
    Listed,
    Logs,
    Mangled,
    Never,
    NeverDict,
    NeverError,
    NeverList,
    NeverNumber,
    NeverText,
    NeverTuple,
    Number,
    Numpys,
    OfNamed,
    P,
    Posing,
    Prop,
    Quiet,
    QuietArray,
    QuietBytes,
    QuietDeque,
    QuietDict,
    QuietOrder,
    QuietSet,
    QuietTuple,
    Real,
    Rights,
    Tag,
    Text,
    Wide,
    named,
    other,
    remembered,
    tell,
)

TEXT, NUMBER, REAL, BYTES = Text("x"), Number(3), Real(0.5), Bytes(b"x")
for value in (TEXT, NUMBER, REAL, BYTES):
    value.log = []  # type: ignore[attr-defined]
PROP, WIDE = Prop(len), Wide(P, 1)
PROP.log, WIDE.log = [], []
DUNDER, OF_NAMED = Dunder(), OfNamed()
DUNDER.__a__, OF_NAMED.a = [], []
PARTIAL = functools.partial(len)
PARTIAL.log = []  # type: ignore[attr-defined]
ONE, TWO = Tag(), Tag()
EMPTY_ORDER = collections.OrderedDict(a=1, b=2)
remembered(1)
COMPUTES = Computes()
assert COMPUTES.log == []  # which computes it


def setattr_of(table: Any) -> None:
    table.default_factory = list


# What is held, and what changes it.
HELD: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "attribute of a member": (Logs.A, lambda v: v.log.append(1)),
    "attribute of a member that is a number": (Level.LOW, lambda v: v.log.append(1)),
    "value of a member": (Listed.A, lambda v: v.value.append(1)),
    "members of one text": ([Alike.A], lambda v: v.__setitem__(0, Alike.B)),
    "attribute of an element": (P(0), lambda v: v.log.append(1)),
    "elements of one text": ([P(0)], lambda v: v.__setitem__(0, P(1))),
    "element of a domain": (Domain(P, 3), lambda v: v.elements[1].log.append(1)),
    "elements of a domain": (
        Domain.of("n", (1, 2)),
        lambda v: setattr(v, "elements", v.elements[::-1]),
    ),
    "given elements of a domain": (
        Domain.of("tags", (Tag(), Tag())),
        lambda v: v.elements[1].parts.append(1),
    ),
    "attribute of a domain": (WIDE, lambda v: v.log.append(1)),
    "value of a map": (Map.fill(Domain(P, 1), Tag()), lambda v: v[P(0)].parts.append(1)),
    "private slot": (Mangled(), lambda v: v.tick()),
    "special slot": (DUNDER, lambda v: v.__a__.append(1)),
    "slot behind a metaclass": (OF_NAMED, lambda v: v.a.append(1)),
    "attribute of a text": (TEXT, lambda v: v.log.append(1)),
    "attribute of a number": (NUMBER, lambda v: v.log.append(1)),
    "attribute of a real": (REAL, lambda v: v.log.append(1)),
    "attribute of bytes": (BYTES, lambda v: v.log.append(1)),
    "attribute of a property": (PROP, lambda v: v.log.append(1)),
    "attribute of a partial": (PARTIAL, lambda v: v.log.append(1)),
    "view of values": ({"a": [0]}.values(), lambda v: next(iter(v)).append(1)),
    "view of items": ({"a": [0]}.items(), lambda v: next(iter(v))[1].append(1)),
    "cell": (types.CellType([0]), lambda v: v.cell_contents.append(1)),
    "alias": (types.GenericAlias(list, ([0],)), lambda v: v.__args__[0].append(1)),
    "note": (Annotated[int, [0]], lambda v: v.__metadata__[0].append(1)),
    "slice": (slice([0], None), lambda v: v.start.append(1)),
    "item getter": (operator.itemgetter([0]), lambda v: v.__reduce__()[1][0].append(1)),
    "repeat": (Tag(itertools.repeat([0])), lambda v: next(v.parts[0]).append(1)),
    "counter": (Tag(itertools.count()), lambda v: next(v.parts[0])),
    "iterator": (Tag(iter([1, 1])), lambda v: next(v.parts[0])),
    "super": (super(Tag, ONE), lambda _: ONE.parts.append(1)),
    "list": (Quiet([0]), lambda v: v.append(1)),
    "dict": (QuietDict(a=0), lambda v: v.update(a=1)),
    "ordered dict": (QuietOrder(a=0), lambda v: v.update(a=1)),
    "order": (EMPTY_ORDER, lambda v: v.move_to_end("a")),
    "tuple": (QuietTuple(([],)), lambda v: v[0].append(1)),
    "set": (QuietSet({1}), lambda v: v.add(2)),
    "deque": (QuietDeque([1]), lambda v: v.append(2)),
    "default": (collections.defaultdict(Tag().parts.copy), setattr_of),
    "bytes": (QuietBytes(b"a"), lambda v: v.append(2)),
    "array": (QuietArray("i", [1]), lambda v: v.append(2)),
    "memory": (memoryview(bytearray(2)), lambda v: v.__setitem__(0, 1)),
    "large array": (np.zeros(5_000), lambda v: v.__setitem__(2_500, 1)),
    "array of objects": (np.array([Tag(), None]), lambda v: v[0].parts.append(1)),
    "file": (Tag(io.StringIO()), lambda v: v.parts[0].write("a")),
    "lock": (Tag(threading.Lock()), lambda v: v.parts[0].acquire(blocking=False)),
    "own reading": (Hidden(), lambda v: object.__setattr__(v, "a", 1)),
    "own attributes": (Covered(), lambda v: setattr(v, "a", 1)),
    "another class": (Posing(), lambda v: setattr(v, "a", 1)),
    "another module": (Numpys(), lambda v: setattr(v, "a", 1)),
    "bound method of a deque": (
        collections.deque([0]).append,
        lambda v: v.__self__.append(1),
    ),
    "wrapper of a method": ([0].__iadd__, lambda v: v([1])),
    "functions of one name": ([lambda: 1], lambda v: v.__setitem__(0, lambda: 2)),
    "objects of one content": ([ONE], lambda v: v.__setitem__(0, TWO)),
    "classes of one name": ([named(1)], lambda v: v.__setitem__(0, named(2))),
    "code": (tell, lambda v: setattr(v, "__code__", other.__code__)),
    "doc": (other, lambda v: setattr(v, "__doc__", "1")),
    "hints": (other, lambda v: v.__annotations__.update(a=1)),
    "class's attribute": (Kept, lambda v: v.log_.append(1)),
    "class's special attribute": (Kept, lambda v: v.__log__.append(1)),
    "error": (Failed([0]), lambda v: ValueError.args.__get__(v)[0].append(1)),
    "cause": (ValueError(), lambda v: setattr(v, "__cause__", KeyError())),
    "keys": ({Tag(): 1}, lambda v: next(iter(v)).parts.append(1)),
    "what is computed": (COMPUTES, lambda v: v.log.append(1)),
    "what is remembered": (remembered, lambda v: v(1).append(2)),
}


@dataclass(frozen=True)
class State:
    turn: bool


def model_of(value: Any) -> Any:
    """Make a model that uses a value, which its own code can reach."""

    @dataclass(frozen=True)
    class Using(Model[State]):
        @init
        def start(self) -> State:
            return State(False)

        @action
        def step(self, s: State) -> State:
            return State(bool(value))

    return Using()


@pytest.mark.parametrize(("value", "change"), HELD.values(), ids=HELD)
def test_what_an_object_keeps_is_written_down(value, change):
    model = model_of(value)
    before = surroundings(model)
    assert changed(before, surroundings(model)) is None
    change(value)
    found = changed(before, surroundings(model))
    assert found is not None
    assert "\0" not in "".join(found)
    assert found[1] != found[2]


NEVER: dict[str, Callable[[], Any]] = {
    "object": Never,
    "list": lambda: NeverList([1]),
    "dict": lambda: NeverDict(a=1),
    "text": lambda: NeverText("a"),
    "number": lambda: NeverNumber(1),
    "tuple": lambda: NeverTuple((1,)),
    "error": lambda: NeverError(1),
}


@pytest.mark.parametrize("make", NEVER.values(), ids=NEVER)
def test_no_value_is_asked(make):
    value = make()
    model = model_of(value)
    before = surroundings(model)
    same = changed(before, surroundings(model))
    assert same is None
    object.__setattr__(value, "a", 1)
    other_now = changed(before, surroundings(model))
    assert other_now is not None


class Lookup:
    def __init__(self) -> None:
        self.table = {number: str(number) for number in range(10)}

    @functools.cached_property
    def doubled(self) -> dict[int, str]:
        return {number: 2 * text for number, text in self.table.items()}


@functools.singledispatch
def told(value: object) -> int:
    return 0


@functools.lru_cache(maxsize=2)
def few(number: int) -> tuple[int, ...]:
    return (number,) * 2


class Small(IntEnum):
    ONE = 1


HARMLESS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "a cache": (few, lambda v: [v(number) for number in range(9)]),
    "computed": (Lookup(), lambda v: v.doubled),
    "dispatched": (told, lambda v: v(1) + v("a")),
    "a hash": (Map.fill(Domain(P, 2), 1), hash),
    "a flag": (Rights.READ, lambda v: (v | Rights.WRITE, ~v)),
    "found by value": (Small, lambda v: v(1)),
    "alias": (list[int], lambda v: v.__parameters__),
    "hints": (Tag, lambda v: v.__annotations__ if hasattr(v, "__annotations__") else None),
    "names of slots": (Mangled, lambda v: object.__reduce_ex__(v(), 2)),
    "a list that is read": (Quiet([1]), list.__len__),
    "union": (int | list[int], lambda union: union.__parameters__),
}


@pytest.mark.parametrize(("value", "ask"), HARMLESS.values(), ids=HARMLESS)
def test_what_python_only_remembers_is_no_change(value, ask):
    model = model_of(value)
    before = surroundings(model)
    ask(value)
    assert changed(before, surroundings(model)) is None
