"""Finding the invariant of a protocol by the name of its file."""

from __future__ import annotations

import importlib
import pkgutil

from streamproof.lang import StreamproofError
from streamproof.models.kit.registry import module_of, split
from streamproof.proofs import invariants
from streamproof.proofs.invariant import Invariant


class UnknownInvariant(StreamproofError, LookupError):
    """There is no invariant of this name."""


def invariant_names() -> tuple[str, ...]:
    """List the protocols that have an invariant."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(invariants.__path__)))


def find_invariant(target: str) -> Invariant:
    """Find an invariant: `chandy_lamport`, or the `INVARIANT` of a file of one's own.

    Raises
    ------
    UnknownInvariant : if there is none; the message lists those that there are
    """
    name, between, part = split(target)
    if between == "/" or part.isidentifier():
        raise UnknownInvariant(
            f"{target} names one model of a file, and an invariant belongs to the file, so "
            f"there is nothing to prove. Write: streamproof prove {name}"
        )
    if target in invariant_names():
        module = importlib.import_module(f"{invariants.__name__}.{target}")
    else:
        module = module_of(target)
    found = getattr(module, "INVARIANT", None)
    if not isinstance(found, Invariant):
        raise UnknownInvariant(
            f"{target} has no INVARIANT, so there is nothing to prove. streamproof has invariants "
            f"of {', '.join(invariant_names())}; in a file of your own set INVARIANT"
        )
    main = getattr(module, "MODEL", found.model_class)
    if main is not found.model_class:
        raise UnknownInvariant(
            f"INVARIANT of {target} is of {found.model_class.__name__}, and MODEL is "
            f"{getattr(main, '__name__', main)}: a proof would speak of another model than the "
            "file does. Make them the same"
        )
    return found
