"""The shortest run that breaks one property, whatever else it breaks on the way."""

from __future__ import annotations

from collections import deque
from typing import Any

from streamproof.lang.model import Call, Model, Role


def shortest_break(model: Model[Any], name: str, *, states_max: int = 20_000) -> list[str] | None:
    """Return the actions up to the first state or step that breaks a property, or None."""
    (method,) = (
        m for role in (Role.ALWAYS, Role.EVERY_STEP) for m in model.methods(role) if m.name == name
    )
    ask = getattr(model, name)
    is_step = method.role is Role.EVERY_STEP
    reached_by: dict[Any, tuple[Any, Call] | None] = dict.fromkeys(model.initial_states())
    pending = deque(reached_by)
    while pending:
        state = pending.popleft()
        for move in model.moves(state):
            if move.target is None:
                continue
            if not holds(ask(state, move.target) if is_step else ask(move.target)):
                return [*way_to(state, reached_by), str(move.call)]
            if move.target not in reached_by:
                reached_by[move.target] = (state, move.call)
                pending.append(move.target)
        assert len(reached_by) <= states_max
    return None


def holds(answer: bool | dict[str, bool]) -> bool:
    return answer if isinstance(answer, bool) else all(answer.values())


def way_to(state: Any, reached_by: dict[Any, tuple[Any, Call] | None]) -> list[str]:
    way: list[str] = []
    while (step := reached_by[state]) is not None:
        state, call = step
        way.append(str(call))
    return way[::-1]


def mistaken(mutant: type[Model[Any]], base: type[Model[Any]]) -> type[Model[Any]]:
    """Make the mistake of a mutant of one model in another model of the same protocol."""
    changed = {name: value for name, value in vars(mutant).items() if not name.startswith("__")}
    return type(f"{mutant.__name__}{base.__name__}", (base,), changed)
