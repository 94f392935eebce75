"""What 0.1.0's certificate has missed: a change of the files, or of what is loaded of them.

Each change is made to a certified protocol, and must be refused at the next start.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamproof
from streamproof.certified.loaded import replaced
from streamproof.certified.record import DIRECTORY_VARIABLE
from streamproof.certified.same import _OF_THE_CLASS, _OF_THE_IMPORT
from streamproof.certified.sources import sources_of
from streamproof.lang import Map
from streamproof.lang import domain as lang_domain
from streamproof.lang import map as lang_map
from streamproof.lang.declared import show_declared
from streamproof.lang.digest import protocol_text
from streamproof.protocols import chandy_lamport
from streamproof.spark_bindings.certificate import check_certificate
from streamproof.spark_bindings.errors import UnverifiedProtocol
from streamproof.spark_bindings.snapshots import chandy_lamport as binding
from tests.certified.zoo import installed
from tests.support.stamped import stamp


@pytest.fixture(autouse=True)
def certificates(tmp_path, monkeypatch):
    """A directory of certificates of what is there when a test begins."""
    # Python would take a file of the same second and length for the one that it has compiled.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    directory = tmp_path / "certificates"
    directory.mkdir()
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(directory))
    stamp("chandy_lamport", directory)
    (tmp_path / "code").mkdir()
    with installed(tmp_path / "code"):
        stamp("zoo", directory)
    return directory


ON_DISK = {
    "edited_default": ("protocol", "first: int = 0", "first: int = 1"),
    "keyword_only_default": ("protocol", "least=2", "least=3"),
    "added_member": ("protocol", '    WILD = "wild"\n', '    WILD = "wild"\n    SHY = "shy"\n'),
    "value_of_a_member": ("protocol", 'WILD = "wild"', 'WILD = "Wild"'),
    "alias_of_a_member": ("protocol", 'TAME = "calm"', 'TAME = "wild"'),
    "property_of_an_enum": ("protocol", "self is Mood.CALM", "self is Mood.WILD"),
    "default_of_a_field": ("protocol", "mood: Mood = Mood.CALM", "mood: Mood = Mood.WILD"),
    "default_factory": ("protocol", "lambda: 7", "lambda: 8"),
    "post_init": ("protocol", "made = 1\n", "object.__setattr__(self, 'high', 0)\n"),
    "no_post_init": (
        "protocol",
        "    def __post_init__(self):\n        made = 1\n",
        "",
    ),
    "equality": ("protocol", "self.count == other.count", "self.count >= other.count"),
    "hash": ("protocol", "return 1\n", "return 2\n"),
    "property_of_a_record": ("protocol", "return self.held > 0", "return self.held > 1"),
    "class_attribute": ("protocol", "weight = 2", "weight = 3"),
    "class_method": ("protocol", "cls.weight > 1", "cls.weight > 2"),
    "static_method": ("protocol", "return False", "return True"),
    "other_base": ("protocol", "class Extra(Base, ", "class Extra("),
    "private_function": ("protocol", "lease.held + by", "lease.held - by"),
    "partial": ("protocol", "partial(_added, 1)", "partial(_added, 2)"),
    "constant": ("protocol", "STEP = 1\n", "STEP = 2\n"),
    "type_of_a_constant": ("protocol", "STEP = 1\n", "STEP = True\n"),
    "set_constant": ("protocol", '{"a", "b"}', '{"a", "c"}'),
    "decorator_left_out": ("protocol", "@gently\n", ""),
    "frozen_left_out": (
        "protocol",
        "@dataclass(frozen=True)\nclass Taken",
        "@dataclass\nclass Taken",
    ),
    "wrapper": ("helper", "count + step - 1", "count + step"),
    "variable_of_a_wrapper": ("helper", "step = 1", "step = 2"),
    "helper": ("helper", "min(count, LIMIT)", "max(count, LIMIT)"),
    "global_of_a_helper": ("helper", "LIMIT = 3", "LIMIT = 4"),
    "table_of_a_helper": ("helper", "[1, 2]", "[2, 1]"),
    "metaclass": ("helper", "return super().__call__(*arguments, **named)", "return None"),
    "init_subclass": ("helper", '"base"', '"other"'),
}


@pytest.mark.parametrize("case", ON_DISK)
def test_an_edited_file_is_refused(case, tmp_path):
    where, before, after = ON_DISK[case]

    def edit(protocol, helper):
        text = protocol if where == "protocol" else helper
        assert text.count(before) == 1
        edited = text.replace(before, after)
        return (edited, helper) if where == "protocol" else (protocol, edited)

    with installed(tmp_path / "code", edit):
        module = "streamproof.protocols.zoo" if where == "protocol" else "zoo_helper"
        with pytest.raises(UnverifiedProtocol, match=rf"changed after .*{module}: certificate"):
            check_certificate("zoo")


SHOWN = (
    "edited_default keyword_only_default added_member value_of_a_member alias_of_a_member"
    " property_of_an_enum default_of_a_field default_factory post_init no_post_init equality hash"
    " property_of_a_record class_attribute class_method static_method other_base constant"
    " set_constant decorator_left_out wrapper"
)


@pytest.mark.parametrize("case", SHOWN.split())
def test_the_text_that_is_hashed_shows_what_is_declared(case, tmp_path):
    where, before, after = ON_DISK[case]
    with installed(tmp_path / "code"):
        text = protocol_text(zoo())

    def edit(protocol, helper):
        if where == "protocol":
            return protocol.replace(before, after), helper
        return protocol, helper.replace(before, after)

    with installed(tmp_path / "code", edit):
        assert protocol_text(zoo()) != text


def test_a_factory_is_shown_where_its_field_is_declared(tmp_path):
    """What is traced shows it, too; of a field that nothing traced makes, nothing else would."""

    def edit(protocol, helper):
        return protocol.replace("lambda: 7", "lambda: 8"), helper

    with installed(tmp_path / "code"):
        text = show_declared(zoo())
    with installed(tmp_path / "code", edit):
        assert show_declared(zoo()) != text


def test_comments_layout_and_docstrings_do_not_count(tmp_path):
    def edit(protocol, helper):
        told = protocol.replace("# The least", "# The very least").replace("A lease", "One lease")
        return told.replace("(first: int = 0)", "(\n    first: int = 0,\n)"), helper + "\n# end\n"

    with installed(tmp_path / "code", edit):
        check_certificate("zoo")


def other_take(lease, count):
    return lease, ()


def zoo():
    return importlib.import_module("streamproof.protocols.zoo")


def replace_code(patch):
    patch.setattr(zoo()._level, "__code__", (lambda lease, *, least=2: 0).__code__)


def replace_by_a_wrapper(patch):
    own = zoo().take

    @functools.wraps(own)
    def traced(*arguments):
        return own(*arguments)

    patch.setattr(zoo(), "take", traced)


def add_a_member(patch):
    member = object.__new__(zoo().Mood)
    member._value_, member._name_ = "shy", "SHY"
    patch.setitem(zoo().Mood._member_map_, "SHY", member)


LOADED = {
    "function": lambda patch: patch.setattr(zoo(), "take", other_take),
    "private_function": lambda patch: patch.setattr(zoo(), "_added", other_take),
    "code_of_a_function": replace_code,
    "wrapped_function": replace_by_a_wrapper,
    "default": lambda patch: patch.setattr(zoo().initial_lease, "__defaults__", (1,)),
    "type_of_a_default": lambda patch: patch.setattr(zoo().initial_lease, "__defaults__", (False,)),
    "keyword_only_default": lambda patch: patch.setitem(zoo()._level.__kwdefaults__, "least", 1),
    "annotation": lambda patch: patch.setitem(zoo().take.__annotations__, "count", "bool"),
    "attribute_of_a_function": lambda patch: patch.setattr(zoo().take, "fast", 1, raising=False),
    "closure": lambda patch: patch.setattr(zoo().take.__closure__[1], "cell_contents", 5),
    "wrapped": lambda patch: patch.setattr(zoo().take, "__wrapped__", other_take),
    "global": lambda patch: patch.setattr(zoo(), "STEP", 2),
    "deleted_global": lambda patch: patch.delattr(zoo(), "STEP"),
    "shadowed_builtin": lambda patch: patch.setattr(zoo(), "isinstance", any, raising=False),
    "imported_name": lambda patch: patch.setattr(zoo(), "replace", other_take),
    "helper": lambda patch: patch.setattr(sys.modules["zoo_helper"], "bounded", len),
    "global_of_a_helper": lambda patch: patch.setattr(sys.modules["zoo_helper"], "LIMIT", 4),
    "table_of_a_helper": lambda p: p.setitem(sys.modules["zoo_helper"].TABLE, "high", [1, 3]),
    "method": lambda patch: patch.setattr(zoo().Taken, "__eq__", lambda a, b: True),
    "generated_method": lambda patch: patch.setattr(zoo().Lease, "__eq__", lambda a, b: True),
    "hash": lambda patch: patch.setattr(zoo().Taken, "__hash__", lambda _: 3),
    "added_method": lambda p: p.setattr(zoo().Taken, "__lt__", lambda a, b: 1, raising=False),
    "property": lambda patch: patch.setattr(zoo().Lease, "is_held", property(lambda _: True)),
    "class_attribute": lambda patch: patch.setattr(zoo().Extra, "weight", 9),
    "class_method": lambda patch: patch.setattr(zoo().Extra, "heavy", classmethod(len)),
    "metaclass": lambda p: p.setattr(sys.modules["zoo_helper"].Meta, "__call__", type.__call__),
    "class": lambda patch: patch.setattr(zoo(), "Taken", zoo().Lease),
    "value_of_a_member": lambda patch: patch.setattr(zoo().Mood.CALM, "_value_", "wild"),
    "added_member": add_a_member,
    "default_of_a_field": lambda p: p.setattr(zoo().Lease, "mood", zoo().Mood.WILD),
    "partial": lambda p: p.setattr(zoo(), "_one_more", functools.partial(zoo()._added, 3)),
    "set": lambda patch: patch.setattr(zoo(), "WORDS", frozenset({"a"})),
}


@pytest.mark.parametrize("case", LOADED)
def test_what_is_replaced_after_the_first_check_is_refused(case, tmp_path, monkeypatch):
    with installed(tmp_path / "code"):
        check_certificate("zoo")
        with monkeypatch.context() as patch:
            LOADED[case](patch)
            with pytest.raises(UnverifiedProtocol, match=r"replaced .*(zoo|zoo_helper)\."):
                check_certificate("zoo")
        check_certificate("zoo")  # as before


LANGUAGE = {
    "function": lambda p: p.setattr(chandy_lamport, "on_marker", chandy_lamport.on_messages),
    "method_of_a_record": lambda p: p.setattr(chandy_lamport.Recorder, "__eq__", lambda a, b: True),
    "plain_reading": lambda patch: patch.setattr(Map, "set", lambda self, key, value: self),
    "helper_of_the_language": lambda patch: patch.setattr(lang_map, "_made", lambda *_: None),
    "quantifier": lambda patch: patch.setattr(chandy_lamport, "forall", lambda *_: True),
    "cached_function": lambda p: p.setattr(lang_domain, "key_space", lang_domain.KeySpace),
    "method_of_an_element": lambda p: p.setattr(lang_domain.Element, "__repr__", object.__repr__),
    "builtin": lambda patch: patch.setattr(builtins, "all", lambda _: True),
    "module": lambda p: p.setitem(sys.modules, "streamproof.lang.map", type(sys)("other")),
    "held_by_the_bindings": lambda p: p.setattr(binding, "on_marker", binding.on_messages),
}


@pytest.mark.parametrize("case", LANGUAGE)
def test_what_is_replaced_in_the_language_is_refused(case, monkeypatch):
    check_certificate("chandy_lamport")
    with monkeypatch.context() as patch:
        LANGUAGE[case](patch)
        with pytest.raises(UnverifiedProtocol, match="in this process .* Start a new process"):
            check_certificate("chandy_lamport")
    check_certificate("chandy_lamport")


def test_elements_that_a_run_makes_are_no_difference():
    lang_domain.Domain(type("Fresh", (lang_domain.Element,), {}), 3)
    check_certificate("chandy_lamport")


def test_an_element_under_another_number_is_refused(monkeypatch):
    element = type("Fresh", (lang_domain.Element,), {})
    first, second = element(0), element(1)
    monkeypatch.setitem(lang_domain.Element._members, (element, 0), second)
    with pytest.raises(UnverifiedProtocol, match=r"Element\._members"):
        check_certificate("chandy_lamport")
    monkeypatch.setitem(lang_domain.Element._members, (element, 0), first)
    check_certificate("chandy_lamport")


@pytest.mark.parametrize(
    "owner",
    [chandy_lamport, lang_map, Map, lang_domain.Domain, lang_domain.Element, lang_domain.KeySpace],
    ids=lambda owner: owner.__name__,
)
def test_no_name_can_be_replaced(owner, monkeypatch):
    """Each name of a module or class that can be set is set to something else, one by one."""
    sources = sources_of("streamproof.protocols.chandy_lamport")
    left_out = _OF_THE_IMPORT if isinstance(owner, type(sys)) else _OF_THE_CLASS
    tried = 0
    for name in sorted(vars(owner).keys() - left_out):
        with monkeypatch.context() as patch:
            try:
                patch.setattr(owner, name, object())
            except (AttributeError, TypeError):
                continue
            tried += 1
            found = replaced(sources)
        assert found, name
    assert tried >= 3
    assert replaced(sources) == []


def test_a_helper_without_source_is_refused(tmp_path):
    def edit(protocol, helper):
        return protocol.replace("import functools\n", "import functools\nimport no_such\n"), helper

    with installed(tmp_path / "code", edit):
        sys.modules["no_such"] = type(sys)("no_such")
        try:
            with pytest.raises(UnverifiedProtocol, match="source of no_such is not known"):
                check_certificate("zoo")
        finally:
            del sys.modules["no_such"]


COPIED = ("lang", "protocols", "certified", "spark_bindings")
PROGRAM = """
from streamproof.spark_bindings.certificate import check_certificate
check_certificate("chandy_lamport")
"""


def started(path, *options):
    """Check in a process of its own, on the package in a directory."""
    return subprocess.run(
        [sys.executable, *options, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(path)},
        cwd=path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_python_that_leaves_out_claims_is_told_so():
    ran = started(Path(streamproof.__file__).parents[1], "-O")
    assert ran.returncode != 0
    assert "Start Python without -O" in ran.stderr


@pytest.mark.parametrize("is_edited", [False, True], ids=["as_it_was", "edited"])
def test_a_plain_reading_that_is_wrong_on_disk_is_refused(is_edited, tmp_path):
    """Somebody edits `Map.set`: the traced form is the same, since symbolic maps have their own."""
    package = Path(streamproof.__file__).parent
    copy = tmp_path / "copy" / "streamproof"
    for room in COPIED:
        shutil.copytree(package / room, copy / room)
    for file in package.glob("*.py"):
        shutil.copy2(file, copy)
    edited = copy / "lang" / "map.py"
    text = edited.read_text(encoding="utf-8")
    assert text.count("*self._values[:index], value,") == 1
    if is_edited:
        wrong = text.replace("self._values[:index], value,", "self._values[:index], self[key],")
        edited.write_text(wrong, encoding="utf-8")
    ran = started(copy.parent)
    assert (ran.returncode != 0) is is_edited, ran.stderr
    assert ("changed after it was certified (streamproof.lang.map:" in ran.stderr) is is_edited
