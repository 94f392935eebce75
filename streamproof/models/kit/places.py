"""Where the models of streamproof stand: a file, or a folder for a family.

A file is called by its name. In the folder of a protocol the folder's name comes first: the model
`dpc_chain` stands in `dpc/chain.py`, and `dpc` itself in `dpc/dpc.py`.
"""

from __future__ import annotations

import functools
import importlib.util
import pkgutil

from streamproof import models, protocols

_NO_FAMILY = ("kit", "mutants")
_MUTANTS = f"{models.__name__}.mutants"


def protocol_names() -> tuple[str, ...]:
    """List the protocols that there are."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(protocols.__path__)))


@functools.cache
def places() -> dict[str, str]:
    """List the files of all families and of what stands alone: the module, by the file's name."""
    found = {}
    for entry in pkgutil.iter_modules(models.__path__):
        module = f"{models.__name__}.{entry.name}"
        if not entry.ispkg:
            found[entry.name] = module
        elif entry.name not in _NO_FAMILY:
            for file in _files_of(module):
                found[_name_in(entry.name, file)] = f"{module}.{file}"
    return found


def mutants_place(module: str) -> str:
    """Return the module that lists the mutants of a model's file, whether or not it is there."""
    return module.replace(models.__name__, _MUTANTS, 1)


def _files_of(family: str) -> list[str]:
    spec = importlib.util.find_spec(family)
    search = None if spec is None else spec.submodule_search_locations
    return [module.name for module in pkgutil.iter_modules(search)]


def _name_in(family: str, file: str) -> str:
    is_prefixed = family in protocol_names() and file != family
    return f"{family}_{file}" if is_prefixed else file
