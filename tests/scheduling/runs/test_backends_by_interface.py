"""Backends are used by their interface: nobody looks for single verbs, or decides by the name of a kind of backend."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.base.traits import TRAITS
from monitoring.telemetry.services import reach, sources
from scheduling.runs.services import backends

ROOT = Path(__file__).parents[3]
PACKAGES = ("gridportal", "monitoring", "scheduling")
PROTOCOLS = {"Backend", "Queue", "StartForecast"}
#: A setting of its own that has "grid" among its values: who measures the network.
OTHER_WORDS = {"probe"}


def violations(source: str) -> Iterator[tuple[int, str]]:
    """(line, what) for all that goes round the interface."""
    tree = ast.parse(source)
    backends = set(_names_of_backends(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name, about = node.func.id, {each for part in node.args for each in _names(part)}
            if name in ("hasattr", "getattr", "cast") and about & (backends | PROTOCOLS):
                yield node.lineno, f"{name} of a backend: a part that it may lack is None"
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(_names_a_kind, sides)) and not {name for side in sides for name in _names(side)} & OTHER_WORDS:
                yield node.lineno, "a comparison with the name of a kind of backend: give the question a fact in Traits"
        elif isinstance(node, ast.MatchValue) and _names_a_kind(node.value):
            yield node.value.lineno, "a case for the name of a kind of backend"


def _names_a_kind(node: ast.AST) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(_names_a_kind, node.elts))
    return isinstance(node, ast.Constant) and node.value in TRAITS


def _names_of_backends(tree: ast.AST) -> Iterator[str]:
    """Variables that hold what `backend(...)` answers or a part of it, and arguments that are annotated so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "backend" in _called(node.value):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.arg) and node.annotation is not None and PROTOCOLS & set(_names(node.annotation)):
            yield node.arg
    yield "backend"


def _called(node: ast.AST) -> set[str]:
    return {each.func.id for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}


def _names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


@pytest.mark.parametrize("package", PACKAGES)
def test_backends_are_used_by_their_interface_alone(package: str) -> None:
    files = [file for file in (ROOT / package).rglob("*.py") if "migrations" not in file.parts]
    found = [
        f"{file.relative_to(ROOT)}:{line}: {what}"
        for file in files
        for line, what in violations(file.read_text(encoding="utf-8"))
    ]
    assert len(files) > 50
    assert found == []


def test_every_kind_has_its_parts_in_every_table() -> None:
    tables = (backends._CONNECT, reach._TELEMETRY, sources._BY_BACKEND)
    assert [set(table) for table in tables] == [set(TRAITS)] * len(tables)


@pytest.mark.parametrize(
    "source",
    [
        'hasattr(backend(cluster), "hold")',
        "to = backend(cluster)\ngetattr(to, verb)(1)",
        "def f(door: Backend):\n    return cast(Fast, door)",
        "cast(Queue, thing)",
        'cluster.backend == "slurm"',
        'if row.backend in ("grid", "local"): pass',
        'match found.backend:\n    case "slurm": pass',
    ],
)
def test_what_goes_round_the_interface_is_found(source: str) -> None:
    assert list(violations(source))


@pytest.mark.parametrize("source", ['cluster.probe == "grid"', "getattr(run, name)", 'TABLE = {"grid": 1}'])
def test_what_does_not_is_let_be(source: str) -> None:
    assert list(violations(source)) == []
