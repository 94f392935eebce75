"""`streamproof forecast`: how large a search will be, before it is begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from streamproof.checker.limits import default_memory_mb
from streamproof.cli.options import (
    AsJson,
    Memory,
    Settings,
    SizeName,
    StatesMax,
    Target,
    UseSymmetry,
    chosen,
)
from streamproof.cli.render import console, print_json, progress_line
from streamproof.models.kit.registry import Sized
from streamproof.models.kit.sizes import named_size, parsed
from streamproof.models.kit.trace import show
from streamproof.models.kit.verdict import ExitCode, Json

if TYPE_CHECKING:
    from streamproof.checker.forecast.forecast import Forecast
    from streamproof.checker.forecast.growth import Estimate
    from streamproof.checker.forecast.multipliers import Multipliers


def forecast(
    target: Target,
    size: SizeName = "",
    settings: Settings = None,
    states_max: StatesMax = None,
    memory: Memory = None,
    symmetry: UseSymmetry = None,
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Estimate states, memory and time from searches of smaller sizes.

    Each size is searched up to --states-max states. Liveness is not part of the forecast.
    """
    from streamproof.checker.forecast.forecast import Budget  # NumPy takes a while to load
    from streamproof.checker.forecast.forecast import forecast as make_forecast

    sized = chosen(target, size, settings)
    budget = Budget() if states_max is None else Budget(states_max, states_max)
    with progress_line() as on_progress:
        found = make_forecast(
            sized.model_class,
            _values(sized),
            budget=budget,
            symmetry=symmetry,
            on_progress=on_progress,
        )
    memory_mb = memory or default_memory_mb()
    if as_json:
        print_json(to_json(found, sized, memory_mb))
    else:
        print_forecast(found, sized, memory_mb)
    return ExitCode.GREEN if found.states is not None else ExitCode.UNDETERMINED


def to_json(found: Forecast, sized: Sized, memory_mb: int) -> Json:
    """Return everything that `print_forecast` prints."""
    multipliers = found.multipliers
    return {
        **sized.to_json(),
        "engine": found.engine,
        "sizes": [
            {
                "size": {name: show(value) for name, value in part.size.items()},
                **part.counts.to_json(),
                "outcome": part.outcome,
                "grew_by": part.grew_by,
                "grew_on": part.grew_on,
            }
            for part in found.sizes
        ],
        "is_exact": found.is_exact,
        "states": _between(found.states),
        "from_smaller": _between(found.from_smaller),
        "from_levels": _between(found.from_levels),
        "steps": _between(found.steps),
        "memory": _memory(found, memory_mb),
        "seconds": found.seconds,
        "settings": dict(found.settings),
        "multipliers": None
        if multipliers is None
        else {
            "size": {name: show(value) for name, value in multipliers.size.items()},
            "states": multipliers.states,
            "fields": [
                {"name": part.name, "values": part.values, "factor": part.factor}
                for part in multipliers.fields
            ],
            "actions": dict(multipliers.actions),
        },
        "reason": found.reason,
    }


def print_forecast(found: Forecast, sized: Sized, memory_mb: int) -> None:
    """Print a forecast for people."""
    out = console()
    table = Table("size", "states", "generated", "depth", "growth", "", box=None, pad_edge=False)
    wanted, *smaller = found.sizes
    for part in [*sorted(smaller, key=lambda part: part.counts.distinct), wanted]:
        grown = f"x {part.grew_by:.2f} by {part.grew_on}" if part.grew_by else ""
        counts = (f"{count:,}" for count in (part.counts.distinct, part.counts.generated))
        row = (_text(part.size), *counts, f"{part.counts.depth:,}", grown, part.outcome)
        table.add_row(*map(Text, row))
    out.print(Text(f"{sized.target} {_text(sized.size)}, {found.engine} engine\n"))
    out.print(table)
    out.print()
    if found.settings:
        grown = ", ".join(f"{name} x {factor:.1f}" for name, factor in found.settings.items())
        out.print(Text(f"one more of a setting multiplies the states: {grown}"))
    if found.multipliers is not None:
        out.print(Text(_told(found.multipliers)))
    out.print(Text(_conclusion(found, memory_mb)), soft_wrap=True)


def _told(multipliers: Multipliers) -> str:
    fields = [part for part in multipliers.fields if part.factor >= 1.05]
    told = ", ".join(f"{part.name} x {part.factor:.1f}" for part in fields)
    actions = ", ".join(f"{name} {share:.0%}" for name, share in multipliers.actions.items())
    return (
        f"{_text(multipliers.size) or 'as it is'}: {multipliers.states:,} states\n"
        f"  states for each combination of the other fields: {told or 'one, for every field'}\n"
        f"  share of the states first reached by an action: {actions or 'there are no steps'}\n"
    )


def _conclusion(found: Forecast, memory_mb: int) -> str:
    if found.states is None or found.steps is None:
        return f"no forecast: {found.reason}"
    needs = _memory(found, memory_mb)
    if found.is_exact:
        counts = found.sizes[0].counts
        return (
            f"exactly {counts.distinct:,} states, {counts.generated:,} generated: the whole size "
            "was searched"
        )
    states, steps, (fast, slow) = found.states, found.steps, found.seconds or (0.0, 0.0)
    fits = {True: "which fits into", False: "MORE than", None: "perhaps more than"}[needs["fits"]]
    return (
        f"about {states.value:,.0f} states ({_span(states)}), {steps.value:,.0f} generated\n"
        f"{_sources(found)}"
        f"about {needs['expected_mb']:,.0f} MiB, {fits} the {memory_mb:,} MiB allowed; "
        f"{found.cost.bytes_per_state:.0f} bytes a state\n"
        f"{_duration(fast, slow)} with one thread, compiling apart"
    )


def _duration(fast: float, slow: float) -> str:
    return f"about {fast:,.1f} to {slow:,.1f} s" if slow >= 0.1 else "less than 0.1 s"


def _sources(found: Forecast) -> str:
    """Describe what each kind of evidence points to, and which one there is none of."""
    smaller, levels = (
        f"{one.value:,.0f} ({_span(one)})" if one else "nothing certain"
        for one in (found.from_smaller, found.from_levels)
    )
    return f"  smaller sizes point to {smaller}, the levels found so far to {levels}\n"


def _memory(found: Forecast, memory_mb: int) -> Json:
    """Return the memory of all states; `fits` is None where the estimate leaves it open."""
    told: Json = {"allowed_mb": memory_mb, "bytes_per_state": found.cost.bytes_per_state}
    if found.states is None:
        return told | {"expected_mb": None, "fits": None}
    low, expected, high = map(
        found.cost.memory_mb, (found.states.low, found.states.value, found.states.high)
    )
    fits = True if high <= memory_mb else None
    fits = False if low > memory_mb else fits
    return told | {"expected_mb": round(expected, 1), "fits": fits}


def _between(estimate: Estimate | None) -> Json | None:
    if estimate is None:
        return None
    low, about, high = map(round, (estimate.low, estimate.value, estimate.high))
    return {"about": about, "low": low, "high": high}


def _span(estimate: Estimate) -> str:
    return f"{estimate.low:,.0f} to {estimate.high:,.0f}"


def _values(sized: Sized) -> Mapping[str, Any]:
    if sized.size_name:
        return named_size(sized.model_class, sized.size_name)[1]
    return parsed(sized.model_class, sized.size)


def _text(size: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value if isinstance(value, str) else show(value)}" for name, value in size.items()
    )
