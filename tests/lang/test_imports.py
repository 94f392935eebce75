"""Imports inside of functions: which modules and names they bring."""

from __future__ import annotations

import os.path
import xml.dom.minidom
from collections.abc import Callable
from typing import Any

import pytest

from streamproof.lang.imports import imported_in
from tests.checker.support import counts
from tests.lang.support import zoo


def whole() -> Any:
    import xml.dom.minidom

    return xml


def renamed() -> Any:
    import xml.dom.minidom as parser

    return parser


def of_a_module() -> Any:
    from os.path import join
    from os.path import split as cut

    return join, cut


def of_its_package() -> Any:
    from . import zoo

    return zoo


def of_a_neighbour() -> Any:
    from ...checker.support import counts  # noqa: TID252 - a relative one is tried

    return counts


def of_nothing() -> Any:
    import no_such_module

    return no_such_module


@pytest.mark.parametrize(
    ("function", "local"),
    [
        (whole, {"xml": xml}),
        (renamed, {"parser": xml.dom.minidom}),
        (of_a_module, {"join": os.path.join, "cut": os.path.split}),
        (of_its_package, {"zoo": zoo}),
        (of_a_neighbour, {"counts": counts}),
        (of_nothing, {}),
    ],
)
def test_a_name_stands_for_what_was_imported(
    function: Callable[[], Any], local: dict[str, Any]
) -> None:
    found = imported_in(function.__code__, {"__package__": "tests.lang.support"})
    assert found.local == local


def test_all_modules_of_a_dotted_name_are_brought() -> None:
    (brought,) = imported_in(whole.__code__, {}).values.values()
    assert brought == (xml.dom.minidom, xml)
