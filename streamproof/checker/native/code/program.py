"""Programs: a model at a size, compiled, and what can be asked of its packed states."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from streamproof.checker.native.code.alike import alike_elements
from streamproof.checker.native.code.cells import Encoder, Keys, Ranges, cells_of
from streamproof.checker.native.code.codegen import write_module
from streamproof.checker.native.code.grounding import ground
from streamproof.checker.native.code.layout import Layout
from streamproof.checker.native.code.machine_code import (
    COUNT,
    NUMBER,
    WORDS,
    Library,
    compile_module,
    keep,
    kept,
    machine_name,
)
from streamproof.checker.native.code.rolled import (
    asked_of,
    branching_of,
    evened,
    fixed_cells,
    is_large,
    lay_out,
    write_rolled_module,
)
from streamproof.checker.native.code.symmetry import Symmetry
from streamproof.checker.native.code.written import written
from streamproof.lang.form import TracedModel
from streamproof.lang.model import Model
from streamproof.lang.quantify import Site
from streamproof.lang.sorts import EnumSort
from streamproof.lang.trace import trace_model

EXPAND = (None, WORDS, COUNT, COUNT, *(WORDS,) * 3, COUNT, COUNT, *(WORDS,) * 4, COUNT)
"""What `expand` gives and takes."""
EXPAND_RANGES = (None, WORDS, COUNT, WORDS, *EXPAND[4:])
"""What `expand_ranges` gives and takes."""
STATES = (WORDS, COUNT)
"""Packed states, and how many of them count."""
FIRST = (COUNT, COUNT, *STATES)
"""What the functions give and take that find the first of some states."""


@functools.cache
def generator_digest() -> str:
    """Return a digest of what writes the code: the same model may be compiled to something else."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]


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
    is_rolled : whether the code has loops over elements instead of a branch for each
    symmetry : what is used of the model's symmetry; None if nothing is
    code : where `expand` and `first_breaking` are, as long as there is the program
    """

    def __init__(self, model: Model[Any], ranges: Ranges, *, symmetry: bool = False) -> None:
        self.encoder, self.ranges = Encoder(trace_model(type(model)), model), dict(ranges)
        starts = [self.encoder.encode(state) for state in model.initial_states()]
        self.starts = len(starts)
        self.initial: dict[Keys, int] = {}
        for start, state in enumerate(starts):
            self.initial.setdefault(state, start)
        self.is_rolled = is_large(self.encoder)
        cells = cells_of(self.encoder, tuple(self.initial), ranges)
        self.cells = evened(cells) if self.is_rolled else cells
        key = self._key(symmetry)
        self.identity = hashlib.sha256(key.encode()).hexdigest()
        self.symmetry: Symmetry | None = None
        image, about = self._compiled(symmetry)
        self.branching: int = about["branching"]
        asked, promised = about["asked"], about["promised"]
        names = [f"first_{number}" for number in range(len(asked))]
        names_of_marks = [f"mark_{number}" for number in range(2 * len(promised))]
        all_names = ["expand", "expand_ranges", "hash", "first_breaking", *names, *names_of_marks]
        all_names += ["represent", "weigh_all"] if self.symmetry else []
        library = Library(image, all_names)
        self.expand = library.function("expand", *EXPAND)
        self.expand_ranges = library.function("expand_ranges", *EXPAND_RANGES)
        marks = [library.function(name, None, COUNT, *STATES, WORDS) for name in names_of_marks]
        self._marks = [
            partial(side, instance)
            for promise, instances in enumerate(promised)
            for instance in range(instances)
            for side in marks[2 * promise : 2 * promise + 2]
        ]
        self._hash = library.function("hash", None, WORDS, COUNT, WORDS)
        first_breaking = library.function("first_breaking", *FIRST)
        self.first_breaking = partial(first_breaking, 0)
        self.code = self.expand.address, first_breaking.address
        if self.symmetry:
            self._represent: Any = library.function("represent", None, WORDS, COUNT)
            self._weigh: Any = library.function("weigh_all", NUMBER, WORDS, COUNT)
        self.first = [
            partial(library.function(name, *FIRST), instance)
            for name, instances in zip(names, asked, strict=True)
            for instance in range(instances)
        ]

    def hashes(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Hash packed states, a row each."""
        hashes = np.empty(len(states), np.uint64)
        self._hash(states, len(states), hashes)
        return hashes

    def represent(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the representatives of packed states, a row each."""
        states = states.copy()
        if self.symmetry:
            self._represent(states, len(states))
        return states

    def weigh(self, states: NDArray[np.uint64], count: int) -> float:
        """Count the states for which the first so many representatives stand."""
        if not self.symmetry:
            return count
        total: float = self._weigh(states, count)
        return total

    def marks(self, number: int, states: NDArray[np.uint64], count: int) -> NDArray[np.uint8]:
        """Return for each of the first so many states whether a term of the promises is true."""
        marks = np.zeros(count, np.uint8)
        self._marks[number](states, count, marks)
        return marks

    def expand_up_to(self, premise: Site) -> Any:
        """Compile `expand` anew, such that it stops at a step in which a premise holds."""
        if self.is_rolled:
            module = write_rolled_module(self.encoder, self.cells, self.layout, premise=premise)
        else:
            grounded = ground(self.encoder, self.cells, tuple(self.initial), premise)
            module = write_module(grounded, self.layout)
        return Library(compile_module(module), ["expand"]).function("expand", *EXPAND)

    def _compiled(self, symmetry: bool) -> tuple[bytes, dict[str, Any]]:
        """Look the code up, or compile and keep it."""
        key = f"{machine_name()}\n{self.identity}"
        found = kept(key)
        if found is not None:
            self._lay_out(dict(found[0]["fixed"]), symmetry)
            return found[1], found[0]
        about, module = self._written(symmetry)
        image = compile_module(module)
        keep(key, about, image)
        return image, about

    def _written(self, symmetry: bool) -> tuple[dict[str, Any], ir.Module]:
        """Write the code, and what there is to know about it."""
        initial = tuple(self.initial)
        if self.is_rolled:
            self._lay_out(fixed_cells(self.encoder, self.cells, initial), symmetry)
            asked, promised = asked_of(self.encoder)
            branching = branching_of(self.encoder)
            module = write_rolled_module(self.encoder, self.cells, self.layout, self.symmetry)
        else:
            grounded = ground(self.encoder, self.cells, initial)
            self._lay_out(grounded.fixed, symmetry)
            asked = [1] * (len(grounded.sometimes) + len(grounded.premises))
            promised, branching = [1] * (len(grounded.promises) // 2), len(grounded.commands)
            module = write_module(grounded, self.layout, self.symmetry)
        about = {
            "fixed": list(self.layout.fixed.items()),
            "branching": branching,
            "asked": asked,
            "promised": promised,
        }
        return about, module

    def _key(self, symmetry: bool) -> str:
        """Return a key that differs wherever the compiled code would."""
        form = form_of(self.encoder.traced)
        parts = (generator_digest(), form, self.encoder.constants, self.cells, tuple(self.initial))
        return "\n".join(map(written, (*parts, symmetry, self.is_rolled)))

    def _lay_out(self, fixed: Mapping[int, int], symmetry: bool) -> None:
        """Find the symmetric elements, if they are asked for, and lay out the cells."""
        order: Sequence[int] = range(len(self.cells))
        if symmetry:
            alike = alike_elements(self.encoder, self.cells, tuple(self.initial), fixed)
            found = Symmetry(self.encoder, alike, fixed)
            if found.used:
                self.symmetry, order = found, found.cell_order
        if self.is_rolled:
            self.layout = lay_out(self.cells, fixed)
        else:
            self.layout = Layout.of(self.cells, fixed, order)


@functools.cache
def form_of(traced: TracedModel) -> str:
    """Write down everything about a traced model that matters, the same in every process."""
    properties = [
        (replace(part, premises=()), [premise for _, premise in part.premises])  # code has no text
        for part in traced.properties
    ]
    sorts = (variable.sort for variable in (*traced.variables, *traced.constants))
    enums = [sort.cls for sort in sorts if isinstance(sort, EnumSort)]
    return written((traced.variables, traced.commands, traced.claims, properties, enums))
