"""Translation validation: whether the traced form is the code that it was traced from.

Engines and proofs work on the traced form of a model, and users run the code. Before a verdict
that rests on the traced form alone, every method is run on many plain values, and its traced form
is evaluated on the same values (`comparison`). They are those of runs and of their surroundings,
random ones (`points`), and at least one for each path and for each outcome of each condition
(`witnesses`, `any_size`). Where Z3 cannot tell whether there are any, there is no verdict. A plain
run that executes an instruction which no traced path has executed is a difference, too
(`executed`).
"""

from streamproof.translation.comparison import TracingDisagrees
from streamproof.translation.report import TranslationReport
from streamproof.translation.undecided import TranslationUndecided
from streamproof.translation.validate import (
    validate_invariant,
    validate_model,
    validate_protocol,
)

__all__ = [
    "TracingDisagrees",
    "TranslationReport",
    "TranslationUndecided",
    "validate_invariant",
    "validate_model",
    "validate_protocol",
]
