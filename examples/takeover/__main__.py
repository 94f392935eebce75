"""Twenty seconds of a pair whose primary is killed: what the client sees, and from which copy.

    python examples/takeover [--seconds 20] [--plot FILE] [--json]

It runs `standby.py` under `streamproof run`, feeds it ten orders a second, and kills the
copy that delivers. EQUAL means that every order is in the revenue once, as if nothing had happened.
UNDETERMINED means that it gave up on a slow machine, before anything was seen to be wrong.

Exit codes: 0 EQUAL, 1 NOT EQUAL, 2 wrong use, 3 UNDETERMINED.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from rich.console import Console
from story import run
from timeline import draw, summary


def main() -> int:
    """Run it, and say how it ended: 0 if the revenue is right, 3 if that is not known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--plot", type=Path, help="an SVG or PNG file")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.plot is not None:
        try:
            import_module("matplotlib")
        except ModuleNotFoundError as error:
            parser.error(f"{error}. Run: pip install 'streamproof[examples]'")
    with tempfile.TemporaryDirectory(prefix="takeover-") as place:
        timeline = run(Path(place), chosen.seconds, Console(stderr=True))
    if chosen.plot is not None:
        draw(timeline, chosen.plot)
    if chosen.json:
        print(json.dumps(timeline.to_json()))
    else:
        Console().print(summary(timeline))
    return timeline.exit_code


if __name__ == "__main__":
    sys.exit(main())
