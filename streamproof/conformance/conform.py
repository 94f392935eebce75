"""`conform`: compare the runs of a pipeline with the models, protocol by protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from streamproof.conformance.batches import check_batches
from streamproof.conformance.chandy_lamport import check_snapshots
from streamproof.conformance.evidence import Evidence
from streamproof.conformance.finding import Conformance, Finding
from streamproof.conformance.flux import check_retention
from streamproof.conformance.pairs import check_pairs
from streamproof.spark_bindings.layout.directory import PipelineDirectory


def conform(
    path: Path | str, progress: Callable[[Finding], object] = lambda _: None
) -> Conformance:
    """Decide whether runs of the models explain what the processes of a pipeline did.

    It reads files alone, and needs no Spark session. The pipeline may be running.

    Parameters
    ----------
    path : the directory of a pipeline
    progress : is called with each finding as it is made

    Raises
    ------
    NotAPipeline, DamagedFile : if it is none, or a file is not what was written there
    ChannelDamaged : if a commit of a channel is gone

    Examples
    --------
    >>> from streamproof.spark_bindings import Pipeline, Query
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> conform("shop").outcome
    <Outcome.EXPLAINED: 'EXPLAINED'>
    """
    found = []
    for finding in _findings(Evidence(PipelineDirectory.at(path))):
        progress(finding)
        found.append(finding)
    return Conformance(tuple(found))


def _findings(evidence: Evidence) -> Iterator[Finding]:
    yield from check_batches(evidence)
    yield from check_snapshots(evidence)
    yield from check_pairs(evidence)
    yield from check_retention(evidence)
