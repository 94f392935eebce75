"""A model in a file of its own, with what is run ahead of it as the file is loaded."""

from __future__ import annotations

from pathlib import Path

from streamproof.checker import check
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status

MODEL = """
from dataclasses import dataclass
from streamproof.lang import Model, action, always, final, init, require

@dataclass(frozen=True)
class State:
    n: int

class M(Model[State]):
    sizes = {"default": {}}

    @init
    def start(self) -> State:
        return State(0)

    @action
    def go(self, s: State) -> State:
        require(s.n < 3)
        return State(s.n + 1)

    @final
    def end(self, s: State) -> bool:
        return s.n == 3

    @always
    def small(self, s: State) -> bool:
        return s.n < LIMIT[0]
"""
CLOCK = "import time\ndef clock():\n    return int(time.time()) // 10**9 + 8\n"
FILL = f"{CLOCK}LIMIT = []\ndef fill(*_):\n    LIMIT.append(clock())\n"


def checked(place: Path, ahead: str, model: str = MODEL) -> Status:
    """Check the model in a file that begins with other statements."""
    file = place / "model.py"
    file.write_text(ahead + model, encoding="utf-8")
    return check(registry.load(str(file)).main()).verdict.status
