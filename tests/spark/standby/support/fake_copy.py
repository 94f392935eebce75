"""A copy that does nothing but beat: ``python -m ... BEAT [EXIT_CODE [BEATS]]``."""

from __future__ import annotations

import sys
import time
from itertools import count
from pathlib import Path

from streamproof.spark_bindings.names import Turn
from streamproof.spark_bindings.processes.heartbeat import Heart
from streamproof.spark_bindings.storage.place import Place

BEAT_SECONDS = 0.02
NEVER = "never"
"""A file beside the beat: if it is there, the copy does not come up."""
IDLE = "idle"
"""If this one is there, it has taken no turn."""
BEHIND = "behind"
"""If this one is there, it lacks some turns that others have taken."""
TURNS_A_SECOND, TURNS_BEHIND = 2, 10

if __name__ == "__main__":
    place, code, beats = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    heart = Heart(Place.of(place))
    for number in count():
        if number == beats:
            sys.exit(code)
        if not (place.parent / NEVER).exists() or number > 0:
            turn = int(time.time() * TURNS_A_SECOND)
            turn -= TURNS_BEHIND if (place.parent / BEHIND).exists() else 0
            warm = not (place.parent / IDLE).exists()
            heart.beat(active=False, warm=warm, turn=Turn(turn))
        else:
            time.sleep(3600)
        time.sleep(BEAT_SECONDS)
