"""A model with one action for each way of writing Python that the tracer must follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    action,
    always,
    assume,
    count,
    every_step,
    exists,
    final,
    forall,
    implies,
    init,
    leads_to,
    require,
    sometimes,
)


class Cage(Element):
    pass


class Keeper(Element):
    pass


class Mood(Enum):
    CALM = "calm"
    HUNGRY = "hungry"
    WILD = "wild"


@dataclass(frozen=True)
class Animal:
    mood: Mood
    age: int
    fed_by: Keeper
    visits: Map[Keeper, int]


@dataclass(frozen=True)
class Park:
    animals: Map[Cage, Animal]
    open: bool
    day: int
    chief: Keeper
    friends: Map[tuple[Cage, Cage], bool]
    plans: Map[Keeper, Map[Cage, Mood]]


@dataclass(frozen=True)
class Zoo(Model[Park]):
    cages: Domain[Cage]
    keepers: Domain[Keeper]
    days: int
    locked: Map[Cage, bool]

    @init
    def start(self, chief: Keeper) -> Park:
        visits = Map.fill(self.keepers, 0)
        animals = Map.build(
            self.cages,
            lambda c: Animal(Mood.WILD if self.locked[c] else Mood.CALM, 1, chief, visits),
        )
        friends = Map.build(self.cages, self.cages, lambda a, b: a == b)
        plans = Map.fill(self.keepers, Map.fill(self.cages, Mood.CALM))
        return Park(animals, False, 0, chief, friends, plans)

    @assume
    def days_are_counted(self) -> bool:
        return self.days >= 0

    # ------------------------------------------------------------------- branches

    @action
    def if_elif_else(self, s: Park, c: Cage) -> Park:
        age = s.animals[c].age
        if age < 0:
            day = 0
        elif age == 0 and not s.open:
            day = s.day + 1
        elif s.open or self.locked[c]:
            day = s.day - 1
        else:
            day = -s.day
        return replace(s, day=day)

    @action
    def matched(self, s: Park, c: Cage) -> Park:
        match s.animals[c]:
            case Animal(mood=Mood.CALM | Mood.HUNGRY, age=0):
                return replace(s, day=1)
            case Animal(mood=Mood.WILD, age=age) if age > 1:
                return replace(s, day=age)
            case Animal(fed_by=keeper):
                return replace(s, chief=keeper)

    @action
    def early_return(self, s: Park, c: Cage) -> Park:
        if self.locked[c]:
            return s
        require(s.open)
        if s.animals[c].age != 1:
            return replace(s, open=False)
        return replace(s, day=2 * s.day + s.day * s.animals[c].age)

    @action
    def chained_comparison(self, s: Park, c: Cage) -> Park:
        require(0 <= s.animals[c].age < s.day <= 2)
        return replace(s, day=10 - s.day)

    @action
    def membership(self, s: Park, c: Cage) -> Park:
        require(s.animals[c].mood in (Mood.CALM, Mood.WILD))
        require(s.day not in (0, 2))
        return replace(s, open=s.animals[c].mood in (Mood.WILD, Mood.HUNGRY))

    @action
    def truth_of_a_number(self, s: Park) -> Park:
        return replace(s, open=bool(s.day), day=s.day or 5)

    @action
    def junctions(self, s: Park, c: Cage, k: Keeper) -> Park:
        calm = s.animals[c].mood == Mood.CALM
        both = s.open & calm
        either = (s.chief == k) | both
        require((either and not (calm and s.day > 1)) or s.day == -1)
        return replace(s, open=True & either)

    @action
    def all_enum_members(self, s: Park, c: Cage) -> Park:
        mood = s.animals[c].mood
        if mood == Mood.CALM:
            return replace(s, day=0)
        if mood == Mood.HUNGRY:
            return replace(s, day=1)
        assert mood == Mood.WILD
        return replace(s, day=2)

    @action
    def plain_loop(self, s: Park, c: Cage) -> Park:
        day = s.day
        for mood in Mood:
            if s.animals[c].mood != mood:
                day += 1
        return replace(s, day=day)

    # ------------------------------------------------------------------- claims

    @action
    def claim(self, s: Park, c: Cage) -> Park:
        require(s.open)
        assert s.animals[c].age >= 0, "ages are counted"
        return replace(s, open=False)

    @action
    def claim_in_a_map(self, s: Park) -> Park:
        def older(animal: Animal) -> Animal:
            assert animal.age > -1
            return replace(animal, age=animal.age + 1)

        return replace(s, animals=s.animals.map(older))

    @action
    def claim_behind_a_branch(self, s: Park, c: Cage) -> Park:
        if s.day == 1:
            assert not self.locked[c]
        return replace(s, day=0)

    @action
    def claim_in_a_nested_lambda(self, s: Park) -> Park:
        def calmed(mood: Mood) -> Mood:
            assert mood != Mood.WILD
            return Mood.CALM if mood == Mood.HUNGRY else Mood.HUNGRY

        return replace(s, plans=s.plans.map(lambda plan: plan.map(calmed)))

    # ------------------------------------------------------------------- maps and quantifiers

    @action
    def record_in_a_map(self, s: Park, c: Cage, k: Keeper) -> Park:
        old = s.animals[c]
        new = replace(old, fed_by=k, visits=old.visits.set(k, old.visits[k] + 1))
        return replace(s, animals=s.animals.set(c, new))

    @action
    def map_in_a_map(self, s: Park, c: Cage, k: Keeper) -> Park:
        plan = s.plans[k].set(c, Mood.HUNGRY)
        return replace(s, plans=s.plans.set(k, plan).set(s.chief, s.plans[k]))

    @action
    def set_twice(self, s: Park, c: Cage, k: Keeper) -> Park:
        animals = s.animals.set(c, replace(s.animals[c], age=7))
        return replace(s, animals=animals.set(c, replace(animals[c], fed_by=k)))

    @action
    def set_to_itself(self, s: Park, c: Cage) -> Park:
        require(s.open)
        return replace(s, animals=s.animals.set(c, s.animals[c]))

    @action
    def branches_in_a_map(self, s: Park, c: Cage) -> Park:
        def fed(here: Cage, animal: Animal) -> Animal:
            if here == c and animal.mood != Mood.CALM:
                return replace(animal, mood=Mood.CALM)
            if animal.age > 1 or s.open:
                return replace(animal, age=0)
            return animal

        return replace(s, animals=s.animals.map_items(fed))

    @action
    def two_keys(self, s: Park, c: Cage) -> Park:
        def meet(a: Cage, b: Cage, friends: bool) -> bool:
            return friends or (a == c and s.friends[b, a])

        return replace(s, friends=s.friends.map_items(meet).set((c, c), False))

    @action
    def nested_lambdas(self, s: Park, k: Keeper) -> Park:
        return replace(
            s,
            plans=s.plans.map_items(
                lambda here, plan: plan.map_items(
                    lambda c, mood: s.animals[c].mood if here == k else mood
                )
            ),
        )

    @action
    def built_anew(self, s: Park, k: Keeper) -> Park:
        lonely = Map.build(self.cages, lambda c: not exists(s.friends, lambda a, b: a == c != b))
        visits = Map.fill(self.keepers, 3).set(k, 0)
        animals = s.animals.map(lambda animal: replace(animal, visits=visits))
        return replace(s, animals=animals, open=forall(self.cages, lambda c: lonely[c]))

    @action
    def maps_compared(self, s: Park, k: Keeper) -> Park:
        require(s.plans[k] == s.plans[s.chief])
        return replace(s, open=s.animals != s.animals.map(lambda a: replace(a, age=1)))

    @action
    def constant_maps_compared(self, s: Park) -> Park:
        ones = Map.fill(self.cages, 1)
        require(ones == Map.build(self.cages, lambda _: 1) and ones != 1)
        ages = s.animals.map(lambda animal: animal.age)
        return replace(s, open=ones == ages, day=s.day + (1 if ages != ones else 0))

    @action
    def pairs_in_a_map(self, s: Park, c: Cage) -> Park:
        pairs = s.animals.map(lambda a: (a.age, a.mood) if s.open else (0, Mood.CALM))
        age, mood = pairs[c]
        return replace(s, day=age if mood == Mood.CALM else -1)

    @action
    def records_compared(self, s: Park, c: Cage) -> Park:
        require(exists(self.cages, lambda d: c != d and s.animals[c] == s.animals[d]))
        return replace(s, day=0)

    @action
    def quantifiers_in_a_branch(self, s: Park, c: Cage) -> Park:
        if exists(self.keepers, lambda k: s.animals[c].visits[k] > 1):
            return replace(s, day=0)
        if forall(self.keepers, lambda k: implies(k == s.chief, s.plans[k][c] == Mood.WILD)):
            return replace(s, day=1)
        return replace(s, day=2)

    @action(fairness=Fairness.STRONG)
    def counted(self, s: Park) -> Park:
        wild = count(s.animals, lambda c: s.animals[c].mood == Mood.WILD)
        return replace(s, day=wild + count(self.cages, self.keepers, lambda c, k: self.locked[c]))

    @action
    def nothing(self, s: Park) -> Park:
        return s

    # ------------------------------------------------------------------- properties

    @always
    def named_conjuncts(self, s: Park) -> dict[str, bool | str]:
        return {
            "young": forall(self.cages, lambda c: s.animals[c].age < 2),
            "explained": True if s.open else "the park is closed",
        }

    @always
    def open_or_a_reason(self, s: Park) -> bool | str:
        if s.open:
            return True
        return "closed" if s.day > 0 else "not yet open"

    @always
    def with_parameters(self, s: Park, c: Cage, k: Keeper) -> bool:
        return implies(s.animals[c].fed_by == k, s.animals[c].visits[k] > 0)

    @every_step
    def time_passes(self, before: Park, after: Park) -> bool:
        return before.day <= after.day or before == after

    @sometimes
    def opens(self, s: Park) -> bool:
        return s.open

    @leads_to
    def hunger_is_fed(self, s: Park, c: Cage) -> tuple[bool, bool]:
        return s.animals[c].mood == Mood.HUNGRY, s.animals[c].mood == Mood.CALM

    @final
    def over(self, s: Park) -> bool:
        return s.day == self.days


class QuietZoo(Zoo):
    """An override without a decorator keeps the role; one with a decorator changes it."""

    def nothing(self, s: Park) -> Park:
        return replace(s, day=self.days)

    @sometimes
    def time_passes(self, s: Park) -> bool:  # type: ignore[override]
        return s.day > 0
