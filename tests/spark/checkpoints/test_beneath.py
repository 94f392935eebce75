"""Several operators of one form go on with their own states, or not at all.

Spark numbers states. What tells two operators of one form apart is what is beneath each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings.checkpoints.state_plan import STATE_PLAN_FILE, check_state_plan
from streamproof.spark_bindings.checkpoints.stateful import fixed_plan_of
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.storage.place import Place

Plan = Callable[[DataFrame], DataFrame]
MODE = "append"


class Planned:
    """A checkpoint in which a batch was planned."""

    place = Place.of("checkpoint")

    def last_planned(self) -> int:
        return 0


def rates(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").load().toDF("t", "k")


def check(place: Path, plan: Plan, spark: SparkSession, mode: str = MODE) -> None:
    check_state_plan("q", Place.of(place), fixed_plan_of(plan(rates(spark)), mode), Planned())


def both(one: Plan, other: Plan) -> Plan:
    return lambda rows: one(rows).union(other(rows))


def unrepeated(branch: Plan) -> Plan:
    return lambda rows: branch(rows).dropDuplicates(["k"])


def limited(branch: Plan) -> Plan:
    return lambda rows: branch(rows).limit(3)


def where(number: int) -> Plan:
    return lambda rows: rows.where(f"k % 3 = {number}")


def among(*keys: int) -> Plan:
    return lambda rows: rows.join(keyed(rows.sparkSession, keys), "k", "leftsemi")


def keyed(spark: SparkSession, keys: tuple[int, ...]) -> DataFrame:
    return spark.createDataFrame([(key,) for key in keys], "k long")


def outside(*keys: int) -> Plan:
    return lambda rows: rows.join(keyed(rows.sparkSession, keys), "k", "leftanti")


def in_pandas(*keys: int) -> Plan:
    table = pd.DataFrame({"k": list(keys)})
    return lambda rows: rows.join(rows.sparkSession.createDataFrame(table), "k")


def asked(*keys: int) -> Plan:
    """Filter by a subquery: its plan is in an expression."""

    def plan(rows: DataFrame) -> DataFrame:
        keyed(rows.sparkSession, keys).createOrReplaceTempView("wanted")
        return rows.where("k in (select k from wanted)")

    return plan


def maps(*keys: int) -> Plan:
    def plan(rows: DataFrame) -> DataFrame:
        table = keyed(rows.sparkSession, keys).select("k", F.create_map("k", "k").alias("m"))
        return rows.join(rows.sparkSession.createDataFrame(table.rdd, table.schema), "k")

    return plan


def exploded(*columns: str) -> Plan:
    return lambda rows: rows.select(F.explode(F.array(*map(F.expr, columns))).alias("k"))


def doubled(rows: DataFrame) -> DataFrame:
    return rows.select("k", F.expr("k * 2 as other"))


def plain(rows: DataFrame) -> DataFrame:
    return rows.select("k", F.expr("k as other"))


def ranged(start: int) -> Plan:
    return lambda rows: rows.join(rows.sparkSession.range(start, start + 5).toDF("k"), "k")


def mapped(rows: DataFrame) -> DataFrame:
    return rows.select("k").mapInPandas(lambda frames: frames, "k long")


def mapped_other(rows: DataFrame) -> DataFrame:
    return rows.selectExpr("k + 1 as k").mapInPandas(lambda frames: frames, "k long")


def read_from(name: str) -> Plan:
    def plan(rows: DataFrame) -> DataFrame:
        return rows.join(rows.sparkSession.read.schema("k long").parquet(name), "k")

    return plan


def of_many(last: int) -> str:
    """Compute with more arguments than Spark writes by itself."""
    return f"greatest({', '.join(map(str, range(40)))}, {last}, k)"


PAIRS_OF_BRANCHES: dict[str, tuple[Plan, Plan]] = {
    "filters": (where(0), where(1)),
    "semi joins": (among(1), among(2)),
    "anti joins": (outside(1), outside(2)),
    "semi and anti joins": (among(1), outside(1)),
    "tables of pandas": (in_pandas(1), in_pandas(1, 2)),
    "tables with maps": (maps(1), maps(2)),
    "ranges": (ranged(0), ranged(5)),
    "subqueries": (asked(1), asked(2)),
    "generators": (exploded("k"), exploded("k", "k + 1")),
    "projections": (plain, doubled),
    "columns that Python reads": (mapped, mapped_other),
    "arguments behind the 25th": (
        lambda rows: rows.where(f"{of_many(1)} > 0"),
        lambda rows: rows.where(f"{of_many(2)} > 0"),
    ),
    "limits and no limits": (lambda rows: rows.limit(2).select("k"), lambda rows: rows.select("k")),
}


@pytest.mark.spark
@pytest.mark.parametrize("form", [unrepeated, limited], ids=["repetitions", "limits"])
@pytest.mark.parametrize("branches", PAIRS_OF_BRANCHES.values(), ids=PAIRS_OF_BRANCHES)
def test_branches_that_change_places_are_refused(
    spark: SparkSession, tmp_path: Path, branches: tuple[Plan, Plan], form: Callable[[Plan], Plan]
) -> None:
    one, other = map(form, branches)
    check(tmp_path, both(one, other), spark)
    check(tmp_path, both(one, other), spark.newSession())  # the same of a new session goes on
    before = (tmp_path / STATE_PLAN_FILE).read_bytes()
    with pytest.raises(WrongCheckpoint, match="(?s)by their order alone.*Nothing was written"):
        check(tmp_path, both(other, one), spark)
    assert (tmp_path / STATE_PLAN_FILE).read_bytes() == before


@pytest.mark.spark
def test_branches_that_move_up_by_one_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    first, second, third = (unrepeated(where(number)) for number in range(3))
    check(tmp_path, both(first, second), spark)
    told = r"2 operators Deduplicate\(.*beneath number 1 is .* = cast\(1 .* where .* = cast\(0 "
    with pytest.raises(WrongCheckpoint, match=told):
        check(tmp_path, both(second, third), spark)
    with pytest.raises(WrongCheckpoint, match="beneath number 2"):
        check(tmp_path, both(first, third), spark)


@pytest.mark.spark
def test_tables_that_are_read_from_other_files_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    names = [str(tmp_path / name) for name in ("vip", "other")]
    for name in names:
        spark.range(3).toDF("k").write.parquet(name)
    one, other = (unrepeated(read_from(name)) for name in names)
    check(tmp_path, both(one, other), spark)
    spark.range(9).toDF("k").write.mode("append").parquet(names[0])  # which may grow
    check(tmp_path, both(one, other), spark)
    with pytest.raises(WrongCheckpoint, match=f"is .*{names[1]}.*, where .*{names[0]}.* was"):
        check(tmp_path, both(other, one), spark)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (where(0), where(1)),
        (among(1), among(1, 2)),
        (exploded("k"), exploded("k", "k + 1")),
    ],
    ids=["filter", "table", "generator"],
)
@pytest.mark.parametrize("form", [unrepeated, limited], ids=["repetitions", "limits"])
def test_what_is_beneath_the_only_one_of_a_form_may_change(
    spark: SparkSession, tmp_path: Path, before: Plan, after: Plan, form: Callable[[Plan], Plan]
) -> None:
    check(tmp_path, form(before), spark)
    check(tmp_path, form(after), spark)


@pytest.mark.spark
def test_what_decides_no_rows_may_change_beneath_several(
    spark: SparkSession, tmp_path: Path
) -> None:
    def named_again(rows: DataFrame) -> DataFrame:
        marked = rows.where("k % 3 = 0").withWatermark("t", "5 seconds")
        return marked.toDF("u", "j").coalesce(1).observe("seen", F.count("*")).toDF("t", "k")

    def named(rows: DataFrame) -> DataFrame:
        return rows.where("k % 3 = 0").withWatermark("t", "1 second")

    def at_random(rows: DataFrame) -> DataFrame:
        return rows.where((F.rand() < 0.5) & (F.expr("uuid()") != "x"))

    check(tmp_path, both(unrepeated(named), unrepeated(at_random)), spark)
    check(tmp_path, both(unrepeated(named_again), unrepeated(at_random)), spark)


@pytest.mark.spark
@pytest.mark.parametrize("branches", PAIRS_OF_BRANCHES.values(), ids=PAIRS_OF_BRANCHES)
def test_a_note_of_an_older_version_says_nothing_of_what_is_beneath(
    spark: SparkSession, tmp_path: Path, branches: tuple[Plan, Plan]
) -> None:
    """It goes on as before, and is noted anew; filters that change places are refused still."""
    one, other = map(unrepeated, branches)
    check(tmp_path, both(one, other), spark)
    file = tmp_path / STATE_PLAN_FILE
    note = json.loads(file.read_text())
    del note["beneath"]
    note["stateful"] = [each for each in note["stateful"] if "Limit" not in each["state"]]
    file.write_text(json.dumps(note))
    check(tmp_path, both(one, other), spark)
    with pytest.raises(WrongCheckpoint):
        check(tmp_path, both(other, one), spark)


@pytest.mark.spark
def test_arguments_that_an_older_version_cut_off_are_taken_to_be_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    def keyed_by(last: int) -> Plan:
        return lambda rows: rows.groupBy(F.expr(of_many(last)).alias("x")).count()

    check(tmp_path, keyed_by(7), spark)
    with pytest.raises(WrongCheckpoint):
        check(tmp_path, keyed_by(8), spark)
    file = tmp_path / STATE_PLAN_FILE
    note = json.loads(file.read_text())
    del note["beneath"]
    (one,) = note["stateful"]
    one["state"] = re.sub(r", cast\(22 .*?, value\)", ", ... 20 more fields)", one["state"])
    assert "20 more fields" in one["state"]
    file.write_text(json.dumps(note))
    check(tmp_path, keyed_by(7), spark)
