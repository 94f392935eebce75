"""Classes whose objects keep something where it is not looked for, and tell nothing of it."""

# ruff: noqa: SLOT000, SLOT001

import array
import collections
import functools
from enum import Enum, Flag
from typing import Any

from streamproof.lang import Domain, Element


class Logs(Enum):
    A = 1
    B = 2

    def __init__(self, _number: int) -> None:
        self.log: list[int] = []


class Listed(Enum):
    A = []
    B = [1]


class Alike(Enum):
    A = 1
    B = 2

    def __repr__(self) -> str:
        return "Alike"


class Level(int, Enum):
    LOW = 1

    def __init__(self, _number: int) -> None:
        self.log: list[int] = []


class Rights(Flag):
    READ = 1
    WRITE = 2


class P(Element):
    def __new__(cls, index: int) -> Any:
        made = super().__new__(cls, index)
        if not hasattr(made, "log"):
            object.__setattr__(made, "log", [])
        return made

    def __repr__(self) -> str:
        return "P"


class Tag:
    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)


class Mangled:
    __slots__ = ("__a",)

    def __init__(self) -> None:
        self.__a = 0

    def tick(self) -> None:
        self.__a += 1


class Dunder:
    __slots__ = ("__a__",)


class Text(str):
    log: Any


class Number(int):
    log: Any


class Real(float):
    log: Any


class Bytes(bytes):
    log: Any


class Quiet(list):
    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


class QuietDict(dict):
    def items(self) -> Any:
        return ()

    __iter__ = keys = values = items


class QuietOrder(collections.OrderedDict):
    def items(self) -> Any:
        return ()

    __iter__ = keys = values = items


class QuietTuple(tuple):
    def __iter__(self) -> Any:
        return iter(())


class QuietSet(set):
    def __iter__(self) -> Any:
        return iter(())


class QuietDeque(collections.deque):
    def __iter__(self) -> Any:
        return iter(())


class QuietBytes(bytearray):
    def __repr__(self) -> str:
        return "bytes"


class QuietArray(array.array):
    def __repr__(self) -> str:
        return "array"


class Hidden:
    def __init__(self) -> None:
        object.__setattr__(self, "a", 0)

    def __getattribute__(self, name: str) -> Any:
        return {} if name == "__dict__" else object.__getattribute__(self, name)


class Covered:
    def __init__(self) -> None:
        self.a = 0

    @property
    def __dict__(self) -> Any:
        return {}


class Posing:
    def __init__(self) -> None:
        self.a = 0

    @property
    def __class__(self) -> Any:
        return int


class Numpys:
    __module__ = "numpy"

    def __init__(self) -> None:
        self.a = 0

    def __repr__(self) -> str:
        return "array"


class Named(type):
    @property
    def __mro__(cls) -> Any:
        return (object,)


class OfNamed(metaclass=Named):
    __slots__ = ("a",)


class Prop(property):
    log: Any


class Wide(Domain):
    log: Any


class Kept:
    log_: list[int] = []
    __log__: list[int] = []


class Failed(ValueError):
    @property
    def args(self) -> Any:
        return ()


def named(number: int) -> Any:
    return type("Made", (), {"number": number})


def tell(value: int) -> int:
    return value


def other(value: int) -> int:
    return value + 1


@functools.cache
def remembered(number: int) -> list[int]:
    return [number]


class Computes:
    @functools.cached_property
    def log(self) -> list[int]:
        return []


class Asked(Exception):
    """A value was asked for what it is."""


class Never:
    """Everything that it is asked for fails."""

    def __getattribute__(self, name: str) -> Any:
        raise Asked(name)

    def _asked(self, *_: Any) -> Any:
        raise Asked

    __repr__ = __str__ = __iter__ = __len__ = __bool__ = __hash__ = __eq__ = _asked
    __reduce__ = __reduce_ex__ = __getstate__ = __getattr__ = __dir__ = __index__ = _asked


class NeverList(Never, list): ...


class NeverDict(Never, dict): ...


class NeverText(Never, str): ...


class NeverNumber(Never, int): ...


class NeverTuple(Never, tuple): ...


class NeverError(Never, ValueError): ...
