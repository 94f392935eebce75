"""Random methods: initial states, actions, helpers and properties, as text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.fuzz.expressions import Writer
from tests.fuzz.schema import Schema
from tests.fuzz.scope import Helper

HELPING = """\
def kept(number, low, high):
    require(low <= number <= high)
    return number


def claimed(number, low):
    assert number >= low
    return number
"""
"""Functions that every model has beside its class."""
INDENT = "    "


@dataclass(frozen=True)
class Written:
    """A method: its lines, and the domains that its parameters range over."""

    lines: list[str]
    sorts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return its name."""
        return self.lines[1].partition("(")[0].removeprefix("def ")


def writer(rng: Random, schema: Schema, parameters: dict[str, str], helpers=()) -> Writer:
    """Begin to write a method of one state."""
    return Writer(rng, schema, {"s": "State", **parameters}, True, helpers)


def parameters(rng: Random, schema: Schema, most: int = 2) -> dict[str, str]:
    """Draw parameters, each over a domain."""
    names = "pqr"
    sorts = rng.choices(list(schema.sizes), k=rng.choice((0, 1, 1, 1, 2)[: 3 + most]))
    return {names[number]: sort for number, sort in enumerate(sorts)}


def declared(taken: dict[str, str]) -> str:
    """Write parameters in a signature."""
    return "".join(f", {name}: {sort}" for name, sort in taken.items())


def indented(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]


# -------------------------------------------------------------------------------------- bodies


def block(write: Writer, result, depth: int) -> list[str]:
    """Write statements that end in a `return` of what `result` writes."""
    rng = write.rng
    if depth > 0:
        match rng.choice(("straight",) * 5 + ("if", "if", "else", "match", "record", "local")):
            case "if":
                return [
                    f"if {write.write('bool', 2)}:",
                    *indented(block(write, result, depth - 1)),
                    *block(write, result, depth - 1),
                ]
            case "else":
                return [
                    f"if {write.write('bool', 1)}:",
                    *indented(block(write, result, depth - 1)),
                    f"elif {write.write('bool', 1)}:",
                    *indented(block(write, result, 0)),
                    "else:",
                    *indented(block(write, result, depth - 1)),
                ]
            case "match":
                return matched(write, result, depth)
            case "record" if "Box" in write.schema.records:
                return matched_record(write, result, depth)
            case "local":
                name = write.fresh("x")
                kind = rng.choice(("int", "int", "bool"))
                line = f"{name} = {write.write(kind, 2)}"
                return [line, *block(write.also(name, kind), result, depth - 1)]
    return [f"return {result(write)}"]


def matched(write: Writer, result, depth: int) -> list[str]:
    """Write a `match` on an enum."""
    enums = write.schema.enums
    kind = write.rng.choice(list(enums))
    subject = write.read(kind)
    if subject is None:
        return block(write, result, 0)
    members = [f"{kind}.{member}" for member in enums[kind]]
    write.rng.shuffle(members)
    first = members[0] if write.rng.random() < 0.6 else " | ".join(members[:2])
    guard = f" if {write.write('bool', 1)}" if write.rng.random() < 0.3 else ""
    lines = [f"match {subject}:", f"    case {first}{guard}:"]
    lines += indented(indented(block(write, result, depth - 1)))
    if len(members) > 2 and write.rng.random() < 0.5:
        lines += [f"    case {members[2]}:", *indented(indented(block(write, result, 0)))]
    return [*lines, "    case _:", *indented(indented(block(write, result, depth - 1)))]


def matched_record(write: Writer, result, depth: int) -> list[str]:
    """Write a `match` on a record, whose parts are named and compared."""
    subject = write.read("Box")
    if subject is None:
        return block(write, result, 0)
    name = write.fresh("m")
    inner = write.also(name, "int")
    guard = f" if {inner.write('bool', 1)}" if write.rng.random() < 0.6 else ""
    return [
        f"match {subject}:",
        f"    case Box(level={write.rng.choice(('0', '1', '0 | 2'))}):",
        *indented(indented(block(write, result, depth - 1))),
        f"    case Box(level={name}){guard}:",
        *indented(indented(block(inner, result, 0))),
        "    case _:",
        *indented(indented(block(write, result, 0))),
    ]


# ------------------------------------------------------------------------------------- methods


def write_init(rng: Random, schema: Schema, number: int) -> Written:
    """Write an initial state, or several: one for each parameter, chosen by constants."""
    taken = {}
    for sort in schema.sizes:
        needed = any(part.kind == sort for part in schema.records["State"])
        if needed or rng.random() < (0.4 if schema.sizes[sort] else 0.2):
            taken[sort.lower()] = sort
    write = Writer(rng, schema, taken, at_top=False)

    def state(here: Writer) -> str:
        fields = schema.records["State"]
        parts = [here.within(part.kind, rng.choice((0, 0, 1, 2)), part.bounds) for part in fields]
        return f"State({', '.join(parts)})"

    body = block(write, state, rng.choice((0, 0, 1)))
    head = f"def start_{number}(self{declared(taken)}) -> State:"
    return Written(["@init", head, *indented(body)])


def write_helper(rng: Random, schema: Schema, number: int) -> tuple[Helper, list[str]]:
    """Write a method without a role."""
    taken = parameters(rng, schema, 1)
    kind = rng.choice(("bool", "bool", "int"))
    write = writer(rng, schema, taken)
    body = block(replace(write, at_top=False), lambda here: here.write(kind, 2), 1)
    head = f"def helper_{number}(self, s: State{declared(taken)}) -> {kind}:"
    return Helper(f"helper_{number}", kind, tuple(taken.values())), [head, *indented(body)]


def write_action(
    rng: Random,
    schema: Schema,
    name: str,
    helpers: tuple[Helper, ...],
    *,
    claims: bool,
    loose: bool,
) -> Written:
    """Write an action."""
    taken = parameters(rng, schema)
    write = replace(writer(rng, schema, taken, helpers), may_claim=True, is_loose=loose)
    fairness = rng.choice(("", "", "WEAK", "WEAK", "WEAK", "STRONG", "STRONG", "NONE"))
    role = f"@action(fairness=Fairness.{fairness})" if fairness else "@action"
    lines = []
    if rng.random() < 0.7:
        lines.append(f"require({write.write('bool', rng.choice((1, 1, 2, 3)))})")
    if claims and rng.random() < 0.5:
        lines.append(f"assert {write.write('bool', 2)}")
    if rng.random() < 0.15:
        lines.append(f"s = {changed(write)}")
    lines += block(write, changed, rng.choice((0, 0, 1, 1, 2)))
    head = f"def {name}(self, s: State{declared(taken)}) -> State:"
    return Written([role, head, *indented(lines)], tuple(taken.values()))


def changed(write: Writer) -> str:
    """Write the state after an action."""
    rng = write.rng
    if rng.random() < 0.1:
        fields = write.schema.records["State"]
        parts = [
            f"{part.name}="
            + (f"s.{part.name}" if rng.random() < 0.6 else write.value("s", part, 2))
            for part in fields
        ]
        return f"State({', '.join(parts)})"
    return write.changed("s", "State", rng.choice((1, 2, 2, 3)))


def write_property(
    rng: Random, schema: Schema, role: str, number: int, helpers: tuple[Helper, ...]
) -> Written:
    """Write a property of a role; a test of two states is called before and after."""
    taken = parameters(rng, schema, 1)
    if role == "every_step":
        names = {"before": "State", "after": "State", **taken}
        write, states = Writer(rng, schema, names, at_top=False), "before: State, after: State"
    elif role == "assume":
        write, states = Writer(rng, schema, dict(taken), at_top=False), ""
    else:
        write = replace(writer(rng, schema, taken, helpers), at_top=False)
        states = "s: State"
    given = ", ".join(filter(None, ("self", states))) + declared(taken)
    if role == "leads_to":
        result, gives = promised, "tuple[bool, bool]"
    else:
        result, gives = rng.choice(FORMS)
    body = block(write, result, rng.choice((0, 0, 0, 1, 1)))
    head = f"def {role}_{number}({given}) -> {gives}:"
    return Written([f"@{role}", head, *indented(body)], tuple(taken.values()))


def answer(write: Writer) -> str:
    """Write a truth value, as an answer of a property that gives no reason."""
    return write.write("bool", write.rng.choice((2, 2, 3)))


def implied(write: Writer) -> str:
    """Write an answer that only says something where a premise holds."""
    return f"implies({write.write('bool', 1)}, {write.write('bool', 2)})"


def reason(write: Writer) -> str:
    """Write an answer that is a text where the property does not hold."""
    return f"{answer(write)} or 'that is wrong'"


def named(write: Writer) -> str:
    """Write named conjuncts."""
    return f"{{'one': {answer(write)}, 'other': {write.write('bool', 1)}}}"


def promised(write: Writer) -> str:
    """Write the two sides of a promise."""
    return f"{write.write('bool', 1)}, {write.write('bool', 2)}"


FORMS = (
    (answer, "bool"),
    (answer, "bool"),
    (implied, "bool"),
    (reason, "bool | str"),
    (named, "dict[str, bool]"),
)
"""What a property may answer, and what that is; all paths of one answer in the same form."""
