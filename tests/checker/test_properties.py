"""Properties: what each kind of answer means, and which answers are refused."""

from __future__ import annotations

import pytest

from streamproof.checker.properties import Broken, judge
from streamproof.lang import WrongDefinition
from streamproof.lang.model import Call

CALL = Call("bounded", (), ())


@pytest.mark.parametrize(
    ("answer", "broken"),
    [
        (True, None),
        (False, Broken("bounded", "bounded() does not hold")),
        ("too large", Broken("bounded", "too large")),
        ({"a": True, "b": True}, None),
        ({"a": True, "b": "late"}, Broken("bounded", "late", ("b",))),
        ({"a": False}, Broken("bounded", "bounded.a() does not hold", ("a",))),
    ],
    ids=["true", "false", "reason", "conjuncts-hold", "conjunct-reason", "conjunct-false"],
)
def test_an_answer_is_read(answer, broken):
    assert judge(CALL, answer) == broken


def test_a_reason_names_the_arguments_of_its_property():
    assert judge(Call("fits", (3,), ("k",)), "no").reason == "fits(k=3): no"


@pytest.mark.parametrize("answer", [None, 1, "", {}, {"a": None}, [True]], ids=repr)
def test_an_answer_that_says_nothing_is_refused(answer):
    with pytest.raises(WrongDefinition, match="Return True, False, a reason"):
        judge(CALL, answer)
