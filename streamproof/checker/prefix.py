"""The first states of a model, written down by a process of its own: see `elsewhere`.

Each state is written with the answers of every method, in text that does not depend on hashes or
addresses. States are expanded in the order of their text, so that two processes that agree on
all answers write the same.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from streamproof.checker.canonical import text_of
from streamproof.checker.orders import truth_of
from streamproof.lang import Disabled
from streamproof.lang.model import Model, Role

CHILD = "STREAMPROOF_ELSEWHERE"
"""Set in the environment of a process that writes down states, which starts no further one."""
MAIN = "__streamproof_main__"
"""The name under which the file of `__main__` is run: what it does as a program is left out."""
STATES_MAX, CALLS_MAX = 300, 20_000
"""States of which answers are told, and calls of methods, at most."""
SHOWN_MAX = 300
"""Characters of a text that are told; of a longer one its digest is, too."""
_PROPERTIES = (Role.ALWAYS, Role.SOMETIMES, Role.FINAL, Role.LEADS_TO, Role.EVENTUALLY)
_PADDING = 61


@dataclass(frozen=True, slots=True)
class Told:
    """What was answered about a state, by the methods that were asked."""

    state: str
    answers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """Which model is to be loaded.

    Attributes
    ----------
    module, file, name : where its class is
    under : the module's name where it is loaded, which is not `__main__`
    fields : those of the model, pickled
    arguments : of the program that asks
    """

    module: str
    file: str
    name: str
    under: str
    fields: bytes
    arguments: tuple[str, ...]


class LoadedEnough(BaseException):
    """The file of a model begins to check one: its classes are there, and no more is needed."""


_loading = False


def stop_loading() -> None:
    """End the loading of a model's file, if this process has loaded it to write states down.

    Raises
    ------
    LoadedEnough : if it has
    """
    if _loading:
        raise LoadedEnough


def tell(model: Model[Any]) -> Iterator[Told]:
    """Return every method's answers in the first states: initial states first, level by level."""
    text, given = _answer(lambda: list(itertools.islice(model.initial_states(), STATES_MAX)))
    excluded, _ = _answer(model.ruled_out, read=set)  # an order of names has no part in it
    yield Told("", {"@init": _shown(text), "ruled_out()": _shown(excluded)})
    asker = _Asker(model)
    level = {text_of(state): state for starts in given for state in starts}
    found, told, calls = set(level), 0, 0
    while level:
        following: dict[str, Any] = {}
        for text in sorted(level):
            if told == STATES_MAX or calls > CALLS_MAX:
                return
            answers, targets = asker.answers(level[text])
            yield Told(_shown(text), answers)
            told, calls = told + 1, calls + len(answers)
            for name, target in targets:
                if name not in found:
                    found.add(name)
                    following[name] = target
        level = following


class _Asker:
    """Asks all methods of a model, with all their arguments."""

    def __init__(self, model: Model[Any]) -> None:
        self.properties = [call for role in _PROPERTIES for call in _calls(model, role)]
        self.steps = list(_calls(model, Role.EVERY_STEP))
        self.actions = list(_calls(model, Role.ACTION))

    def answers(self, state: Any) -> tuple[dict[str, str], list[tuple[str, Any]]]:
        """Ask everything of a state; give what was answered, and the states that follow by text."""
        answers: dict[str, str] = {}
        targets: list[tuple[str, Any]] = []
        for name, ask in self.properties:
            answers[name] = _shown(_answer(ask, state, read=truth_of)[0])
        for name, act in self.actions:
            text, reached = _answer(act, state)
            answers[name] = _shown(text)
            targets += [(text, target) for target in reached]
            for step, ask in self.steps if reached else ():
                said = _answer(ask, state, *reached, read=truth_of)[0]
                answers[f"{step} behind {name}"] = _shown(said)
        return answers, targets


def _calls(model: Model[Any], role: Role) -> Iterator[tuple[str, Callable[..., Any]]]:
    for method in model.methods(role):
        ask = getattr(model, method.name)
        for call in model.calls(method):
            arguments = call.arguments
            pairs = zip(call.parameters, arguments, strict=True)
            name = ", ".join(f"{key}={text_of(value)}" for key, value in pairs)
            yield f"{call.name}({name})", lambda *s, ask=ask, given=arguments: ask(*s, *given)


def _answer(
    ask: Callable[..., Any], *states: Any, read: Callable[[Any], Any] = lambda answer: answer
) -> tuple[str, list[Any]]:
    """Return what a method answers, or how it ends, as text; and the answer, if there is one."""
    try:
        answer = read(ask(*states))
        return text_of(answer), [answer]
    except Disabled:
        return "that it is disabled", []
    except Exception as error:  # noqa: BLE001 - the search reports it
        return type(error).__name__, []


def _shown(text: str) -> str:
    if len(text) <= SHOWN_MAX:
        return text
    return f"{text[:SHOWN_MAX]}... {sha256(text.encode()).hexdigest()[:16]}"


# --------------------------------------------------------------------------- loading


def main(place: str, number: int) -> None:
    """Write down what is asked for in a file, on the standard output, a line for each state.

    Parameters
    ----------
    place : the file with the request
    number : of this process among those that are compared
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the model's file prints is lost
    kept = [bytearray(size % 480 + 1) for size in range(number * _PADDING)]  # other addresses
    request: Request = pickle.loads(Path(place).read_bytes())  # noqa: S301 - our own process's
    model = load(request)
    sys.argv = [f"elsewhere-{number}", *(["more"] * number)]
    for told in tell(model):
        out.write(json.dumps([told.state, told.answers]) + "\n")
        out.flush()
    del kept


def load(request: Request) -> Model[Any]:
    """Load a model's class by its file and name, and make the model of the same fields."""
    global _loading  # noqa: PLW0603 - of this process, which does nothing else
    sys.argv = list(request.arguments)
    _loading = True
    try:
        module = _module(request.under, request.file)
        cls = attrgetter(request.name)(module)
        fields = _Unpickler(request.module, module, request.fields).load()
    finally:
        _loading = False
    model: Model[Any] = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(model, name, value)
    return model


def _module(name: str, file: str) -> ModuleType:
    """Run the file of a module under its name, up to where it begins to check something."""
    package = name.rpartition(".")[0]
    if package:
        importlib.import_module(package)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with suppress(LoadedEnough):
        spec.loader.exec_module(module)
    return module


class _Unpickler(pickle.Unpickler):
    def __init__(self, name: str, module: ModuleType, fields: bytes) -> None:
        super().__init__(BytesIO(fields))
        self.name, self.module = name, module

    def find_class(self, module: str, name: str) -> Any:
        """Find a class in the model's file by the name that this has where the fields are from."""
        if module == self.name:
            return attrgetter(name)(self.module)
        return super().find_class(module, name)
