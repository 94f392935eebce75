"""A choice may be typed as Spark users do: as the text of its value, in any case."""

from __future__ import annotations

import pytest

from streamproof.spark_bindings import JavaChoice, OutputMode, Replay
from streamproof.spark_bindings.arguments import member_of
from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.sunion import Policy

KINDS = [JavaChoice, OutputMode, Policy, Replay]


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_is_given_as_itself_or_by_its_value(kind) -> None:
    for member in kind:
        for given in (member, member.value, member.value.upper()):
            assert member_of("f", "x", given, kind) is member


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_value_is_refused_with_those_that_are(kind) -> None:
    for given in ("", "nonsense", None, 1, True, [], object):
        with pytest.raises(WrongArgument, match="f was given x=") as refused:
            member_of("f", "x", given, kind)
        assert all(f'"{member.value}"' in str(refused.value) for member in kind)
