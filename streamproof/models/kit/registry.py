"""Finding models and protocols by their file's name, and building models at a given size."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from streamproof import models, protocols
from streamproof.lang import StreamproofError, WrongDefinition
from streamproof.lang.model import Model, Role, methods_of
from streamproof.models.kit.meant import closest
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.places import mutants_place, places, protocol_names
from streamproof.models.kit.sizes import at_size, named_size, parsed
from streamproof.models.kit.trace import show
from streamproof.models.kit.verdict import Json


class UnknownModel(StreamproofError, LookupError):
    """There is no model of this name, or its file has none."""


class UnreadableModel(StreamproofError, ImportError):
    """The file of a model cannot be run."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The models of one file.

    Attributes
    ----------
    name : what the user calls it: `chandy_lamport`, `path/to/file.py` or `package.module`
    main : the module's `MODEL`, or its only model
    all : the module's `MODELS`, the main one first
    mutants : `MUTANTS` of the file of the same place in `models/mutants/`, or of the same file
        outside of streamproof
    """

    name: str
    main: type[Model[Any]]
    all: tuple[type[Model[Any]], ...]
    mutants: tuple[Mutant, ...]


@dataclass(frozen=True, slots=True)
class Sized:
    """A model at a size, and how to build it again.

    Attributes
    ----------
    target : the model's name, as `find` takes it
    size_name : the name of the size; empty if the settings were given one by one
    size : the settings as text, in the order in which they were given
    """

    target: str
    model_class: type[Model[Any]]
    size_name: str
    size: Mapping[str, str]
    model: Model[Any]

    @property
    def source(self) -> str:
        """Python text that builds the model; `registry` is this module."""
        return f"registry.build({self.target!r}, {self.size_name or dict(self.size)!r})"

    def source_beside(self, directory: Path) -> str:
        """Python text that builds the model in a file of a directory, wherever it is run from."""
        name, colon, part = split(self.target)
        if not name.endswith(".py"):
            return self.source
        place = os.path.relpath(name, directory).replace("{", "{{").replace("}", "}}")
        target = f"{{Path(__file__).parent}}/{place}{colon}{part}"
        return f"registry.build(f{target!r}, {self.size_name or dict(self.size)!r})"

    def to_json(self) -> Json:
        """Return the request as JSON."""
        return {"target": self.target, "size_name": self.size_name, "size": dict(self.size)}

    @property
    def options(self) -> str:
        """What gives this model and size on a command line."""
        if self.size_name:
            return shlex.join([self.target, "--size", self.size_name])
        pairs = [f"{name}={text}" for name, text in self.size.items()]
        return shlex.join([self.target, *(part for pair in pairs for part in ("--set", pair))])


def names() -> tuple[str, ...]:
    """List the model files of streamproof."""
    return tuple(sorted(name for name in places() if hasattr(module_of(name), "MODEL")))


def load(target: str) -> ModelFile:
    """Load the file of a model; a `:ClassName` at its end is left aside.

    Raises
    ------
    UnknownModel : if there is no such file, or it has no model or no main one
    WrongDefinition : if its MODEL, MODELS or MUTANTS is not what it should be
    """
    name, _, _ = split(target)
    module = module_of(name)
    declared = _declared(module, "MODELS", _is_model) or _models_defined_in(module)
    main = _declared_model(module) or (declared[0] if len(declared) == 1 else None)
    if main is None:
        listed = ", ".join(f"{name}:{model.__name__}" for model in declared)
        raise UnknownModel(
            f"{name} has {len(declared)} models ({listed}), so which one is meant is open. A model "
            "is a subclass of Model with an @init. Name one of several, or set MODEL in the file"
        )
    others = tuple(model for model in declared if model is not main)
    return ModelFile(name, main, (main, *others), _mutants_of(module))


def find(target: str) -> type[Model[Any]]:
    """Find a model: `dpc`, `dpc:Dpc`, a mutant as `dpc/no-undo`, `file.py:Name`, `a.module`.

    Raises
    ------
    UnknownModel : if there is none; the message lists those that there are
    """
    name, sep, wanted = split(target)
    if not sep:
        return load(target).main
    module = module_of(name)
    known = {model.__name__: model for model in _models_defined_in(module)}
    known |= {model.__name__: model for model in _declared(module, "MODELS", _is_model)}
    known |= {mutant.name: mutant.model_class for mutant in _mutants_of(module)}
    if wanted not in known:
        where = " after the colon" if sep == ":" else ""
        raise UnknownModel(
            f"{name} has no model {wanted}, so there is nothing to run. {closest(wanted, known)}It "
            f"has {', '.join(known) or 'none'}: name one of these{where}"
        )
    return known[wanted]


def build(target: str, size: str | Mapping[str, str] = "") -> Model[Any]:
    """Build a model at a size, given as `choose` takes it."""
    return choose(target, size).model


def choose(target: str, size: str | Mapping[str, str] = "") -> Sized:
    """Find a model and build it.

    Parameters
    ----------
    target : as `find` takes it
    size : the name of one of the model's sizes; or settings as text; empty for the size that a
        mutant names, or else the model's default one

    Raises
    ------
    UnknownModel : if there is no such model
    UnknownSize : if there is no such size; the message lists those that there are
    """
    model_class = find(target)
    mutant = _mutant_named(target)
    if mutant is not None and size == "":
        size = {setting: show(value) for setting, value in mutant.size.items()}
    if isinstance(size, str):
        name, named = named_size(model_class, size)
        text = {setting: show(value) for setting, value in named.items()}
        return Sized(target, model_class, name, text, at_size(model_class, named))
    made = at_size(model_class, parsed(model_class, size))
    return Sized(target, model_class, "", dict(size), made)


def protocol_module(name: str) -> ModuleType:
    """Import a protocol.

    Raises
    ------
    UnknownModel : if there is none of this name
    """
    if name not in protocol_names():
        raise UnknownModel(
            f"there is no protocol {name}, so there is nothing to show or verify. streamproof has "
            f"{', '.join(protocol_names())}"
        )
    return importlib.import_module(f"{protocols.__name__}.{name}")


def original_of(mutant: Mutant, file: ModelFile) -> type[Model[Any]]:
    """Find the original of a mutant: the nearest base that is a model, or the main model."""
    bases = mutant.model_class.__mro__[1:]
    return next((base for base in bases if base in file.all), file.main)


def split(target: str) -> tuple[str, str, str]:
    """Split a target: the file's name, what stands between, and the class or mutant in the file."""
    name, colon, part = target.partition(":")
    file, slash, _ = name.partition("/")
    if slash and not colon and not name.endswith(".py") and file in places():
        return file, slash, target  # a mutant's name begins with that of its model
    return name, colon, part


def _mutant_named(target: str) -> Mutant | None:
    """Find the mutant that a target names, rather than a model's class."""
    name, _, wanted = split(target)
    mutants = _mutants_of(module_of(name)) if wanted else ()
    return next((mutant for mutant in mutants if mutant.name == wanted), None)


def _models_defined_in(module: ModuleType) -> tuple[type[Model[Any]], ...]:
    return tuple(
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and issubclass(member, Model)
        and member.__module__ == module.__name__
        and _has_start(member)
    )


def _has_start(cls: type[Model[Any]]) -> bool:
    """Return whether a class can be explored. An error in it is reported when it is built."""
    try:
        return any(method.role is Role.INIT for method in methods_of(cls))
    except WrongDefinition:
        return True


def _mutants_of(module: ModuleType) -> tuple[Mutant, ...]:
    if hasattr(module, "MUTANTS") or not module.__name__.startswith(f"{models.__name__}."):
        return _declared(module, "MUTANTS", lambda part: isinstance(part, Mutant))
    place = mutants_place(module.__name__)
    try:
        found = importlib.util.find_spec(place)
    except ModuleNotFoundError:  # no file of its family has mutants
        found = None
    return () if found is None else tuple(importlib.import_module(place).MUTANTS)


def _declared_model(module: ModuleType) -> type[Model[Any]] | None:
    named: type[Model[Any]] | None = getattr(module, "MODEL", None)
    if named is None or _is_model(named):
        return named
    raise _misdeclared(module, "MODEL", named, "a subclass of Model")


def _declared(module: ModuleType, name: str, is_fit: Callable[[Any], bool]) -> tuple[Any, ...]:
    """Read a list that a model's file declares; empty if it declares none."""
    listed = getattr(module, name, ())
    if isinstance(listed, Iterable) and all(is_fit(part) for part in tuple(listed)):
        return tuple(listed)
    kind = "Mutant objects" if name == "MUTANTS" else "subclasses of Model"
    raise _misdeclared(module, name, listed, f"a list of {kind}")


def _is_model(part: object) -> bool:
    return isinstance(part, type) and issubclass(part, Model)


def _misdeclared(module: ModuleType, name: str, found: object, wanted: str) -> WrongDefinition:
    return WrongDefinition(
        f"{name} in {module.__file__} is {found!r}, so what to run is not known. Make it {wanted}"
    )


def module_of(name: str) -> ModuleType:
    """Import the file of a model: one of streamproof's, a path, or a dotted name.

    Raises
    ------
    UnknownModel : if there is none
    UnreadableModel : if it cannot be run
    """
    if name.endswith(".py"):
        return _import_file(name)
    full = name if "." in name else places().get(name, f"{models.__name__}.{name}")
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as missing:
        if missing.name is None or not full.startswith(missing.name):
            raise  # the model's file is there, and what it imports is not
        raise UnknownModel(
            f"there is no model {name}, so there is nothing to run. streamproof has "
            f"{', '.join(names()) or 'none'}; a model of your own is named by its file, as in "
            "path/to/file.py or path/to/file.py:ClassName"
        ) from None


def _import_file(name: str) -> ModuleType:
    path = Path(name).resolve()
    # A file's name need not be free as a module's: two models may both be called model.py.
    # The name is the same in every process: a model may ask for its `__name__`.
    digest = hashlib.blake2b(str(path).encode(), digest_size=8).hexdigest()
    key = f"streamproof_file_{path.stem}_{digest}"
    if key in sys.modules:
        return sys.modules[key]
    if not path.is_file():
        raise UnknownModel(
            f"there is no file {name} (looked for {path}), so there is nothing to run. Give the "
            "path of a Python file that defines a Model"
        )
    spec = importlib.util.spec_from_file_location(key, path)
    assert spec is not None
    assert spec.loader is not None  # the file ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module  # before it runs: dataclasses look their module up
    _require_own_neighbours(path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # a model may be written in several files side by side
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[key]
        raise UnreadableModel(
            f"{path} cannot be run ({type(error).__name__}: {error}), so its models are not known. "
            f"Try: python {name}"
        ) from error
    return module


def _require_own_neighbours(path: Path) -> None:
    """Refuse a file that imports a neighbour of which another module has the name.

    Raises
    ------
    UnreadableModel : if there is one; it names both files
    """
    waiting, seen = [path], set[Path]()
    while waiting:
        file = waiting.pop()
        seen.add(file)
        for name in _imported_names(file):
            places = (path.parent / f"{name}.py", path.parent / name / "__init__.py")
            beside = next((place for place in places if place.is_file()), None)
            if beside is None or beside in seen:
                continue
            waiting.append(beside)
            loaded = _file_of(name)
            if loaded is not None and loaded != beside:
                raise UnreadableModel(
                    f"{file} imports {name}, and beside it stands {beside}, but {loaded} has the "
                    "same name and would be imported. The model would be another one than where "
                    f"its directory comes first. Rename {beside.name}, and the import"
                )


def _imported_names(file: Path) -> set[str]:
    """List the first parts of the names of modules that a file imports."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return set()  # which running it tells
    nodes = list(ast.walk(tree))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    return {name.partition(".")[0] for name in names}


def _file_of(name: str) -> Path | None:
    """Find the file of a module that Python would import now; None if there is none."""
    if name in sys.builtin_module_names:
        return Path(name)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    origin = None if spec is None else spec.origin
    return None if origin is None else Path(origin).resolve()
