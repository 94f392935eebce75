"""Random expressions of a kind, over what is in scope: as text, of any depth."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.schema import FAR, Bounds, Field, read_map
from tests.fuzz.scope import Helper, Scope

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Writer(Scope):
    """Writes expressions."""

    # ------------------------------------------------------------------------------ any kind

    def write(self, kind: str, depth: int) -> str:
        """Write an expression."""
        if depth <= 0 or self.rng.random() < 0.12:
            return self.simple(kind)
        if self.rng.random() < 0.1:
            return self.choice(kind, depth)
        callable_ = [part for part in self.helpers if part.kind == kind and "s" in self.names]
        if callable_ and self.rng.random() < 0.2:
            return self.call(self.rng.choice(callable_))
        match kind:
            case "bool":
                return self.truth(depth)
            case "int":
                return self.number(depth)
            case _ if kind.startswith("Map["):
                return self.map(kind, depth)
            case _ if kind in self.schema.records:
                return self.record(kind, depth)
            case _:
                return self.simple(kind)

    def choice(self, kind: str, depth: int) -> str:
        """Write a conditional expression."""
        one, other = self.write(kind, depth - 1), self.write(kind, depth - 1)
        return f"({one} if {self.write('bool', depth - 1)} else {other})"

    def call(self, helper: Helper) -> str:
        """Call a helper method."""
        arguments = "".join(f", {self.element(sort)}" for sort in helper.parameters)
        return f"self.{helper.name}(s{arguments})"

    def simple(self, kind: str) -> str:
        """Read something, or write a literal."""
        text = self.read(kind) if self.rng.random() < 0.75 else None
        return text or self.literal(kind)

    def literal(self, kind: str, depth: int = 0) -> str:
        """Write a value that does not depend on the state."""
        match kind:
            case "bool":
                return self.read(kind) or str(self.rng.random() < 0.5)
            case "int":
                return str(self.rng.choice((0, 0, 1, 1, 1, 2, 2, -1, 3)))
            case _ if kind in self.schema.enums:
                return f"{kind}.{self.rng.choice(self.schema.enums[kind])}"
            case _ if kind in self.schema.records:
                parts = [self.within(part.kind, depth, part.bounds) for part in self.of(kind)]
                return f"{kind}({', '.join(parts)})"
            case _ if kind.startswith("Map["):
                keys, value = read_map(kind)
                return f"Map.fill({self.domains(keys)}, {self.literal(value, depth)})"
            case _:
                return self.element(kind)

    # --------------------------------------------------------------------------- truth values

    def truth(self, depth: int) -> str:
        """Write a truth value."""
        options: list[Callable[[int], str]] = [self.junction] * 3 + [self.compared] * 4
        options += [self.quantified] * 3 + [self.negated, self.equal, self.equal, self.member]
        options += [self.chained, self.symbols, self.implied, self.tested]
        return self.rng.choice(options)(depth - 1)

    def negated(self, depth: int) -> str:
        return f"(not {self.write('bool', depth)})"

    def junction(self, depth: int) -> str:
        one, word = self.write("bool", depth), self.rng.choice(("and", "or"))
        return f"({one} {word} {self.unlike(one, lambda: self.write('bool', depth))})"

    def symbols(self, depth: int) -> str:
        """Join by & and |, which Python does not cut short."""
        one, other = self.compared(depth), self.write("bool", depth)
        one, other = self.rng.choice(((one, other), (other, one)))
        return f"({one} {self.rng.choice('&|')} {other})"

    def compared(self, depth: int) -> str:
        one = self.number(depth)
        other = self.unlike(one, lambda: self.write("int", depth))
        return f"({one} {self.rng.choice(COMPARISONS)} {other})"

    def chained(self, depth: int) -> str:
        parts = [self.write("int", depth - 1) for _ in range(3)]
        one, two = self.rng.choices(COMPARISONS[:5], k=2)
        return f"({parts[0]} {one} {parts[1]} {two} {parts[2]})"

    def equal(self, depth: int) -> str:
        """Compare two values of any kind that can be read."""
        kinds = [*self.schema.enums, *self.schema.inhabited, *[*self.schema.records] * 2]
        kinds += [kind for _, kind in self.schema.paths("State") if kind.startswith("Map[")][:2]
        kind = self.rng.choice([kind for kind in kinds if kind != "State"] + ["bool"])
        one = self.read(kind)
        if one is None:
            return self.compared(depth)
        other = self.unlike(one, lambda: self.write(kind, min(depth, 1)))
        return f"({one} {self.rng.choice(('==', '==', '!='))} {other})"

    def member(self, depth: int) -> str:
        """Look for a value among some."""
        kind = self.rng.choice([*self.schema.enums, *self.schema.inhabited, "int"])
        one = self.read(kind)
        if one is None:
            return self.compared(depth)
        among = (
            self.unlike(one, lambda: self.simple(kind)) for _ in range(self.rng.choice((2, 3)))
        )
        others = ", ".join(among)
        return f"({one} {self.rng.choice(('in', 'in', 'not in'))} ({others}))"

    def implied(self, depth: int) -> str:
        """Write an implication; now and then one that is not asked everywhere."""
        asked = f"implies({self.write('bool', depth)}, {self.write('bool', depth)})"
        if self.rng.random() < 0.4:
            return f"({asked} if {self.write('bool', depth)} else {self.rng.random() < 0.7})"
        return asked

    def tested(self, depth: int) -> str:
        """Ask a number for its truth, which is that it is not 0."""
        return f"bool({self.number(depth)})"

    def quantified(self, depth: int) -> str:
        """Quantify over domains, or the keys of a map."""
        kind = self.rng.choice(("forall", "exists"))
        over, inner = self.ranging(depth)
        roll = self.rng.random()
        if depth > 0 and roll < 0.25:
            test = f"{inner.counted(depth - 1)} {self.rng.choice(COMPARISONS)} {inner.number(0)}"
            return f"{kind}({over}: {test})"
        if roll < 0.4:
            return f"{kind}({over}: {inner.implied(depth)})"
        if roll < 0.48:
            return f"{kind}({over}: {self.rng.random() < 0.5})"  # which asks for an element
        return f"{kind}({over}: {inner.write('bool', depth)})"

    def ranging(self, depth: int) -> tuple[str, Writer]:
        """Write what a quantifier ranges over, and go into its lambda."""
        maps = [text for text in self.map_reads() if "{" not in text[0]]
        if maps and self.rng.random() < 0.25:
            text, kind = self.rng.choice(maps)
            keys = read_map(kind)[0]
        else:
            keys = tuple(self.rng.choices(list(self.schema.sizes), k=2 if depth > 1 else 1))
            keys = keys[: self.rng.choice((1, 1, 2))]
            text = self.domains(keys)
        names = {self.fresh(key.lower()): key for key in keys}
        return f"{text}, lambda {', '.join(names)}", self.inner(names)

    # -------------------------------------------------------------------------------- numbers

    def number(self, depth: int) -> str:
        """Write a number."""
        if depth <= 0:
            return self.read("int") or self.literal("int")
        sums: list[Callable[[int], str]] = [self.sum] * 5 + [self.counted] * 2
        sums += [self.product, self.least, self.opposite]
        return self.rng.choice(sums)(depth - 1)

    def sum(self, depth: int) -> str:
        one, other = self.number(depth), self.write("int", depth)
        if self.rng.random() < 0.2:
            one, other = other, one
        return f"({one} {self.rng.choice('++-')} {other})"

    def product(self, depth: int) -> str:
        factor = self.rng.choice(("2", "2", "3", "-1", "0", self.number(0)))
        parts = [factor, self.number(depth)]
        self.rng.shuffle(parts)
        return f"({parts[0]} * {parts[1]})"

    def opposite(self, depth: int) -> str:
        return f"(-{self.number(depth)})"

    def least(self, depth: int) -> str:
        word = self.rng.choice(("min", "max"))
        return f"{word}({self.number(depth)}, {self.write('int', depth)})"

    def counted(self, depth: int) -> str:
        over, inner = self.ranging(depth)
        return f"count({over}: {inner.write('bool', depth)})"

    def within(self, kind: str, depth: int, bounds: Bounds | None) -> str:
        """Write a value of a field, whose numbers mostly stay in their range."""
        if kind != "int":
            return self.write(kind, depth) if depth else self.simple(kind)
        low, high = (bounds.low, bounds.high) if bounds else ("-2", "4")
        low, high = (f"self.{end}" if end == "top" else end for end in (low, high))
        far = "top" not in low + high and max(abs(int(low)), abs(int(high))) > 100
        if far and self.rng.random() < 0.6:
            near = self.rng.choice((low, high, str(FAR - 1), "0", "-1"))
            if "self" not in near and int(low) <= int(near) <= int(high):
                return near
        if self.rng.random() < 0.3:
            return self.rng.choice((low, high))
        text = self.number(depth)
        if self.is_loose and self.rng.random() < 0.5:
            return text
        if self.at_top and depth and self.rng.random() < 0.7:
            return f"kept({text}, {low}, {high})"
        if self.rng.random() < 0.04:
            return text
        return f"min(max({text}, {low}), {high})"

    # ------------------------------------------------------------------------ records and maps

    def record(self, kind: str, depth: int) -> str:
        """Write a record: changed in some fields, or made."""
        old = self.read(kind)
        if old is None or self.rng.random() < 0.2:
            return self.literal(kind, depth - 1)
        return self.changed(old, kind, depth - 1)

    def changed(self, old: str, kind: str, depth: int) -> str:
        """Change some fields of a record."""
        fields = self.rng.sample(
            self.of(kind), k=min(len(self.of(kind)), self.rng.choice((1, 1, 2)))
        )
        parts = [f"{part.name}={self.value(old, part, depth)}" for part in fields]
        return f"replace({old}, {', '.join(parts)})"

    def value(self, old: str, part: Field, depth: int) -> str:
        """Write a new value of a field, often near to the old one."""
        here, roll = f"{old}.{part.name}", self.rng.random()
        if part.kind == "bool" and roll < 0.5:
            return f"not {here}"
        if part.kind == "int" and roll < 0.6 and part.bounds and self.at_top:
            low, high = (f"self.{end}" if end == "top" else end for end in part.ends)
            if self.is_loose and self.rng.random() < 0.5:
                return f"{here} {self.rng.choice('+-')} 1"
            return f"kept({here} {self.rng.choice('++-')} 1, {low}, {high})"
        return self.within(part.kind, max(depth, 1), part.bounds)

    def map(self, kind: str, depth: int) -> str:
        """Write a map: changed at a key, or everywhere, or made."""
        keys, value = read_map(kind)
        old = self.read(kind)
        bounds = self.bounds_in(kind)
        roll = self.rng.random()
        if old is None or roll < 0.1:
            names = {self.fresh(key.lower()): key for key in keys}
            made = self.inner(names).within(value, depth - 1, bounds)
            return f"Map.build({self.domains(keys)}, lambda {', '.join(names)}: {made})"
        if roll < 0.14:
            return f"Map.fill({self.domains(keys)}, {self.within(value, depth - 1, bounds)})"
        if roll < (0.45 if value == "int" else 0.34):
            return self.mapped(old, keys, value, depth, bounds)
        at = ", ".join(self.element(key) for key in keys)
        here = f"{old}[{at}]"
        if value in self.schema.records and self.rng.random() < 0.7:
            return f"{old}.set({self.key(at)}, {self.changed(here, value, depth - 1)})"
        if value.startswith("Map[") and self.rng.random() < 0.7:
            (inner,), to = read_map(value)
            new = self.within(to, depth - 1, bounds)
            return f"{old}.set({self.key(at)}, {here}.set({self.element(inner)}, {new}))"
        if value == "bool" and self.rng.random() < 0.5:
            return f"{old}.set({self.key(at)}, not {here})"
        return f"{old}.set({self.key(at)}, {self.within(value, depth - 1, bounds)})"

    def key(self, at: str) -> str:
        return f"({at})" if "," in at else at

    def mapped(self, old: str, keys: tuple[str, ...], value: str, depth: int, bounds) -> str:
        """Change a map at every key."""
        here = self.fresh("v")
        if self.rng.random() < 0.4:
            return f"{old}.map(lambda {here}: {self.of_value(here, value, {}, depth, bounds)})"
        names = {self.fresh(key.lower()): key for key in keys}
        new = self.of_value(here, value, names, depth, bounds)
        return f"{old}.map_items(lambda {', '.join(names)}, {here}: {new})"

    def of_value(self, here: str, value: str, names: dict[str, str], depth: int, bounds) -> str:
        """Write a new value in terms of the old one; now and then with a claim about it."""
        inner = self.inner({**names, here: value})
        roll = self.rng.random()
        if value == "int" and self.may_claim and roll < 0.6:
            return inner.claiming(here, depth, bounds)
        if value in self.schema.records:
            new = inner.changed(here, value, depth - 1)
            return f"({new} if {inner.truth(1)} else {here})" if roll < 0.4 else new
        if value.startswith("Map[") and roll < 0.75:
            keys, to = read_map(value)
            new = inner.mapped(here, keys, to, depth - 1, bounds)
            if roll < 0.3:
                return f"({new} if {inner.truth(1)} else {here})"
            if roll < 0.5 and to == "int" and self.may_claim:
                # What is claimed of the inner values holds on this path, and on no other.
                low, key, part = self.rng.choice(("0", "1")), self.fresh("k"), self.fresh("w")
                asked = f"forall({here}, lambda {key}: {here}[{key}] >= {low})"
                new = f"{here}.map(lambda {part}: {self.moved(part, low, bounds)})"
                return f"({new} if {asked} else {here})"
            return new
        return inner.within(value, depth - 1, bounds)

    def claiming(self, here: str, depth: int, bounds: Bounds | None) -> str:
        """Write a number of which something is claimed, on a path on which it mostly holds."""
        low = self.rng.choice(("0", "1", "0", bounds.low if bounds else "-2"))
        if self.rng.random() < 0.6:
            return f"({self.moved(here, low, bounds)} if {here} >= {low} else {here})"
        claimed = f"claimed({self.within('int', depth - 1, bounds)}, {low})"
        return f"({claimed} if {self.truth(1)} else {here})"

    def moved(self, here: str, low: str, bounds: Bounds | None) -> str:
        """Change a number by one, of which something is claimed."""
        least, most = (bounds.low, bounds.high) if bounds else ("-2", "4")
        if self.rng.random() < 0.5:
            return f"max(claimed({here}, {low}) - 1, {least})"
        return f"min(claimed({here}, {low}) + 1, {'self.top' if most == 'top' else most})"
