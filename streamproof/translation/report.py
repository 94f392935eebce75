"""What a traced form was compared on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamproof.models.kit.verdict import Json


@dataclass(frozen=True, slots=True)
class Compared:
    """How much was compared.

    Attributes
    ----------
    runs : plain runs whose result was compared with that of the traced form
    outcomes : paths, and outcomes of conditions, that a comparison has seen
    impossible : those that no values of any size reach
    """

    runs: int
    outcomes: int
    impossible: int


@dataclass(frozen=True, slots=True)
class TranslationReport:
    """What traced forms were compared on.

    Attributes
    ----------
    parts : by the name of a class, an invariant, a protocol, or a size that was walked through
    seconds : how long it took; a class that was compared before is not compared again
    """

    parts: Mapping[str, Compared]
    seconds: float

    @property
    def compared(self) -> int:
        """How many runs were compared."""
        return sum(part.runs for part in self.parts.values())

    @property
    def outcomes(self) -> int:
        """How many paths and outcomes of conditions were seen."""
        return sum(part.outcomes for part in self.parts.values())

    @property
    def impossible(self) -> int:
        """How many no values of any size reach."""
        return sum(part.impossible for part in self.parts.values())

    def __add__(self, other: TranslationReport) -> TranslationReport:
        """Put two reports together; what is in both counts once."""
        return TranslationReport({**self.parts, **other.parts}, self.seconds + other.seconds)

    def to_json(self) -> Json:
        """Return the report as JSON."""
        return {
            "compared": self.compared,
            "outcomes": self.outcomes,
            "impossible": self.impossible,
            "seconds": round(self.seconds, 3),
        }
