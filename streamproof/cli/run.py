"""`streamproof run`: the copies of a pipeline, or one of them, until they are told to end."""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from streamproof.cli.logs import logging_to
from streamproof.cli.render import console, error_console
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings.processes.heartbeat import SUSPECT_AFTER_SECONDS

_PROGRAM = [sys.executable, "-c", "from streamproof.cli import main; main()", "run"]

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamproof.spark_bindings.layout.pairs import Copy, Pair
    from streamproof.spark_bindings.storage.place import Place


PipelineFile: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE[:NAME]",
        help="A Python file, and what it calls its pipeline; PIPELINE if no name is given.",
    ),
]
SuspectAfter: TypeAlias = Annotated[
    float,
    typer.Option(
        min=0.1, metavar="SECONDS", help="Seconds of silence after which the other copy takes over."
    ),
]
DriverMemory: TypeAlias = Annotated[
    str, typer.Option(metavar="SIZE", help="Of each process's JVM, as Spark writes it.")
]
Cores: TypeAlias = Annotated[
    int, typer.Option(min=1, metavar="N", help="Worker threads of each process.")
]
FastStart: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--fast-start",
        help="Java's first compiler alone, and Spark's classes from an archive that the first "
        "such start makes: a copy is there sooner, and slower afterwards.",
    ),
]
# What the supervisor gives to the processes that it starts.
OneQuery: TypeAlias = Annotated[
    str, typer.Option(hidden=True, help="Run one copy of this query alone, unsupervised.")
]
OneCopy: TypeAlias = Annotated[str, typer.Option(hidden=True, help="Which copy of it: A or B.")]
OnePartition: TypeAlias = Annotated[
    int, typer.Option(min=0, hidden=True, help="Of which partition, from 0.")
]
Unreplicated: TypeAlias = Annotated[
    bool,
    typer.Option("--alone", hidden=True, help="Run the queries without a standby, unsupervised."),
]
LogFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        hidden=True,
        help="With --query or --alone: a file for all that is said, also by Spark and Java; "
        "the terminal gets streamproof's own words.",
    ),
]


def run(
    pipeline: PipelineFile,
    query: OneQuery = "",
    copy: OneCopy = "",
    partition: OnePartition = 0,
    suspect_after: SuspectAfter = SUSPECT_AFTER_SECONDS,
    driver_memory: DriverMemory = "1g",
    cores: Cores = 2,
    log: LogFile = None,
    *,
    alone: Unreplicated = False,
    fast_start: FastStart = False,
) -> ExitCode:
    """Run a pipeline, and start again what fails: copies of pairs, and queries without a standby.

    Exit codes: 0 told to end, 1 copies differ, 2 wrong use, 3 the other copy has taken over, or
    data may be lost.
    """
    if (query == "") != (copy == ""):
        raise typer.BadParameter("one copy is named by both --query and --copy")
    if alone and query != "":
        raise typer.BadParameter("--alone runs what has no standby; leave out --query")
    if copy not in ("", "A", "B"):
        raise typer.BadParameter(f"{copy} is neither A nor B", param_hint="--copy")
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    options = [f"--suspect-after={suspect_after}", f"--cores={cores}"]
    options += [f"--driver-memory={driver_memory}"]
    if query == "" and not alone:
        if log is not None:
            raise typer.BadParameter(
                "each process has a log of its own in the pipeline's directory"
            )
        options += ["--fast-start"] if fast_start else []
        return _supervise(pipeline, options, suspect_after, stop)

    def session() -> SparkSession:
        from streamproof.spark_bindings import spark_session
        from streamproof.spark_bindings.session.class_archive import java_options

        name = "alone" if alone else f"{query}/{copy}"
        settings = {"spark.driver.extraJavaOptions": java_options()} if fast_start else {}
        return spark_session(name, memory=driver_memory, cores=cores, settings=settings)

    if alone:
        return _ending_of(lambda: _run_unreplicated(pipeline, suspect_after, stop, session), log)
    which = (query, copy, partition)
    return _ending_of(lambda: _run_copy(pipeline, which, suspect_after, stop, session), log)


def copy_command(
    file: str, options: Sequence[str], pair: Pair, copy: Copy, log: Place | None = None
) -> list[str]:
    """Return the command line that runs one copy of a pair of a pipeline's file.

    Parameters
    ----------
    file, options : the pipeline's, and what each copy is given
    pair, copy : which one
    log : the file for what Spark says, if not the terminal
    """
    which = [f"--query={pair.query.name}", f"--copy={copy.value}"]
    which += [f"--partition={pair.partition}"] + ([] if log is None else [f"--log={log}"])
    return [*_PROGRAM, file, *which, *options]


def _supervise(file: str, options: list[str], suspect_after: float, stop: Event) -> ExitCode:
    from streamproof.spark_bindings.errors import BothCopiesFailed, CopiesDiffer
    from streamproof.spark_bindings.standby.pipeline_file import load_pipeline
    from streamproof.spark_bindings.standby.supervisor import Supervisor

    loaded = load_pipeline(file)
    command = functools.partial(copy_command, file, options)

    def alone(log: Place) -> list[str]:
        return [*_PROGRAM, file, "--alone", *options, f"--log={log}"]

    try:
        with logging_to(None), Supervisor(loaded, command, suspect_after, alone) as supervisor:
            copies = [f"{name}/{copy.value}" for name, copy in supervisor.status()]
            names = ", ".join([*copies, *(q.name for q in loaded.queries if not q.is_paired)])
            console().print(f"{loaded.path}: started {names}", markup=False, soft_wrap=True)
            supervisor.until(stop)
    except CopiesDiffer as error:  # by now, all has ended
        _tell(error)
        return ExitCode.REFUTED
    except BothCopiesFailed as error:
        _tell(error)
        return ExitCode.UNDETERMINED
    return ExitCode.GREEN


def _ending_of(work: Callable[[], None], log: Path | None) -> ExitCode:
    """Do the work until it is stopped, and report how it has ended."""
    from streamproof.spark_bindings.errors import (
        CopiesDiffer,
        CopyRuns,
        FencedDriver,
        PurgedCheckpoint,
        QueryFailed,
    )

    try:
        with logging_to(log):
            work()
    except CopiesDiffer as error:
        _tell(error)
        return ExitCode.REFUTED
    except (CopyRuns, FencedDriver, PurgedCheckpoint, QueryFailed, OSError) as error:
        _tell(error)  # started again, it goes on
        return ExitCode.UNDETERMINED
    return ExitCode.GREEN


def _run_unreplicated(
    file: str, suspect_after_seconds: float, stop: Event, session: Callable[[], SparkSession]
) -> None:
    from streamproof.spark_bindings.standby.pipeline_file import load_pipeline
    from streamproof.spark_bindings.standby.unreplicated_run import run_unreplicated

    run_unreplicated(
        load_pipeline(file), session, suspect_after_seconds=suspect_after_seconds, stop=stop
    )


def _run_copy(
    file: str,
    which: tuple[str, str, int],
    suspect_after: float,
    stop: Event,
    session: Callable[[], SparkSession],
) -> None:
    from streamproof.spark_bindings.layout.pairs import Copy
    from streamproof.spark_bindings.standby.copy_run import run_copy
    from streamproof.spark_bindings.standby.pipeline_file import load_pipeline

    query, copy, partition = which
    run_copy(
        load_pipeline(file),
        query,
        Copy(copy),
        session,
        partition=partition,
        suspect_after_seconds=suspect_after,
        stop=stop,
    )


def _tell(error: Exception) -> None:
    error_console().print(f"{type(error).__name__}: {error}", markup=False, soft_wrap=True)
