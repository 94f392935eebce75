"""Machines of models: a protocol's functions, of which a mutant replaces some.

A model has its protocol as `machine`, and asks it alone: `self.machine.on_marker(...)`. A mutant
has `machine = replaced(protocol, on_marker=...)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from streamproof.lang.errors import WrongDefinition


def replaced(machine: ModuleType, **functions: Callable[..., Any]) -> Any:
    """Make a machine that differs from another one in some functions.

    Parameters
    ----------
    machine : a protocol, or what was made of one here
    functions : by name, what stands in the place of the machine's own function

    Raises
    ------
    WrongDefinition : if the machine has no function of such a name, or it takes other arguments
    """
    for name, function in functions.items():
        own = getattr(machine, name, None)
        if not callable(own):
            raise WrongDefinition(
                f"{machine.__name__} has no function {name}, so nothing would be replaced, and the "
                f"mistake not be made. Name one of {', '.join(_functions_of(machine))}"
            )
        wanted, found = (len(inspect.signature(part).parameters) for part in (own, function))
        if wanted != found:
            raise WrongDefinition(
                f"{function.__qualname__} takes {found} arguments, and {name} of "
                f"{machine.__name__} takes {wanted}, so the model could not call it. Give it the "
                f"parameters {inspect.signature(own)}"
            )
    made = ModuleType(f"{machine.__name__} with another {' and '.join(functions)}")
    vars(made).update({n: part for n, part in vars(machine).items() if not n.startswith("__")})
    vars(made).update(functions)
    return made


def _functions_of(machine: ModuleType) -> list[str]:
    return [
        name
        for name, part in vars(machine).items()
        if inspect.isfunction(part) and not name.startswith("_")
    ]
