"""A Python file that defines a pipeline, as `streamproof run` takes it."""

from __future__ import annotations

import runpy
from pathlib import Path
from traceback import FrameSummary, extract_tb

from pyspark.errors import PySparkException

from streamproof.installed import remedy
from streamproof.lang import StreamproofError
from streamproof.paths import why_not_local
from streamproof.spark_bindings.errors import NotAPipeline, first_line
from streamproof.spark_bindings.pipelines.pipeline import Pipeline

NAME = "PIPELINE"


def load_pipeline(target: Path | str) -> Pipeline:
    """Run a file, and return its pipeline.

    Parameters
    ----------
    target : ``FILE`` or ``FILE:NAME``. The name stands for a `Pipeline`, or for a function that
        returns one; without a name it is ``PIPELINE``

    Raises
    ------
    NotAPipeline : if there is no such file, it fails, or it has no pipeline of this name
    """
    path, name = _file_and_name(str(target))
    if why := why_not_local(Path(target)):
        raise NotAPipeline(
            f"a pipeline's file was given as {str(target)!r}, {why}. Nothing was run. Give the "
            "path of a Python file"
        )
    if not path.is_file():
        raise NotAPipeline(
            f"there is no file {path}, so there is nothing to run. Give a Python file that sets "
            f"{name} to a Pipeline"
        )
    try:
        # Not imported as a module: Spark's workers would look for it by its name.
        found = runpy.run_path(str(path), run_name="streamproof_pipeline").get(name)
        pipeline = found() if callable(found) else found
    except StreamproofError:
        raise
    except Exception as error:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if _is(frame, path)]
        where = f"{path}, line {lines[-1]}," if lines else str(path)
        raise NotAPipeline(
            f"{where} cannot be run: {type(error).__name__}: {first_line(error)}. So there is no "
            f"pipeline. {remedy(error) or _remedy(error)}"
        ) from error
    if not isinstance(pipeline, Pipeline):
        raise NotAPipeline(
            f"{path} has {name} = {pipeline!r}, which is no Pipeline. So there is nothing to run. "
            f"Write in it: {name} = Pipeline(...), or a function that returns one. Another name is "
            f"given as: {path}:NAME"
        )
    return pipeline


def _file_and_name(target: str) -> tuple[Path, str]:
    """Take a target apart. A file may have a colon in its name."""
    file, colon, name = target.rpartition(":")
    if colon and name.isidentifier() and not Path(target).is_file():
        return Path(file), name
    return Path(target), NAME


def _is(frame: FrameSummary, path: Path) -> bool:
    return Path(frame.filename).resolve() == path.resolve()


def _remedy(error: Exception) -> str:
    if isinstance(error, PySparkException) and "SESSION" in str(error.getCondition()):
        return (
            "There is no Spark session yet when the file is read. Make what needs one in the "
            "function that is the plan, or give types as objects: F.udf(LongType())"
        )
    return "Fix the file; what it does as a script belongs under: if __name__ == '__main__'"
