"""What pytest collects of a model: its properties at each size, its mutants, and its proof."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pytest

from streamproof.checker.check import CheckReport, check
from streamproof.checker.engines import EngineName, engine_of
from streamproof.checker.limits import Limits
from streamproof.checker.simulate import SimulationReport, simulate
from streamproof.checker.walks import Plan
from streamproof.lang import StreamproofError
from streamproof.lang.model import PROMISES, STATED, Model, Role
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.registry import load, module_of
from streamproof.models.kit.sizes import at_size, named_size
from streamproof.models.kit.verdict import ACTIONS, CLAIMS, DEADLOCK, Status, finding_named
from streamproof.testing.assertions import NotGreen, assert_killed, assert_proved, why_not_green
from streamproof.testing.plugin import MARK

KNOWN = ("sizes", "walks", "length_max", "seed", "engine", "states_max", "proof")
"""What the mark takes."""
NO_PROPERTY = "properties"
"""The finding of a model that states no property."""


class WrongMark(StreamproofError, ValueError):
    """The mark of a model asks for what there is not."""


class FileOfModels(pytest.File):
    """A file whose models are tested: `MODEL` or `MODELS`, `MUTANTS` and `INVARIANT`."""

    def collect(self) -> Iterator[pytest.Collector | pytest.Item]:
        """List its models, its mutants, and its proof."""
        target = str(self.path)
        module, file = module_of(target), load(target)
        mark = self._mark(module)
        mistakes = {mutant.model_class for mutant in file.mutants}
        for model in file.all if hasattr(module, "MODELS") else (file.main,):
            if model not in mistakes:
                yield ModelClass.from_parent(
                    self, name=model.__name__, model_class=model, mark=mark
                )
        for mutant in file.mutants:
            yield MutantItem.from_parent(self, name=f"mutant[{mutant.name}]", mutant=mutant)
        wants_proof = mark is None or mark.kwargs.get("proof", True)
        if hasattr(module, "INVARIANT") and wants_proof:
            yield ProofItem.from_parent(self, name="proof", target=target)

    def _mark(self, module: object) -> pytest.Mark | None:
        """Return the mark of the file: its `pytestmark`."""
        marks = getattr(module, "pytestmark", ())
        for mark in marks if isinstance(marks, Sequence) else (marks,):
            self.add_marker(mark if isinstance(mark, pytest.MarkDecorator) else mark.name)
        return self.get_closest_marker(MARK)


class ModelClass(pytest.Collector):
    """A model: one test for each property and size.

    Parameters
    ----------
    model_class : the model
    mark : how it is tested; at its default size if there is none
    """

    def __init__(
        self, *, model_class: type[Model[Any]], mark: pytest.Mark | None, **node: Any
    ) -> None:
        super().__init__(**node)
        self.model_class, self.options = model_class, dict(mark.kwargs if mark else {})
        self.add_marker(MARK)

    def collect(self) -> Iterator[pytest.Item]:
        """List the properties, at each size."""
        if unknown := sorted(self.options.keys() - {*KNOWN}):
            raise WrongMark(
                f"the mark of {self.name} has {', '.join(unknown)}, so it is not known how to test "
                f"it. Give some of {', '.join(KNOWN)}"
            )
        for size in self._sizes():
            searched = Searched(self.model_class, size, self.options)
            where = f"[{size}]" if size else ""
            for name in names_asked(self.model_class):
                yield PropertyItem.from_parent(
                    self, name=f"{name}{where}", asked=name, searched=searched
                )

    def _sizes(self) -> Sequence[str]:
        asked = self.options.get("sizes")
        if asked == "all":
            return tuple(self.model_class.sizes) or ("",)
        if isinstance(asked, str):
            asked = (asked,)
        names = [named_size(self.model_class, size)[0] for size in asked or ("",)]
        if len({*names}) < len(names):
            raise WrongMark(f"the mark of {self.name} names a size twice: {', '.join(names)}")
        return names


class Searched:
    """A model at a size, searched once for all of its properties, or sampled."""

    def __init__(
        self, model_class: type[Model[Any]], size: str, options: Mapping[str, Any]
    ) -> None:
        self.model_class, self.size, self.options = model_class, size, options

    @property
    def wanted(self) -> Status:
        """The verdict that passes."""
        return Status.SAMPLED if self.options.get("walks") else Status.EXHAUSTED

    @cached_property
    def report(self) -> CheckReport | SimulationReport:
        """What the search found."""
        built = at_size(self.model_class, named_size(self.model_class, self.size)[1])
        engine = EngineName(self.options.get("engine", EngineName.AUTO))
        if walks := self.options.get("walks"):
            chosen = {k: self.options[k] for k in ("length_max", "seed") if k in self.options}
            return simulate(built, plan=Plan(walks, **chosen), engine=engine)
        limits = Limits(states_max=self.options.get("states_max"))
        return check(built, limits=limits, engine=engine_of(engine))


class _Item(pytest.Item):
    """A test whose failure shows its text alone."""

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], *style: Any, **styles: Any
    ) -> Any:
        """Show the reason and the run; where streamproof failed itself, where it did."""
        if isinstance(excinfo.value, StreamproofError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *style, **styles)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return where the test stands."""
        return self.path, self.line, self.name

    @property
    def line(self) -> int | None:
        """The line of what is tested, from 0; None if it is not known."""
        return None


class PropertyItem(_Item):
    """A property of a model at a size."""

    def __init__(self, *, asked: str, searched: Searched, **node: Any) -> None:
        super().__init__(**node)
        self.asked, self.searched = asked, searched

    def runtest(self) -> None:
        """Search, unless another property's test has done so, and look at this property."""
        model = self.searched.model_class
        promises = [method.name for role in PROMISES for method in model.methods(role)]
        if self.searched.wanted is Status.SAMPLED and self.asked in promises:
            pytest.skip("no finite walk refutes a promise: leave walks= out of the mark")
        report = self.searched.report
        finding = finding_named(report.findings, self.asked)
        if reason := why_not_green(report.model, finding, self.searched.wanted):
            raise NotGreen(reason)

    @property
    def line(self) -> int | None:
        """The line of the property's method, or of the model."""
        model = self.searched.model_class
        code = inspect.unwrap(getattr(model, self.asked, model))
        try:
            return inspect.getsourcelines(code)[1] - 1
        except (OSError, TypeError):
            return None


class MutantItem(_Item):
    """A mistake that a property has to catch."""

    def __init__(self, *, mutant: Mutant, **node: Any) -> None:
        super().__init__(**node)
        self.mutant = mutant

    def runtest(self) -> None:
        """Check the mutant, and its original."""
        assert_killed(self.mutant)


class ProofItem(_Item):
    """The file's invariant, for any size."""

    def __init__(self, *, target: str, **node: Any) -> None:
        super().__init__(**node)
        self.target = target

    def runtest(self) -> None:
        """Prove it."""
        assert_proved(self.target)


def names_asked(model: type[Model[Any]]) -> Iterator[str]:
    """List the findings of a check, by name, before there is one."""
    for role in (Role.ALWAYS, Role.EVERY_STEP, Role.SOMETIMES):
        yield from (method.name for method in model.methods(role))
    yield from (CLAIMS, DEADLOCK)
    if not any(model.methods(role) for role in STATED):
        yield NO_PROPERTY
    yield ACTIONS
    for role in PROMISES:
        yield from (method.name for method in model.methods(role))
