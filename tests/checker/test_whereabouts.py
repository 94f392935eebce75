"""A method sees neither which module it stands in nor who calls it: both differ in a plain run."""

from __future__ import annotations

import importlib
import operator
import pickle
import string
from collections import namedtuple
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from streamproof.lang.impure import ImpureModel, require_pure
from streamproof.lang.model import action, always
from streamproof.lang.quantify import has_held
from streamproof.models.kit import registry
from tests.checker.support.counts import Count, Counts
from tests.checker.support.templates import write_model


class Mood(Enum):
    GOOD = 1


class Known: ...


KINDS = {Known: "known"}
MAIN = importlib.import_module("__main__")


class Stop(Exception): ...


def caller() -> str:
    try:
        raise Stop  # noqa: TRY301
    except Stop as error:
        back: Any = error.__traceback__
        return str(back.tb_frame.f_back.f_code.co_name)


def started() -> Any:
    yield 1


def text_of(value: Any) -> str:
    return f"{value}"


def text_of_last(number: int, value: Any) -> str:
    return f"{value}"[number:]


def class_of(value: Any) -> type:
    return type(value)


def text_made_of(value: Any) -> str:
    kind = type(value)
    return repr(kind)


def made_inside() -> int:
    class Inside:
        size = 3

    return Inside.size


SEEN: dict[str, Callable[[], Any]] = {
    "the name of the module": lambda: __name__,
    "the name of the module as an argument": lambda: text_of(value=__name__),
    "its file": lambda: __file__,
    "its specification": lambda: __spec__,
    "its package": lambda: __package__,
    "the module of a class": lambda: Known.__module__,
    "the module of a class by a text": lambda: getattr(Known, "__module__"),  # noqa: B009
    "the module of a class by a getter": lambda: operator.attrgetter("__module__")(Known),
    "the module of a class in its table": lambda: vars(Known)["__module__"],
    "the module in what a class holds": lambda: "__main__" in vars(Known).values(),
    "globals": lambda: text_of.__globals__["__name__"],
    "the program": lambda: hasattr(MAIN, "MODEL"),
    "the text of a class": lambda: repr(Known)[8],
    "the text of the class of a value": lambda: str(type(MAIN))[8],
    "a class that is formatted": lambda: f"{Known}"[8],
    "a class that is formatted by %": lambda: ("%s" % Known)[8],  # noqa: UP031
    "a class that is formatted by a method": lambda: "{}".format(Known)[8],  # noqa: UP032
    "classes in a list": lambda: str([Known, 1])[9],
    "a table of classes": lambda: repr(KINDS)[8],
    "a class in a variable": lambda: text_made_of(1)[8],
    "a class that a function makes a text of": lambda: text_of(Known)[8],
    "a class that a function makes a text of, behind a number": lambda: text_of_last(1, Known)[8],
    "classes that are gone through": lambda: list(map(repr, [Known]))[-1][8],
    "a class that a function gives": lambda: repr(class_of(1))[8],
    "a class that a lambda is given": lambda: (lambda kind: str(kind))(Known)[8],  # noqa: PLC3002, PLW0108
    "a class in a template": lambda: string.Template("$x").substitute(x=Known)[8],
    "a class in an error": lambda: str(KeyError(Known))[8],
    "a class that a sort is made of": lambda: str(list[Known])[6],
    "a class that is made": lambda: str(namedtuple("Made", "a"))[8],  # noqa: PYI024
    "a class that decides an order": lambda: min([Known, Stop], key=repr),
    "what a class holds": lambda: [*vars(Known).items()],
    "a copy in bytes": lambda: pickle.dumps(Known),
    "who calls": caller,
    "the frame of a generator": lambda: started().gi_frame.f_back,
    "code": lambda: text_of.__code__.co_filename,
    "a cell": lambda: text_of.__closure__,
    "what was handled before": lambda: Stop().__context__,
    "what streamproof asks": lambda: has_held("p", None),  # type: ignore[arg-type]
}
NOT_SEEN: dict[str, Callable[[], Any]] = {
    "the name of a class": lambda: type(MAIN_NUMBER).__name__,
    "the name in a class": lambda: Known.__qualname__,
    "the name of a class in a text": lambda: f"{type(MAIN_NUMBER).__name__}!"[0],
    "the name of a function": lambda: text_of.__name__,
    "the text of a member": lambda: f"{Mood.GOOD}"[0],
    "the value of a class in a table": lambda: f"{KINDS[Known]}"[0],
    "a class that is compared": lambda: isinstance(1, type(MAIN_NUMBER)),
    "a class by which a table is read": lambda: str({int: 2, Known: 3}[type(MAIN_NUMBER)]),
    "an object of a class": lambda: str(int(MAIN_NUMBER)),
    "a class that is called": lambda: str(type(MAIN_NUMBER)(2))[0],
    "a text of a number": lambda: "%d" % MAIN_NUMBER,  # noqa: UP031
    "a class statement": made_inside,
}
MAIN_NUMBER = 1


def counts_that(way: Callable[[], Any]) -> type[Counts]:
    class Sees(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(1 - s.n) if way() is not None else s

    return Sees


@pytest.mark.parametrize("way", SEEN.values(), ids=SEEN)
def test_a_method_that_sees_its_module_or_its_caller_is_refused(way: Callable[[], Any]) -> None:
    with pytest.raises(ImpureModel, match=r"test_whereabouts.py:\d+\)"):
        require_pure(counts_that(way))


@pytest.mark.parametrize("way", NOT_SEEN.values(), ids=NOT_SEEN)
def test_names_of_classes_alone_are_no_hindrance(way: Callable[[], Any]) -> None:
    require_pure(counts_that(way))


def test_a_class_may_stand_in_a_reason_and_in_an_error() -> None:
    class Tells(Counts):
        @action
        def step(self, s: Count) -> Count:
            if s.n > 9:
                raise TypeError(f"{type(s)} is too many")
            assert s.n < 9, f"{type(s)} is too many"
            return Count(1 - s.n)

        @always
        def told(self, s: Count) -> bool | str:
            return f"{type(s)} is too many" if s.n > 5 else True

    require_pure(Tells)


FILE = """
@@head@@
import logging
from dataclasses import dataclass
from streamproof.lang import *

LIMIT = 2
@@before@@

@dataclass(frozen=True)
class M(Model[int]):
    sizes = {"default": {}}

    @init
    def start(self) -> int:
        return 0

    @action
    def go(self, s: int) -> int:
        return 1 - s

    @always
    def ok(self, s: int) -> bool:
        return s < LIMIT

MODEL = M
@@after@@
"""
OTHERWISE = {
    "a constant of the name": "LIMIT = 2 if __name__ == '__main__' else 3",
    "a constant of the name as an argument": "LIMIT = len(dict(name=__name__)['name'])",
    "a constant below a condition": "if __name__ != '__main__':\n    LIMIT = 3",
    "one of two constants": "if __name__ == '__main__':\n    LIMIT = 3\nelse:\n    LIMIT = 2",
    "a constant from the program": "try:\n    from __main__ import LIMIT\n"
    "except ImportError:\n    pass",
    "a constant of a module's name": "LIMIT = len(type('C', (), {}).__module__)",
    "a constant of a class's text": "class C: ...\nLIMIT = len(repr(C))",
}
THE_SAME = {
    "a constant of a program": "if __name__ == '__main__':\n    LIMIT = 3",
    "a program": "if __name__ == '__main__':\n    s = 5\n    print(M().ok(s))",
    "a log": "LOG = logging.getLogger(__name__)",
    "a class of this module": "from enum import Enum\nE = Enum('E', 'A B', module=__name__)",
}


@pytest.mark.parametrize("before", OTHERWISE.values(), ids=OTHERWISE)
def test_a_constant_that_differs_in_a_program_is_refused(before: str, tmp_path: Path) -> None:
    file = write_model(tmp_path, FILE, {"head": "", "before": before, "after": ""})
    with pytest.raises(ImpureModel, match="program|its module|reads __module__"):
        require_pure(type(registry.build(file)))


@pytest.mark.parametrize("after", THE_SAME.values(), ids=THE_SAME)
def test_what_a_file_does_as_a_program_is_no_hindrance(after: str, tmp_path: Path) -> None:
    file = write_model(tmp_path, FILE, {"head": "", "before": "", "after": after})
    require_pure(type(registry.build(file)))
