"""A clock has no part in what a model is made of, whatever statement would let it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamproof.lang.impure import ImpureModel
from streamproof.models.kit.verdict import Status
from tests.checker.support.loaded import CLOCK, FILL, checked

ACTING = {
    "a call": f"{FILL}fill()\n",
    "a decorator": f"{FILL}@fill\ndef unused(): ...\n",
    "a lambda that decorates": f"{FILL}@lambda f: f()\ndef unused():\n    fill()\n",
    "an alias": f"{CLOCK}LIMIT = []\nSAME = LIMIT\nSAME.append(clock())\n",
    "an annotation": f"{FILL}x: fill() = 1\n",
    "an assertion": f"{FILL}assert fill() is None\n",
    "the body of a class": f"{FILL}class Unused:\n    fill()\n",
    "a base class": f"{FILL}class Unused(fill() or object): ...\n",
    "a comprehension": f"{FILL}[fill() for _ in range(1)]\n",
    "a default value": f"{FILL}def unused(x=fill()): ...\n",
    "an annotation of a function": f"{FILL}def unused(x: fill()): ...\n",
    "an error that is caught": f"{CLOCK}try:\n    raise KeyError(clock())\n"
    "except KeyError as e:\n    LIMIT = e.args\n",
    "an attribute of a function": f"{CLOCK}def f(): ...\ndef st():\n    f.v = clock()\nst()\n"
    "LIMIT = [f.v]\n",
    "a global in a function": f"{CLOCK}LIMIT = [9]\ndef st(x):\n    global LIMIT\n"
    "    LIMIT = [x]\nst(clock())\n",
    "an item of globals()": f"{CLOCK}globals()['LIMIT'] = [clock()]\n",
    "an update of globals()": f"{CLOCK}globals().update(LIMIT=[clock()])\n",
    "a thread": f"{FILL}from threading import Thread\nt = Thread(target=fill)\nt.start()\n",
    "a name that a condition binds": f"{CLOCK}if (now := clock()) > 0:\n    LIMIT = [now]\n",
    "a match": f"{FILL}match fill():\n    case _: ...\n",
    "a function of a library": f"{FILL}UNUSED = list(map(fill, [1]))\n",
    "an object that is made": f"{FILL}class Filler:\n    def __init__(self):\n        fill()\n"
    "UNUSED = Filler()\n",
}
HARMLESS = {
    "a moment that nothing uses": "import time\nSTARTED = time.time()\nLIMIT = [9]\n",
    "what a file does as a program": f"{FILL}LIMIT = [9]\nif __name__ == '__main__':\n    fill()\n",
    "a function that is not called": f"{FILL}LIMIT.append(9)\n",
    "a name of the same": f"{FILL}LIMIT = [9]\nother = fill\nA, B = fill, other\n",
    "a clock of a class that is not used": f"{FILL}class Timer:\n    def __enter__(self):\n"
    "        fill()\nLIMIT = [9]\n",
    "a command of a library": f"{FILL}import typer\napp = typer.Typer()\n@app.command()\n"
    "def bench():\n    fill()\nLIMIT = [9]\n",
    "a mark of pytest": f"{FILL}import pytest\n@pytest.mark.skip(reason='not now')\n"
    "def bench():\n    fill()\nLIMIT = [9]\n",
    "a module by its text": f"{FILL}import importlib\nM = importlib.import_module('math')\n"
    "LIMIT = [M.floor(9.5)]\n",
    "a lambda that is kept": f"{FILL}LIMIT = [9]\nHELD = lambda: fill()\n",
    "what is made plainly": "LIMIT = sorted([9, 10])\nTEXT = ', '.join(map(str, LIMIT))\n",
}


@pytest.mark.parametrize("way", ACTING.values(), ids=ACTING)
def test_a_clock_in_what_acts_as_a_file_is_loaded_is_refused(tmp_path: Path, way: str) -> None:
    with pytest.raises(ImpureModel, match="uses time, and the model is made of it"):
        checked(tmp_path, way)


@pytest.mark.parametrize("way", HARMLESS.values(), ids=HARMLESS)
def test_what_makes_nothing_of_the_model_is_not_refused(tmp_path: Path, way: str) -> None:
    assert checked(tmp_path, way) is Status.EXHAUSTED


@pytest.mark.parametrize(
    "neighbour",
    [f"{FILL}fill()\n", f"{CLOCK}LIMIT = [clock()]\n", f"{FILL}"],
    ids=["it acts", "it binds", "it is called"],
)
def test_a_clock_in_a_neighbour_is_refused(
    tmp_path: Path, neighbour: str, request: pytest.FixtureRequest
) -> None:
    name = f"acting_neighbour_{request.node.callspec.id.replace(' ', '_')}"
    (tmp_path / f"{name}.py").write_text(neighbour, encoding="utf-8")
    used = f"import {name}\n{name}.fill()\n" if neighbour == FILL else ""
    with pytest.raises(ImpureModel, match="uses time, and the model is made of it"):
        checked(tmp_path, f"{used}from {name} import LIMIT\n")


def test_a_clock_of_a_neighbour_that_nobody_asks_is_not_refused(tmp_path: Path) -> None:
    (tmp_path / "acting_unasked.py").write_text(CLOCK, encoding="utf-8")
    ahead = "from acting_unasked import clock\nLIMIT = [9]\n"
    assert checked(tmp_path, ahead) is Status.EXHAUSTED
