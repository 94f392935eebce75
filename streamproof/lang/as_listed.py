"""As listed: a record of the code in a class, to be compared later.

The methods of a model are listed once, and what is derived from them is kept: traced forms, what
they reach, whether they are pure. A class that changes afterwards would be asked as it was.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from streamproof.lang.errors import WrongDefinition
from streamproof.lang.marked import marks_of

Listed: TypeAlias = dict[tuple[Any, str], tuple[Any, ...]]
"""Per class and name: the roles, the member, and what of a function can be set."""


def list_code(classes: Iterable[Any]) -> Listed:
    """Write down the functions, descriptors, classes and modules that stand in some classes."""
    return {
        (cls, name): (marks_of(member), member, *_settable(member))
        for cls in classes
        for name, member in vars(cls).items()
        if _is_code(member)
    }


def require_as_listed(cls: Any, before: Listed, now: Listed) -> None:
    """Refuse a model whose classes have changed since their code was listed.

    Raises
    ------
    WrongDefinition : if a method was added, replaced, changed or removed
    """
    for owner, name in before | now:
        old, new = before.get((owner, name)), now.get((owner, name))
        if not _is_same(old, new):
            what = "was added" if old is None else "is gone" if new is None else "is another"
            raise WrongDefinition(
                f"{owner.__name__}.{name} {what} since the methods of {cls.__name__} were listed, "
                "so that it would be asked as it was then, or not at all. Write all methods in the "
                "class before an object of it is made, or derive a class of its own"
            )


def _is_same(old: tuple[Any, ...] | None, new: tuple[Any, ...] | None) -> bool:
    if old is None or new is None or len(old) != len(new):
        return False
    pairs = zip(old[1:], new[1:], strict=True)  # an `==` would run code of a user
    return old[0] == new[0] and all(one is other for one, other in pairs)


def _settable(member: Any) -> tuple[Any, ...]:
    if not isinstance(member, FunctionType):
        return ()
    return (member.__code__, member.__defaults__, member.__kwdefaults__)


def _is_code(member: Any) -> bool:
    has_get = inspect.getattr_static(type(member), "__get__", None) is not None
    return has_get or callable(member) or type(member) is ModuleType
