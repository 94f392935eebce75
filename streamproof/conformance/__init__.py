"""Conformance: whether what ran is what was checked and proven.

The processes of a pipeline write down what their machines were told, and what was carried out. The
channels and the snapshots say the same in files of their own. `conform` decides whether some run of
the model explains all of it.
"""

from streamproof.installed import require

require("spark", "streamproof.conformance")

from streamproof.conformance.conform import conform  # noqa: E402 - what it reads needs the extra
from streamproof.conformance.explain import Violation  # noqa: E402
from streamproof.conformance.finding import Conformance, Finding, Outcome  # noqa: E402

__all__ = ["Conformance", "Finding", "Outcome", "Violation", "conform"]
