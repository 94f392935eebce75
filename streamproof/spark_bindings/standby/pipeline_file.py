"""A Python file that defines a pipeline, as `streamproof run` takes it."""

from __future__ import annotations

import runpy
from pathlib import Path
from traceback import FrameSummary, extract_tb

from pyspark.errors import PySparkException

from streamproof.lang import StreamproofError
from streamproof.spark_bindings.errors import NotAPipeline, first_line
from streamproof.spark_bindings.pipelines.pipeline import Pipeline

NAME = "PIPELINE"


def load_pipeline(path: Path) -> Pipeline:
    """Run a file, and give its `PIPELINE`: a `Pipeline`, or a function that gives one.

    Raises
    ------
    NotAPipeline : if there is no such file, it fails, or it has none
    """
    if not path.is_file():
        raise NotAPipeline(
            f"there is no file {path}, so there is nothing to run. Give a Python file that sets "
            f"{NAME} to a Pipeline"
        )
    try:
        # Not imported as a module: Spark's workers would look for it by its name.
        found = runpy.run_path(str(path), run_name="streamproof_pipeline").get(NAME)
        pipeline = found() if callable(found) else found
    except StreamproofError:
        raise
    except Exception as error:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if _is(frame, path)]
        where = f"{path}, line {lines[-1]}," if lines else str(path)
        raise NotAPipeline(
            f"{where} cannot be run: {type(error).__name__}: {first_line(error)}. So there is no "
            f"pipeline. {_remedy(error)}"
        ) from error
    if not isinstance(pipeline, Pipeline):
        raise NotAPipeline(
            f"{path} has {NAME} = {pipeline!r}, which is no Pipeline. So there is nothing to run. "
            f"Write in it: {NAME} = Pipeline(...), or a function that gives one"
        )
    return pipeline


def _is(frame: FrameSummary, path: Path) -> bool:
    return Path(frame.filename).resolve() == path.resolve()


def _remedy(error: Exception) -> str:
    if isinstance(error, PySparkException) and "SESSION" in str(error.getCondition()):
        return (
            "There is no Spark session yet when the file is read. Make what needs one in the "
            "function that is the plan, or give types as objects: F.udf(LongType())"
        )
    return "Mend the file; what it does as a script belongs under: if __name__ == '__main__'"
