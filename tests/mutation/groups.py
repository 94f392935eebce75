"""What is mutated, how many mutants are drawn, and the tests that must kill them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Group:
    """A room of the kernel of trust.

    Attributes
    ----------
    modules : globs of files below `streamproof`
    tests : paths below `tests`, those first that are soon done
    sample : how many mutants are drawn; all if there are fewer
    """

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    sample: int

    def files(self, package: Path) -> list[Path]:
        """List the files to mutate."""
        return sorted({path for glob in self.modules for path in package.glob(glob)})


GROUPS = (
    Group(
        "lang",
        ("lang/*.py",),
        (
            "lang/test_identity.py",
            "lang/test_sorts.py",
            "lang/test_values.py",
            "lang/test_survivors.py",
            "lang/test_expr.py",
            "lang/test_truths.py",
            "lang/test_trace.py",
            "lang/test_show.py",
            "lang/test_refusals.py",
            "lang/test_source_text.py",
            "lang/test_seen.py",
            "lang/test_roles.py",
            "lang/test_lost.py",
            "lang/test_changed.py",
            "lang/test_definitions.py",
            "lang/test_operations.py",
            "lang/test_followed.py",
            "lang/test_watch.py",
            "checker/test_forms.py",
            "checker/test_impure.py",
            "checker/test_impure_ways.py",
            "checker/test_orders_in_code.py",
            "checker/test_evident.py",
            "checker/test_made.py",
            "translation/test_translation.py",
            "certified/test_misses.py",
            "protocols/test_chandy_lamport.py",
        ),
        130,
    ),
    Group(
        "loaded",
        ("lang/acting.py", "lang/imports.py", "lang/reflective.py"),
        (
            "lang/test_imports.py",
            "checker/test_acting_unseen.py",
            "checker/test_acting.py",
            "checker/test_pure_ways.py",
            "checker/test_made.py",
        ),
        40,
    ),
    Group(
        "watched",
        (
            "lang/side_effects.py",
            "lang/fingerprint.py",
            "lang/cached.py",
            "lang/whereabouts.py",
            "lang/class_texts.py",
            "checker/disturbed.py",
        ),
        (
            "checker/test_disturbed.py",
            "checker/test_cached.py",
            "checker/test_whereabouts.py",
            "checker/test_pure_ways.py",
            "certified/test_misses.py",
        ),
        60,
    ),
    Group(
        "arbiter",
        ("checker/reference.py", "checker/properties.py", "checker/liveness.py"),
        (
            "checker/test_survivors.py",
            "checker/test_reference.py",
            "checker/test_properties.py",
            "checker/test_liveness.py",
            "checker/test_check.py",
        ),
        70,
    ),
    Group(
        "native_code",
        ("checker/native/code/*.py",),
        (
            "checker/native/test_survivors.py",
            "checker/native/test_promised.py",
            "checker/native/test_edges.py",
            "checker/native/test_engine.py",
            "checker/native/test_killed.py",
            "checker/native/test_rolled.py",
            "checker/native/test_symmetry.py",
            "checker/native/test_agreement.py",
        ),
        70,
    ),
    Group(
        "kernels",
        ("checker/native/kernels/*.py",),
        (
            "checker/native/test_table.py",
            "checker/native/test_kernels.py",
            "checker/test_walks.py",
            "checker/test_liveness.py",
            "checker/native/test_shapes.py",
            "checker/native/test_edges.py",
            "checker/native/test_engine.py",
        ),
        40,
    ),
    Group(
        "proofs",
        ("proofs/*.py",),
        (
            "proofs/test_survivors.py",
            "proofs/test_vacuous.py",
            "proofs/test_empty.py",
            "proofs/test_surviving.py",
            "proofs/test_induction.py",
            "proofs/test_agreement.py",
        ),
        70,
    ),
    Group(
        "bindings",
        (
            "spark_bindings/snapshots/recorders.py",
            "spark_bindings/snapshots/chandy_lamport.py",
            "spark_bindings/snapshots/flux.py",
            "spark_bindings/standby/egress.py",
            "spark_bindings/layout/incarnation.py",
            "spark_bindings/standby/merge_order.py",
            "spark_bindings/sunion/dpc.py",
            "spark_bindings/sunion/state.py",
        ),
        (
            "spark/snapshots/test_files.py",
            "spark/snapshots/test_recording.py",
            "spark/standby/test_egress.py",
            "spark/standby/test_merge_order.py",
            "spark/standby/test_catch_up.py",
            "spark/sunion/test_dpc.py",
            "spark/sunion/test_rows.py",
            "spark/sunion/test_processor.py",
            "spark/snapshots/test_retention.py",
            "spark/snapshots/test_retention_races.py",
            "spark/snapshots/test_restore.py",
        ),
        50,
    ),
)


def group_named(name: str) -> Group:
    """Find a group."""
    return next(group for group in GROUPS if group.name == name)
