"""Engines that explore any model, and what turns a search into verdicts. They know no protocol."""

from streamproof.checker.check import CheckReport, check
from streamproof.checker.counterexample import replay
from streamproof.checker.limits import Limits
from streamproof.checker.reference import explore

__all__ = ["CheckReport", "Limits", "check", "explore", "replay"]
