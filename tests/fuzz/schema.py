"""The types of a random model: its domains, enums and records, its state and its constants.

A kind is what the text of an annotation says without its ranges: `int`, `Map[P, bool]`, `Box`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

DOMAINS = ("P", "Q")
ENUMS = {"Colour": ("RED", "GREEN", "BLUE"), "Only": ("ONE",)}
RECORDS = ("Box", "Crate")
FAR = 2**61
"""Numbers that are near the end of what 63 bits hold: what a state holds may be twice as large."""


class Impossible(Exception):
    """What was begun cannot be written in this model; another attempt is made."""


@dataclass(frozen=True)
class Bounds:
    """A declared range, and texts for both ends."""

    low: str
    high: str


@dataclass(frozen=True)
class Field:
    """A field of a record, of the state or of the model.

    Attributes
    ----------
    bounds : of the numbers in it, if they have a declared range
    """

    name: str
    kind: str
    bounds: Bounds | None = None

    @property
    def note(self) -> str:
        """Return the text of the annotation."""
        if self.bounds is None:
            return self.kind
        low, high = (part if part.lstrip("-").isdigit() else f'"{part}"' for part in self.ends)
        return self.kind.replace("int", f"Annotated[int, Range({low}, {high})]")

    @property
    def ends(self) -> tuple[str, str]:
        """Return both ends of the range."""
        assert self.bounds is not None
        return self.bounds.low, self.bounds.high


@dataclass
class Schema:
    """All types of one model.

    Attributes
    ----------
    sizes : elements of each domain
    records : fields by record; those of the state are listed under State
    constants : fields of the model besides its domains
    """

    sizes: dict[str, int]
    enums: dict[str, tuple[str, ...]]
    records: dict[str, list[Field]] = field(default_factory=dict)
    constants: list[Field] = field(default_factory=list)
    _paths: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def inhabited(self) -> list[str]:
        """List the domains with an element."""
        return [name for name, size in self.sizes.items() if size]

    def paths(self, kind: str) -> list[tuple[str, str]]:
        """List what can be read from a value of a kind: suffixes, with {P} for an element."""
        if kind not in self._paths:
            found = [("", kind)]
            if kind in self.records:
                for part in self.records[kind]:
                    found += [(f".{part.name}{end}", to) for end, to in self.paths(part.kind)]
            elif kind.startswith("Map["):
                keys, value = read_map(kind)
                at = ", ".join(f"{{{key}}}" for key in keys)
                found += [(f"[{at}]{end}", to) for end, to in self.paths(value)]
            self._paths[kind] = found
        return self._paths[kind]

    def bounds_of(self, record: str, name: str) -> Bounds | None:
        """Return the range of a field's numbers."""
        return next(part.bounds for part in self.records[record] if part.name == name)


def map_kind(keys: tuple[str, ...], value: str) -> str:
    """Write the kind of a map."""
    over = keys[0] if len(keys) == 1 else f"tuple[{', '.join(keys)}]"
    return f"Map[{over}, {value}]"


def read_map(kind: str) -> tuple[tuple[str, ...], str]:
    """Read the keys and the kind of the values from the kind of a map."""
    inner = kind[4:-1]
    if inner.startswith("tuple["):
        keys, _, value = inner[6:].partition("], ")
        return tuple(keys.split(", ")), value
    key, _, value = inner.partition(", ")
    return (key,), value


# ------------------------------------------------------------------------------------ drawing


def draw_schema(rng: Random) -> Schema:
    """Draw the types of a model."""
    names = DOMAINS[: rng.choice((1, 1, 2, 2, 2))]
    sizes = {name: rng.choice((1, 2, 2, 2, 2, 3, 3, 3)) for name in names}
    if rng.random() < 0.1:
        sizes[rng.choice(names)] = 0
    schema = Schema(sizes, {"Colour": ENUMS["Colour"]})
    if rng.random() < 0.25:
        schema.enums["Only"] = ENUMS["Only"]
    schema.constants = _constants(rng, schema)
    box = [_number(rng, "level"), Field("on", "bool")]
    if rng.random() < 0.4:
        box.append(_field(rng, schema, "inner", ("map",)))
    schema.records["Box"] = box
    if rng.random() < 0.35:
        schema.records["Crate"] = [
            Field("box", "Box"),
            _field(rng, schema, "tag", ("enum", "bool")),
        ]
    schema.records["State"] = _state(rng, schema)
    used = {kind for _, kind in schema.paths("State")}
    for name in RECORDS:
        if name not in used:
            schema.records.pop(name, None)
    return schema


def _constants(rng: Random, schema: Schema) -> list[Field]:
    found = [Field("top", "int")]
    if rng.random() < 0.4:
        found.append(Field("flag", "bool"))
    if rng.random() < 0.2:
        found.append(Field("shade", "Colour"))
    if rng.random() < 0.2 and schema.inhabited:
        found.append(Field("first", rng.choice(schema.inhabited)))
    if rng.random() < 0.4:
        found.append(Field("ready", map_kind((rng.choice(list(schema.sizes)),), "bool")))
    if rng.random() < 0.25:
        keys = tuple(rng.choices(list(schema.sizes), k=rng.choice((1, 2))))
        found.append(Field("cost", map_kind(keys, rng.choice(("int", "Colour")))))
    return found


def _state(rng: Random, schema: Schema) -> list[Field]:
    found = [_number(rng, "n")]
    shapes = ("int", "int", "bool", "enum", "element", "record", "map", "map", "map", "wide")
    more = "abc"[: rng.choice((1, 2, 2, 3, 3))]
    return [*found, *(_field(rng, schema, name, shapes) for name in more)]


def _field(rng: Random, schema: Schema, name: str, shapes: tuple[str, ...]) -> Field:
    match rng.choice(shapes):
        case "int":
            return Field(name, "int") if rng.random() < 0.3 else _number(rng, name)
        case "wide":
            return Field(name, "int", _wide(rng))
        case "enum":
            return Field(name, rng.choice(list(schema.enums)))
        case "element" if schema.inhabited:
            return Field(name, rng.choice(schema.inhabited))
        case "record" if schema.records:
            return Field(name, rng.choice(list(schema.records)))
        case "map":
            return _map(rng, schema, name)
        case _:
            return Field(name, "bool")


def _map(rng: Random, schema: Schema, name: str) -> Field:
    """Draw a map: of scalars, of records, of maps; the more keys, the simpler its values."""
    names = list(schema.sizes)
    keys = (rng.choice(names),)
    if rng.random() < 0.3:
        keys = tuple(rng.sample(names, 2) if len(names) > 1 else names * 2)
        keys = keys if rng.random() < 0.6 else keys[:1] * 2
    values = ["bool", "bool", "int", "int", *schema.enums, *schema.inhabited]
    if len(keys) == 1:
        values += [*schema.records] * 2
        values += [
            map_kind((rng.choice(list(schema.sizes)),), rng.choice(("bool", "int", "int")))
        ] * 3
    kind = map_kind(keys, rng.choice(values))
    return Field(name, kind, _narrow(rng) if kind.endswith(" int]") or " int]]" in kind else None)


def _number(rng: Random, name: str) -> Field:
    return Field(name, "int", _narrow(rng))


def _narrow(rng: Random) -> Bounds:
    return rng.choice(
        [Bounds("0", "2")] * 3
        + [Bounds("0", "top")] * 3
        + [Bounds("-1", "1"), Bounds("-1", "2"), Bounds("-3", "-1"), Bounds("1", "3")]
        + [Bounds("0", "1"), Bounds("2", "2")]
    )


def _wide(rng: Random) -> Bounds:
    """Draw a range that takes many bits."""
    return rng.choice(
        [
            Bounds(str(-FAR), str(FAR)),
            Bounds("0", str(2**61 - 1)),
            Bounds(str(FAR - 2), str(FAR)),
            Bounds(str(-FAR), str(2 - FAR)),
            Bounds("-1", str(2**40)),
        ]
    )


# --------------------------------------------------------------------------------------- text

IMPORTS = """\
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated

from streamproof.lang import *
"""


def write_types(schema: Schema) -> str:
    """Write the types, and what helps to keep numbers in their range."""
    parts = [IMPORTS]
    parts += [f"class {name}(Element): ...\n" for name in schema.sizes]
    for name, members in schema.enums.items():
        lines = "\n".join(f"    {member} = {member.lower()!r}" for member in members)
        parts.append(f"class {name}(Enum):\n{lines}\n")
    for name, fields in schema.records.items():
        lines = "\n".join(f"    {part.name}: {part.note}" for part in fields)
        parts.append(f"@dataclass(frozen=True)\nclass {name}:\n{lines}\n")
    return "\n\n".join(parts)


def write_head(schema: Schema, name: str) -> str:
    """Write the head of the model's class, with its fields."""
    lines = [f"@dataclass(frozen=True)\nclass {name}(Model[State]):"]
    lines += [f"    {domain.lower()}s: Domain[{domain}]" for domain in schema.sizes]
    lines += [f"    {part.name}: {part.note}" for part in schema.constants]
    return "\n".join(lines)


def write_instance(rng: Random, schema: Schema) -> str:
    """Write the model at a size, with drawn constants. Half of them tell no elements apart."""
    alike = rng.random() < 0.5
    parts = [f"Domain({name}, {size})" for name, size in schema.sizes.items()]
    parts += [_constant(rng, schema, part, alike=alike) for part in schema.constants]
    return f"MODEL = M({', '.join(parts)})"


def _constant(rng: Random, schema: Schema, part: Field, *, alike: bool) -> str:
    match part.kind:
        case "int":
            return str(rng.choice((1, 1, 2, 2, 2, 3)))
        case "bool":
            return str(rng.random() < 0.5)
        case "Colour":
            return f"Colour.{rng.choice(ENUMS['Colour'])}"
        case kind if kind in schema.sizes:
            return f"{kind}({rng.randrange(schema.sizes[kind])})"
    keys, value = read_map(part.kind)
    over = ", ".join(f"Domain({key}, {schema.sizes[key]})" for key in keys)
    options = {"bool": ["True", "False"], "int": ["0", "1", "2", "-1"]}
    values = options.get(value) or [f"Colour.{member}" for member in ENUMS["Colour"]]
    if alike:
        return f"Map.fill({over}, {rng.choice(values)})"
    names = [f"k{number}" for number in range(len(keys))]
    table = ", ".join(rng.choices(values, k=4))
    place = " + ".join(f"{name}.index" for name in names)
    return f"Map.build({over}, lambda {', '.join(names)}: [{table}][({place}) % 4])"
