"""A merge goes on from its checkpoint, in another session or process, and changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from streamproof.spark_bindings.sunion import TupleType, sunion
from streamproof.spark_bindings.sunion.keys import key_of
from tests.spark.support import driver, merge_driver
from tests.spark.support.merge_driver import Options
from tests.spark.support.merges import NAMES, PARTITIONS, example, in_pieces, of, placed, spread
from tests.spark.support.merging import SCHEMA, reference, rows_of
from tests.spark.support.runs import run
from tests.spark.support.waiting import SECONDS_MAX

pytestmark = pytest.mark.timeout(600)

TIME_ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """Return another session of the application, with settings of its own."""
    other = spark.newSession()
    for key in (
        "spark.sql.streaming.stateStore.providerClass",
        "spark.sql.streaming.stateStore.checkpointFormatVersion",
        PARTITIONS,
    ):
        other.conf.set(key, spark.conf.get(key))
    return other


def inputs(spark: SparkSession, place: Path) -> dict[str, DataFrame]:
    """Read the files below a directory, one a batch and stream."""
    return {
        name: spark.readStream.schema(from_arrow_schema(SCHEMA))
        .option("maxFilesPerTrigger", 1)
        .parquet(str(place / name))
        for name in NAMES
    }


def merge(streams: dict[str, DataFrame], **options: object) -> DataFrame:
    arguments = {"time": "ts", "position": "seq", "bucket": "10 seconds", "lateness": "5 seconds"}
    return sunion(streams, **(arguments | options))


def move_in(place: Path, number: int) -> None:
    """Let files of a number be seen by the streams."""
    for name in NAMES:
        (place / name).mkdir(exist_ok=True)
        for file in sorted((place / "all" / name).glob(f"{number:03}.*")):
            file.rename(place / name / file.name)


def check_stable(rows: pa.Table) -> None:
    """Check that three serializers give the example's rows, each in its order."""
    for number in range(3):
        part = rows.filter(pc.equal(rows["serializer"], number))
        assert part.num_rows > 0
        assert part["stable_id"].to_pylist() == list(range(part.num_rows))
        assert placed(part) == sorted(placed(part))
    assert sorted(placed(rows)) == reference(example())[0]


@pytest.mark.slow
def test_another_session_with_other_settings_changes_nothing(
    spark: SparkSession, session: SparkSession, tmp_path: Path
) -> None:
    streams = example()
    for name in NAMES:
        spread(tmp_path / "all", name, in_pieces(streams[name], seed=4, cuts=1))
    by = {"partition_by": ["text"], "partitions": 3}
    move_in(tmp_path, 0)
    first = run(merge(inputs(spark, tmp_path), **by), tmp_path)
    move_in(tmp_path, 1)
    session.conf.set(PARTITIONS, "2")
    session.conf.set(TIME_ZONE, "Asia/Tokyo")
    # Columns in another order, of which one is never null.
    changed = {
        name: rows.select("text", F.coalesce("seq", F.lit(0)).alias("seq"), "ts")
        for name, rows in inputs(session, tmp_path).items()
    }
    assert not changed["ewr"].schema["seq"].nullable
    second = run(merge(changed, **by), tmp_path)
    assert second.column_names[:3] == ["text", "seq", "ts"]
    output = pa.concat_tables([first, second.select(first.column_names).cast(first.schema)])
    check_stable(of(TupleType.INSERTION, output))
    assert set(placed(of(TupleType.LATE, output))) == reference(example())[1]


@pytest.mark.slow
def test_another_number_of_serializers_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    for name in NAMES:
        spread(tmp_path / "all", name, [rows_of(range(20)), rows_of(range(20, 40), 20)])
    move_in(tmp_path, 0)
    run(merge(inputs(spark, tmp_path), partition_by=["text"], partitions=1), tmp_path)
    move_in(tmp_path, 1)
    more = merge(inputs(spark, tmp_path), partition_by=["text"], partitions=2)
    with pytest.raises(StreamingQueryException, match="written with partitions=1"):
        run(more, tmp_path)


@pytest.mark.slow
def test_a_stream_without_rows_holds_the_others_until_it_has_some(
    spark: SparkSession, tmp_path: Path
) -> None:
    seconds = range(0, 60, 3)
    spread(tmp_path / "all", "ewr", [rows_of(seconds), rows_of([70], 20)])
    spread(tmp_path / "all", "jfk", [[], rows_of([70])])
    move_in(tmp_path, 0)
    assert run(merge(inputs(spark, tmp_path)), tmp_path).num_rows == 0
    move_in(tmp_path, 1)
    stable = of(TupleType.INSERTION, run(merge(inputs(spark, tmp_path)), tmp_path))
    assert [row.second for row in placed(stable)] == list(seconds)


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 7, 8, 16, 200])
def test_serializers_are_spread_evenly(spark: SparkSession, tasks: int) -> None:
    serializers = 4 * tasks
    keys = spark.createDataFrame([(key_of(number),) for number in range(serializers)], "key int")
    hashed = keys.select(F.hash("key"), F.pmod(F.hash("key"), F.lit(tasks))).collect()
    assert [number for number, _ in hashed] == list(range(serializers))
    assert Counter(task for _, task in hashed) == dict.fromkeys(range(tasks), 4)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_drivers_with_several_serializers_make_the_same_table(tmp_path: Path) -> None:
    for name, rows in example().items():
        spread(tmp_path, name, in_pieces(rows, seed=7, cuts=4))
    for batch, delay in ((0, 2.0), (1, 0.3), (2, 0.0)):
        process = merge_driver.begin(tmp_path, Options(partitions=2, by="text"))
        try:
            merge_driver.kill_in_batch(process, tmp_path, batch, delay)
        finally:
            driver.end(process)
    process = merge_driver.begin(tmp_path, Options(partitions=4, by="text"))
    try:
        assert process.wait(SECONDS_MAX) == 0, driver.log_of(tmp_path).read_text()[-4000:]
    finally:
        driver.end(process)
    table = DeltaTable(tmp_path / "table").to_pyarrow_table().sort_by("stable_id")
    check_stable(of(TupleType.INSERTION, table))
    late = DeltaTable(Path(f"{tmp_path / 'table'}.late")).to_pyarrow_table()
    assert sorted(placed(late)) == sorted(reference(example())[1])
