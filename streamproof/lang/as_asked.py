"""As asked: a record of all that a model's methods used when it was first asked.

Traced forms, compiled code and whether a model is pure are found out once for a class, and kept. A
global, a helper or a table that is another one since, as in a notebook, would get the verdict of
the old one.
"""

from __future__ import annotations

import functools
from typing import Any

from streamproof.lang.errors import WrongDefinition
from streamproof.lang.surroundings import Surroundings, changed, surroundings_of


def require_as_first_asked(cls: type[Any]) -> None:
    """Refuse a model if something that its methods use has changed since it was first asked.

    Raises
    ------
    WrongDefinition : if it is not; it names what, and both values
    """
    before = _when_asked(cls)  # type: ignore[arg-type] # a class does hash
    if found := changed(before, surroundings_of(cls)):
        what, old, new = found
        raise WrongDefinition(
            f"{what} was {old} when {cls.__name__} was checked, traced or proved first in this "
            f"process, and is {new} now. What was found out then is kept, and would be said of "
            f"what is there now. Define {cls.__name__} again (in a notebook, run its cell again), "
            "or start a new process"
        )


@functools.cache
def _when_asked(cls: Any) -> Surroundings:
    return surroundings_of(cls)
