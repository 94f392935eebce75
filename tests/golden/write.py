"""`make golden`: write the golden counts anew and print what moved; the commit explains each.

Sizes of the tier `native` are kept as they are. A model named on the command line is done alone.
"""

from __future__ import annotations

import json
import sys

from streamproof.models.kit import registry
from tests.golden.manifest import measured, measured_mutants, path_of, read, targets


def main(chosen: list[str]) -> None:
    """Write the manifests of the chosen models, or of all."""
    for target in chosen or targets():
        old = read(target)
        new = {"target": target, "sizes": {}, "mutants": measured_mutants(target)}
        for size in registry.find(target).sizes:
            tier = old["sizes"].get(size, {}).get("tier", "fast")
            kept = tier == "native"
            counts = old["sizes"][size] if kept else measured(target, size)
            new["sizes"][size] = {"tier": tier, **counts}
        for part in ("sizes", "mutants"):
            for name in sorted(old[part].keys() | new[part].keys()):
                before, after = old[part].get(name), new[part].get(name)
                if before != after:
                    sys.stdout.write(f"{target} {name}:\n  - {before}\n  + {after}\n")
        path_of(target).write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
