"""Examples that need Spark run in one session: what a page takes for granted is given here.

The pages' pipelines are directories below the working directory, so each page has one of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.streaming import StreamingQuery

from streamproof.certified.record import DIRECTORY_VARIABLE
from streamproof.certified.seal import sealed
from streamproof.models.kit import registry
from streamproof.models.kit.registry import protocol_names
from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.sunion import stable_only, sunion
from tests.certified.support.keys import key_files
from tests.docs.support.pages import ROOT, Page
from tests.spark.support.waiting import await_that
from tests.support.stamped import stamp

pytestmark = pytest.mark.usefixtures("certificates")

MERGED = {"time": "scheduled", "position": "seq", "bucket": "5 minutes", "lateness": "30 seconds"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def page(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    path = ROOT / request.param
    return Page(path.read_text(encoding="utf-8"), tmp_path / f"{path.stem}.py", monkeypatch)


def of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [name], indirect=True, ids=[Path(name).stem])


@of("README.md")
@pytest.mark.spark
def test_readme(page: Page, spark: SparkSession) -> None:
    model = registry.build(str(ROOT / "examples/lease.py"), "default")
    state = next(model.initial_states())
    move = next(model.moves(state))
    page.give(model=model, run=[(move.call.name, *move.call.arguments)])
    page.give(rows=pa.table({"customer": [1, 1], "cents": [100, 200]}))
    page.run_next()
    names = vars(page.module)
    names["pipeline"].stop()
    with names["again"].start(spark) as again:
        again.await_idle()
        assert again.channel("firsts").rows().num_rows == 1
    page.run_all()
    assert names["state"] == move.target
    page.require_over()


@of("docs/how-to/snapshots.md")
@pytest.mark.spark
def test_snapshots(page: Page, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"customer": [1, 2, 1], "country": ["FR", "NO", "FR"], "cents": [100, 200, 300]}
    page.give(rows=pd.DataFrame(rows))
    again = page.run_all().again
    again.await_idle()
    again.stop()
    assert again.channel("revenue").rows().to_pylist()[0] == {"country": "FR", "cents": 100}
    assert "pyarrow.Table" in capsys.readouterr().out
    page.require_over()


@of("docs/how-to/certificate.md")
@pytest.mark.spark
def test_certificate(
    page: Page, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, _ = key_files(tmp_path, "acme")
    signed = tmp_path / "signed"
    signed.mkdir()
    for protocol in protocol_names():
        file = stamp(protocol, signed)
        content = {
            name: value
            for name, value in json.loads(file.read_text(encoding="utf-8")).items()
            if name != "seal"
        }
        file.write_text(json.dumps(sealed(content, private)), encoding="utf-8")
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(signed))
    query = Query("copy", ["raw"], "clean", plan=lambda rows: rows)
    pipeline = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    page.give(pipeline=pipeline, spark=spark)
    page.run_all()
    assert pipeline.status()["copy"].running
    pipeline.stop()
    page.require_over()


@of("docs/how-to/hot-standby.md")
def test_hot_standby(page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    page.run_next()
    assert page.module.PIPELINE.queries[0].standby is not None
    page.run_all()
    assert capsys.readouterr().out == ""  # nothing has been delivered
    page.require_over()


class Airports:
    """Three streams of departures, as files, and a pipeline that merges two of them."""

    COLUMNS = "scheduled timestamp, seq long, carrier string, flight int"
    HOURS = (6, 7, 9)

    def __init__(self, place: Path, spark: SparkSession) -> None:
        self._place, self._spark = place, spark
        for name in ("ewr", "jfk", "lga", "west"):
            (place / name).mkdir(parents=True)
            lines = [
                f'{{"scheduled": "2026-03-01T{hour:02}:00:00Z", "seq": {hour}, "flight": 1}}'
                for hour in self.HOURS
            ]
            (place / name / "0.json").write_text("\n".join(lines), encoding="utf-8")

    def stream(self, name: str) -> DataFrame:
        return self._spark.readStream.schema(self.COLUMNS).json(str(self._place / name))

    def pipeline(self) -> Pipeline:
        said = "tuple_type string, bucket timestamp, stable_id long, stream string"
        merge = Query(
            "merge",
            ["ewr", "jfk"],
            "merged",
            plan=lambda ewr, jfk: sunion({"ewr": ewr, "jfk": jfk}, **MERGED),
        )
        channels = {"ewr": self.COLUMNS, "jfk": self.COLUMNS, "merged": f"{self.COLUMNS}, {said}"}
        pipeline = Pipeline("shop", channels=channels, queries=[merge])
        for name in ("ewr", "jfk"):
            rows = self._spark.read.json(str(self._place / name), self.COLUMNS)
            pipeline.channel(name).append(rows.toArrow())
        return pipeline


@of("docs/how-to/compare-a-run.md")
def test_compare_a_run(page: Page) -> None:
    page.run_all()
    page.require_over()


@of("docs/how-to/merging-streams.md")
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:sunion was given max_delay")
def test_merging_streams(
    page: Page, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    airports, names = Airports(tmp_path / "streams", spark), vars(page.module)
    page.give(**{name: airports.stream(name) for name in ("ewr", "jfk", "lga", "west")})
    page.run_next()
    await_stable("departures", 6, names["query"])  # of three streams, two hours are over
    names["query"].stop()
    page.run_next()  # the whole job; tests/examples runs it as a script
    page.run_next()
    assert list(names["stable"]["stable_id"]) == list(names["present"]["stable_id"])[:6]
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    pipeline = airports.pipeline()
    page.give(pipeline=pipeline, spark=spark, F=functions, stable_only=stable_only)
    before = {query.id for query in spark.streams.active}
    page.run_next()
    (table,) = (query for query in spark.streams.active if query.id not in before)
    with pipeline.start(spark):
        await_stable("departures", 4, table)
    table.stop()
    page.run_next()
    assert "stable_id" in names["merged"].columns
    page.run_all()
    setting = "spark.sql.execution.arrow.maxBytesPerBatch"
    assert names["spark"].conf.get(setting) == str(2**31 - 1)
    page.require_over()


def await_stable(table: str, count: int, query: StreamingQuery) -> None:
    """Wait until a table holds stable rows."""

    def is_there() -> bool:
        if not DeltaTable.is_deltatable(table):
            return False
        kinds = DeltaTable(table).to_pyarrow_table(columns=["tuple_type"])["tuple_type"]
        return kinds.to_pylist().count("INSERTION") >= count

    await_that(is_there, f"{count} stable rows in {table}", query.exception)
