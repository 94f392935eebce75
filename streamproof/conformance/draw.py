"""The run of a model that explains what was observed, as a space-time diagram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from streamproof.conformance.explain import Explanation
from streamproof.diagrams.draw import drawn
from streamproof.diagrams.spacetime import Drawing
from streamproof.lang.model import Move

_Step: TypeAlias = tuple[Move[Any], Any]
ROWS_MAX = 60
"""Steps that are drawn. Of longer runs, the oldest messages are left out."""
UNEXPLAINED = "not explained"
APPLICATION = ("send", "receive")


def drawing_of(protocol: str, explanation: Explanation[Any]) -> Drawing:
    """Draw the run of the model as far as it explains what was observed."""
    steps = list(zip(explanation.moves, explanation.states, strict=False))
    drawing = drawn(protocol, explanation.model, _shown(steps))
    violation = explanation.violation
    if violation is not None and violation.process in drawing.lines:
        drawing.begin_step(f"{violation.process}, {violation.where}")
        drawing.cross(violation.process, UNEXPLAINED)
    drawing.finish("" if violation is None else violation.reason)
    return drawing


def _shown(steps: Sequence[_Step]) -> Iterator[_Step]:
    """Leave out the oldest messages of a long run."""
    too_many = len(steps) - ROWS_MAX
    for number, (move, before) in enumerate(steps):
        if too_many > 0 and move.call.name in APPLICATION and number < len(steps) - ROWS_MAX // 2:
            too_many -= 1
        else:
            yield move, before
