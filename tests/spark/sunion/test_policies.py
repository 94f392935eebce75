"""Each policy in Spark, with a stalled input: what comes out meanwhile, and the corrections."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamproof.protocols.dpc import Policy
from streamproof.spark_bindings import Pipeline, Query
from tests.spark.support.bounded import (
    EWR,
    INPUT,
    JFK,
    OUTPUT,
    await_said,
    bridge,
    corrected,
    feed,
    go_on_until,
    merged,
    said,
    view,
)
from tests.spark.support.merging import reference, rows_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    # The streams are fed much faster than their clock goes.
    pytest.mark.filterwarnings("ignore:sunion was given max_delay"),
]


@pytest.mark.parametrize("policy", Policy)
def test_a_stalled_input_is_bridged_and_corrected(
    spark: SparkSession, tmp_path: Path, policy: Policy
) -> None:
    merge = Query(
        "merge", inputs=("ewr", "jfk"), output="merged", plan=partial(merged, policy=policy)
    )
    channels = {"ewr": INPUT, "jfk": INPUT, "merged": OUTPUT}
    pipeline = Pipeline(tmp_path / "pipeline", channels=channels, queries=[merge])
    ewr = [*EWR, *rows_of([90, 91], len(EWR))]
    with pipeline.start(spark):
        bridge(pipeline)
        # The failure goes on: what comes now is shown at once, after as long again, or not at all.
        feed(pipeline, "ewr", ewr[len(EWR) :])
        if policy is not Policy.SUSPEND:
            await_said(lambda: said(pipeline).count("TENTATIVE") == 8, pipeline)
        assert view(pipeline)[0] == []
        feed(pipeline, "jfk", JFK[1:])
        go_on_until(lambda: "REC_DONE" in said(pipeline), pipeline)
        if policy is Policy.SUSPEND:
            behind = said(pipeline)[: said(pipeline).index("UNDO")]
            assert behind.count("TENTATIVE") == 6
    assert corrected(pipeline) == reference({"ewr": EWR, "jfk": JFK})[0]
