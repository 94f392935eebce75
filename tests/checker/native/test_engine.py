"""The native engine alone: widths, widening, limits, interrupts, kept code, and its own honesty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

from streamproof.checker import Limits, check, engines
from streamproof.checker.engines import EngineName, engine_of, explore
from streamproof.checker.exploration import INTERRUPTED
from streamproof.checker.native import search
from streamproof.checker.native.code import codegen, program
from streamproof.checker.native.code.machine_code import keep, kept
from streamproof.checker.native.code.program import Program, generator_digest
from streamproof.checker.native.code.terms import Terms
from streamproof.checker.native.engine import explore as native
from streamproof.checker.native.partition import Partition, reserve
from streamproof.checker.native.paths import EnginesDisagree
from streamproof.checker.native.search import Search
from streamproof.checker.native.team import Team
from streamproof.checker.progress import ignore
from streamproof.lang import Domain, Element, Map, Model, Range, Untraceable, require
from streamproof.lang.model import action, always, final, init
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status


class Bit(Element):
    """A place in a row."""


@dataclass(frozen=True)
class Row:
    lit: Map[Bit, bool]
    count: int


@dataclass(frozen=True)
class Lights(Model[Row]):
    """Lights that are switched on one after the other: as many bits as there are lights."""

    bits: Domain[Bit]
    most: int

    @init
    def start(self) -> Row:
        return Row(Map.fill(self.bits, False), 0)

    @action
    def switch(self, s: Row, b: Bit) -> Row:
        require(not s.lit[b] and s.count < self.most)
        return Row(s.lit.set(b, True), s.count + 1)

    @always
    def is_bounded(self, s: Row) -> bool:
        return s.count <= self.most

    @final
    def anywhere(self, s: Row) -> bool:
        return True


@pytest.fixture(autouse=True)
def place(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


class Blinking(Lights):
    @action
    def switch(self, s: Row) -> Row:
        require(s.count < self.most)
        return Row(s.lit.map(lambda on: not on), s.count + 1)


@pytest.mark.parametrize(("bits", "words"), [(3, 1), (63, 2), (500, 8), (2_040, 32), (4_090, 64)])
def test_states_of_any_width_are_kept_whole(bits, words):
    model = Blinking(Domain(Bit, bits), 3)
    assert Program(model, {}).layout.words == words
    assert native(model, threads=2).counts.distinct == 4


def test_a_number_without_a_range_is_widened_as_far_as_it_goes():
    found = native(Lights(Domain(Bit, 9), 9), threads=2)
    assert (found.counts.distinct, found.counts.generated) == (2**9, 9 * 2**8 + 1)
    assert found.stopped is None


def test_a_limit_on_states_keeps_exactly_so_many():
    found = native(Lights(Domain(Bit, 9), 9), limits=Limits(states_max=100), threads=2)
    assert found.counts.distinct == 100
    assert "raise --states-max" in found.stopped


def test_a_limit_on_depth_and_one_on_memory_end_a_search():
    found = native(Lights(Domain(Bit, 9), 9), limits=Limits(depth_max=3), threads=2)
    assert (found.counts.depth, found.counts.distinct) == (3, 1 + 9 + 36)
    assert "raise --depth-max" in found.stopped
    found = native(Lights(Domain(Bit, 9), 9), limits=Limits(memory_mb_max=1), threads=2)
    assert "raise --memory" in found.stopped


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_gives_the_counts_so_far(threads):
    def interrupt(progress):
        if progress.distinct > 1:
            raise KeyboardInterrupt

    monkey = search.REPORT_EVERY_SECONDS
    search.REPORT_EVERY_SECONDS = 0.0
    try:
        model = Lights(Domain(Bit, 15), 15)  # whose levels are too wide to be searched in one call
        found = native(model, on_progress=interrupt, threads=threads)
    finally:
        search.REPORT_EVERY_SECONDS = monkey
    assert found.stopped == INTERRUPTED
    assert 1 < found.counts.distinct < 2**15


def test_code_is_kept_and_a_damaged_file_is_made_anew(tmp_path):
    native(Lights(Domain(Bit, 4), 3))
    others = set(tmp_path.rglob("*.o"))  # among them kernels, if no test has used them before
    model = Lights(Domain(Bit, 4), 4)
    first = native(model).counts
    file = min(set(tmp_path.rglob("*.o")) - others)
    whole = file.read_bytes()
    for damage in (b"", b"{}\nnothing", whole[:-100], whole.replace(b"fixed", b"fixes")):
        file.write_bytes(damage)
        assert native(model).counts == first
        assert file.read_bytes() != damage


def test_models_that_differ_do_not_share_code():
    small, large = Lights(Domain(Bit, 4), 4), Lights(Domain(Bit, 4), 2)
    assert native(small).counts.distinct == 16
    assert native(large).counts.distinct == 11
    keep("a", {}, b"of a")
    assert (kept("a"), kept("b")) == (({}, b"of a"), None)


def test_many_threads_find_the_same():
    model = registry.build("chandy_lamport", "dag")
    assert {native(model, threads=n).counts for n in (1, 2, 4, 8)} == {native(model).counts}


def test_a_model_that_cannot_be_traced_is_refused_natively_and_searched_otherwise(monkeypatch):
    monkeypatch.setattr(engines, "FEW", 600)  # it is tried once more before a limit so low
    model = registry.build("examples/two_phase_commit.py", "default")
    with pytest.raises((Untraceable, Exception), match="not a sort of the language"):
        native(model)
    found = explore(model, limits=Limits(states_max=1_000))
    assert found.engine == "reference"
    assert "the native engine cannot take the model" in found.why
    assert found.counts.distinct == 1_000


def test_small_models_are_searched_by_the_reference_engine():
    assert explore(Lights(Domain(Bit, 4), 4)).engine == "reference"
    assert explore(Lights(Domain(Bit, 13), 13)).engine == "native"
    assert engine_of(EngineName.NATIVE, 1)(Lights(Domain(Bit, 2), 2)).engine == "native"


def test_an_engine_that_takes_another_step_is_found_out(monkeypatch):
    """Break the compiled model: let it count by one where it should count by two."""
    right = codegen._GroundExpand._target

    def wrong(self, block, command):
        other = replace(command, updates=dict.fromkeys(command.updates, self.ground.terms.true))
        return right(self, block, other)

    monkeypatch.setattr(codegen._GroundExpand, "_target", wrong)

    class Bounded(Lights):
        @always
        def is_bounded(self, s: Row) -> bool:
            return s.count != 1

        @action
        def switch(self, s: Row, b: Bit) -> Row:
            require(not s.lit[b])
            return Row(s.lit.set(b, True), s.count + 2)

    with pytest.raises(EnginesDisagree):
        check(Bounded(Domain(Bit, 3), 3), engine=native)


@dataclass(frozen=True)
class Narrow:
    value: Annotated[int, Range(0, 3)]


class Growing(Model[Narrow]):
    @init
    def start(self) -> Narrow:
        return Narrow(0)

    @action
    def up(self, s: Narrow) -> Narrow:
        return Narrow(s.value + 1)


def test_a_number_that_leaves_its_range_is_named():
    with pytest.raises(Exception, match=r"after up\(\), value is 4, outside its range 0\.\.3"):
        native(Growing())


def test_every_region_of_the_index_grows_and_loses_nothing():
    model = Lights(Domain(Bit, 15), 15)
    part = Partition(Program(model, {"count": (0, 15)}), 0, 1, 1 << 20)
    rows = np.arange(50_000, dtype=np.uint64).reshape(-1, 1)
    links = np.zeros(len(rows), np.uint32)
    part.keep(rows, links)
    assert part.count == 50_000
    part.keep(rows, links)
    assert part.count == 50_000
    assert (part.index.lines > 64).all()
    assert (np.sort(part.states[:50_000]) == rows[:, 0]).all()


def test_reserved_memory_is_not_taken_before_it_is_used():
    array = reserve(1 << 33, np.uint64)
    array[-1] = 7
    assert array[0] == 0


def test_a_team_gives_results_in_order_and_raises_what_a_member_raises():
    team = Team([1, 2, 3])
    assert [team.do(lambda n: n * n) for _ in range(50)] == [[1, 4, 9]] * 50
    with pytest.raises(ZeroDivisionError):
        team.do(lambda n: 1 // (n - 3))
    team.leave()


def test_terms_simplify_by_interval():
    terms = Terms()
    cell, flag = terms.cell(0, 2, 5), terms.cell(1, 0, 1)
    assert terms.less(cell, terms.constant(2)) == terms.false
    assert terms.less(cell, terms.constant(6)) == terms.true
    assert terms.equal(cell, terms.constant(7)) == terms.false
    assert terms.conjunction([flag, terms.negate(flag)]) == terms.false
    assert terms.disjunction([flag, terms.false, flag]) == flag
    one = terms.add(terms.add(cell, terms.constant(1)), terms.constant(-1))
    assert one == cell
    assert terms.choose(flag, cell, cell) == cell
    assert (terms[terms.multiply(cell, terms.constant(-2))].low) == -10


def test_the_report_of_a_native_search_says_so():
    report = check(Lights(Domain(Bit, 10), 10), engine=native)
    assert (report.engine, report.verdict.status) == ("native", Status.EXHAUSTED)


def test_a_search_tells_of_its_progress():
    told = []
    Search(Program(Lights(Domain(Bit, 6), 6), {"count": (0, 6)}), Limits(), told.append, 1).run()
    assert told
    assert told[-1].distinct >= told[0].distinct
    ignore(told[-1])


def test_code_of_another_generator_is_not_used(monkeypatch):
    model = Lights(Domain(Bit, 3), 3)
    asked: list[str] = []
    written: list[str] = []
    monkeypatch.setattr(program, "kept", asked.append)
    monkeypatch.setattr(program, "keep", lambda key, *_: written.append(key))
    Program(model, {"count": (0, 3)})
    generator_digest.cache_clear()
    with monkeypatch.context() as changed:
        changed.setattr(Path, "read_bytes", lambda file: file.name.encode())
        Program(model, {"count": (0, 3)})
    generator_digest.cache_clear()
    Program(model, {"count": (0, 3)})
    first, other, last = asked
    assert asked == written
    assert first != other
    assert first == last
