"""Fault-tolerance protocols for streams: checked, proven, and run in PySpark from one text.

Names are imported when they are first used: a Spark driver needs neither Z3 nor LLVM.

PYTEST_DONT_REWRITE: pytest loads this file for our plugin, and a certificate asks for it as it is.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamproof.checker.check import check
    from streamproof.models.kit.mutant import Mutant
    from streamproof.proofs.induction import prove
    from streamproof.proofs.invariant import Invariant

__all__ = ["Invariant", "Mutant", "__version__", "check", "prove"]

__version__ = "0.1.0"

_HOMES = {
    "Invariant": "proofs.invariant",
    "Mutant": "models.kit.mutant",
    "check": "checker.check",
    "prove": "proofs.induction",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module, on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List public names too that nothing has imported yet."""
    return sorted({*globals(), *__all__})
