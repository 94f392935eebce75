"""Drawing a run of a model: each step by the lens of the model's file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamproof.checker.counterexample import Run
from streamproof.diagrams.lenses import LENSES, Seen
from streamproof.diagrams.spacetime import Drawing
from streamproof.lang.model import Call, Model, Move


def drawing_of(file: str, model: Model[Any], run: Run[Any], outcome: str = "") -> Drawing:
    """Return the drawing of a run.

    Parameters
    ----------
    file : the name of the model's file, such as `chandy_lamport`
    model, run : the model, and its run that is drawn
    outcome : the text below the last step

    Raises
    ------
    KeyError : if the models of a file of this name have no lens
    """
    drawing = drawn(file, model, zip(run.moves, run.states, strict=False))
    drawing.finish(outcome)
    return drawing


def drawn(file: str, model: Model[Any], steps: Iterable[tuple[Move[Any], Any]]) -> Drawing:
    """Return a drawing of some steps that is not finished.

    Parameters
    ----------
    file, model : as `drawing_of` takes them
    steps : each with the state before it

    Raises
    ------
    KeyError : as `drawing_of`
    """
    lens = LENSES[file]
    drawing = Drawing(tuple(map(str, lens.lines(model))))
    for move, before in steps:
        after = before if move.target is None else move.target
        drawing.begin_step(as_words(move.call))
        lens.draw(drawing, Seen(model, before, move.call.name, move.call.arguments, after))
    return drawing


def as_words(call: Call) -> str:
    """Return a step as its action and arguments: `send process0 process1`."""
    return " ".join((call.name, *map(str, call.arguments)))
