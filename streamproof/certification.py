"""Certificates: what was shown of a protocol, of which code, and by what.

A certificate is written once everything about a protocol is green. It names the sources that the
protocol runs on, its traced form, the models and the invariant that speak of it, the engines that
have looked, and their verdicts. Spark bindings compare the first two before they run the protocol.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import streamproof
from streamproof import __version__
from streamproof.certified.loaded import replaced
from streamproof.certified.record import FORMAT, certificates_directory, read_record
from streamproof.certified.seal import CertificateRefused, sealed
from streamproof.certified.sources import digests_of, sources_of
from streamproof.checker.mutation import MutationReport
from streamproof.disk import replace_file
from streamproof.lang import StreamproofError
from streamproof.lang.digest import protocol_digest
from streamproof.lang.source_text import source_digest, tree_of
from streamproof.models.kit.registry import module_of, protocol_module
from streamproof.models.kit.verdict import Exhausted, ExitCode, Json, Proved, Verdict
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import ProofReport, prove
from streamproof.translation import validate_protocol
from streamproof.verification import Explored, OnStage, explore_protocol, model_files

ENGINES = {
    "lang": ("lang",),
    "checker": (
        "checker",
        "translation",
        "models/kit/registry.py",
        "models/kit/verdict.py",
        "verification.py",
    ),
    "proofs": ("proofs/*.py", "translation"),
}
"""What looks at a protocol: files and directories of the package."""
PARTS = ("explored", "proof")
"""What is shown: searches with mutants, and the proof."""
_LIBRARIES = ("z3-solver", "llvmlite", "numba", "numpy")


class NotCertifiable(StreamproofError, RuntimeError):
    """A protocol is not shown to be right, so there is nothing to certify."""


@dataclass(frozen=True)
class Basis:
    """What a certificate's verdicts depend on.

    Attributes
    ----------
    digest : hash of the protocol's traced form
    sources, models, invariant : per module, the hash of its source; each module once
    engines : per engine, the hash of its sources
    versions : of what others have made
    """

    digest: str
    sources: dict[str, str]
    models: dict[str, str]
    invariant: dict[str, str]
    engines: dict[str, str]
    versions: dict[str, str]

    def to_json(self) -> Json:
        """Return what a certificate says of it, beside the traced form and the sources."""
        return {
            "models": self.models,
            "invariant": self.invariant,
            "engines": self.engines,
            "versions": self.versions,
        }


def basis_of(protocol: str) -> Basis:
    """Look up what is there now.

    Raises
    ------
    UnknownModel, UnknownInvariant : if the protocol has no model or no invariant
    NotCertifiable : if what is loaded is not what the sources say
    """
    module = protocol_module(protocol)
    invariant = find_invariant(protocol)
    own = sources_of(module.__name__)
    about = sources_of(*sorted(_model_modules(protocol)))
    _require_loaded(protocol, [*replaced(own), *replaced(about)])
    said = f"streamproof.proofs.invariants.{protocol}"
    assert invariant.model_class.protocol_name == protocol
    return Basis(
        digest=protocol_digest(module),
        sources=digests_of(own),
        models={n: d for n, d in digests_of(about).items() if n not in own},
        invariant={said: _file_digest(Path(str(module_file(said))))},
        engines={name: _engine_digest(parts) for name, parts in ENGINES.items()},
        versions={
            "streamproof": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _LIBRARIES},
        },
    )


def _require_loaded(protocol: str, differing: list[str]) -> None:
    if differing:
        raise NotCertifiable(
            f"what is loaded of {protocol} is not what its files say: {'; '.join(differing)}. A "
            "certificate would be about code that nobody has run. Start streamproof certify anew"
        )


def _model_modules(protocol: str) -> set[str]:
    """List the modules of the models of a protocol, and of their mutants."""
    modules = set()
    for file in model_files(protocol):
        modules.add(module_of(file.name).__name__)
        modules |= {model.__module__ for model in file.all}
        modules |= {mutant.model_class.__module__ for mutant in file.mutants}
    return modules


def module_file(name: str) -> Path:
    """Return where a module of streamproof lies."""
    return _package().joinpath(*name.split(".")[1:]).with_suffix(".py")


def _package() -> Path:
    return Path(streamproof.__path__[0])


def _engine_digest(parts: Iterable[str]) -> str:
    """Hash all sources of an engine, with their names."""
    found: set[Path] = set()
    for part in parts:
        place = _package() / part
        found |= set(place.rglob("*.py") if place.is_dir() else _package().glob(part))
    lines = [f"{path.relative_to(_package())} {_file_digest(path)}" for path in sorted(found)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    return source_digest(tree_of(str(path), path.read_bytes()), docstrings=False)


# --------------------------------------------------------------------------- what can be kept


def stored_certificate(protocol: str) -> Json | None:
    """Read a protocol's certificate; None if there is none that could be believed."""
    try:
        return read_record(protocol).content
    except CertificateRefused:
        return None


def stale_parts(protocol: str, basis: Basis) -> tuple[str, ...]:
    """List which parts of a protocol's certificate are not of what is there now.

    ``explored`` are the searches and the mutants, ``proof`` is the proof.
    """
    stored = stored_certificate(protocol)
    if stored is None or stored["digest"] != basis.digest or stored["sources"] != basis.sources:
        return PARTS
    made, now = stored.get("made_from", {}), basis.to_json()

    def same(part: str, name: str) -> bool:
        held = made.get(part)
        return isinstance(held, dict) and held.get(name) == now[part].get(name)

    if made.get("models") != now["models"] or not same("engines", "lang"):
        return PARTS
    stale = []
    if not (same("engines", "checker") and same("versions", "llvmlite")):
        stale.append("explored")
    is_same_claim = made.get("invariant") == now["invariant"]
    if not (is_same_claim and same("engines", "proofs") and same("versions", "z3-solver")):
        stale.append("proof")
    return tuple(stale)


# --------------------------------------------------------------------------- making one


def certify(
    protocol: str,
    *,
    anew: bool = False,
    key: Path | None = None,
    on_stage: OnStage = lambda _: None,
) -> Path:
    """Show that a protocol is right, and write its certificate.

    Parts of the certificate that is there are kept if nothing that they depend on has changed.

    Parameters
    ----------
    protocol, anew : which one, and whether to keep nothing of a former certificate
    on_stage : called with what is being done
    key : the PEM file of an Ed25519 private key, to sign with

    Raises
    ------
    NotCertifiable : if anything is not green, or was changed meanwhile
    TracingDisagrees : if a traced form differs from the code that it was traced from
    UnknownModel, UnknownInvariant : if the protocol has no model or no invariant
    """
    if key is not None:
        sealed({}, key)  # a key that cannot sign is refused before anything takes time
    basis = basis_of(protocol)
    stale = PARTS if anew else stale_parts(protocol, basis)
    shown = {} if len(stale) == len(PARTS) else dict(stored_certificate(protocol) or {})
    if stale:
        on_stage(f"{protocol}: comparing its traced form with the code")
        validate_protocol(protocol_module(protocol))
    if "explored" in stale:
        shown |= explored_part(protocol, *explore_protocol(protocol, on_stage=on_stage))
    if "proof" in stale:
        on_stage(f"{protocol}: proving its invariant for any number of processes")
        shown |= proof_part(protocol, prove(find_invariant(protocol)))
    if basis_of(protocol) != basis:
        raise NotCertifiable(
            f"{protocol}, or what it was verified with, was changed meanwhile: what was "
            f"shown is not known. Run: streamproof certify {protocol}"
        )
    return write_certificate(certificate_of(protocol, basis, shown), key)


def explored_part(protocol: str, checks: Sequence[Explored], mutation: MutationReport) -> Json:
    """Write down what was explored, and the mutants that were killed.

    Raises
    ------
    NotCertifiable : if anything in it is not green
    """
    verdicts = [(model, size, report.verdict) for model, size, report in checks]
    bad = [f"{m} at {s} is {v.status.value}" for m, s, v in verdicts if not _is_exhausted(v)]
    if mutation.exit_code is not ExitCode.GREEN:
        killed, hunted = mutation.to_json()["killed"], len(mutation.results)
        bad.append(f"{killed} of {hunted} mutants are killed")
    if bad or not verdicts:
        raise _not_green(protocol, ", ".join(bad) or "none of its models was explored")
    return {
        "explored": [
            {"model": model, "size": size, **verdict.counts.to_json()}
            for model, size, verdict in verdicts
            if isinstance(verdict, Exhausted)
        ],
        "mutants_killed": [result.mutant.name for result in mutation.results],
    }


def proof_part(protocol: str, proof: ProofReport) -> Json:
    """Write down what was proven.

    Raises
    ------
    NotCertifiable : if it is not proven
    """
    if not isinstance(proof.verdict, Proved):
        raise _not_green(protocol, f"its invariant is {proof.verdict.status.value}")
    return {"proof": {"model": proof.model, **proof.verdict.to_json()}}


def _is_exhausted(verdict: Verdict) -> bool:
    return isinstance(verdict, Exhausted)


def _not_green(protocol: str, why: str) -> NotCertifiable:
    return NotCertifiable(
        f"{protocol} cannot be certified: {why}. A certificate would claim what is not shown. See "
        f"what is wrong with: streamproof verify {protocol}"
    )


def certificate_of(protocol: str, basis: Basis, shown: Json) -> Json:
    """Put a certificate together, without a seal.

    Parameters
    ----------
    protocol, basis : what it is about
    shown : what `explored_part` and `proof_part` give
    """
    return {
        "format": FORMAT,
        "protocol": protocol,
        "digest": basis.digest,
        "sources": basis.sources,
        **{part: shown[part] for part in ("explored", "proof", "mutants_killed")},
        "made_from": basis.to_json(),
    }


def write_certificate(content: Json, key: Path | None = None) -> Path:
    """Seal a certificate and write it to its place, signed if there is a key."""
    directory = Path(str(certificates_directory()))
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{content['protocol']}.json"
    text = json.dumps(sealed(content, key), indent=2) + "\n"
    replace_file(path, text.encode("utf-8"))
    return path
