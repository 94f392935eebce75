"""Programs: a model at a size, compiled, and what can be asked of its packed states."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.cells import Cell, Encoder, Keys, Ranges, cells_of
from streamproof.checker.native.codegen import write_module
from streamproof.checker.native.grounding import ground
from streamproof.checker.native.layout import Layout
from streamproof.checker.native.machine_code import (
    COUNT,
    WORDS,
    Library,
    compile_module,
    keep,
    kept_file,
    machine_name,
)
from streamproof.lang.form import TracedModel
from streamproof.lang.model import Model
from streamproof.lang.trace import trace_model

EXPAND = (None, WORDS, COUNT, WORDS, WORDS, WORDS, COUNT, COUNT, WORDS, WORDS, WORDS)
"""What `expand` gives and takes."""
VERSION = 5
"""Raised when the same model would be compiled to something else."""


class Program:
    """A model's compiled functions.

    Attributes
    ----------
    encoder : between states and numbers
    ranges : what numbers without a declared range were found to need
    cells : what each may be
    initial : the distinct initial states, as numbers, each with its place among all initial states
    branching : the most successors of a state
    identity : equal for two programs whose states and steps are the same, on any machine
    """

    def __init__(self, model: Model[Any], ranges: Ranges) -> None:
        self.encoder, self.ranges = Encoder(trace_model(type(model)), model), dict(ranges)
        starts = [self.encoder.encode(state) for state in model.initial_states()]
        self.starts = len(starts)
        self.initial: dict[Keys, int] = {}
        for start, state in enumerate(starts):
            self.initial.setdefault(state, start)
        self.cells = cells_of(self.encoder, tuple(self.initial), ranges)
        key = _key(self.encoder, self.cells, tuple(self.initial))
        self.identity = hashlib.sha256(key.encode()).hexdigest()
        image, about = self._compiled()
        self.layout = Layout.of(self.cells, dict(about["fixed"]))
        self.branching: int = about["branching"]
        names = [f"first_{number}" for number in range(about["asked"])]
        names_of_marks = [f"mark_{number}" for number in range(about["promises"])]
        all_names = ["expand", "hash", "first_breaking", *names, *names_of_marks]
        library = Library(image, all_names)
        self._library = library
        self.expand = library.function("expand", *EXPAND)
        self._marks = [library.function(name, None, WORDS, COUNT, WORDS) for name in names_of_marks]
        self._hash = library.function("hash", None, WORDS, COUNT, WORDS)
        self.first_breaking = library.function("first_breaking", COUNT, WORDS, COUNT)
        self.first = [library.function(name, COUNT, WORDS, COUNT) for name in names]

    def hashes(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Hash packed states, a row each."""
        hashes = np.empty(len(states), np.uint64)
        self._hash(states.ctypes.data, len(states), hashes.ctypes.data)
        return hashes

    def marks(self, number: int, states: int, count: int) -> NDArray[np.uint8]:
        """Tell for each of so many states at an address whether a term of the promises is true."""
        marks = np.zeros(count, np.uint8)
        self._marks[number](states, count, marks.ctypes.data)
        return marks

    def expand_up_to(self, premise: CodeType) -> Any:
        """Compile `expand` anew, such that it stops at a step in which a premise holds."""
        grounded = ground(self.encoder, self.cells, tuple(self.initial), premise)
        image = compile_module(write_module(grounded, self.layout))
        self._other = Library(image, ["expand"])  # lives as long as its functions
        return self._other.function("expand", *EXPAND)

    def _compiled(self) -> tuple[bytes, dict[str, Any]]:
        """Look the code up, or compile and keep it: a line about the code, then the code."""
        file = kept_file(f"{machine_name()}\n{self.identity}")
        try:
            first, _, image = file.read_bytes().partition(b"\n")
            about = json.loads(first)
            if about["digest"] == hashlib.sha256(image).hexdigest():
                return image, about
        except (OSError, ValueError, TypeError, KeyError):
            pass  # not there, or damaged: it is made anew
        grounded = ground(self.encoder, self.cells, tuple(self.initial))
        layout = Layout.of(self.cells, grounded.fixed)
        image = compile_module(write_module(grounded, layout))
        about = {
            "fixed": list(grounded.fixed.items()),
            "branching": len(grounded.commands),
            "asked": len(grounded.sometimes) + len(grounded.premises),
            "promises": len(grounded.promises),
            "digest": hashlib.sha256(image).hexdigest(),
        }
        keep(file, json.dumps(about).encode() + b"\n" + image)
        return image, about


def _key(encoder: Encoder, cells: Sequence[Cell], initial: Sequence[Keys]) -> str:
    """Tell apart whatever would be compiled differently."""
    parts = (VERSION, form_of(encoder.traced), encoder.constants, cells, initial)
    return "\n".join(map(repr, parts))


@functools.cache
def form_of(traced: TracedModel) -> str:
    """Write down everything about a traced model that matters, the same in every process."""
    properties = [
        (replace(part, premises=()), [premise for _, premise in part.premises])  # code has no text
        for part in traced.properties
    ]
    return repr((traced.variables, traced.commands, traced.claims, properties))
