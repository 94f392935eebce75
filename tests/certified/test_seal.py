"""A certificate's file is believed if it is whole, unedited, and signed where it must be."""

from __future__ import annotations

import json
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from streamproof.certified.record import DIRECTORY_VARIABLE, KEYS_VARIABLE
from streamproof.certified.seal import UnusableKey, sealed
from streamproof.installed import NotInstalled
from streamproof.spark_bindings.certificate import Certificate, SignedBy, check_certificate
from streamproof.spark_bindings.errors import UnverifiedProtocol
from tests.certified.support.keys import key_files
from tests.support.stamped import stamp


@pytest.fixture(autouse=True)
def written(tmp_path, monkeypatch):
    """A certificate of Chandy-Lamport as it is, where it is looked for."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    return stamp("chandy_lamport", tmp_path)


def check(**options):
    check_certificate("chandy_lamport", **options)


def edit(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


EDITS = {
    "verdict": lambda c: c["proof"].update(status="REFUTED"),
    "counts": lambda c: c["explored"][0].update(distinct=10**9),
    "obligations": lambda c: c["proof"].update(obligations=1000),
    "digest": lambda c: c.update(digest="0" * 64),
    "source": lambda c: c["sources"].update({"streamproof.lang.map": "0" * 64}),
    "left_out_source": lambda c: c["sources"].popitem(),
    "mutants": lambda c: c.update(mutants_killed=["nobody"]),
    "renamed_inside": lambda c: c.update(protocol="flux"),
    "added": lambda c: c.update(remark="trust me"),
    "no_seal": lambda c: c.pop("seal"),
    "empty_seal": lambda c: c.update(seal={}),
    "seal_of_another_kind": lambda c: c.update(seal="0" * 64),
}


@pytest.mark.parametrize("case", EDITS)
def test_an_edited_certificate_file_is_refused(case, written):
    check()
    edit(written, EDITS[case])
    with pytest.raises(UnverifiedProtocol, match=r"was edited after .* Run: streamproof certify"):
        check()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "cut or damaged"),
        ("{", "cut or damaged"),
        ("[]", "holds no certificate"),
        ("[" * 100_000, "cut or damaged"),
        ('{"format": 2, "format": 2}', "says one thing twice"),
    ],
    ids=["empty", "cut", "list", "deep", "twice"],
)
def test_a_file_that_is_no_certificate_is_refused(text, told, written):
    written.write_text(text, encoding="utf-8")
    with pytest.raises(UnverifiedProtocol, match=told):
        check()


def test_a_certificate_cut_anywhere_is_refused(written):
    text = written.read_text(encoding="utf-8")
    for length in range(0, len(text) - 1, 97):
        written.write_text(text[:length], encoding="utf-8")
        with pytest.raises(UnverifiedProtocol, match="cut or damaged"):
            check()


def test_bytes_that_are_no_text_are_refused(written):
    written.write_bytes(b"\xff\xfe")
    with pytest.raises(UnverifiedProtocol, match="cannot be read"):
        check()


def test_a_certificate_of_another_protocol_under_this_name_is_refused(tmp_path, written):
    stamp("flux", tmp_path).rename(written)
    with pytest.raises(UnverifiedProtocol, match="is a certificate of flux"):
        check()


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (3, "format 3, and this streamproof reads format 2"),
        (1, "format 1, by streamproof 0.1.0"),
        (0, "no known format"),
        (True, "no known format"),
        ("2", "no known format"),
    ],
)
def test_another_format_is_refused(found, told, tmp_path):
    stamp("chandy_lamport", tmp_path, format=found)
    with pytest.raises(UnverifiedProtocol, match=told):
        check()


def test_a_certificate_of_the_first_release_is_refused_with_the_way_out(written):
    edit(written, lambda content: [content.pop(name) for name in ("format", "seal", "sources")])
    with pytest.raises(UnverifiedProtocol, match="Run: streamproof certify chandy_lamport, or"):
        check()
    with pytest.raises(UnverifiedProtocol, match="Run: streamproof certify chandy_lamport$"):
        check(waivable=False)
    check(trust=Certificate.IGNORED)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"proof": {"status": "UNDETERMINED"}}, "tells of no proof"),
        ({"proof": None}, "tells of no proof"),
        ({"explored": []}, "tells of no exploration"),
        ({"sources": {}}, "does not say which code"),
        ({"sources": {"streamproof": 1}}, "does not say which code"),
        ({"digest": None}, "does not say which code"),
    ],
)
def test_a_certificate_that_shows_nothing_is_refused(changes, told, tmp_path):
    stamp("chandy_lamport", tmp_path, **changes)
    with pytest.raises(UnverifiedProtocol, match=told):
        check()


def test_no_certificate_is_refused_with_where_it_was_looked_for(written):
    written.unlink()
    with pytest.raises(UnverifiedProtocol, match=rf"has none \(looked for {written}\)"):
        check()


# --------------------------------------------------------------------------- signatures


def sign(path, private):
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(sealed(content, private)), encoding="utf-8")


@pytest.fixture
def keys(tmp_path):
    return key_files(tmp_path, "acme")


def test_a_signed_certificate_is_trusted_by_its_key(keys, tmp_path, written):
    private, public = keys
    _, other = key_files(tmp_path, "other")
    sign(written, private)
    check()
    check(trust=SignedBy(public))
    check(trust=SignedBy(other, str(public)))
    with pytest.raises(UnverifiedProtocol, match="by none of the keys"):
        check(trust=SignedBy(other))


def test_an_unsigned_certificate_is_refused_where_keys_are_trusted(keys, monkeypatch):
    with pytest.raises(UnverifiedProtocol, match="not signed, .* streamproof certify --sign KEY"):
        check(trust=SignedBy(keys[1]))
    monkeypatch.setenv(KEYS_VARIABLE, str(keys[1]))
    with pytest.raises(UnverifiedProtocol, match="not signed"):
        check()


def test_the_environment_names_trusted_keys(keys, monkeypatch, tmp_path, written):
    sign(written, keys[0])
    _, other = key_files(tmp_path, "other")
    monkeypatch.setenv(KEYS_VARIABLE, f"{other}:{keys[1]}")
    check()
    monkeypatch.setenv(KEYS_VARIABLE, f"{other}")
    with pytest.raises(UnverifiedProtocol, match="by none of the keys"):
        check()


def test_an_edit_that_seals_anew_does_not_pass_a_trusted_key(keys, written):
    sign(written, keys[0])
    content = json.loads(written.read_text(encoding="utf-8"))
    signature = content["seal"]["ed25519"]
    content["explored"][0]["distinct"] = 5
    forged = sealed(content)
    forged["seal"]["ed25519"] = signature
    written.write_text(json.dumps(forged), encoding="utf-8")
    check()  # nobody asks for a signature
    with pytest.raises(UnverifiedProtocol, match="by none of the keys"):
        check(trust=SignedBy(keys[1]))


@pytest.mark.parametrize("signature", ["", "00", "zz", None, 5])
def test_a_signature_that_is_none_is_refused(keys, signature, written):
    sign(written, keys[0])
    edit(written, lambda content: content["seal"].update(ed25519=signature))
    with pytest.raises(UnverifiedProtocol, match="signed|by none of the keys"):
        check(trust=SignedBy(keys[1]))


def test_a_file_that_holds_no_fitting_key_is_named(keys, tmp_path, written):
    sign(written, keys[0])
    elliptic = generate_private_key(SECP256R1())
    wrong = tmp_path / "wrong.pem"
    for content in (
        b"nothing",
        elliptic.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        Ed25519PrivateKey.generate().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
        ),
    ):
        wrong.write_bytes(content)
        with pytest.raises(UnusableKey, match="openssl genpkey -algorithm ed25519"):
            sealed({}, wrong)
        with pytest.raises(UnusableKey, match="openssl pkey -in KEY.pem -pubout"):
            check(trust=SignedBy(wrong))
    with pytest.raises(UnusableKey, match="No such file"):
        sealed({}, tmp_path / "missing.pem")


def test_without_the_library_a_signature_is_refused_with_what_to_install(
    keys, monkeypatch, written
):
    sign(written, keys[0])
    monkeypatch.setitem(sys.modules, "cryptography", None)
    check()
    with pytest.raises(NotInstalled, match=r"pip install 'streamproof\[sign\]'"):
        check(trust=SignedBy(keys[1]))


def test_trusting_nobody_is_a_mistake():
    with pytest.raises(ValueError, match="names no key"):
        SignedBy()
