"""The preparation of a run, the same for each driver: one of a job, or of `streamproof run`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from pyspark.sql import SparkSession

from streamproof.spark_bindings.certificate import Certificate, Trust, check_certificate
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import check_as_declared
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.session.session import check_session
from streamproof.spark_bindings.session.shared_files import check_shared

_log = logging.getLogger("streamproof.pipelines")
SNAPSHOTS: Mapping[str, str] = {
    "chandy_lamport": "a snapshot is a state that the pipeline could have been in"
}
"""The protocol of a query without a standby, and what it is certified for."""


def prepare_run(
    directory: PipelineDirectory,
    queries: Iterable[Query],
    session: Callable[[], SparkSession],
    protocols: Mapping[str, str],
    *,
    certificate: Trust = Certificate.REQUIRED,
    waivable: bool = False,
) -> SparkSession:
    """Check that queries may run, and return the session that they run in.

    Nothing is started. The session is made last.

    Parameters
    ----------
    directory, queries : of the pipeline, and those of its queries that this driver runs
    session : makes a session as `spark_session` does, or returns a running one
    protocols : those that the queries execute, and what each is certified for
    certificate : what is asked of each certificate
    waivable : whether the caller may ignore certificates, so that a message may name the way

    Raises
    ------
    WrongWiring : if a query has run as a pair and is none now, or the other way
    UnverifiedProtocol : if a protocol is not the certified one
    UnsuitableSession : if the session could lose state, or its executors miss the files
    """
    queries = list(queries)
    _log.info("preparing to run %s", ", ".join(query.name for query in queries))
    for query in queries:
        check_as_declared(directory, query)
    for protocol, claim in protocols.items():
        check_certificate(protocol, claim, waivable=waivable, trust=certificate)
    spark = session()
    check_session(spark)
    check_shared(spark, directory.shared)
    return spark
