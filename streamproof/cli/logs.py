"""What a command that runs Spark says, apart from what Spark, Java and their workers say."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OUR_LOGGER = "streamproof"
_FORMAT = "%(asctime)s %(name)s: %(message)s"
SIZE_MAX = 20_000_000
"""Bytes. A longer file is put aside before the next start."""


@contextmanager
def logging_to(path: Path | None) -> Iterator[None]:
    """Let all that is said in a block go to a file; the terminal gets streamproof's own words.

    Java and Spark's workers inherit where it goes, also beyond the block.

    Parameters
    ----------
    path : the file, which is appended to; without one, all goes to the terminal
    """
    logging.basicConfig(level=logging.INFO, format=_FORMAT)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    put_aside(path)
    streams = (sys.stdout, sys.stderr)
    for stream in streams:
        stream.flush()
    terminals = [os.dup(stream.fileno()) for stream in streams]
    with path.open("a", encoding="utf-8") as file, os.fdopen(os.dup(terminals[1]), "w") as terminal:
        for stream in streams:
            os.dup2(file.fileno(), stream.fileno())
        ours = logging.StreamHandler(terminal)
        ours.setFormatter(logging.Formatter(_FORMAT))
        logging.getLogger(OUR_LOGGER).addHandler(ours)
        try:
            yield
        except Exception:
            traceback.print_exc()
            raise
        finally:
            logging.getLogger(OUR_LOGGER).removeHandler(ours)
            for stream, kept in zip(streams, terminals, strict=True):
                stream.flush()
                os.dup2(kept, stream.fileno())
                os.close(kept)


def put_aside(path: Path) -> None:
    """Put a long file aside, instead of the one that was put aside before."""
    if path.exists() and path.stat().st_size > SIZE_MAX:
        path.replace(path.with_suffix(f".old{path.suffix}"))
