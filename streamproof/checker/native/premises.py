"""Premises: which `implies` of the properties were tried in some state that was visited.

The reference engine sees each premise as it runs the properties. Here those of properties of states
are looked for in all states by compiled functions. Those of properties of steps are first looked
for by running the properties on a sample of steps; only for one that holds in none of them, every
step is taken once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from streamproof.checker.native.code.grounding import OF_STATES, premises_of
from streamproof.checker.native.search import Search
from streamproof.checker.properties import Properties
from streamproof.lang.model import Model, Role
from streamproof.lang.quantify import Site, note_premise, observed_premises

STATES_SAMPLED = 200


def note_premises(model: Model[Any], search: Search) -> None:
    """Report to the observer the premises that hold somewhere."""
    traced = search.program.encoder.traced
    forms = list(premises_of(traced, *OF_STATES))
    functions = search.program.first[len(search.program.first) - len(forms) :]
    for (form, site, _), where in zip(forms, functions, strict=True):
        note_premise(form.name, site, search.first(where) is not None)
    of_steps = [(form.name, site) for form, site, _ in premises_of(traced, Role.EVERY_STEP)]
    if of_steps:
        held = _held_in_sample(model, search)
        for part in of_steps:
            note_premise(*part, part in held or _holds_in_some_step(search, part[1]))


def _held_in_sample(model: Model[Any], search: Search) -> set[tuple[str, Site]]:
    properties = Properties.of(model)
    with observed_premises() as observed:
        for state in _sample(search):
            for move in model.moves(state):
                if move.target is not None:
                    properties.broken_by(state, move.target)
    return {part for part, held in observed.items() if held}


def _sample(search: Search) -> Iterator[Any]:
    layout, encoder = search.program.layout, search.program.encoder
    for part in search.partitions:
        step = max(1, part.count // STATES_SAMPLED)
        for number in islice(range(0, part.count, step), STATES_SAMPLED):
            yield encoder.decode(layout.unpack(part.state(number)))


def _holds_in_some_step(search: Search, site: Site) -> bool:
    """Take every step once more, up to one in which the premise holds."""
    expand = search.program.expand_up_to(site)
    return any(worker.breaks_a_step(expand) for worker in search.workers)
