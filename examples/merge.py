"""Two streams of JSON lines become one table, in the order of time, whatever arrived when."""

import tempfile
from pathlib import Path

import pandas as pd
from deltalake import DeltaTable

from streamproof.spark_bindings import spark_session
from streamproof.spark_bindings.sunion import reconcile, sunion


def write(stream: Path, part: str, rows: list[tuple[str, int, str]]) -> None:
    """Append rows to a stream: a file that appears whole."""
    frame = pd.DataFrame(rows, columns=["ts", "seq", "what"])
    frame.to_json(stream.with_suffix(".tmp"), orient="records", lines=True)
    stream.mkdir(exist_ok=True)
    stream.with_suffix(".tmp").rename(stream / f"{part}.json")


def main(place: Path) -> pd.DataFrame:
    """Merge what is there, let more arrive, go on; give the merged rows in their order."""
    spark = spark_session()
    noon = "2026-03-01 12:0"

    def merge_what_is_there() -> None:
        streams = {
            name: spark.readStream.schema("ts timestamp, seq long, what string").json(
                str(place / name)
            )
            for name in ("door", "lift")
        }
        merged = sunion(
            streams, time="ts", position="seq", bucket="1 minute", lateness="20 seconds"
        )
        query = reconcile(merged, place / "events", place / "checkpoint", availableNow=True)
        query.awaitTermination()

    write(place / "lift", "0", [(noon + "0:05", 0, "up"), (noon + "1:30", 1, "down")])
    write(place / "door", "0", [(noon + "0:02", 0, "opens"), (noon + "0:09", 1, "closes")])
    merge_what_is_there()  # the door's clock stands at 12:00:09: no minute is complete
    write(place / "door", "1", [(noon + "2:50", 2, "opens")])  # now the first one is
    merge_what_is_there()
    spark.stop()
    rows = DeltaTable(place / "events").to_pandas(partitions=[("tuple_type", "=", "INSERTION")])
    return rows.sort_values("stable_id")[["stable_id", "stream", "ts", "what"]]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        print(main(Path(directory)).to_string(index=False))
