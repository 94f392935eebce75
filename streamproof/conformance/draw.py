"""The run of a model that explains what was observed, as a space-time diagram."""

from __future__ import annotations

from typing import Any

from streamproof.conformance.explain import Explanation
from streamproof.diagrams.draw import as_words
from streamproof.diagrams.lenses import LENSES, Seen
from streamproof.diagrams.spacetime import Drawing

ROWS_MAX = 60
"""Steps that are drawn. Of longer runs, the oldest messages are left out."""
UNEXPLAINED = "not explained"
APPLICATION = ("send", "receive")


def drawing_of(protocol: str, explanation: Explanation[Any]) -> Drawing:
    """Draw the run of the model as far as it explains what was observed."""
    lens = LENSES[protocol]
    drawing = Drawing(tuple(map(str, lens.lines(explanation.model))))
    steps = list(zip(explanation.moves, explanation.states, strict=False))
    too_many = len(steps) - ROWS_MAX
    for number, (move, before) in enumerate(steps):
        if too_many > 0 and move.call.name in APPLICATION and number < len(steps) - ROWS_MAX // 2:
            too_many -= 1
            continue
        after = before if move.target is None else move.target
        drawing.begin_step(as_words(move.call))
        lens.draw(
            drawing, Seen(explanation.model, before, move.call.name, move.call.arguments, after)
        )
    violation = explanation.violation
    if violation is not None and violation.process in drawing.lines:
        drawing.begin_step(f"{violation.process}, {violation.where}")
        drawing.cross(violation.process, UNEXPLAINED)
    drawing.finish("" if violation is None else violation.reason)
    return drawing
