"""Comparing the traced form of a model with its methods, before a verdict that rests on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamproof.checker.engines import EngineName
from streamproof.installed import require
from streamproof.lang.model import Model
from streamproof.models.kit.verdict import Exhausted, Finding, Sampled

if TYPE_CHECKING:
    from streamproof.translation import TranslationReport


def translation_of(
    model: Model[Any], engine: str, findings: Sequence[Finding]
) -> TranslationReport | None:
    """Compare the traced form of a model with its methods, if a finding rests on it.

    Raises
    ------
    TracingDisagrees : if they differ
    NotInstalled : if Z3, which names the values to compare them at, is missing
    """
    believed = (Exhausted, Sampled)
    if engine == EngineName.REFERENCE or not any(
        isinstance(part.verdict, believed) for part in findings
    ):
        return None
    require(
        "check",
        "the comparison of the traced form with the code",
        "z3",
        result="No verdict was given",
    )
    from streamproof.translation import validate_model  # Z3 takes a while to load

    return validate_model(model)
