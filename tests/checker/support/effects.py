"""Functions with a side effect, each of a kind of its own, and what they change."""

from __future__ import annotations

import abc
import decimal
import hashlib
import hmac
import sys
import zlib
from collections import deque
from collections.abc import Callable

BUSY = [False]
TABLE: dict[str, int] = {}
QUEUE: deque[int] = deque()
SEEN: set[int] = set()
HASH = hashlib.md5()
MAC = hmac.new(b"key", digestmod="md5")
CONTEXT = decimal.Context(prec=2)
PACKED = zlib.compressobj()
BYTES = bytearray(1)
COUNT = 0
HERE = sys.modules[__name__]


class Box:
    item = 0

    def __init__(self) -> None:
        self.items: list[int] = []


class Slotted:
    __slots__ = ("item",)

    def __init__(self) -> None:
        self.item = 0


BOX, SLOTTED = Box(), Slotted()


class Abstract(abc.ABC):  # noqa: B024
    pass


class Base: ...


def named() -> None: ...


def closed() -> Callable[[], None]:
    held = [0]

    def change() -> None:
        held[0] ^= 1

    return change


CLOSED = closed()


def flip() -> None:
    BUSY[0] = not BUSY[0]


def flip_by_an_alias() -> None:
    busy = BUSY
    busy[0] = not busy[0]


def set_by_its_module() -> None:
    HERE.COUNT = 1 - COUNT  # type: ignore[attr-defined]


def flip_what_is_given(busy: list[bool] | None = BUSY) -> None:
    if busy is None:
        busy = []
    busy[0] = not busy[0]


def flip_by_a_helper() -> None:
    put_first(BUSY)


def put_first(box: list[bool]) -> None:
    box[0] = not box[0]


def put_into_a_table() -> None:
    TABLE["x"] = 1 - TABLE.get("x", 0)


def update_a_table() -> None:
    TABLE.update(x=1 - TABLE.get("x", 0))


def add_to_a_set() -> None:
    SEEN.discard(1) if 1 in SEEN else SEEN.add(1)


def append_to_a_queue() -> None:
    QUEUE.pop() if QUEUE else QUEUE.append(1)


def call_a_method_by_its_class() -> None:
    list.append(BUSY, False)


def set_an_attribute() -> None:
    BOX.item = 1 - BOX.item


def set_by_setattr() -> None:
    put = setattr
    put(BOX, "item", 1 - BOX.item)


def set_a_slot() -> None:
    SLOTTED.item = 1 - SLOTTED.item


def set_of_a_class() -> None:
    Box.item = 1 - Box.item


def append_deep() -> None:
    BOX.items.pop() if BOX.items else BOX.items.append(1)


def change_a_closure() -> None:
    CLOSED()


def name_a_function() -> None:
    named.__name__ = named.__name__ + "x"


def name_a_class() -> None:
    Base.__name__ = Base.__name__ + "x"


def note_on_a_function() -> None:
    named.note = 1 - getattr(named, "note", 0)


def register() -> None:
    Abstract.register(type("Other", (), {}))


def make_a_subclass() -> None:
    SEEN_CLASSES.append(type("Other", (Base,), {}))


SEEN_CLASSES: list[type] = []


def hash_on() -> None:
    HASH.update(b"x")


def sign_on() -> None:
    MAC.update(b"x")


def raise_a_flag() -> None:
    CONTEXT.divide(decimal.Decimal(1), decimal.Decimal(3))


def write_bytes() -> None:
    BYTES[0] ^= 1


EFFECTS = [
    flip, flip_by_an_alias, flip_by_a_helper, flip_what_is_given, set_by_its_module,
    put_into_a_table, update_a_table, add_to_a_set, append_to_a_queue, call_a_method_by_its_class,
    set_an_attribute, set_by_setattr, set_a_slot, set_of_a_class, append_deep, change_a_closure,
    name_a_function, name_a_class, note_on_a_function, register, make_a_subclass, hash_on,
    sign_on, raise_a_flag, write_bytes,
]  # fmt: skip
